//! The built-in studies: their files, and the findings and extra tables made from their figures.
//!
//! [`STUDIES`] is the list that the binary hands to the catalogue. What runs in their cells is the work of `deliveries`.

mod event_monitoring;
pub mod fidelity;
mod gzip_filter;
mod permessage_deflate;
mod record_lookup;
mod wireless_web;

use lastmile_study::catalogue::Builtin;

/// The built-in studies.
pub const STUDIES: &[Builtin] = &[
    Builtin {
        name: "gzip-filter",
        toml: include_str!("../../../../studies/gzip-filter.toml"),
        findings: gzip_filter::FINDINGS,
        exhibits: gzip_filter::exhibits,
    },
    Builtin {
        name: "permessage-deflate",
        toml: include_str!("../../../../studies/permessage-deflate.toml"),
        findings: permessage_deflate::FINDINGS,
        exhibits: permessage_deflate::exhibits,
    },
    Builtin {
        name: "bulk",
        toml: include_str!("../../../../studies/bulk.toml"),
        findings: &[],
        exhibits: |_| Vec::new(),
    },
    Builtin {
        name: fidelity::STUDY,
        toml: include_str!("../../../../studies/fidelity.toml"),
        findings: fidelity::findings::FINDINGS,
        exhibits: fidelity::findings::exhibits,
    },
    Builtin {
        name: fidelity::pages::STUDY,
        toml: include_str!("../../../../studies/fidelity-pages.toml"),
        findings: fidelity::pages_findings::FINDINGS,
        exhibits: fidelity::pages_findings::exhibits,
    },
    Builtin {
        name: "wireless-web",
        toml: include_str!("../../../../studies/wireless-web.toml"),
        findings: wireless_web::FINDINGS,
        exhibits: wireless_web::exhibits,
    },
    Builtin {
        name: "slow-connections",
        toml: include_str!("../../../../studies/slow-connections.toml"),
        findings: &[],
        exhibits: |_| Vec::new(),
    },
    Builtin {
        name: "event-monitoring",
        toml: include_str!("../../../../studies/event-monitoring.toml"),
        findings: event_monitoring::FINDINGS,
        exhibits: event_monitoring::exhibits,
    },
];

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use lastmile_report::record::Run;
    use lastmile_study::catalogue::Catalogue;
    use lastmile_study::cell::expand;
    use lastmile_study::delivery::Deliveries;
    use lastmile_study::file::Study;
    use lastmile_study::journal::Journal;
    use lastmile_study::run_folder::Meta;
    use lastmile_study::runner;
    use lastmile_study::summary::summarise;
    use lastmile_testbed::cpu_cost_model::CostTable;
    use std::num::NonZeroUsize;
    use std::sync::atomic::AtomicBool;

    pub(crate) const DELIVERIES: Deliveries = Deliveries::new(&[lastmile_deliveries::DELIVERIES]);
    pub(crate) const CATALOGUE: Catalogue = Catalogue::new(&[STUDIES]);

    /// Runs a study with these CPU times, and summarises it.
    pub(crate) fn run(study: &Study, costs: &CostTable) -> Run {
        let expanded = expand(study).unwrap();
        DELIVERIES.check(&expanded).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, mut outcomes) = Journal::open(&folder.path().join("journal.jsonl")).unwrap();
        let run = runner::StudyRunner {
            expanded: &expanded,
            experiment: &DELIVERIES,
            costs,
            captures: None,
            threads: NonZeroUsize::new(2).unwrap(),
            interrupt: &AtomicBool::new(false),
            observer: None,
        };
        run.execute(&mut journal, &mut outcomes, &mut |_| ()).unwrap();
        let meta = Meta {
            cpu_machine: "-".to_owned(),
            ..Meta::new(study, costs, "-")
        };
        summarise(&expanded, &outcomes, &meta, "-")
    }

    #[test]
    fn every_built_in_study_reads_under_its_own_name_and_has_cells() {
        for builtin in STUDIES {
            let study = builtin.study();
            assert_eq!(study.name, builtin.name);
            assert!(!expand(&study).unwrap().cells.is_empty());
            for finding in &study.findings {
                let is_computed = builtin.findings.iter().any(|(title, _)| *title == finding.title);
                assert_eq!(finding.text.is_empty(), is_computed, "{}", finding.title);
            }
            let has = |title: &str| study.findings.iter().any(|finding| finding.title == title);
            assert!(builtin.findings.iter().all(|(title, _)| has(title)), "{}", builtin.name);
        }
        assert_eq!(CATALOGUE.nearest("bulc"), Some("bulk"));
    }

    #[test]
    fn a_study_of_ones_own_is_no_built_in_one_though_it_has_its_name() {
        let own = "name = 'gzip-filter'\nquestion = ''\n[factors]\ncodec = ['identity', 'gzip:6']\n";
        assert!(
            CATALOGUE
                .find_for_study(&Study::parse("mine.toml", own).unwrap())
                .is_none()
        );
        let mut study = CATALOGUE.find("gzip-filter").unwrap().study();
        study.parts.pop();
        assert!(CATALOGUE.find_for_study(&study).is_none());
    }

    #[test]
    fn a_built_in_study_is_known_by_its_content_and_as_a_run_folder_keeps_it() {
        for builtin in STUDIES {
            let mut study = builtin.study();
            (study.repeats, study.seed) = (std::num::NonZeroU64::MIN, 7);
            study.measure.figures.truncate(1);
            let kept = Study::parse("study.toml", &study.expanded()).unwrap();
            assert_eq!(
                CATALOGUE.find_for_study(&kept).map(|found| found.name),
                Some(builtin.name)
            );
        }
    }

    #[test]
    fn the_bulk_study_has_the_eight_profiles() {
        let study = CATALOGUE.find("bulk").unwrap().study();
        assert_eq!(expand(&study).unwrap().cells.len(), 8);
    }
}
