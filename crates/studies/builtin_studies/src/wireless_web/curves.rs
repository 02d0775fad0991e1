//! Curves over the rate of requests, and what is read from them.

use crate::record_lookup::{cell, levels_of};
use lastmile_report::record::{Cell, Run};
use lastmile_statistics::LoadPoint;

/// A rate counts as carried where at least this share of its requests is completed in time: our own choice.
pub(super) const CARRIED_SHARE: f64 = 0.98;

/// The cells of a part that have `levels`, in the order of their rates.
pub(super) fn curve<'a>(run: &'a Run, part: &str, levels: &[(&str, &str)]) -> Vec<(f64, &'a Cell)> {
    let rates = levels_of(run, part, "rate");
    let at = |rate: &str| {
        let levels: Vec<_> = levels.iter().copied().chain([("rate", rate)]).collect();
        Some((rate.parse().ok()?, cell(run, part, &levels)?))
    };
    rates.into_iter().filter_map(at).collect()
}

/// The mean of a figure; 0 where the cell has no sample of it.
pub(super) fn mean(cell: &Cell, name: &str) -> f64 {
    cell.figures.get(name).map_or(0.0, |figure| figure.mean)
}

/// The rate with the greatest mean of a figure, and that mean.
pub(super) fn peak(curve: &[(f64, &Cell)], name: &str) -> Option<(f64, f64)> {
    let means = curve.iter().map(|(rate, cell)| (*rate, mean(cell, name)));
    means.max_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// The rate at the knee of a curve, by the rule that charts and `load` have.
pub(super) fn knee(curve: &[(f64, &Cell)]) -> Option<f64> {
    let point = |(_, cell): &(f64, &Cell)| LoadPoint {
        throughput: mean(cell, "transaction_rate"),
        response_time: cell.figures.get("response_time").map(|figure| figure.mean),
        error_rate: mean(cell, "error_rate"),
    };
    let points: Vec<LoadPoint> = curve.iter().map(point).collect();
    Some(curve[lastmile_statistics::knee(&points)?].0)
}

/// The highest rate up to which every rate is carried; the rates are those of all clients together.
pub(super) fn carried(curve: &[(f64, &Cell)]) -> Option<f64> {
    let is_carried = |(rate, cell): &&(f64, &Cell)| mean(cell, "transaction_rate") >= CARRIED_SHARE * rate;
    curve.iter().take_while(is_carried).last().map(|(rate, _)| *rate)
}

/// A number of clients, in words: `1 client`, `2 clients`.
pub(super) fn clients(number: &str) -> String {
    format!("{number} client{}", if number == "1" { "" } else { "s" })
}

/// The 99th percentile of connection durations in terms of the median; none where no connection was established.
pub(super) fn tail(cell: &Cell) -> Option<f64> {
    let quantiles = &cell.figures.get("connection_duration")?.quantiles;
    Some(quantiles.get("0.99")? / quantiles.get("0.5")?)
}
