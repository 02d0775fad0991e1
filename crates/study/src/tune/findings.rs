//! What else follows from the figures of a direction, in sentences?

use super::answer::Told;
use super::broadcast::Broadcast;
use super::candidate::{Candidate, USUAL};
use super::memory::Compressors;
use super::recording::End;
use super::tried::Tried;
use super::words::bytes;
use lastmile_payload::message_codec::{Deflate, MessageCodec, WindowBits};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::Finding;

/// What else follows for a direction.
pub(super) fn findings(told: &Told<'_>) -> Vec<Finding> {
    [
        takeover(told),
        window(told),
        level(told),
        codec(told),
        broadcast(told),
        dictionaries(told),
        policies(told),
    ]
    .into_iter()
    .flatten()
    .collect()
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
    if all.name() == own.name() || !told.options.beyond {
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
            bytes(all.memory(holder)),
            own.name(),
            percent(own.ratio),
            quantity(own.computing(), "s"),
            bytes(own.memory(holder)),
        ),
    ))
}

/// One message to many connections: compressed once where it may refer to nothing, or by each connection's context.
fn broadcast(told: &Told<'_>) -> Option<Finding> {
    let stream = &told.direction.stream;
    let connections = told.options.holder.connections.get() as f64;
    let receivers = told
        .direction
        .broadcast
        .as_ref()
        .map_or(connections, Broadcast::receivers);
    if receivers < 2.0 || stream.sender != End::Server {
        return None;
    }
    let of = |takeover: bool| {
        let alone = told.candidates.iter().filter(|candidate| {
            candidate.codec != MessageCodec::Identity && candidate.is_plain() && candidate.contexts.takeover == takeover
        });
        told.best(&alone.collect::<Vec<_>>())
    };
    let (shared, own) = (of(false)?, of(true)?);
    let length = stream.messages.total().as_f64() / stream.messages.len() as f64;
    let sent = |candidate: &Candidate| quantity(candidate.ratio * length * receivers, "B");
    let many = count(receivers);
    let recorded = match &told.direction.broadcast {
        Some(Broadcast::Recorded {
            messages,
            copies,
            copied_octets,
        }) => format!(
            "{} of the messages and {} of their octets are copies, sent to one more connection at once: a message has {many} receivers on \
             average. ",
            percent(*copies as f64 / *messages as f64),
            percent(*copied_octets as f64 / stream.messages.total().as_f64())
        ),
        Some(Broadcast::Stated(_)) | None => String::new(),
    };
    let least = (shared.computing() / own.computing()).floor() + 1.0;
    let from = if least.is_finite() {
        format!(" From {} receivers on, once computes less.", count(least.max(2.0)))
    } else {
        String::new()
    };
    Some(finding(
        told,
        "What a broadcast costs",
        format!(
            "{recorded}A message to {many} connections, compressed once by {}, computes {} and sends {} of payload; compressed for each of \
             them by {}, it computes {} and sends {}.{from}",
            shared.name(),
            quantity(shared.computing(), "s"),
            sent(shared),
            own.name(),
            quantity(own.computing() * receivers, "s"),
            sent(own),
        ),
    ))
}

/// `40`, `1.6`.
fn count(value: f64) -> String {
    let places = usize::from(value.fract() != 0.0);
    format!("{value:.places$}")
}

/// What both ends could know beforehand, each beside the same codec on the same messages without it.
fn dictionaries(told: &Told<'_>) -> Option<Finding> {
    let with = told.direction.tried.iter();
    let sentences: Vec<String> = with
        .filter_map(|with| {
            let (known, _) = with.trial.dictionary.as_ref()?;
            let without = told.direction.without_dictionary(with)?;
            Some(format!(
                "{} on {} leaves {} with {known} known to both ends, and {} without",
                with.trial.codec,
                with.trial.part.name,
                percent(with.measured.ratio()),
                percent(without.measured.ratio())
            ))
        })
        .collect();
    let text = format!("{}. permessage-deflate knows no dictionaries.", sentences.join("; "));
    (!sentences.is_empty()).then(|| finding(told, "What a dictionary would do", text))
}

/// What a sender could decide message by message, beside the same on every message, whole.
fn policies(told: &Told<'_>) -> Option<Finding> {
    let stream = &told.direction.stream;
    let figures = |tried: &Tried| {
        let ratio = percent(tried.measured.ratio());
        format!("{ratio} for {}", quantity(tried.candidate(stream).computing(), "s"))
    };
    let of_group = |group: &Vec<Tried>| {
        let under = group[1..].iter().map(|tried| {
            let kept = match tried.candidate(stream).compressors {
                Compressors::Share(kept) => format!(" and keeps a context for {} of the time", percent(kept.get())),
                Compressors::All | Compressors::One => String::new(),
            };
            format!("{}, {}{kept}", tried.trial.policy, figures(tried))
        });
        let under: Vec<String> = under.collect();
        format!(
            "Of every message, whole, {} leaves {} a message; {}.",
            group[0].trial.name(),
            figures(&group[0]),
            under.join("; ")
        )
    };
    let groups: Vec<String> = told.direction.under_policies.iter().map(of_group).collect();
    (!groups.is_empty()).then(|| finding(told, "What a sender can decide", groups.join(" ")))
}
