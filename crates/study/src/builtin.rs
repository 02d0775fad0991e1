//! Which studies come with lastmile? Their files, and what each has to say of its figures in words.

mod gzip_filter;

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

/// Every built-in study, by name.
pub const ALL: &[Builtin] = &[
    Builtin {
        name: "gzip-filter",
        toml: include_str!("../../../studies/gzip-filter.toml"),
        findings: gzip_filter::findings,
        exhibits: gzip_filter::exhibits,
    },
    Builtin {
        name: "bulk",
        toml: include_str!("../../../studies/bulk.toml"),
        findings: |_| Vec::new(),
        exhibits: |_| Vec::new(),
    },
];

/// The built-in study of that name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}

/// The name of the built-in study that someone who wrote `name` may have meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    crate::nearest::nearest(name, ALL.iter().map(|builtin| builtin.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::expand;
    use crate::file::Study;

    #[test]
    fn every_built_in_study_reads_under_its_own_name_and_has_cells() {
        for builtin in ALL {
            let study = Study::parse(builtin.name, builtin.toml).unwrap();
            assert_eq!(study.name, builtin.name);
            assert!(!expand(&study).unwrap().is_empty());
        }
        assert_eq!(nearest("bulc"), Some("bulk"));
    }

    #[test]
    fn the_bulk_study_has_the_eight_profiles() {
        let study = Study::parse("bulk", find("bulk").unwrap().toml).unwrap();
        assert_eq!(expand(&study).unwrap().len(), 8);
    }
}
