//! How closely simulated page loads match a real browser's: what the study `fidelity-pages` found, recorded for every answer about pages.
//!
//! `make fidelity-pages` records a new run.

use super::median_and_worst;
use lastmile_report::model_error::ModelError;
use lastmile_report::number::quantity;
use lastmile_report::record::{Cell, Run};
use serde::{Deserialize, Serialize};

/// The study's name.
pub const STUDY: &str = "fidelity-pages";

/// The figure that pages are compared by.
const FIGURE: &str = "page_time";

/// The findings of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedPages {
    /// The machine that Chromium ran on, and its kernel.
    pub machine: String,
    /// The version of lastmile.
    pub version: String,
    /// How often each page was loaded in each world.
    pub repeats: u64,
    /// How many page loads were disturbed by other programs, and are left out.
    pub disturbed: u64,
    /// The page loads.
    #[serde(rename = "page")]
    pub pages: Vec<PageAgreement>,
}

/// How long a page took in both worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageAgreement {
    /// The page.
    pub page: String,
    /// The link.
    pub link: String,
    /// The browser's version of HTTP: `browser/2`.
    pub delivery: String,
    /// The content coding.
    pub codec: String,
    /// Chromium's mean page time, in seconds.
    pub chromium: f64,
    /// The simulated mean page time, in seconds.
    pub simulated: f64,
}

impl PageAgreement {
    /// How far the simulated time is from Chromium's, as a share of that.
    pub fn difference(&self) -> f64 {
        (self.simulated / self.chromium - 1.0).abs()
    }

    /// Which load it is, and its ratio.
    pub fn describe(&self) -> String {
        format!(
            "{} over {}, {}, {}: ratio {}",
            self.page,
            self.link,
            self.delivery,
            self.codec,
            quantity(self.simulated / self.chromium, "1")
        )
    }
}

/// The page loads of `run` that are valid in both worlds, and how many are not.
pub fn agreements(run: &Run) -> (Vec<PageAgreement>, u64) {
    let in_world = |world: &'static str| {
        let is_there = move |cell: &&Cell| cell.levels.get("world").is_some_and(|level| level == world);
        run.cells.iter().filter(is_there)
    };
    let other_levels = |cell: &Cell| {
        let mut levels = cell.levels.clone();
        levels.remove("world");
        levels
    };
    let mean = |cell: &Cell| {
        let figure = cell.figures.get(FIGURE).filter(|_| cell.valid);
        figure.map(|figure| figure.mean)
    };
    let (mut pages, mut disturbed) = (Vec::new(), 0);
    for real in in_world("emu") {
        let levels = other_levels(real);
        let simulated = in_world("sim").find(|cell| other_levels(cell) == levels);
        let (Some(chromium), Some(simulated)) = (mean(real), simulated.and_then(mean)) else {
            disturbed += 1;
            continue;
        };
        let level = |key: &str| levels.get(key).cloned().unwrap_or_default();
        pages.push(PageAgreement {
            page: level("workload"),
            link: level("link"),
            delivery: level("delivery"),
            codec: level("codec"),
            chromium,
            simulated,
        });
    }
    (pages, disturbed)
}

/// The median difference of some page loads, and the load with the largest. None where there are no loads.
pub fn summary<'a>(of: &[&'a PageAgreement]) -> Option<(f64, &'a PageAgreement)> {
    median_and_worst(of, PageAgreement::difference)
}

impl RecordedPages {
    /// The record of `run`, made on `machine`. Cells that are invalid in either world are left out.
    pub fn from_run(run: &Run, machine: String) -> Self {
        let (pages, disturbed) = agreements(run);
        Self {
            machine,
            version: run.version.clone(),
            repeats: run.cells.iter().map(|cell| cell.repeats).max().unwrap_or_default(),
            disturbed,
            pages,
        }
    }

    /// The summary that answers about pages tell. None where nothing was compared.
    pub fn model_error(&self) -> Option<ModelError> {
        let (median, worst) = summary(&self.pages.iter().collect::<Vec<_>>())?;
        Some(ModelError {
            study: STUDY.to_owned(),
            pages: self.pages.len() as u64,
            median,
            worst: worst.difference(),
        })
    }
}

