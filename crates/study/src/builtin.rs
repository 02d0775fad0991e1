//! Which studies come with lastmile? Their files, and what each has to say of its figures in words.

mod cells;
mod fidelity;
mod gzip_filter;
mod permessage_deflate;

use crate::file::Study;
use crate::settings::Settings;
use lastmile_report::record::{Finding, Run, Table};

/// A study that is compiled in.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// Its name, as its file has it.
    pub name: &'static str,
    /// Its file.
    pub toml: &'static str,
    /// What follows from its figures, in words made from them. A run may lack cells: what rests on those is left unsaid.
    pub findings: fn(&Run) -> Vec<Finding>,
    /// Further tables made from its figures.
    pub exhibits: fn(&Run) -> Vec<Table>,
}

impl Builtin {
    /// The study that its file describes.
    pub fn study(&self) -> Study {
        Study::parse(self.name, self.toml).expect("a built-in study is well-formed: a test reads them all")
    }
}

/// Every built-in study, by name.
pub const ALL: &[Builtin] = &[
    Builtin {
        name: "gzip-filter",
        toml: include_str!("../../../studies/gzip-filter.toml"),
        findings: gzip_filter::findings,
        exhibits: gzip_filter::exhibits,
    },
    Builtin {
        name: "permessage-deflate",
        toml: include_str!("../../../studies/permessage-deflate.toml"),
        findings: permessage_deflate::findings,
        exhibits: permessage_deflate::exhibits,
    },
    Builtin {
        name: "bulk",
        toml: include_str!("../../../studies/bulk.toml"),
        findings: |_| Vec::new(),
        exhibits: |_| Vec::new(),
    },
    Builtin {
        name: crate::fidelity::STUDY,
        toml: include_str!("../../../studies/fidelity.toml"),
        findings: fidelity::findings,
        exhibits: fidelity::exhibits,
    },
];

/// The built-in study of that name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}

/// The built-in study that `study` is a run of, however often, from whichever seed, in whichever world and how much of it there, whichever
/// figures it shows and thresholds it sets, and whichever workload of one's own it names as that of all cells. A study that has its name and other cells is none: what is said in words of the
/// built-in one would not be true of it.
pub fn of(study: &Study) -> Option<&'static Builtin> {
    let same = |builtin: &&Builtin| {
        let like = Study {
            repeats: study.repeats,
            seed: study.seed,
            world: study.world,
            interval: study.interval,
            emu: study.emu.clone(),
            measure: study.measure.clone(),
            thresholds: study.thresholds.clone(),
            fixed: Settings {
                workload: study.fixed.workload.clone(),
                ..builtin.study().fixed
            },
            ..builtin.study()
        };
        like == *study
    };
    find(&study.name).filter(same)
}

/// The name of the built-in study that someone who wrote `name` may have meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    crate::nearest::nearest(name, ALL.iter().map(|builtin| builtin.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::expand;

    #[test]
    fn every_built_in_study_reads_under_its_own_name_and_has_cells() {
        for builtin in ALL {
            let study = builtin.study();
            assert_eq!(study.name, builtin.name);
            assert!(!expand(&study).unwrap().is_empty());
        }
        assert_eq!(nearest("bulc"), Some("bulk"));
    }

    #[test]
    fn a_study_of_ones_own_is_no_built_in_one_though_it_has_its_name() {
        let own = "name = 'gzip-filter'\nquestion = ''\n[factors]\ncodec = ['identity', 'gzip:6']\n";
        assert!(of(&Study::parse("mine.toml", own).unwrap()).is_none());
        let mut study = find("gzip-filter").unwrap().study();
        study.parts.pop();
        assert!(of(&study).is_none());
    }

    #[test]
    fn a_built_in_study_is_known_by_its_content_and_as_a_run_folder_keeps_it() {
        for builtin in ALL {
            let mut study = builtin.study();
            (study.repeats, study.seed) = (std::num::NonZeroU64::MIN, 7);
            study.measure.figures.truncate(1);
            let kept = Study::parse("study.toml", &study.expanded()).unwrap();
            assert_eq!(of(&kept).map(|found| found.name), Some(builtin.name));
        }
    }

    #[test]
    fn the_bulk_study_has_the_eight_profiles() {
        let study = find("bulk").unwrap().study();
        assert_eq!(expand(&study).unwrap().len(), 8);
    }
}
