//! The findings and tables of the study `fidelity`.

use crate::fidelity::{Agreement, agreement_table, agreements, median_and_worst};
use crate::record_lookup::table;
use lastmile_report::number::{interval, percent, quantity};
use lastmile_report::record::{Run, Table};
use lastmile_study::catalogue::ComputedFinding;

/// A cell whose ratio differs from 1 by more than this is named as an exception. Our own choice.
const EXCEPTION: f64 = 0.05;

pub(crate) const FINDINGS: &[ComputedFinding] = &[("Without chance", without_chance), ("With chance", with_chance)];

fn without_chance(run: &Run) -> Option<String> {
    let cells = agreements(run);
    let cells: Vec<&Agreement> = cells.iter().filter(|cell| !cell.loses).collect();
    let (median, _) = median_and_worst(&cells, Agreement::difference)?;
    Some(format!(
        "Over {} cells whose links lose nothing at random, the median difference between simulated times and those of real kernels is \
         {}. {}",
        cells.len(),
        percent(median),
        exceptions(&cells, |cell| cell.difference() > EXCEPTION)
    ))
}

fn with_chance(run: &Run) -> Option<String> {
    let cells = agreements(run);
    let cells: Vec<&Agreement> = cells.iter().filter(|cell| cell.loses).collect();
    if cells.is_empty() {
        return None;
    }
    let beyond = |cell: &Agreement| {
        let [low, high] = cell.interval.unwrap_or([cell.ratio; 2]);
        low < 1.0 - EXCEPTION || high > 1.0 + EXCEPTION
    };
    Some(format!(
        "Over {} cells whose links lose frames at random (counted from the first, the same frames in both worlds), the 95 % interval of \
         the ratio lies within {} of 1 in {}. {}",
        cells.len(),
        percent(EXCEPTION),
        cells.iter().filter(|cell| !beyond(cell)).count(),
        exceptions(&cells, beyond)
    ))
}

/// The sentence that names the cells that are too far off.
fn exceptions(cells: &[&Agreement], is_one: impl Fn(&Agreement) -> bool) -> String {
    let named = |cell: &&&Agreement| {
        let interval = cell
            .interval
            .map_or_else(String::new, |range| format!(", {}", interval(range, "1")));
        let ratio = quantity(cell.ratio, "1");
        format!("{} over {} (ratio {ratio}{interval})", cell.workload, cell.link)
    };
    let found: Vec<String> = cells
        .iter()
        .filter(|cell| is_one(cell))
        .map(|cell| named(&cell))
        .collect();
    if found.is_empty() {
        format!("No cell is off by more than {}.", percent(EXCEPTION))
    } else {
        format!("Off by more than {}: {}.", percent(EXCEPTION), found.join("; "))
    }
}

pub(crate) fn exhibits(run: &Run) -> Vec<Table> {
    let cells = agreements(run);
    if cells.is_empty() {
        return Vec::new();
    }
    let note = "The simulated world's figure divided by the emulated world's, for each pair of repeats.".to_owned();
    let agreement = agreement_table("Simulated against emulated", note, &cells);
    [Some(agreement), medians(&cells)].into_iter().flatten().collect()
}

/// The median times of each cell in both worlds.
fn medians(cells: &[Agreement]) -> Option<Table> {
    let row = |cell: &Agreement| {
        vec![
            cell.workload.clone(),
            cell.link.clone(),
            quantity(cell.kernel, "s"),
            quantity(cell.simulated, "s"),
            quantity(cell.ratio, "1"),
            cell.interval
                .map_or_else(|| "-".to_owned(), |range| interval(range, "1")),
        ]
    };
    table(
        "Median times in both worlds",
        "For bulk, of the whole transfer; for exchanges, of one response. The ratio is the mean over pairs of repeats.",
        &["Workload", "Link", "Kernel", "Simulated", "Ratio", "95 % interval"],
        cells.iter().map(row).collect(),
    )
}