/// The record that comes with lastmile.
pub fn recorded() -> RecordedPages {
    toml::from_str(include_str!("recorded_pages.toml")).expect("the record is well-formed: a test reads it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{CATALOGUE, DELIVERIES};
    use lastmile_statistics::quantile;
    use lastmile_study::cell::expand;
    use lastmile_study::runner::{Experiment, RunContext};
    use lastmile_testbed::cpu_cost_model::{Choice, CostTable};
    use lastmile_testbed::settings::World;
    use lastmile_units::Seed;
    use std::time::Duration;

    /// All pages over two of the links, so that the test takes seconds.
    #[test]
    fn simulated_pages_still_take_what_chromium_took() {
        let study = CATALOGUE.find(STUDY).expect("the study is built in").study();
        let recorded = recorded();
        let costs = CostTable::load(&Choice::Reference).expect("it ships with lastmile");
        let context = RunContext {
            seed: Seed::new(study.seed),
            repeats: 0..1,
            interval: Duration::ZERO,
            costs: &costs,
            captures: None,
            observer: None,
        };
        let mut cells = expand(&study).expect("its cells differ").cells;
        cells.retain(|cell| cell.world() == World::Simulated);
        let pages = recorded.pages.len() + recorded.disturbed as usize;
        assert_eq!(pages, cells.len(), "the record is of the present study");
        let mut differences = Vec::new();
        for cell in &cells {
            let is = |key: &str, level: &String| cell.levels.get(key) == Some(level);
            let of_cell = |known: &&PageAgreement| {
                is("workload", &known.page)
                    && is("link", &known.link)
                    && is("delivery", &known.delivery)
                    && is("codec", &known.codec)
            };
            let Some(known) = recorded.pages.iter().find(of_cell) else {
                continue;
            };
            if known.codec != "gzip:6" || !(known.link.starts_with("wpt/3g") || known.link.starts_with("wpt/cable")) {
                continue;
            }
            let observation = DELIVERIES.run(cell, &context).remove(0).expect("pages load");
            let difference = (observation.figures[FIGURE][0] / known.chromium - 1.0).abs();
            assert!(difference < 0.2, "{}: {difference}", cell.describe());
            differences.push(difference);
        }
        assert!(differences.len() > 40, "{}", differences.len());
        let median = quantile(&differences, 0.5).expect("some were compared");
        assert!(median < 0.05, "{median}");
    }

    #[test]
    fn ratios_between_compressed_codings_are_as_close_to_chromiums_as_recommendations_assume() {
        let recorded = recorded();
        let of = |codec: &'static str| recorded.pages.iter().filter(move |page| page.codec == codec);
        let pairs = of("gzip:6").flat_map(|one| {
            let same = move |other: &&PageAgreement| {
                (&other.page, &other.link, &other.delivery) == (&one.page, &one.link, &one.delivery)
            };
            of("br:5").filter(same).map(move |other| (one, other))
        });
        let differences: Vec<f64> = pairs
            .map(|(one, other)| ((one.simulated / other.simulated) / (one.chromium / other.chromium) - 1.0).abs())
            .collect();
        assert!(differences.len() > 90, "{}", differences.len());
        let found = differences.into_iter().fold(0.0, f64::max);
        let assumed = ModelError::OF_RATIOS;
        assert!(found <= assumed && found > assumed / 2.0, "{found}");
    }

    #[test]
    fn the_summary_has_the_median_and_the_worst() {
        let page = |simulated: f64| PageAgreement {
            page: "a".to_owned(),
            link: "wpt/3g".to_owned(),
            delivery: "browser/2".to_owned(),
            codec: "identity".to_owned(),
            chromium: 2.0,
            simulated,
        };
        let recorded = RecordedPages {
            machine: String::new(),
            version: String::new(),
            repeats: 1,
            disturbed: 0,
            pages: [1.8, 2.0, 2.06].map(page).to_vec(),
        };
        let error = recorded.model_error().expect("pages were compared");
        assert_eq!(error.pages, 3);
        assert!(
            (error.median - 0.03).abs() < 1e-9 && (error.worst - 0.1).abs() < 1e-9,
            "{error:?}"
        );
    }
}
