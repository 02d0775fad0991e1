//! What else follows from the figures of a direction, in sentences?

use super::answer::Told;
use super::candidate::{Candidate, USUAL};
use super::choose::choose;
use super::words::bytes;
use lastmile_payload::message_codec::{Deflate, MessageCodec, WindowBits};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::Finding;

/// What else follows for a direction.
pub(super) fn findings(told: &Told<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [takeover(told), window(told), level(told), codec(told), broadcast(told)]
        .into_iter()
        .flatten()
        .collect();
    findings.extend(dictionaries(told));
    findings.extend(policies(told));
    findings
}

fn finding(told: &Told<'_>, title: &str, text: String) -> Finding {
    Finding {
        title: format!("{title}, {}", told.name()),
        text,
        inferred: false,
    }
}

/// The chosen setting of permessage-deflate.
fn chosen_deflate(told: &Told<'_>) -> Option<Deflate> {
    match told.chosen().codec {
        MessageCodec::Deflate(deflate) => Some(deflate),
        _ => None,
    }
}

fn takeover(told: &Told<'_>) -> Option<Finding> {
    let with = told.ratio(USUAL)?;
    let without = told.ratio(Deflate {
        takeover: false,
        ..USUAL
    })?;
    Some(finding(
        told,
        "What context takeover buys",
        format!(
            "With everything else as zlib has it, messages that may refer to earlier ones leave {}, and messages on their own {}.",
            percent(with),
            percent(without)
        ),
    ))
}

fn window(told: &Told<'_>) -> Option<Finding> {
    let chosen = chosen_deflate(told)?;
    let bits = chosen.window_bits.get();
    let at = |bits: u8| {
        let setting = Deflate {
            window_bits: WindowBits::new(bits)?,
            ..chosen
        };
        Some((told.ratio(setting)?, setting.zlib_memory()))
    };
    let (_, own_memory) = at(bits)?;
    let mut parts = Vec::new();
    if let Some((ratio, memory)) = at(bits + 1) {
        let more = bytes(memory.saturating_sub(own_memory));
        parts.push(format!(
            "one bit more would leave {} for {more} more a context",
            percent(ratio)
        ));
    }
    if let Some((ratio, memory)) = bits.checked_sub(1).and_then(at).filter(|_| bits > 9) {
        let less = bytes(own_memory.saturating_sub(memory));
        parts.push(format!("one bit less {} for {less} less", percent(ratio)));
    }
    let text = format!("With {bits} window bits: {}.", parts.join(", "));
    (!parts.is_empty()).then(|| finding(told, "Where the window matters", text))
}

fn level(told: &Told<'_>) -> Option<Finding> {
    let chosen = chosen_deflate(told)?;
    let at = |level| told.ratio(Deflate { level, ..chosen });
    let (fastest, best) = (at(1)?, at(9)?);
    Some(finding(
        told,
        "Where the level matters",
        format!(
            "In the chosen window and memory, level 1 leaves {}, level {} {}, level 9 {}.",
            percent(fastest),
            chosen.level,
            percent(at(chosen.level)?),
            percent(best)
        ),
    ))
}

fn codec(told: &Told<'_>) -> Option<Finding> {
    let (own, all) = (told.chosen(), told.chosen_of_all());
    if all.codec == own.codec || !told.options.beyond {
        return None;
    }
    let holder = told.options.holder;
    Some(finding(
        told,
        "What another codec would do",
        format!(
            "Where both ends are your own, {} leaves {} for {} a message and {} of contexts; of permessage-deflate, {} leaves {} for {} \
             and {}.",
            all.name(),
            percent(all.ratio),
            quantity(all.computing(), "s"),
            bytes(all.contexts.total(holder)),
            own.name(),
            percent(own.ratio),
            quantity(own.computing(), "s"),
            bytes(own.contexts.total(holder)),
        ),
    ))
}

/// One message to all connections: compressed once where it may refer to nothing, or by each connection's context.
fn broadcast(told: &Told<'_>) -> Option<Finding> {
    let connections = told.options.holder.connections.get();
    let of = |takeover: bool| {
        let candidates: Vec<Candidate> = told
            .candidates
            .iter()
            .filter(|candidate| candidate.codec != MessageCodec::Identity && candidate.contexts.takeover == takeover)
            .cloned()
            .collect();
        (!candidates.is_empty()).then(|| candidates[choose(&candidates, &told.options.limits())].clone())
    };
    let (shared, own) = (of(false)?, of(true)?);
    if connections < 2 {
        return None;
    }
    let messages = told.direction.stream.messages;
    let sent = |candidate: &Candidate| {
        let length = messages.total().as_f64() / messages.len() as f64;
        quantity(candidate.ratio * length * connections as f64, "B")
    };
    Some(finding(
        told,
        "What a broadcast costs",
        format!(
            "A message to all {connections} connections, compressed once by {}, computes {} and sends {} of payload; compressed for each of \
             them by {}, it computes {} and sends {}.",
            shared.name(),
            quantity(shared.computing(), "s"),
            sent(&shared),
            own.name(),
            quantity(own.computing() * connections as f64, "s"),
            sent(&own),
        ),
    ))
}

/// What both ends could know beforehand, each beside the same codec on the same messages without it.
fn dictionaries(told: &Told<'_>) -> Vec<Finding> {
    let mut sentences: Vec<String> = Vec::new();
    let trials = &told.direction.trials;
    for (trial, measured) in trials {
        let Some((known, _)) = &trial.dictionary else { continue };
        let without = trials
            .iter()
            .find(|(other, _)| other.dictionary.is_none() && other.codec == trial.codec && other.part == trial.part);
        if let Some((_, without)) = without {
            sentences.push(format!(
                "{} on {} leaves {} with {known} known to both ends, and {} without",
                trial.codec,
                trial.part.name,
                percent(measured.ratio()),
                percent(without.ratio())
            ));
        }
    }
    if sentences.is_empty() {
        return Vec::new();
    }
    let text = format!("{}. permessage-deflate knows no dictionaries.", sentences.join("; "));
    vec![finding(told, "What a dictionary would do", text)]
}

/// What a sender could decide message by message, beside the same on every message, whole.
fn policies(told: &Told<'_>) -> Option<Finding> {
    let trials = &told.direction.trials;
    let under = trials
        .iter()
        .filter_map(|(trial, measured)| Some((trial, trial.policy?, measured)));
    let sentences: Vec<String> = under
        .map(|(trial, policy, measured)| format!("{policy}, {} leaves {}", trial.codec, percent(measured.ratio())))
        .collect();
    let first = trials.iter().find(|(trial, _)| trial.policy.is_some())?;
    let same = trials.iter().find(|(trial, _)| {
        trial.policy.is_none()
            && trial.dictionary.is_none()
            && trial.codec == first.0.codec
            && trial.part == first.0.part
    });
    let plain = same
        .map(|(_, measured)| measured.ratio())
        .or_else(|| told.ratio(USUAL))?;
    let text = format!(
        "Of every message, whole, it leaves {}. Compressing {}.",
        percent(plain),
        sentences.join("; ")
    );
    Some(finding(told, "What a sender can decide", text))
}
