//! Further findings from the figures of a direction, in sentences.

use super::broadcast::Broadcast;
use super::candidate::{Candidate, ZLIB_DEFAULT};
use super::context_memory::CompressorCount;
use super::direction_report::DirectionReport;
use super::prose::bytes;
use super::recording::End;
use super::trial_results::TrialResult;
use lastmile_codec::message::{Deflate, MessageCodec, WindowBits};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::Finding;

/// The findings of a direction.
pub(super) fn findings(report: &DirectionReport<'_>) -> Vec<Finding> {
    [
        takeover(report),
        window(report),
        level(report),
        codec(report),
        broadcast(report),
        dictionaries(report),
        policies(report),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn finding(report: &DirectionReport<'_>, title: &str, text: String) -> Finding {
    Finding::new(format!("{title}, {}", report.name()), text)
}

fn takeover(report: &DirectionReport<'_>) -> Option<Finding> {
    let with = report.ratio(ZLIB_DEFAULT)?;
    let without = report.ratio(Deflate {
        takeover: false,
        ..ZLIB_DEFAULT
    })?;
    Some(finding(
        report,
        "What context takeover buys",
        format!(
            "With zlib's other defaults, the ratio is {} with context takeover and {} without it.",
            percent(with),
            percent(without)
        ),
    ))
}

fn window(report: &DirectionReport<'_>) -> Option<Finding> {
    let chosen = report.chosen_deflate()?;
    let bits = chosen.window_bits.get();
    let at = |bits: u8| {
        let setting = Deflate {
            window_bits: WindowBits::new(bits)?,
            ..chosen
        };
        Some((report.ratio(setting)?, setting.zlib_memory()))
    };
    let (_, own_memory) = at(bits)?;
    let mut parts = Vec::new();
    if let Some((ratio, memory)) = at(bits + 1) {
        let more = bytes(memory.saturating_sub(own_memory));
        parts.push(format!(
            "one bit more gives a ratio of {} for {more} more per context",
            percent(ratio)
        ));
    }
    if let Some((ratio, memory)) = bits.checked_sub(1).and_then(at).filter(|_| bits > 9) {
        let less = bytes(own_memory.saturating_sub(memory));
        parts.push(format!(
            "one bit less gives a ratio of {} for {less} less per context",
            percent(ratio)
        ));
    }
    let text = format!("The setting uses {bits} window bits: {}.", parts.join(", "));
    (!parts.is_empty()).then(|| finding(report, "Where the window matters", text))
}

fn level(report: &DirectionReport<'_>) -> Option<Finding> {
    let chosen = report.chosen_deflate()?;
    let at = |level| report.ratio(Deflate { level, ..chosen });
    let (fastest, best) = (at(1)?, at(9)?);
    Some(finding(
        report,
        "Where the level matters",
        format!(
            "With the chosen window and mem level, the ratio is {} at level 1, {} at level {}, {} at level 9.",
            percent(fastest),
            percent(at(chosen.level)?),
            chosen.level,
            percent(best)
        ),
    ))
}

fn codec(report: &DirectionReport<'_>) -> Option<Finding> {
    let (own, all) = (report.chosen(), report.chosen_any_codec());
    if all.name() == own.name() || !report.options.beyond {
        return None;
    }
    let holder = report.options.server;
    Some(finding(
        report,
        "What another codec would do",
        format!(
            "If you control both ends, {} has a ratio of {}, at {} CPU per message and {} of compression state; with permessage-deflate, {} \
             has a ratio of {}, at {} and {}.",
            all.name(),
            percent(all.ratio),
            quantity(all.compress_seconds(), "s"),
            bytes(all.memory(holder)),
            own.name(),
            percent(own.ratio),
            quantity(own.compress_seconds(), "s"),
            bytes(own.memory(holder)),
        ),
    ))
}

/// One message to many connections: compressed once, without context takeover, or in each connection's own context.
fn broadcast(report: &DirectionReport<'_>) -> Option<Finding> {
    let stream = &report.direction.stream;
    let connections = report.options.server.connections.get() as f64;
    let receivers = report
        .direction
        .broadcast
        .as_ref()
        .map_or(connections, Broadcast::receivers);
    if receivers < 2.0 || stream.sender != End::Server {
        return None;
    }
    let of = |takeover: bool| {
        let alone = report.candidates.iter().filter(|candidate| {
            candidate.codec != MessageCodec::Identity && candidate.is_plain() && candidate.contexts.takeover == takeover
        });
        report.best(&alone.collect::<Vec<_>>())
    };
    let (shared, own) = (of(false)?, of(true)?);
    let length = stream.messages.total().as_f64() / stream.messages.len() as f64;
    let sent = |candidate: &Candidate| quantity(candidate.ratio * length * receivers, "B");
    let many = count(receivers);
    let recorded = match &report.direction.broadcast {
        Some(Broadcast::Recorded {
            messages,
            copies,
            copied_bytes,
        }) => format!(
            "{} of the messages and {} of their bytes are copies, sent to another connection at about the same time: a message has {many} \
             receivers on average. ",
            percent(*copies as f64 / *messages as f64),
            percent(*copied_bytes as f64 / stream.messages.total().as_f64())
        ),
        Some(Broadcast::Stated(_)) | None => String::new(),
    };
    let least = (shared.compress_seconds() / own.compress_seconds()).floor() + 1.0;
    let from = if least.is_finite() {
        format!(
            " With {} or more receivers, compressing once takes less CPU time.",
            count(least.max(2.0))
        )
    } else {
        String::new()
    };
    Some(finding(
        report,
        "What a broadcast costs",
        format!(
            "{recorded}A message to {many} connections costs {} of CPU time and {} of payload sent if it is compressed once by {}, and {} and \
             {} if it is compressed per connection by {}.{from}",
            quantity(shared.compress_seconds(), "s"),
            sent(shared),
            shared.name(),
            quantity(own.compress_seconds() * receivers, "s"),
            sent(own),
            own.name(),
        ),
    ))
}

/// `40`, `1.6`.
fn count(value: f64) -> String {
    let decimals = usize::from(value.fract() != 0.0);
    format!("{value:.decimals$}")
}

/// Each dictionary, compared with the same codec on the same messages without it.
fn dictionaries(report: &DirectionReport<'_>) -> Option<Finding> {
    let with = report.direction.results.iter();
    let sentences: Vec<String> = with
        .filter_map(|with| {
            let (known, _) = with.trial.dictionary.as_ref()?;
            let without = report.direction.without_dictionary(with)?;
            Some(format!(
                "{} on {} has a ratio of {} with {known} known to both ends, and {} without",
                with.trial.codec,
                with.trial.part.name,
                percent(with.measured.ratio()),
                percent(without.measured.ratio())
            ))
        })
        .collect();
    let text = format!(
        "{}. permessage-deflate does not support dictionaries.",
        sentences.join("; ")
    );
    (!sentences.is_empty()).then(|| finding(report, "What a dictionary would do", text))
}

/// What a sender could decide message by message, compared with the same setting on every message, unfragmented.
fn policies(report: &DirectionReport<'_>) -> Option<Finding> {
    let stream = &report.direction.stream;
    let figures = |tried: &TrialResult| {
        let ratio = percent(tried.measured.ratio());
        format!(
            "ratio {ratio}, {} CPU per message",
            quantity(tried.candidate(stream).compress_seconds(), "s")
        )
    };
    let of_group = |group: &Vec<TrialResult>| {
        let under = group[1..].iter().map(|tried| {
            let kept = match tried.candidate(stream).compressors {
                CompressorCount::Fraction(kept) => format!(", context allocated {} of the time", percent(kept.get())),
                CompressorCount::PerConnection | CompressorCount::Shared => String::new(),
            };
            format!("{}: {}{kept}", tried.trial.policy, figures(tried))
        });
        let under: Vec<String> = under.collect();
        format!(
            "{} on every message, unfragmented: {}; {}.",
            group[0].trial.name(),
            figures(&group[0]),
            under.join("; ")
        )
    };
    let groups: Vec<String> = report.direction.under_policies.iter().map(of_group).collect();
    (!groups.is_empty()).then(|| finding(report, "What a sender can decide", groups.join(" ")))
}
