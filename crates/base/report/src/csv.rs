//! Renders records as CSV for a spreadsheet, pandas or R.
//!
//! One head, then one row per cell and figure, numbers in full and in base units. Fields are quoted as in RFC 4180 section 2; rows
//! end in a line feed alone, which every reader accepts and every Unix tool prefers.

mod encode;
mod inspect;
mod load;
mod tune;

pub(crate) use encode::encoding;
pub(crate) use inspect::inspection;
pub(crate) use load::load;
pub(crate) use tune::tuning;

use crate::advise::{Advice, Saving};
use crate::compare::Comparison;
use crate::conform::Conformance;
use crate::doctor::DoctorReport;
use crate::document::Record;
use crate::perturb::Perturbation;
use crate::record::{Doubt, Figure, Levels, Published, Run, Table};
use std::collections::BTreeSet;

/// The statistics of a figure, in the order of [`statistics_of`].
const STATISTICS: [&str; 15] = [
    "unit",
    "per",
    "n",
    "mean",
    "population_sd",
    "sd",
    "population_sd_ratio",
    "p50",
    "p95",
    "p99",
    "ci95_low",
    "ci95_high",
    "varied",
    "first",
    "rest",
];

/// The published value of a figure: a number twice, or the ends of a range.
const PUBLISHED: [&str; 2] = ["published_low", "published_high"];

/// A record, one row per figure or whatever else it holds.
pub fn render(record: &impl Record) -> String {
    record.rows().text
}

/// A run: one row per cell and figure, with one column per factor.
pub(crate) fn run(run: &Run) -> Rows {
    let factors = factors(run.cells.iter().map(|cell| &cell.levels));
    let mut rows = Rows::default();
    let fixed = ["repeats", "failed", "valid", "doubts", "figure"];
    rows.head(&["part"], &factors, &[&fixed[..], &STATISTICS, &PUBLISHED].concat());
    for cell in &run.cells {
        for (name, figure) in &cell.figures {
            let mut row = vec![cell.part.clone().unwrap_or_default()];
            row.extend(levels(&cell.levels, &factors));
            row.extend([
                cell.repeats.to_string(),
                cell.failed.to_string(),
                cell.valid.to_string(),
            ]);
            row.extend([doubt_kinds(&cell.doubts), name.clone()]);
            row.extend(statistics_of(figure));
            row.extend(interval_ends(figure.published.map(|published| match published {
                Published::Value(value) => [value; 2],
                Published::Range(ends) => ends,
            })));
            rows.row(row);
        }
    }
    rows
}

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

/// A comparison: one row per cell and figure, with one column per factor.
pub(crate) fn comparison(comparison: &Comparison) -> Rows {
    let factors = factors(comparison.cells.iter().map(|cell| &cell.levels));
    let mut rows = Rows::default();
    let fixed = [
        "figure",
        "unit",
        "before",
        "after",
        "change",
        "change_ci95_low",
        "change_ci95_high",
        "verdict",
        "doubts",
    ];
    rows.head(&["part"], &factors, &fixed);
    for cell in &comparison.cells {
        for (name, change) in &cell.changes {
            let mut row = vec![cell.part.clone().unwrap_or_default()];
            row.extend(levels(&cell.levels, &factors));
            row.extend([
                name.clone(),
                change.unit.clone(),
                change.before.to_string(),
                change.after.to_string(),
            ]);
            row.push(number(change.change));
            row.extend(interval_ends(change.change_ci95));
            row.extend([change.verdict.words().to_owned(), doubt_kinds(&cell.doubts)]);
            rows.row(row);
        }
    }
    rows
}

/// A WebSocket server's conformance: one row per rule.
pub(crate) fn conformance(conformance: &Conformance) -> Rows {
    let mut rows = Rows::default();
    rows.head(&[], &[], &["rule", "standing", "asks", "found", "source"]);
    for verdict in &conformance.verdicts {
        let standing = verdict.standing.label();
        rows.row([&verdict.name, standing, &verdict.asks, &verdict.found, &verdict.source].map(str::to_owned));
    }
    rows
}

/// What a machine can do: one row per check (part `machine`) and one per peer (part `peers`).
pub(crate) fn examination(examination: &DoctorReport) -> Rows {
    let mut rows = Rows::default();
    rows.row(["part", "name", "standing", "found", "remedy"]);
    for (part, abilities) in [("machine", &examination.machine), ("peers", &examination.peers)] {
        for ability in abilities {
            let remedy = ability.remedy.as_deref().unwrap_or_default();
            rows.row([part, &ability.name, ability.standing.label(), &ability.found, remedy]);
        }
    }
    rows
}

/// What a sensor costs: a row for each figure without and with it, and one for the difference.
pub(crate) fn perturbation(perturbation: &Perturbation) -> Rows {
    let mut rows = Rows::default();
    rows.head(&["figure", "sensor"], &[], &STATISTICS);
    for effect in &perturbation.effects {
        for (sensor, figure) in [("without", &effect.without), ("with", &effect.with)] {
            let mut row = vec![effect.name.clone(), sensor.to_owned()];
            row.extend(statistics_of(figure));
            rows.row(row);
        }
    }
    rows
}

/// Any table, as it is.
pub(crate) fn table(table: &Table) -> Rows {
    let mut rows = Rows::default();
    rows.row(&table.columns);
    table.rows.iter().for_each(|row| rows.row(row));
    rows
}

/// The rows of a record, as CSV.
#[derive(Debug, Default)]
pub struct Rows {
    text: String,
}

