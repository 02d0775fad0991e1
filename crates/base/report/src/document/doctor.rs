//! The tables and sentences on what a machine can do.

use super::{Block, Detail, Document, Grid, Record, RowEmphasis};
use crate::csv::{self, Rows};
use crate::doctor::{Check, CheckStatus, DoctorReport};

impl Record for DoctorReport {
    fn document(&self, _: Detail) -> Document {
        blocks(self).into()
    }

    fn rows(&self) -> Rows {
        csv::examination(self)
    }
}

/// The answer, then what was found, with remedies.
fn blocks(examination: &DoctorReport) -> Vec<Block> {
    let machine = grid("This machine", "", &examination.machine);
    let peers = "Real servers and clients that studies run in the emulated world; nothing else needs them.";
    let peers = grid("Peers", peers, &examination.peers);
    vec![
        Block::Answer(answer(examination)),
        Block::Grid(machine),
        Block::Grid(peers),
    ]
}

fn answer(examination: &DoctorReport) -> String {
    let named = |standing| {
        let of = examination
            .machine
            .iter()
            .filter(|ability| ability.standing == standing);
        of.map(|ability| ability.name.as_str()).collect::<Vec<_>>()
    };
    match (&named(CheckStatus::Missing)[..], &named(CheckStatus::Limited)[..]) {
        ([], []) => "The emulated world works here, with everything that it can use.".to_owned(),
        ([], limited) => format!("The emulated world works here. Limited: {}.", limited.join(", ")),
        (missing, _) => format!(
            "The emulated world does not work here, since this machine lacks {}; the simulated world does.",
            missing.join(", ")
        ),
    }
}

fn grid(title: &str, note: &str, abilities: &[Check]) -> Grid {
    let mut grid = Grid::new(title, note).word_columns(["check", "status", "found", "remedy"]);
    for ability in abilities {
        let tone = match ability.standing {
            CheckStatus::Ready => RowEmphasis::Good,
            CheckStatus::Limited => RowEmphasis::Plain,
            CheckStatus::Missing => RowEmphasis::Bad,
        };
        let cells = vec![
            ability.name.clone(),
            ability.standing.label().to_owned(),
            ability.found.clone(),
            ability.remedy.clone().unwrap_or_default(),
        ];
        grid.row(cells, tone, &[]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn one_thing_missing_is_enough_for_no_emulated_world() {
        let sample = fixtures::examination();
        assert!(sample.emulated_world);
        assert_eq!(answer(&sample), "The emulated world works here. Limited: SCHED_FIFO.");
        let mut machine = sample.machine;
        machine[0].standing = CheckStatus::Missing;
        let without = DoctorReport::new("0.1.0", machine, Vec::new());
        assert!(!without.emulated_world);
        assert!(
            answer(&without).contains("since this machine lacks user namespaces"),
            "{}",
            answer(&without)
        );
    }
}
