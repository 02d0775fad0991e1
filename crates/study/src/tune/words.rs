//! How are the figures told in sentences?

use super::answer::Told;
use super::candidate::{Candidate, USUAL};
use super::choose::choose;
use super::memory::Contexts;
use lastmile_payload::message_codec::{Deflate, MessageCodec, WindowBits};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::Finding;
use lastmile_report::tune::{DeliveryOutcome, Direction, LinkDelivery};
use lastmile_units::Bytes;

/// The answer: a setting a direction, what it gives up, and what it does on links.
pub(super) fn answer(told: &[Told<'_>], links: &[LinkDelivery]) -> String {
    let directions = told.iter().map(of_direction);
    let links = links.iter().map(|link| link.summary.clone());
    directions.chain(links).collect::<Vec<_>>().join(" ")
}

fn of_direction(told: &Told<'_>) -> String {
    let chosen = told.chosen();
    let messages = told.direction.stream.messages;
    let what = format!(
        "{} messages {} ({})",
        messages.len(),
        told.name(),
        bytes(messages.total())
    );
    if chosen.codec == MessageCodec::Identity {
        return format!("Leave the {what} as they are: {}", nothing_pays(told));
    }
    let fits = if told.options.limits().fits(chosen) {
        ""
    } else {
        " Nothing fits into what was allowed; this takes least."
    };
    format!(
        "For the {what} use {}: it leaves {}, computes {} a message and takes {}.{fits}{}",
        chosen.name(),
        percent(chosen.ratio),
        quantity(chosen.computing(), "s"),
        of_connections(told, chosen.contexts),
        against_usual(told, chosen),
    )
}

/// `308 kB a connection, 15.4 GB for 50000, of 8.59 GB allowed`.
fn of_connections(told: &Told<'_>, contexts: Contexts) -> String {
    let holder = told.options.holder;
    let total = bytes(contexts.total(holder));
    let connections = holder.connections.get();
    let each = if contexts.takeover { "a connection" } else { "a core" };
    let mut words = format!("{} of contexts {each}", bytes(contexts.pair()));
    if connections > 1 {
        words += &format!(", {total} for {connections} connections");
    }
    if let Some(memory) = told.options.memory {
        words += &format!(", of {} allowed", bytes(memory));
    }
    words
}

/// What is given up against what zlib does unless told otherwise.
fn against_usual(told: &Told<'_>, chosen: &Candidate) -> String {
    let Some(usual) = told.usual() else {
        return String::new();
    };
    if usual.codec == chosen.codec {
        return " That is what zlib does unless told otherwise.".to_owned();
    }
    let fits = match (told.options.memory, told.options.limits().fits(usual)) {
        (Some(_), false) => ", which does not fit",
        _ => "",
    };
    format!(
        " What zlib does unless told otherwise, {}, leaves {}, computes {} and takes {}{fits}.",
        usual.name(),
        percent(usual.ratio),
        quantity(usual.computing(), "s"),
        bytes(usual.contexts.total(told.options.holder)),
    )
}

fn nothing_pays(told: &Told<'_>) -> String {
    let least = told
        .candidates
        .iter()
        .filter(|candidate| told.options.limits().fits(candidate))
        .map(|candidate| candidate.ratio)
        .fold(1.0, f64::min);
    format!("no setting that fits leaves less than {}.", percent(least))
}

/// Why `chosen`, which is among what may be chosen from.
pub(super) fn why(told: &Told<'_>, among: &[Candidate], chosen: &Candidate) -> String {
    let limits = told.options.limits();
    if !limits.fits(chosen) {
        return format!(
            "None of {} settings fits; of all, this takes least memory.",
            among.len() - 1
        );
    }
    if chosen.codec == MessageCodec::Identity {
        return nothing_pays(told);
    }
    let fitting = || among.iter().filter(|candidate| limits.fits(candidate));
    let smallest = fitting()
        .min_by(|a, b| a.ratio.total_cmp(&b.ratio))
        .expect("what was chosen fits");
    let of = match told.options.memory {
        Some(_) => format!("Of {} settings, {} fit.", among.len(), fitting().count()),
        None => format!(
            "Of {} settings that were timed, no other beats it in size, computing and memory together.",
            among.len()
        ),
    };
    let own = format!(
        "It leaves {} for {} a message",
        percent(chosen.ratio),
        quantity(chosen.computing(), "s")
    );
    let reason = if smallest.codec == chosen.codec && smallest.dictionary == chosen.dictionary {
        ", which is the least that fits, and nothing about as small computes less".to_owned()
    } else {
        format!(
            "; the smallest that fits, {}, leaves {} for {} and {} more memory",
            smallest.name(),
            percent(smallest.ratio),
            quantity(smallest.computing(), "s"),
            more(
                smallest.contexts.total(limits.holder),
                chosen.contexts.total(limits.holder)
            ),
        )
    };
    let Contexts {
        compressing,
        decompressing,
        ..
    } = chosen.contexts;
    format!(
        "{of} {own}{reason}. A pair of contexts takes {} to compress with and {} to decompress with.",
        bytes(compressing),
        bytes(decompressing)
    )
}

fn more(a: Bytes, b: Bytes) -> String {
    if a > b { bytes(a - b) } else { "no".to_owned() }
}

/// What the chosen settings buy over a link; `chosen` are those of each direction.
pub(super) fn of_link(name: &str, outcomes: &[DeliveryOutcome], chosen: &[(Direction, String)]) -> String {
    let quantile = |outcome: &DeliveryOutcome, text: &str| quantity(outcome.delivery_time.quantiles[text], "s");
    let of_direction = |(direction, setting): &(Direction, String)| {
        let of = |setting: &str| {
            let mut outcomes = outcomes.iter();
            outcomes.find(|outcome| outcome.direction == *direction && outcome.setting == setting)
        };
        let (own, identity) = (of(setting)?, of("identity")?);
        let told =
            |outcome: &DeliveryOutcome| format!("{} (p95 {})", quantile(outcome, "0.5"), quantile(outcome, "0.95"));
        let Some(saving) = &own.saving_against_identity else {
            return Some(format!("messages {} take {}, as they are", direction.name(), told(own)));
        };
        let change = match saving.share {
            share if share.abs() < 0.005 => "no sooner or later than".to_owned(),
            share if share > 0.0 => format!("{} sooner than", percent(share)),
            share => format!("{} later than", percent(-share)),
        };
        Some(format!(
            "messages {} take {} under {setting}, on average {change} uncompressed, {}",
            direction.name(),
            told(own),
            told(identity),
        ))
    };
    let directions: Vec<String> = chosen.iter().filter_map(of_direction).collect();
    format!("On {name}, {}.", directions.join("; "))
}

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

fn bytes(bytes: Bytes) -> String {
    quantity(bytes.as_f64(), "B")
}
