//! The findings of the study `slow-connections`.

use super::record_lookup::{cell, levels_of, mean};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Finding, Run};

pub(super) fn findings(run: &Run) -> Vec<Finding> {
    [
        arithmetic(run),
        compressed_bibliography(run),
        lost_connections(run),
        router(run),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn finding(title: &str, text: String, inferred: bool) -> Finding {
    Finding {
        title: title.to_owned(),
        text,
        inferred,
    }
}

/// The compressed bibliography beside the printed one, and why they differ.
fn compressed_bibliography(run: &Run) -> Option<Finding> {
    const PRINTED: f64 = 3_900.0;
    const PRINTED_PLAIN: f64 = 13_300.0;
    let of = |codec| {
        let levels = [("payload", "bibliography"), ("encoding", "ice"), ("codec", codec)];
        mean(run, "documents", &levels, "message_bytes")
    };
    let (plain, compressed) = (of("identity")?, of("bzip2")?);
    let difference = compressed / PRINTED - 1.0;
    let text = format!(
        "Compressed by Ice, our bibliography has {}, {} {} than the 3.9 kB that are printed; without compression it has {}. bzip2 leaves {} of \
         ours and left {} of the published one. The published entries are not known: ours are invented from lists of names and words, so how \
         often they repeat publishers, addresses and words is a guess, and the difference shows it.",
        quantity(compressed, "B"),
        percent(difference.abs()),
        if difference < 0.0 { "less" } else { "more" },
        quantity(plain, "B"),
        percent(compressed / plain),
        percent(PRINTED / PRINTED_PLAIN),
    );
    Some(finding("The compressed bibliography", text, true))
}

/// What a lost connection costs a compressor that remembers.
fn lost_connections(run: &Run) -> Option<Finding> {
    let bytes = |codec, after| {
        let levels = [("codec", codec), ("reconnect_after", after)];
        mean(run, "lost-connections", &levels, "message_bytes")
    };
    let (plain, kept, lost) = (
        bytes("identity", "100")?,
        bytes("deflate:6/w15/m8", "100")?,
        bytes("deflate:6/w15/m8", "10")?,
    );
    let prepared = bytes("zstd:3/w17/dictionary", "10")?;
    let text = format!(
        "100 single entries need {} as they are, and {} as one stream of deflate. Where the connection is lost after every 10 of them, each new \
         compressor learns anew: {}, {} more. With a dictionary of 2 kB that both ends know, zstd needs {} in spite of the losses.",
        quantity(plain, "B"),
        quantity(kept, "B"),
        quantity(lost, "B"),
        percent(lost / kept - 1.0),
        quantity(prepared, "B"),
    );
    Some(finding("A lost connection", text, false))
}

/// When a router that batches is worth it.
fn router(run: &Run) -> Option<Finding> {
    let of = |route, back_ends, figure| {
        let levels = [
            ("route", route),
            ("back_ends", back_ends),
            ("codec", "bzip2/if-smaller"),
        ];
        mean(run, "router", &levels, figure)
    };
    let saved = |back_ends| {
        Some(1.0 - of("router", back_ends, "link_bytes_down")? / of("direct", back_ends, "link_bytes_down")?)
    };
    let text = format!(
        "With one back end a router that gathers for 200 ms saves {} of the bytes on the link, with 8 it saves {}: its batches have the calls of \
         all. The mean delivery time is then {} instead of {}.",
        percent(saved("1")?),
        percent(saved("8")?),
        quantity(of("router", "8", "delivery_time")?, "s"),
        quantity(of("direct", "8", "delivery_time")?, "s"),
    );
    Some(finding("A router", text, false))
}

/// How far transfer times are from arithmetic.
fn arithmetic(run: &Run) -> Option<Finding> {
    let mut worst: Option<f64> = None;
    let mut cells = 0;
    for part in ["documents", "both-worlds"] {
        let worlds = levels_of(run, part, "world");
        let worlds = if worlds.is_empty() {
            vec![None]
        } else {
            worlds.into_iter().map(Some).collect()
        };
        for world in worlds {
            for payload in ["text", "bibliography"] {
                for encoding in ["ice", "cdr"] {
                    for codec in ["identity", "bzip2"] {
                        let mut levels = vec![("payload", payload), ("encoding", encoding), ("codec", codec)];
                        levels.extend(world.map(|world| ("world", world)));
                        let Some(cell) = cell(run, part, &levels) else { continue };
                        let of = |name: &str| Some(cell.figures.get(name)?.mean);
                        let difference = of("transfer_time")? / of("predicted_time")? - 1.0;
                        worst = Some(worst.map_or(difference.abs(), |worst| worst.max(difference.abs())));
                        cells += 1;
                    }
                }
            }
        }
    }
    let text = format!(
        "Of {cells} cells at 56 kbit/s, none has a mean transfer time more than {} from arithmetic: the bytes of the message and 66 B for each of \
         its packets, at the link's rate.",
        percent(worst?)
    );
    Some(finding("Times by arithmetic", text, false))
}
