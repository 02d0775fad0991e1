//! The table of the figures that the slides print, beside ours.

use super::curves::{clients, curve, knee, mean, peak};
use crate::record_lookup;
use lastmile_report::number::quantity;
use lastmile_report::record::{Cell, Run, Table};

pub(super) fn table(run: &Run) -> Option<Table> {
    let mut rows = Vec::new();
    let mut add = |experiment: &str, figure: &str, printed: &str, measured: Option<String>| {
        if let Some(measured) = measured {
            rows.push([experiment, figure, printed, &measured].map(str::to_owned).to_vec());
        }
    };
    let rate = |rate: f64| format!("{}/s", quantity(rate, ""));
    let at = |(at, value): (f64, f64), unit| format!("{} at {at}/s", quantity(value, unit));
    let one = curve(run, "request-rate", &[]);
    add("1", "Knee", "85/s", knee(&one).map(rate));
    let response = |(rate, cell): &(f64, &Cell)| Some(at((*rate, cell.figures.get("response_time")?.mean), "s"));
    let (low, high) = (one.first().and_then(response), one.last().and_then(response));
    add("1", "Response time at low load", "about 9 ms", low);
    add("1", "Response time in overload", "over 2 s", high);
    let goodput = peak(&one, "goodput");
    add("1", "Peak goodput", "0.9 Mbit/s", goodput.map(|peak| at(peak, "bit/s")));
    let transactions = |curve: &[(f64, &Cell)]| peak(curve, "transaction_rate").map(|peak| at(peak, "1/s"));
    add("1", "Peak of transactions", "100/s", transactions(&one));
    for number in ["2", "3", "4"] {
        let curve = curve(run, "clients", &[("clients", number)]);
        let of = clients(number);
        let (most, share) = if number == "4" {
            ("110/s", "equal")
        } else {
            ("", "unfair in overload")
        };
        add("3", &format!("Peak of transactions, {of}"), most, transactions(&curve));
        let fairness = curve.iter().map(|(rate, cell)| (*rate, mean(cell, "fairness")));
        let least = fairness.min_by(|(_, one), (_, other)| one.total_cmp(other));
        add(
            "3",
            &format!("Least fairness (Jain), {of}"),
            share,
            least.map(|least| at(least, "1")),
        );
    }
    for number in ["1", "2"] {
        let curve = curve(run, "persistent", &[("clients", number)]);
        let of = clients(number);
        let persistent = peak(&curve, "goodput");
        let peak = persistent.map(|peak| at(peak, "bit/s"));
        add("4", &format!("Peak goodput, persistent, {of}"), "3.22 Mbit/s", peak);
        let ratio = persistent
            .zip(goodput)
            .map(|((_, many), (_, single))| quantity(many / single, "1"));
        add("4", &format!("Improvement by persistence, {of}"), "3.5", ratio);
    }
    let bulk = peak(&curve(run, "bulk", &[]), "goodput").map(|peak| at(peak, "bit/s"));
    add("-", "Peak goodput of large transfers", "up to 4 Mbit/s", bulk);
    record_lookup::table(
        "What the slides print, beside our figures",
        "The slides print these in words or as peaks that belong to no single cell. The knee is the rate with the greatest ratio of transactions to mean response time, below the first at which more than 1 % of the requests fail.",
        &["Experiment", "Figure", "Printed", "Measured"],
        rows,
    )
}