impl Rows {
    /// Columns `before`, one per factor, and `after`. A factor with the name of one of our columns is written `factor.NAME`.
    fn head(&mut self, before: &[&str], factors: &[&String], after: &[&str]) {
        let ours = |name: &str| before.contains(&name) || after.contains(&name);
        let factors = factors.iter().map(|name| {
            if ours(name) {
                format!("factor.{name}")
            } else {
                (*name).clone()
            }
        });
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        self.row(of(before).into_iter().chain(factors).chain(of(after)));
    }

    fn row<T: AsRef<str>>(&mut self, fields: impl IntoIterator<Item = T>) {
        for (at, field) in fields.into_iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            self.text.push_str(&quoted(field.as_ref()));
        }
        self.text.push('\n');
    }
}

/// Quoted where it holds a quote, a comma, a line's end, or a blank that a reader might trim; quotes in it are doubled.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) || field.starts_with(' ') || field.ends_with(' ') {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

fn factors<'a>(all: impl Iterator<Item = &'a Levels>) -> Vec<&'a String> {
    let names: BTreeSet<&String> = all.flat_map(|levels| levels.keys()).collect();
    names.into_iter().collect()
}

fn levels(levels: &Levels, factors: &[&String]) -> Vec<String> {
    factors
        .iter()
        .map(|factor| levels.get(*factor).cloned().unwrap_or_default())
        .collect()
}

fn statistics_of(figure: &Figure) -> [String; STATISTICS.len()] {
    let Figure {
        unit,
        per,
        n,
        mean,
        population_sd,
        sd,
        population_sd_ratio,
        quantiles,
        ci95,
        varied,
        run_means: _,
        first_against_rest,
        published: _, // Only runs have it, in a column of its own.
    } = figure;
    let [p50, p95, p99] = ["0.5", "0.95", "0.99"].map(|p| number(quantiles.get(p).copied()));
    let [low, high] = interval_ends(*ci95);
    let [first, rest] = interval_ends(*first_against_rest);
    [
        unit.clone(),
        per.clone(),
        n.to_string(),
        mean.to_string(),
        population_sd.to_string(),
        number(*sd),
        number(*population_sd_ratio),
        p50,
        p95,
        p99,
        low,
        high,
        varied.join(";"),
        first,
        rest,
    ]
}

fn saving(saving: Option<&Saving>) -> [String; 6] {
    let Some(saving) = saving else {
        return Default::default();
    };
    let [low, high] = interval_ends(saving.mean_ci95_s);
    let [median, p95, share] = [saving.median_s, saving.p95_s, saving.share].map(|value| value.to_string());
    [saving.mean_s.to_string(), low, high, median, p95, share]
}

fn interval_ends(interval: Option<[f64; 2]>) -> [String; 2] {
    interval.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn doubt_kinds(doubts: &[Doubt]) -> String {
    doubts
        .iter()
        .map(|doubt| doubt.kind.name())
        .collect::<Vec<_>>()
        .join(";")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::fixtures;

    /// A reader of RFC 4180, to test the writer.
    fn read(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut field, mut inside) = (Vec::new(), Vec::new(), String::new(), false);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' if inside && chars.peek() == Some(&'"') => field.extend(chars.next()),
                '"' => inside = !inside,
                ',' if !inside => row.push(std::mem::take(&mut field)),
                '\n' if !inside => {
                    row.push(std::mem::take(&mut field));
                    rows.push(std::mem::take(&mut row));
                }
                c => field.push(c),
            }
        }
        assert!(!inside && field.is_empty() && row.is_empty(), "the last row ends");
        rows
    }

    #[test]
    fn every_row_has_as_many_fields_as_the_head() {
        let (one, other) = (fixtures::run(), fixtures::run());
        for text in [
            render(&one),
            render(&fixtures::advice()),
            render(&compare(&one, &other, &[], false)),
            render(&fixtures::inspection()),
            render(&fixtures::tuning()),
            render(&fixtures::examination()),
            render(&fixtures::conformance()),
            render(&one.exhibits[0]),
        ] {
            let rows = read(&text);
            assert!(rows.len() > 1);
            assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let hostile = ["plain", "a,b", "say \"no\"", "two\nlines", "\r", " blank ", ""];
        let mut rows = Rows::default();
        rows.row(hostile);
        assert_eq!(read(&rows.text), [hostile.map(str::to_owned).to_vec()]);
    }

    #[test]
    fn a_run_has_a_row_a_cell_and_figure_with_numbers_in_full() {
        let mut one = fixtures::run();
        one.cells.truncate(1);
        one.cells[0].figures.retain(|name, _| name == "response_bytes");
        one.cells[0].levels.insert("case".to_owned(), "A, \"mixed\"".to_owned());
        let figure = one.cells[0].figures.values_mut().next().unwrap();
        figure.published = Some(Published::Range([675e3, 676e3]));
        let wanted = "part,case,codec,link,repeats,failed,valid,doubts,figure,unit,per,n,mean,population_sd,sd,\
                      population_sd_ratio,p50,p95,p99,ci95_low,\
                      ci95_high,varied,first,rest,published_low,published_high\n\
                      ,\"A, \"\"mixed\"\"\",identity,published/adsl-512k,5,0,true,slow-first-run,response_bytes,B,run,5,675490,0,0,0,675490,\
                      675490,675490,,,,702509.6,668735.1,675000,676000\n";
        assert_eq!(render(&one), wanted);
    }

    #[test]
    fn a_factor_called_like_a_column_is_told_apart() {
        let mut one = fixtures::run();
        one.cells[0].levels.insert("figure".to_owned(), "round".to_owned());
        assert!(read(&render(&one))[0].contains(&"factor.figure".to_owned()));
    }
}
