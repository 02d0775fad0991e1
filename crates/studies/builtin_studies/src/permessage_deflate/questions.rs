//! Answers the questions that were left open in 2013.

use super::figures::{Transcript, answer, cell, digits, kib, levels_of, mean, ratio};
use super::reference_values::{self, DEFAULT};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Finding, Run};

/// One finding per question.
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
    let mut sentences = Vec::new();
    for workload in levels_of(run, part, "workload") {
        let of = |fragment| ratio(run, part, &[("workload", workload), ("fragment", fragment)]);
        let whole = of("none")?;
        let mut shown = Vec::new();
        for fragment in levels_of(run, part, "fragment") {
            if fragment != "none" {
                shown.push(format!("{} at {fragment}", percent(of(fragment)? / whole - 1.0)));
            }
        }
        sentences.push(format!("{workload}: {}", shown.join(", ")));
    }
    if sentences.is_empty() {
        return None;
    }
    answer(
        "Does fragmentation have any impact?",
        format!(
            "It does where each fragment is flushed so that its receiver can read it at once. Growth in bytes compared with whole \
             messages, for {}. A sender that splits a message after compressing it as a whole pays for frame headers only.",
            sentences.join("; "),
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
    let mut sentences = Vec::new();
    for workload in levels_of(run, part, "workload")
        .into_iter()
        .filter(|name| *name != ALONE)
    {
        let mut by_codec = Vec::new();
        for codec in levels_of(run, part, "message_codec") {
            by_codec.push(format!(
                "{} if the media are compressed too and {} if they are sent uncompressed ({codec})",
                digits(text(workload, codec, "none")?),
                digits(text(workload, codec, "binary")?),
            ));
        }
        sentences.push(format!("{workload}: {}", by_codec.join(", ")));
    }
    let alone = text(ALONE, DEFAULT, "none")?;
    answer(
        "What if several kinds of data share a connection?",
        format!(
            "Data that is already compressed pushes text out of the window, most of all out of a small one. A generated chat by itself is \
             compressed to {}. Ratio of the text in mixes: {}. Sending the compressed data as it is (RSV1 off) costs nothing, and avoids \
             the whole loss.",
            digits(alone),
            sentences.join("; "),
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
        "What about binary messages?",
        format!(
            "Binary messages are not one kind of data. Readings of an instrument, in frames of one layout, are compressed to {} with \
             takeover and {} without, since most of the repetition is between messages; data that is already compressed becomes {} of its \
             size and costs CPU time. A sender should decide by the content of a message, not by its type.",
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
        || "Without takeover, messages of none of these sizes become smaller".to_owned(),
        |size| format!("Without takeover, {size} is the first of these sizes at which messages become smaller at all"),
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
            || "time unknown".to_owned(),
            |time| format!("{} per message", quantity(time.mean, "s")),
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
                Transcript::from_run(run)?.name_in_sentence(),
                shown.join("; ")
            ),
        )
    })?
}

fn strategies(run: &Run) -> Option<Finding> {
    let part = "strategies";
    let mut sentences = Vec::new();
    for workload in levels_of(run, part, "workload") {
        let mut shown = Vec::new();
        for strategy in levels_of(run, part, "strategy") {
            let ratio = ratio(run, part, &[("workload", workload), ("strategy", strategy)])?;
            shown.push(format!("{strategy} {}", digits(ratio)));
        }
        sentences.push(format!("{workload}: {}", shown.join(", ")));
    }
    (!sentences.is_empty()).then(|| {
        answer(
            "Does a strategy other than the default help?",
            format!("Ratios, {}.", sentences.join("; ")),
        )
    })?
}

fn own_transcript(run: &Run) -> Option<Finding> {
    cell(run, "context-takeover", &[])?;
    let [off, on] = reference_values::RATIOS_OF_2013;
    answer(
        "More transcripts",
        format!(
            "`lastmile run permessage-deflate --set workload=FILE` uses the messages of a file instead of the chat: all statements about \
             the chat are then about them. Stock zlib compresses the {} messages of 2013 to {off} without context takeover and to {on} \
             with it, as printed.",
            reference_values::MESSAGES_OF_2013,
        ),
    )
}
