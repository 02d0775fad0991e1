//! The cells of a study: its combinations of levels, in a stable order, with the seeds of their repeats.

use crate::file::{Study, StudyError};
use crate::settings::Settings;
use lastmile_report::record::Levels;
use lastmile_testbed::settings::World;
use lastmile_units::Seed;
use std::collections::BTreeMap;
use std::num::NonZeroU64;

/// One combination of levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The part of the study that asks for it, where the study has parts.
    pub part: Option<String>,
    /// The level of every setting that is varied somewhere in the study, a part's fixed ones included, so that the same keys
    /// distinguish the cells of all parts.
    pub levels: Levels,
    /// All settings.
    pub settings: Settings,
    /// How often it runs.
    pub repeats: NonZeroU64,
}

/// The key of a cell's work: the text of all its settings. Parts with equal cells share the work.
pub type CellKey = Levels;

impl Cell {
    /// The key of its work.
    pub fn key(&self) -> CellKey {
        self.settings.levels()
    }

    /// The world in which it runs.
    pub fn world(&self) -> World {
        self.settings.world()
    }

    /// The levels as a person reads them: `case A, codec gzip:6`.
    pub fn describe(&self) -> String {
        let levels = self
            .levels
            .iter()
            .map(|(key, level)| format!("{key} {level}"))
            .collect::<Vec<_>>()
            .join(", ");
        match (&self.part, levels.is_empty()) {
            (Some(part), true) => part.clone(),
            (Some(part), false) => format!("{part}: {levels}"),
            (None, true) => "the only cell".to_owned(),
            (None, false) => levels,
        }
    }

    /// The seeds of one of its repeats.
    ///
    /// They do not depend on the cell's position in the study. Cells with the same workload share its randomness, and cells with the
    /// same link share the link's, whatever else differs: a pair of cells is compared under common random numbers (Law, *Simulation
    /// Modeling and Analysis*, 5th ed., section 11.2), so that their difference is that of the treatment.
    pub fn seeds(&self, study: Seed, repeat: u64) -> Seeds {
        let text = |level: Option<String>| level.unwrap_or_default();
        // By its content, not by its name: two cases with the same content deliver the same.
        let content = |spec| toml::to_string(spec).expect("a workload consists of texts and numbers");
        let workload = text(self.settings.delivered().map(|workload| content(workload.content())));
        let link = text(self.settings.link.as_ref().map(ToString::to_string));
        let seed = |purpose, level: &str| study.derive(purpose).derive(level).derive_index(repeat);
        Seeds {
            workload: seed("workload", &workload),
            compute: seed("compute", &workload),
            link: seed("link", &link),
        }
    }
}

/// The seeds of one repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seeds {
    /// For the workload: contents and start phases.
    pub workload: Seed,
    /// For CPU costs.
    pub compute: Seed,
    /// For the link: loss and jitter.
    pub link: Seed,
}

/// A study with its cells, which are found once and then handed on.
#[derive(Debug, Clone, PartialEq)]
pub struct Expanded<'a> {
    pub study: &'a Study,
    /// In a stable order: see [`expand`].
    pub cells: Vec<Cell>,
}

impl Expanded<'_> {
    /// Whether a cell runs in the emulated world.
    pub fn emulates(&self) -> bool {
        self.cells.iter().any(|cell| cell.world() == World::Emulated)
    }
}

