//! How is the answer told in sentences?

use super::answer::Told;
use super::candidate::Candidate;
use super::memory::Contexts;
use lastmile_payload::message_codec::MessageCodec;
use lastmile_report::number::{percent, quantity};
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

pub(super) fn bytes(bytes: Bytes) -> String {
    quantity(bytes.as_f64(), "B")
}
