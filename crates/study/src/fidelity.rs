//! How well does the simulated world stand for real kernels? What the study `fidelity` found, summed up, and kept for every report.
//!
//! A ratio is the simulated world's figure over the emulated one's. [`Agreement`] sums ratios up; [`recorded`] is what a run on a
//! machine at hand gave, so that a report of the simulated world can say what its figures are worth. `make fidelity` records it anew.

use crate::statistics::quantile;
use lastmile_report::number::percent;
use lastmile_report::record::{Cell, Ratio, Run, Table};
use serde::{Deserialize, Serialize};

/// The ratios' name in the study.
pub const RATIO: &str = "sim_over_emu";
/// The study's name.
pub const STUDY: &str = "fidelity";

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
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
    /// Over what it was delivered.
    pub link: String,
    /// What was delivered.
    pub workload: String,
    /// Whether the link loses at random.
    pub loses: bool,
    /// What the middle repeat took over real kernels, in seconds: of bulk, the whole transfer; of exchanges, one response.
    pub kernel: f64,
    /// What it took in the simulated world.
    pub simulated: f64,
    /// How many pairs of repeats.
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

    /// None where the run lacks a cell of the pair.
    fn of(ratio: &Ratio, run: &Run) -> Option<Self> {
        let level = |key: &str| ratio.levels.get(key).cloned().unwrap_or_default();
        let in_world = |world: &str| {
            let is_of_pair = |cell: &&Cell| {
                let mut levels = cell.levels.clone();
                levels.remove("world").as_deref() == Some(world) && levels == ratio.levels
            };
            middle(run.cells.iter().find(is_of_pair)?)
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

/// The figures that cells are compared by, the first that a cell has.
const FIGURES: [&str; 2] = ["response_time", "transfer_time"];

/// What the middle repeat of a cell took, in seconds.
fn middle(cell: &Cell) -> Option<f64> {
    let figure = FIGURES.iter().find_map(|name| cell.figures.get(*name))?;
    figure.quantiles.get("0.5").copied()
}

/// What a run of the study says of each of its cells.
pub fn agreements(run: &Run) -> Vec<Agreement> {
    let ratios = run.ratios.iter().filter(|ratio| ratio.name == RATIO);
    ratios.filter_map(|ratio| Agreement::of(ratio, run)).collect()
}

impl Recorded {
    /// What `run`, made on `machine`, found.
    pub fn of(run: &Run, machine: String) -> Self {
        Self {
            machine,
            version: run.version.clone(),
            cells: agreements(run),
        }
    }
}

/// The record that comes with lastmile.
pub fn recorded() -> Recorded {
    toml::from_str(include_str!("fidelity/recorded.toml")).expect("the record is well-formed: a test reads it")
}

/// What a report of the simulated world says of its worth.
pub fn exhibit() -> Table {
    let recorded = recorded();
    let note = format!(
        "Recorded with lastmile {} on {}: the figure of the simulated world over that of real kernels across the same links, whose \
         transfer times and response times it is of. `lastmile run fidelity` measures it on this machine.",
        recorded.version, recorded.machine
    );
    summary("Simulated against emulated", note, &recorded.cells)
}

/// The agreement of cells without chance and of those with it.
pub fn summary(title: &str, note: String, cells: &[Agreement]) -> Table {
    let row = |what: &str, loses: bool| {
        let of_kind: Vec<&Agreement> = cells.iter().filter(|cell| cell.loses == loses).collect();
        let differences: Vec<f64> = of_kind.iter().map(|cell| cell.difference()).collect();
        let worst = of_kind
            .iter()
            .max_by(|one, other| one.difference().total_cmp(&other.difference()))?;
        Some(vec![
            what.to_owned(),
            of_kind.len().to_string(),
            percent(quantile(&differences, 0.5)?),
            percent(worst.difference()),
            format!("{} over {}", worst.workload, worst.link),
        ])
    };
    let rows = [
        row("that lose nothing at random", false),
        row("that lose at random", true),
    ];
    Table {
        title: title.to_owned(),
        note,
        columns: ["Links", "Cells", "Median difference", "Largest", "Of"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.into_iter().flatten().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostTable;
    use crate::experiment::Programs;
    use crate::runner::{Experiment, RunContext};
    use crate::settings::World;
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
        let rows = summary("", String::new(), &cells).rows;
        assert_eq!(rows[0][1..], ["3", "1 %", "4 %", "1 MB over 1.04"]);
        assert_eq!(rows[1][1..], ["1", "10 %", "10 %", "1 MB over 0.9"]);
    }

    #[test]
    fn the_simulated_tcp_still_takes_what_real_kernels_took() {
        let study = crate::builtin::find(STUDY).unwrap().study();
        let recorded = recorded();
        let context = RunContext {
            seed: Seed::new(study.seed),
            repeats: 0..1,
            interval: Duration::ZERO,
            costs: &CostTable::free(),
            captures: None,
        };
        let mut differences = Vec::new();
        let mut cells = crate::cell::expand(&study).unwrap();
        cells.retain(|cell| cell.world() == World::Simulated);
        assert_eq!(
            recorded.cells.len(),
            cells.len(),
            "what is recorded is of the study as it is"
        );
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
            let observation = Programs.run(cell, &context).remove(0).unwrap();
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
