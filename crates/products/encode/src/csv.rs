//! Renders a comparison of encodings as CSV.

use crate::record::EncodingComparison;
use lastmile_report::csv::{Rows, number};

/// A comparison: one row per setting (link `-`), and one per link, setting and framing.
pub(crate) fn encoding(comparison: &EncodingComparison) -> Rows {
    let columns = [
        "link",
        "encoding",
        "codec",
        "batch",
        "framing",
        "bytes_per_message",
        "cpu_mean_s",
        "link_bytes_per_message",
        "delivery_time_mean_s",
        "predicted_s",
        "link_load",
        "batch_delay_s",
        "frontier",
        "to_use",
    ];
    let mut rows = Rows::default();
    rows.head(&[], &[], &columns);
    for setting in &comparison.settings {
        let mut row = vec![
            "-".to_owned(),
            setting.encoding.clone(),
            setting.codec.clone(),
            setting.batch.to_string(),
            String::new(),
        ];
        row.push(number(Some(setting.bytes_per_message)));
        row.push(number(setting.cpu.as_ref().map(|cpu| cpu.mean)));
        row.resize(columns.len(), String::new());
        rows.row(row);
    }
    for link in &comparison.links {
        for outcome in &link.outcomes {
            rows.row(vec![
                link.name.clone(),
                outcome.encoding.clone(),
                outcome.codec.clone(),
                outcome.batch.to_string(),
                outcome.framing.clone(),
                String::new(),
                String::new(),
                number(Some(outcome.link_bytes_per_message)),
                number(outcome.delivery_time.as_ref().map(|time| time.mean)),
                number(outcome.predicted_s),
                number(outcome.link_load),
                number(Some(outcome.batch_delay_s)),
                outcome.frontier.to_string(),
                outcome.to_use.to_string(),
            ]);
        }
    }
    rows
}
