//! Renders an advice as CSV.

use crate::record::Advice;
use lastmile_report::csv::{Rows, STATISTICS, doubt_kinds, interval_ends, statistics_of};
use lastmile_report::saving::Saving;

/// An advice: one row per link and setting for the whole page (scope `page`), and one per link, kind and setting (scope `kind`).
///
/// `bytes` is what the link carried in scope `page`, and the bodies' size in scope `kind`; the statistics are of the page's time. A page's
/// savings are compared with `identity`; those of the setting recommended for a kind with the page without it. `isolated_time_s` is a
/// response's mean time alone on the link.
pub(crate) fn advice(advice: &Advice) -> Rows {
    let fixed = [
        "link",
        "scope",
        "kind",
        "origin",
        "responses",
        "setting",
        "recommended",
        "dominated",
        "bytes",
        "ratio",
        "server_cpu_s",
        "client_cpu_s",
        "isolated_time_s",
        "saving_mean_s",
        "saving_ci95_low_s",
        "saving_ci95_high_s",
        "saving_median_s",
        "saving_p95_s",
        "saving_share",
        "doubts",
    ];
    let mut rows = Rows::default();
    rows.head(&[], &[], &[&fixed[..], &STATISTICS].concat());
    for link in &advice.links {
        for outcome in &link.page {
            let recommended = outcome.setting == "recommended";
            let mut row = vec![
                link.name.clone(),
                "page".to_owned(),
                String::new(),
                String::new(),
                String::new(),
            ];
            row.extend([outcome.setting.clone(), recommended.to_string(), String::new()]);
            row.extend([
                outcome.bytes_down.mean.to_string(),
                String::new(),
                String::new(),
                String::new(),
                String::new(),
            ]);
            row.extend(saving(outcome.saving_against_identity.as_ref()));
            row.push(doubt_kinds(&link.doubts));
            row.extend(statistics_of(&outcome.page_time));
            rows.row(row);
        }
        for kind in &link.kinds {
            for candidate in &kind.frontier {
                let recommended = candidate.setting == kind.recommended.setting;
                let mut row = vec![
                    link.name.clone(),
                    "kind".to_owned(),
                    kind.kind.clone(),
                    kind.origin.name().to_owned(),
                ];
                row.extend([
                    kind.responses.to_string(),
                    candidate.setting.clone(),
                    recommended.to_string(),
                ]);
                row.extend([candidate.dominated.to_string(), candidate.compressed_bytes.to_string()]);
                let figures = [
                    candidate.ratio,
                    candidate.server_cpu_s,
                    candidate.client_cpu_s,
                    candidate.isolated_time_s,
                ];
                row.extend(figures.map(|value| value.to_string()));
                row.extend(saving(kind.recommended.page_saves.as_ref().filter(|_| recommended)));
                row.push(doubt_kinds(&kind.doubts));
                row.extend(STATISTICS.map(|_| String::new()));
                rows.row(row);
            }
        }
    }
    rows
}

fn saving(saving: Option<&Saving>) -> [String; 6] {
    let Some(saving) = saving else {
        return Default::default();
    };
    let [low, high] = interval_ends(saving.mean_ci95_s);
    let [median, p95, share] = [saving.median_s, saving.p95_s, saving.share].map(|value| value.to_string());
    [saving.mean_s.to_string(), low, high, median, p95, share]
}