/// The cells of a study: part by part, the factor that comes last in [`crate::settings::KEYS`] varying fastest. A combination that
/// occurs twice in a part is one cell.
///
/// # Errors
/// When one name stands for two different things, or a cell has both a workload and a case.
pub fn expand(study: &Study) -> Result<Expanded<'_>, StudyError> {
    let varied = study.varied_keys();
    let mut cells: Vec<Cell> = Vec::new();
    let mut known: BTreeMap<(String, String), Settings> = BTreeMap::new();
    for (part, fixed, factors) in study.layers() {
        if part.is_some_and(|part| !study.includes_part(part)) {
            continue;
        }
        let repeats = part.and_then(|part| part.repeats).unwrap_or(study.repeats);
        let mut combinations = vec![fixed];
        for axis in factors.axes() {
            combinations = combinations
                .iter()
                .flat_map(|below| axis.levels.iter().map(|level| below.overlaid(level)))
                .collect();
        }
        let part = part.map(|part| part.name.clone());
        for mut settings in combinations {
            if study.excludes(&settings) {
                continue;
            }
            // A cell is simulated by default; the emulated world is part of the key of its work.
            settings.world = settings
                .world
                .or(Some(study.world).filter(|world| *world == World::Emulated));
            let mut levels = settings.levels();
            for (key, text) in &levels {
                let first = known
                    .entry((key.clone(), text.clone()))
                    .or_insert_with(|| settings.clone());
                if first.contradiction(&settings) == Some(key.as_str()) {
                    return Err(study.error(format!(
                        "two different levels of {key:?} are called {text:?}; rename one"
                    )));
                }
            }
            if settings.case.is_some() && settings.workload.is_some() {
                return Err(
                    study.error("a cell has both a `workload` and a `case`, which are the same setting; keep one")
                );
            }
            levels.retain(|key, _| varied.contains(&key.as_str()));
            let cell = Cell {
                part: part.clone(),
                levels,
                settings,
                repeats,
            };
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    }
    Ok(Expanded { study, cells })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(toml: &str) -> Result<Vec<Cell>, StudyError> {
        let study = Study::parse("test.toml", &format!("name = 'test'\nquestion = ''\n{toml}")).unwrap();
        expand(&study).map(|expanded| expanded.cells)
    }

    fn shown(cells: &[Cell]) -> Vec<String> {
        cells.iter().map(Cell::describe).collect()
    }

    #[test]
    fn every_level_meets_every_other_once_and_the_last_factor_varies_fastest() {
        let cells =
            cells("[factors]\ncodec = ['identity', 'gzip:6', 'identity']\nlink = ['wpt/3g', 'wpt/cable']").unwrap();
        assert_eq!(
            shown(&cells),
            [
                "codec identity, link wpt/3g",
                "codec gzip:6, link wpt/3g",
                "codec identity, link wpt/cable",
                "codec gzip:6, link wpt/cable"
            ]
        );
    }

    #[test]
    fn a_part_lies_over_the_study_and_shows_what_it_fixes() {
        let cells = cells(
            "[fixed]\nnagle = 'on'\nlink = 'wpt/3g'\n[factors]\ncodec = ['identity', 'gzip:6']\n\
             [[part]]\nname = 'links'\n[part.factors]\nlink = ['wpt/3g', 'wpt/cable']\n\
             [[part]]\nname = 'plain'\n[part.fixed]\ncodec = 'identity'",
        )
        .unwrap();
        assert_eq!(
            shown(&cells),
            [
                "links: codec identity, link wpt/3g",
                "links: codec gzip:6, link wpt/3g",
                "links: codec identity, link wpt/cable",
                "links: codec gzip:6, link wpt/cable",
                "plain: codec identity, link wpt/3g"
            ]
        );
        assert_eq!(cells[0].key(), cells[4].key(), "both parts ask for the same work");
    }

    #[test]
    fn a_study_without_factors_has_one_cell() {
        assert_eq!(shown(&cells("[fixed]\ncodec = 'identity'").unwrap()), ["the only cell"]);
    }

    #[test]
    fn seeds_do_not_depend_on_the_place_in_the_study() {
        let seed = Seed::new(1);
        let all = cells("[factors]\ncodec = ['identity', 'gzip:6']\nlink = ['wpt/3g', 'wpt/cable']").unwrap();
        let only = cells("[fixed]\ncodec = 'gzip:6'\nlink = 'wpt/cable'").unwrap();
        assert_eq!(all[3].seeds(seed, 4), only[0].seeds(seed, 4));
    }

    #[test]
    fn paired_cells_share_their_randomness_and_repeats_and_links_do_not() {
        let seed = Seed::new(1);
        let cells = cells("[factors]\ncodec = ['identity', 'gzip:6']\nlink = ['wpt/3g', 'wpt/cable']").unwrap();
        let (plain, coded, elsewhere) = (&cells[0], &cells[1], &cells[2]);
        assert_eq!(plain.seeds(seed, 0), coded.seeds(seed, 0));
        assert_ne!(plain.seeds(seed, 0).link, plain.seeds(seed, 1).link);
        assert_ne!(plain.seeds(seed, 0).link, elsewhere.seeds(seed, 0).link);
        assert_eq!(plain.seeds(seed, 0).workload, elsewhere.seeds(seed, 0).workload);
    }

    #[test]
    fn one_name_for_two_links_is_refused() {
        let error = cells(
            "[factors]\nlink = [{ name = 'x', rate = '1 kbit/s', one_way_delay = '1 ms' }, { name = 'x', rate = '2 kbit/s', one_way_delay = '1 ms' }]",
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "study \"test\": two different levels of \"link\" are called \"x\"; rename one"
        );
    }

    #[test]
    fn a_cell_has_a_workload_or_a_case_and_not_both() {
        let error = cells("[fixed]\nworkload = { kind = 'bulk', bytes = '1 B' }\n[factors]\ncase = [{ kind = 'bulk', bytes = '1 B' }]")
            .unwrap_err()
            .to_string();
        assert!(error.contains("keep one"), "{error}");
    }
}
