//! What was asked in 2013, and not answered there?

use super::figures::{Transcript, answer, cell, digits, kib, levels_of, mean, ratio};
use super::published::{self, DEFAULT};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Finding, Run};

/// One finding a question.
pub(super) fn findings(run: &Run) -> Vec<Finding> {
    let all = [
        fragments,
        mixed_kinds,
        binary,
        large_messages,
        codecs,
        strategies,
        own_transcript,
    ];
    all.into_iter().filter_map(|finding| finding(run)).collect()
}

fn fragments(run: &Run) -> Option<Finding> {
    let part = "fragments";
    let mut told = Vec::new();
    for workload in levels_of(run, part, "workload") {
        let of = |fragment| ratio(run, part, &[("workload", workload), ("fragment", fragment)]);
        let whole = of("none")?;
        let mut shown = Vec::new();
        for fragment in levels_of(run, part, "fragment") {
            if fragment != "none" {
                shown.push(format!("{} by {fragment}", percent(of(fragment)? / whole - 1.0)));
            }
        }
        told.push(format!("{workload}: {}", shown.join(", ")));
    }
    if told.is_empty() {
        return None;
    }
    answer(
        "Does fragmentation have any impact?",
        format!(
            "It does where each fragment is flushed so that its receiver can read it at once; bytes grow, against whole messages, for {}. A \
             sender that cuts what was compressed as a whole pays for headers of frames alone.",
            told.join("; "),
        ),
    )
}

fn mixed_kinds(run: &Run) -> Option<Finding> {
    let part = "mixed-kinds";
    let text = |workload: &str, codec: &str, uncompressed: &str| {
        let levels = [
            ("workload", workload),
            ("message_codec", codec),
            ("uncompressed", uncompressed),
        ];
        let figure = if workload == ALONE {
            "compression_ratio"
        } else {
            "text_compression_ratio"
        };
        mean(run, part, &levels, figure)
    };
    let mut told = Vec::new();
    for workload in levels_of(run, part, "workload")
        .into_iter()
        .filter(|name| *name != ALONE)
    {
        let mut by_codec = Vec::new();
        for codec in levels_of(run, part, "message_codec") {
            by_codec.push(format!(
                "{} compressed with the media and {} where those are sent as they are ({codec})",
                digits(text(workload, codec, "none")?),
                digits(text(workload, codec, "binary")?),
            ));
        }
        told.push(format!("{workload}: {}", by_codec.join(", ")));
    }
    let alone = text(ALONE, DEFAULT, "none")?;
    answer(
        "What if several kinds of data share a connection?",
        format!(
            "What is compressed already pushes text out of the window, and most where the window is small. A generated chat alone shrinks to {}. Ratio \
             of the text in mixes: {}. Sending such messages with RSV1 off costs nothing, and undoes all of it.",
            digits(alone),
            told.join("; "),
        ),
    )
}

/// The workload of the `mixed-kinds` part that is not mixed.
const ALONE: &str = "chat";

fn binary(run: &Run) -> Option<Finding> {
    let of = |workload, codec| ratio(run, "kinds", &[("workload", workload), ("message_codec", codec)]);
    let no_takeover = format!("{DEFAULT}/no-takeover");
    let telemetry = "telemetry, binary";
    let (with, without) = (of(telemetry, DEFAULT)?, of(telemetry, &no_takeover)?);
    let media = of("media, binary", DEFAULT)?;
    answer(
        "What of binary messages?",
        format!(
            "Binary is no kind of data. Readings of an instrument, in frames of one layout, shrink to {} with takeover and {} without, \
             since what repeats is mostly between messages; what is compressed already becomes {} of its size and costs time. Whoever \
             decides by the kind of message should do so by what it holds.",
            digits(with),
            digits(without),
            digits(media),
        ),
    )
}

fn large_messages(run: &Run) -> Option<Finding> {
    let part = "message-sizes";
    let of = |size: &str, codec: &str| ratio(run, part, &[("workload", size), ("message_codec", codec)]);
    let no_takeover = format!("{DEFAULT}/no-takeover");
    let mut shown = Vec::new();
    let mut worth = None;
    for size in levels_of(run, part, "workload") {
        let (with, without) = (of(size, DEFAULT)?, of(size, &no_takeover)?);
        shown.push(format!("{size}: {} and {}", digits(with), digits(without)));
        if worth.is_none() && without < 1.0 {
            worth = Some(size);
        }
    }
    let worth = worth.map_or_else(
        || "Without takeover none of these shrinks".to_owned(),
        |size| format!("Without takeover {size} is the first of these sizes at which messages shrink at all"),
    );
    (!shown.is_empty()).then(|| {
        answer(
            "From which size on, and up to which?",
            format!(
                "Ratios of documents by size, with takeover and without: {}. {worth}.",
                shown.join("; ")
            ),
        )
    })?
}

fn codecs(run: &Run) -> Option<Finding> {
    let part = "codecs";
    let mut shown = Vec::new();
    for codec in levels_of(run, part, "message_codec") {
        let levels = [("message_codec", codec)];
        let Some(cell) = cell(run, part, &levels) else {
            continue;
        };
        let time = cell.figures.get("compress_time").map_or_else(
            || "time not known".to_owned(),
            |time| format!("{} a message", quantity(time.mean, "s")),
        );
        shown.push(format!(
            "{codec} {}, {time}, {}",
            digits(ratio(run, part, &levels)?),
            kib(mean(run, part, &levels, "memory_bytes")?),
        ));
    }
    (!shown.is_empty()).then(|| {
        answer(
            "What would another codec give?",
            format!(
                "Ratio, time and memory of the compressor, on {}: {}.",
                Transcript::of(run)?.told(),
                shown.join("; ")
            ),
        )
    })?
}

fn strategies(run: &Run) -> Option<Finding> {
    let part = "strategies";
    let mut told = Vec::new();
    for workload in levels_of(run, part, "workload") {
        let mut shown = Vec::new();
        for strategy in levels_of(run, part, "strategy") {
            let ratio = ratio(run, part, &[("workload", workload), ("strategy", strategy)])?;
            shown.push(format!("{strategy} {}", digits(ratio)));
        }
        told.push(format!("{workload}: {}", shown.join(", ")));
    }
    (!told.is_empty()).then(|| {
        answer(
            "Does a strategy other than the default help?",
            format!("Ratios, {}.", told.join("; ")),
        )
    })?
}

fn own_transcript(run: &Run) -> Option<Finding> {
    cell(run, "context-takeover", &[])?;
    let [off, on] = published::RATIOS_OF_2013;
    answer(
        "More transcripts",
        format!(
            "`lastmile run permessage-deflate --set workload=FILE` takes the messages of a file in place of the chat's: all that is said here of \
             the chat is then said of them. On the {} messages of 2013 stock zlib leaves {off} without context takeover and {on} with it, as \
             printed.",
            published::MESSAGES_OF_2013,
        ),
    )
}
