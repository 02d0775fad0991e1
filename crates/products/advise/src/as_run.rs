//! An advice as a run of a study, so that two of them can be compared: a cell per link and setting of the page, and per link and kind of response.

use crate::record::{Advice, KindAdvice, LinkAdvice};
use lastmile_report::record::{Cell, Figure, Run};

impl Advice {
    /// The page under each setting, and each kind under the setting recommended for it.
    pub fn as_run(&self) -> Run {
        let page = |link: &LinkAdvice| {
            let cells = link.page.iter().map(|outcome| {
                let levels = [("link", link.name.as_str()), ("setting", outcome.setting.as_str())];
                let figures = [
                    ("page_time", Some(outcome.page_time.clone())),
                    ("link_bytes", Some(outcome.bytes_down.clone())),
                ];
                Cell {
                    repeats: link.repeats,
                    ..Cell::of_figures("page", levels, figures, &link.doubts)
                }
            });
            cells.collect::<Vec<_>>()
        };
        let kinds = |link: &LinkAdvice| {
            let cells = link.kinds.iter().map(|kind| kind_cell(link, kind));
            cells.collect::<Vec<_>>()
        };
        let cells = self.links.iter().flat_map(page);
        let cells = cells.chain(self.links.iter().flat_map(kinds)).collect();
        Run {
            cpu: self.cpu.clone(),
            cpu_machine: self.cpu_machine.clone(),
            ..Run::of_cells(
                format!("advise {}", self.traffic.source),
                &self.version,
                self.seed,
                cells,
            )
        }
    }
}

fn kind_cell(link: &LinkAdvice, kind: &KindAdvice) -> Cell {
    let levels = [
        ("link", link.name.as_str()),
        ("kind", kind.kind.as_str()),
        ("origin", kind.origin.name()),
    ];
    let chosen = kind
        .frontier
        .iter()
        .find(|candidate| candidate.setting == kind.recommended.setting);
    let figures = [
        ("responses", Some(Figure::of_value("1", kind.responses as f64))),
        (
            "recommended_bytes",
            chosen.map(|chosen| Figure::of_value("B", chosen.compressed_bytes as f64)),
        ),
    ];
    Cell::of_figures("kinds", levels, figures, &kind.doubts)
}
