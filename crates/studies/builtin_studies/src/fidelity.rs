//! How closely the simulated world matches real kernels: a summary of the study `fidelity`, recorded for every report.
//!
//! A ratio is the simulated world's figure divided by the emulated one's. [`Agreement`] summarises ratios; [`recorded`] is the
//! recorded run, which a report of the simulated world shows so that its figures can be judged. `make fidelity` records a new one.

pub(crate) mod findings;
pub mod pages;
pub(crate) mod pages_findings;

use lastmile_report::number::percent;
use lastmile_report::record::{Cell, Ratio, Run, Table};
use lastmile_statistics::quantile;
use lastmile_study::cell::{Cell as StudyCell, Expanded};
use lastmile_testbed::settings::World;
use serde::{Deserialize, Serialize};

/// The ratios' name in the study.
pub const RATIO: &str = "sim_over_emu";
/// The study's name.
pub const STUDY: &str = "fidelity";
/// The delivery of its cells.
const MEASURED_DELIVERY: &str = "tcp";

/// The findings of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRun {
    /// The machine, and its kernel.
    pub machine: String,
    /// The version of lastmile.
    pub version: String,
    /// Its cells.
    #[serde(rename = "cell")]
    pub cells: Vec<Agreement>,
}

/// How far a cell's two worlds agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// The link.
    pub link: String,
    /// The workload.
    pub workload: String,
    /// Whether the link loses at random.
    pub loses: bool,
    /// The median time over real kernels, in seconds: for bulk, of the whole transfer; for exchanges, of one response.
    pub kernel: f64,
    /// The median time in the simulated world, in seconds.
    pub simulated: f64,
    /// The number of pairs of repeats.
    pub pairs: u64,
    /// The mean of the ratio.
    pub ratio: f64,
    /// Its 95 % interval, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

impl Agreement {
    /// How far the ratio is from 1.
    pub fn difference(&self) -> f64 {
        (self.ratio - 1.0).abs()
    }

    /// The agreement of a pair of cells; none where the run lacks one of them.
    fn from_ratio(ratio: &Ratio, run: &Run) -> Option<Self> {
        let level = |key: &str| ratio.levels.get(key).cloned().unwrap_or_default();
        let in_world = |world: &str| {
            let is_of_pair = |cell: &&Cell| {
                let mut levels = cell.levels.clone();
                levels.remove("world").as_deref() == Some(world) && levels == ratio.levels
            };
            median_time(run.cells.iter().find(is_of_pair)?)
        };
        Some(Self {
            link: level("link"),
            workload: level("workload"),
            loses: ratio.varied.iter().any(|source| source == "loss"),
            kernel: in_world("emu")?,
            simulated: in_world("sim")?,
            pairs: ratio.n,
            ratio: ratio.mean,
            interval: ratio.ci95,
        })
    }
}

/// The figures that cells are compared by; the first that a cell has is used.
const FIGURES: [&str; 2] = ["response_time", "transfer_time"];

/// The median time of a cell, in seconds.
fn median_time(cell: &Cell) -> Option<f64> {
    let figure = FIGURES.iter().find_map(|name| cell.figures.get(*name))?;
    figure.quantiles.get("0.5").copied()
}

/// The agreement of each cell of a run.
pub fn agreements(run: &Run) -> Vec<Agreement> {
    let ratios = run.ratios.iter().filter(|ratio| ratio.name == RATIO);
    ratios.filter_map(|ratio| Agreement::from_ratio(ratio, run)).collect()
}

impl RecordedRun {
    /// The record of `run`, made on `machine`.
    pub fn from_run(run: &Run, machine: String) -> Self {
        Self {
            machine,
            version: run.version.clone(),
            cells: agreements(run),
        }
    }
}

/// The record that comes with lastmile.
pub fn recorded() -> RecordedRun {
    toml::from_str(include_str!("fidelity/recorded.toml")).expect("the record is well-formed: a test reads it")
}

/// The table that shows how far simulated transfers over wired TCP agree with those of real kernels.
pub fn accuracy_table() -> Table {
    let recorded = recorded();
    let note = format!(
        "Recorded with lastmile {} on {}: times of bulk transfers and of exchanges over TCP (Cubic) on wired links in the simulated world, \
         divided by those of real kernels over the same links. It says nothing of radios, pages or events. `lastmile run fidelity` measures \
         it on this machine.",
        recorded.version, recorded.machine
    );
    agreement_table("Simulated against emulated", note, &recorded.cells)
}

/// Adds the table of accuracy to the record of a run with simulated cells of the kind that was measured, except a run of the study that
/// measures it.
pub fn annotate(expanded: &Expanded<'_>, run: &mut Run) {
    if simulates_what_was_measured(expanded) {
        run.exhibits.push(accuracy_table());
    }
}

