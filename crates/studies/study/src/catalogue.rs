//! Built-in studies, and the catalogue of them that the binary hands to whatever finds and annotates studies.
//!
//! A [`Builtin`] has a study file, and functions that make findings and extra tables from the figures of a run. Crates above this one
//! have the built-in studies; a [`Catalogue`] finds them.

use crate::file::{FindingSpec, Study};
use crate::settings::Settings;
use lastmile_report::record::{Finding, Run, Table};
use lastmile_units::suggest;

/// The title of a finding, and the code that makes its text.
pub type ComputedFinding = (&'static str, fn(&Run) -> Option<String>);

/// A study that is compiled in.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// Its name, as in its file.
    pub name: &'static str,
    /// Its file.
    pub toml: &'static str,
    /// The code of findings that the file names and has no text for. A run may lack cells: findings that need them are left out.
    pub findings: &'static [ComputedFinding],
    /// Extra tables made from its figures.
    pub exhibits: fn(&Run) -> Vec<Table>,
}

impl Builtin {
    /// The study that its file describes.
    ///
    /// # Panics
    /// When its file is not a study.
    pub fn study(&self) -> Study {
        Study::parse(self.name, self.toml).expect("a built-in study is well-formed: a test reads them all")
    }

    /// The findings in a run, in the order of the study's file.
    pub fn findings(&self, run: &Run) -> Vec<Finding> {
        let finding = |spec: &FindingSpec| match self.findings.iter().find(|(title, _)| *title == spec.title) {
            Some((_, text)) => Some(spec.with_text(text(run)?)),
            None => spec.in_run(run),
        };
        self.study().findings.iter().filter_map(finding).collect()
    }
}

/// The built-in studies: one list per crate that has some.
#[derive(Debug, Clone, Copy)]
pub struct Catalogue(&'static [&'static [Builtin]]);

impl Catalogue {
    /// The catalogue of these lists.
    pub const fn new(lists: &'static [&'static [Builtin]]) -> Self {
        Self(lists)
    }

    /// Every built-in study, in the order of the lists.
    pub fn all(self) -> impl Iterator<Item = &'static Builtin> {
        self.0.iter().copied().flatten()
    }

    /// The built-in study of that name.
    pub fn find(self, name: &str) -> Option<&'static Builtin> {
        self.all().find(|builtin| builtin.name == name)
    }

    /// The built-in study that `study` is a run of. Repeats, seed, world and the plan for it, shown figures, thresholds and the common
    /// workload may differ. A study with the same name and other cells is not built-in: the findings would not be true of it.
    pub fn find_for_study(self, study: &Study) -> Option<&'static Builtin> {
        let same = |builtin: &&Builtin| {
            let known = builtin.study();
            let like = Study {
                repeats: study.repeats,
                seed: study.seed,
                world: study.world,
                interval: study.interval,
                emu: study.emu.clone(),
                measure: study.measure.clone(),
                thresholds: study.thresholds.clone(),
                // Runs of earlier versions kept none.
                findings: if study.findings.is_empty() {
                    Vec::new()
                } else {
                    known.findings.clone()
                },
                fixed: Settings {
                    workload: study.fixed.workload.clone(),
                    ..known.fixed.clone()
                },
                ..known
            };
            like == *study
        };
        self.find(&study.name).filter(same)
    }

    /// Adds to the record of a run the findings of its study, and the extra tables of a built-in one. A study with the name of a built-in
    /// one and other cells has its own findings alone: the others would not be true of it.
    pub fn annotate(self, study: &Study, run: &mut Run) {
        if let Some(builtin) = self.find_for_study(study) {
            run.findings = builtin.findings(run);
            run.exhibits = (builtin.exhibits)(run);
            return;
        }
        let known = self
            .find(&study.name)
            .map(|builtin| builtin.study().findings)
            .unwrap_or_default();
        let own = study.findings.iter().filter(|finding| !known.contains(finding));
        run.findings = own.filter_map(|finding| finding.in_run(run)).collect();
    }

    /// The built-in study whose name is nearest to `name`.
    pub fn nearest(self, name: &str) -> Option<&'static str> {
        suggest::nearest(name, self.all().map(|builtin| builtin.name))
    }
}
