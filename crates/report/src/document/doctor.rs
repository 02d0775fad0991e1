//! Which tables and sentences show what a machine can do?

use super::{Block, Grid, Tone};
use crate::doctor::{Ability, Examination, Standing};

/// The answer, then what was found, with remedies.
pub(crate) fn for_terminal(examination: &Examination) -> Vec<Block> {
    let machine = grid("This machine", "", &examination.machine);
    let peers = "Real servers and clients that studies drive in the emulated world; none is needed for anything else.";
    let peers = grid("Peers", peers, &examination.peers);
    vec![
        Block::Answer(answer(examination)),
        Block::Grid(machine),
        Block::Grid(peers),
    ]
}

fn answer(examination: &Examination) -> String {
    let named = |standing| {
        let of = examination
            .machine
            .iter()
            .filter(|ability| ability.standing == standing);
        of.map(|ability| ability.name.as_str()).collect::<Vec<_>>()
    };
    match (&named(Standing::Missing)[..], &named(Standing::Limited)[..]) {
        ([], []) => "The emulated world works here, with all that it can use.".to_owned(),
        ([], limited) => format!("The emulated world works here. Limited: {}.", limited.join(", ")),
        (missing, _) => format!(
            "The emulated world does not work here, for want of {}; the simulated one does.",
            missing.join(", ")
        ),
    }
}

fn grid(title: &str, note: &str, abilities: &[Ability]) -> Grid {
    let mut grid = Grid::new(title, note).words(["what", "standing", "found", "remedy"]);
    for ability in abilities {
        let tone = match ability.standing {
            Standing::Ready => Tone::Good,
            Standing::Limited => Tone::Plain,
            Standing::Missing => Tone::Bad,
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
    use crate::sample;

    #[test]
    fn one_thing_missing_is_enough_for_no_emulated_world() {
        let sample = sample::examination();
        assert!(sample.emulated_world);
        assert_eq!(answer(&sample), "The emulated world works here. Limited: SCHED_FIFO.");
        let mut machine = sample.machine;
        machine[0].standing = Standing::Missing;
        let without = Examination::new("0.1.0", machine, Vec::new());
        assert!(!without.emulated_world);
        assert!(
            answer(&without).contains("for want of user namespaces"),
            "{}",
            answer(&without)
        );
    }
}