fn simulates_what_was_measured(expanded: &Expanded<'_>) -> bool {
    let is_measured =
        |cell: &StudyCell| cell.world() == World::Simulated && cell.settings.delivery().as_str() == MEASURED_DELIVERY;
    expanded.study.name != STUDY && expanded.cells.iter().any(is_measured)
}

/// The median difference of some comparisons, and the one with the largest. None where there are none.
fn median_and_worst<'a, T>(all: &[&'a T], difference: fn(&T) -> f64) -> Option<(f64, &'a T)> {
    let differences: Vec<f64> = all.iter().map(|one| difference(one)).collect();
    let worst = all
        .iter()
        .max_by(|one, other| difference(one).total_cmp(&difference(other)))?;
    Some((quantile(&differences, 0.5)?, worst))
}

/// The agreement of cells without random loss and of those with it.
pub fn agreement_table(title: &str, note: String, cells: &[Agreement]) -> Table {
    let row = |what: &str, loses: bool| {
        let of_kind: Vec<&Agreement> = cells.iter().filter(|cell| cell.loses == loses).collect();
        let (median, worst) = median_and_worst(&of_kind, Agreement::difference)?;
        Some(vec![
            what.to_owned(),
            of_kind.len().to_string(),
            percent(median),
            percent(worst.difference()),
            format!("{} over {}", worst.workload, worst.link),
        ])
    };
    let rows = [row("without random loss", false), row("with random loss", true)];
    Table {
        title: title.to_owned(),
        note,
        columns: ["Links", "Cells", "Median difference", "Largest", "In"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.into_iter().flatten().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::STUDIES;
    use crate::tests::{CATALOGUE, DELIVERIES};
    use lastmile_study::cell::expand;
    use lastmile_study::file::Study;
    use lastmile_study::runner::{Experiment, RunContext};
    use lastmile_testbed::cpu_cost_model::CostTable;
    use lastmile_units::Seed;
    use std::time::Duration;

    fn cell(loses: bool, ratio: f64) -> Agreement {
        Agreement {
            link: format!("{ratio}"),
            workload: "1 MB".to_owned(),
            loses,
            kernel: 1.0,
            simulated: ratio,
            pairs: 10,
            ratio,
            interval: None,
        }
    }

    #[test]
    fn cells_with_and_without_chance_are_summed_up_apart() {
        let cells = [cell(false, 0.99), cell(false, 1.0), cell(false, 1.04), cell(true, 0.9)];
        let rows = agreement_table("", String::new(), &cells).rows;
        assert_eq!(rows[0][1..], ["3", "1 %", "4 %", "1 MB over 1.04"]);
        assert_eq!(rows[1][1..], ["1", "10 %", "10 %", "1 MB over 0.9"]);
    }

    #[test]
    fn accuracy_is_stated_only_where_wired_tcp_is_simulated() {
        let stated = |study: &Study| simulates_what_was_measured(&expand(study).unwrap());
        let of_built_in = STUDIES.iter().filter(|builtin| stated(&builtin.study()));
        assert_eq!(of_built_in.map(|builtin| builtin.name).collect::<Vec<_>>(), ["bulk"]);
        let bulk = CATALOGUE.find("bulk").unwrap().study();
        assert!(!stated(&bulk.in_world(World::Emulated, false)));
    }

    #[test]
    fn the_simulated_tcp_still_takes_what_real_kernels_took() {
        let study = CATALOGUE.find(STUDY).unwrap().study();
        let recorded = recorded();
        let context = RunContext {
            seed: Seed::new(study.seed),
            repeats: 0..1,
            interval: Duration::ZERO,
            costs: &CostTable::free(),
            captures: None,
            observer: None,
        };
        let mut differences = Vec::new();
        let mut cells = expand(&study).unwrap().cells;
        cells.retain(|cell| cell.world() == World::Simulated);
        assert_eq!(recorded.cells.len(), cells.len(), "the record is of the present study");
        for cell in &cells {
            let is = |key: &str, level: &String| cell.levels.get(key) == Some(level);
            let of_cell = |known: &&Agreement| is("link", &known.link) && is("workload", &known.workload);
            let known = recorded
                .cells
                .iter()
                .find(of_cell)
                .unwrap_or_else(|| panic!("{}", cell.describe()));
            if known.loses {
                continue;
            }
            let observation = DELIVERIES.run(cell, &context).remove(0).unwrap();
            let samples = FIGURES.iter().find_map(|name| observation.figures.get(*name)).unwrap();
            let difference = (quantile(samples, 0.5).unwrap() / known.kernel - 1.0).abs();
            assert!(
                difference < 0.05,
                "{} over {}: {difference}",
                known.workload,
                known.link
            );
            differences.push(difference);
        }
        assert!(differences.len() >= 12);
        assert!(quantile(&differences, 0.5).unwrap() < 0.02, "{differences:?}");
    }
}
