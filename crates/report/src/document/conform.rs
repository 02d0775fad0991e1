//! Which tables and sentence show how a WebSocket server stood?

use super::{Block, Grid, Tone};
use crate::conform::{Conformance, Standing};

/// The answer, then every rule: those that are broken first, since they are what is to be mended.
pub(crate) fn for_terminal(conformance: &Conformance) -> Vec<Block> {
    let stood = [
        (Standing::Broken, "Broken", Tone::Bad),
        (Standing::Held, "Held", Tone::Good),
        (Standing::NotAsked, "Not asked", Tone::Plain),
    ];
    let tables = stood.into_iter().filter_map(|(standing, title, tone)| {
        let mut grid = Grid::new(title, "").words(["rule", "what it asks", "what the server did", "source"]);
        for verdict in conformance
            .verdicts
            .iter()
            .filter(|verdict| verdict.standing == standing)
        {
            let cells = [&verdict.name, &verdict.asks, &verdict.found, &verdict.source];
            grid.row(cells.map(String::clone).to_vec(), tone, &[]);
        }
        (!grid.rows.is_empty()).then_some(Block::Grid(grid))
    });
    [Block::Answer(answer(conformance))].into_iter().chain(tables).collect()
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
        broken => {
            let asked = held + broken.len() as u64;
            format!(
                "breaks {} of the {asked} rules that it was asked about: {}",
                broken.len(),
                broken.join(", ")
            )
        }
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
    fn what_is_broken_comes_before_what_is_held() {
        let blocks = for_terminal(&sample::conformance());
        let titles: Vec<&str> = blocks
            .iter()
            .filter_map(|block| match block {
                Block::Grid(grid) => Some(grid.title.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(titles, ["Broken", "Held", "Not asked"]);
    }

    #[test]
    fn what_is_broken_is_named_in_the_answer() {
        assert_eq!(
            answer(&sample::conformance()),
            "ws://127.0.0.1:9001/ (ws 8) breaks 1 of the 2 rules that it was asked about: rsv2. 1 could not be asked about: it has not what they are about, as it may."
        );
    }
}
