//! Runs of a study that are made of other verbs' records, so that two of these are compared as two runs are.
//!
//! Each product says which of its figures belong to which cell.

use crate::figure::Moments;
use crate::record::{Cell, Doubt, Figure, Run};

impl Run {
    /// A run of these cells, with neither charts nor findings; `study` is equal in records that ask the same of the same input.
    pub fn of_cells(study: String, version: &str, seed: u64, cells: Vec<Cell>) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            run: study.clone(),
            study,
            question: String::new(),
            world: "sim".to_owned(),
            cpu: "none".to_owned(),
            cpu_machine: String::new(),
            seed,
            fresh: "repeat".to_owned(),
            version: version.to_owned(),
            cells,
            ratios: Vec::new(),
            findings: Vec::new(),
            exhibits: Vec::new(),
            charts: Vec::new(),
            thresholds: Vec::new(),
        }
    }
}

impl Cell {
    /// A valid cell with these levels and the figures that there are.
    pub fn of_figures<const L: usize, const F: usize>(
        part: &str,
        levels: [(&str, &str); L],
        figures: [(&str, Option<Figure>); F],
        doubts: &[Doubt],
    ) -> Self {
        let levels = levels.map(|(factor, level)| (factor.to_owned(), level.to_owned()));
        let figures = figures
            .into_iter()
            .filter_map(|(name, figure)| Some((name.to_owned(), figure?)));
        Self {
            part: Some(part.to_owned()),
            levels: levels.into(),
            repeats: 1,
            failed: 0,
            figures: figures.collect(),
            valid: true,
            doubts: doubts.to_vec(),
        }
    }
}

impl Figure {
    /// A value that does not vary, in `unit`.
    pub fn of_value(unit: &str, value: f64) -> Self {
        let moments = Moments {
            n: 1,
            mean: value,
            ..Moments::default()
        };
        Self::of_moments(unit, "run", moments, |_| Some(value))
    }
}
