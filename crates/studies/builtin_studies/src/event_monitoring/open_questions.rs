//! What the slides leave open, and what our cells say about it.

use crate::record_lookup::{cell, levels_of};
use lastmile_report::number::quantity;
use lastmile_report::record::{Figure, Run};
use lastmile_statistics::quantile;

/// What of a first query's time a connection explains, beside the printed first query and the median of its others.
pub(super) fn first_query(run: &Run) -> Option<String> {
    const PRINTED: (f64, f64) = (4.549, 0.203);
    let mut parts = Vec::new();
    let mut costliest = (f64::MIN, "");
    for link in levels_of(run, "first-query", "link") {
        let cell = cell(run, "first-query", &[("link", link), ("persistent", "on")])?;
        let [first, later] = first_and_later(cell.figures.get("query_time")?)?;
        if first - later > costliest.0 {
            costliest = (first - later, link);
        }
        parts.push(format!(
            "{} and a later one {} ({link})",
            quantity(first, "s"),
            quantity(later, "s")
        ));
    }
    if parts.is_empty() {
        return None;
    }
    Some(format!(
        "Over a connection that stays open, the first query takes {}; later ones by their median. Opening a connection and TCP's slow start cost most over {}: {}, of the {} by which the printed first query took longer than the median of the others. What remains is of the programs: classes that are loaded, code that is compiled, and data that was pulled from the sensor for the first time.",
        parts.join(", "),
        costliest.1,
        quantity(costliest.0, "s"),
        quantity(PRINTED.0 - PRINTED.1, "s"),
    ))
}

/// The first query's time, and the median of the later ones: their mean would be that of one which was slow.
fn first_and_later(query_time: &Figure) -> Option<[f64; 2]> {
    match query_time.run_means.split_first() {
        Some((first, later)) => Some([*first, quantile(later, 0.5)?]),
        // Queries that are all alike have no means of their own in the record.
        None => query_time.first_against_rest,
    }
}
