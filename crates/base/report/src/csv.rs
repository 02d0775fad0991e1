//! Renders records as CSV for a spreadsheet, pandas or R.
//!
//! One head, then one row per cell and figure, numbers in full and in base units. Fields are quoted as in RFC 4180 section 2; rows
//! end in a line feed alone, which every reader accepts and every Unix tool prefers.

use crate::compare::Comparison;
use crate::document::{Record, row_head};
use crate::record::{Doubt, Figure, Levels, Published, Run};
use std::collections::BTreeSet;

/// The columns of a figure's statistics.
pub const STATISTICS: [&str; 15] = [
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
            let mut row = row_head(Some(&cell.part), &cell.levels, &factors);
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
            let mut row = row_head(Some(&cell.part), &cell.levels, &factors);
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

/// The rows of a record, as CSV.
#[derive(Debug, Default)]
pub struct Rows {
    text: String,
}

impl Rows {
    /// Columns `before`, one per factor, and `after`. A factor with the name of one of our columns is written `factor.NAME`.
    pub fn head(&mut self, before: &[&str], factors: &[String], after: &[&str]) {
        let ours = |name: &str| before.contains(&name) || after.contains(&name);
        let factors = factors.iter().map(|name| {
            if ours(name) {
                format!("factor.{name}")
            } else {
                name.clone()
            }
        });
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        self.row(of(before).into_iter().chain(factors).chain(of(after)));
    }

    pub fn row<T: AsRef<str>>(&mut self, fields: impl IntoIterator<Item = T>) {
        for (at, field) in fields.into_iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            self.text.push_str(&quoted(field.as_ref()));
        }
        self.text.push('\n');
    }

    pub(crate) fn into_text(self) -> String {
        self.text
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

fn factors<'a>(all: impl Iterator<Item = &'a Levels>) -> Vec<String> {
    let names: BTreeSet<&String> = all.flat_map(|levels| levels.keys()).collect();
    names.into_iter().cloned().collect()
}

/// The statistics of a figure, in the order of [`STATISTICS`].
pub fn statistics_of(figure: &Figure) -> [String; STATISTICS.len()] {
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

/// Both ends of an interval; empty where there is none.
pub fn interval_ends(interval: Option<[f64; 2]>) -> [String; 2] {
    interval.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()))
}

/// A number in full; empty where there is none.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The kinds of doubts, joined by semicolons.
pub fn doubt_kinds(doubts: &[Doubt]) -> String {
    doubts
        .iter()
        .map(|doubt| doubt.kind.name())
        .collect::<Vec<_>>()
        .join(";")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_csv as read;
    use crate::tests::fixtures;

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
