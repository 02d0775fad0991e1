//! Which table and sentence show how a WebSocket server stood?

use super::{Block, Grid, Tone};
use crate::conform::{Conformance, Standing};

/// The answer, then every rule.
pub(crate) fn for_terminal(conformance: &Conformance) -> Vec<Block> {
    let mut grid = Grid::new("Rules", "").words(["rule", "standing", "what it asks", "what the server did", "source"]);
    for verdict in &conformance.verdicts {
        let tone = match verdict.standing {
            Standing::Held => Tone::Good,
            Standing::Broken => Tone::Bad,
            Standing::NotAsked => Tone::Plain,
        };
        let cells = vec![
            verdict.name.clone(),
            verdict.standing.label().to_owned(),
            verdict.asks.clone(),
            verdict.found.clone(),
            verdict.source.clone(),
        ];
        grid.row(cells, tone, &[]);
    }
    vec![Block::Answer(answer(conformance)), Block::Grid(grid)]
}

fn answer(conformance: &Conformance) -> String {
    let server = conformance
        .server
        .as_deref()
        .map_or(String::new(), |server| format!(" ({server})"));
    let (target, held) = (&conformance.target, conformance.held);
    let broken: Vec<_> = conformance
        .verdicts
        .iter()
        .filter(|verdict| verdict.standing == Standing::Broken)
        .map(|verdict| verdict.name.as_str())
        .collect();
    let kept = match &broken[..] {
        [] => format!("keeps all {held} rules that it was asked about"),
        broken => format!("keeps {held} rules and breaks {}: {}", broken.len(), broken.join(", ")),
    };
    let not_asked = match conformance.not_asked {
        0 => String::new(),
        count => format!(" {count} could not be asked about: it has not what they are about, as it may."),
    };
    format!("{target}{server} {kept}.{not_asked}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_is_broken_is_named_in_the_answer() {
        assert_eq!(
            answer(&sample::conformance()),
            "ws://127.0.0.1:9001/ (ws 8) keeps 1 rules and breaks 1: rsv2. 1 could not be asked about: it has not what they are about, as it may."
        );
    }
}
