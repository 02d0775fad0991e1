//! How is the answer told in sentences?

use super::answer::Told;
use super::candidate::{Candidate, USUAL};
use super::choose::{Excess, Limit};
use super::memory::{Compressors, Contexts};
use super::tried::Tried;
use lastmile_payload::message_codec::MessageCodec;
use lastmile_report::number::{count, percent, quantity};
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
        "{} {} {} ({})",
        count(messages.len() as u64),
        if messages.len() == 1 { "message" } else { "messages" },
        told.name(),
        bytes(messages.total())
    );
    if chosen.codec == MessageCodec::Identity {
        return format!(
            "Leave the {what} as {}: {}{}",
            if messages.len() == 1 { "it is" } else { "they are" },
            nothing_pays(told),
            misfit(told, chosen)
        );
    }
    let receiver = match chosen.compressors {
        Compressors::One => "a receiver",
        Compressors::All | Compressors::Share(_) => "a message",
    };
    format!(
        "For the {what} use {}: it leaves {}, computes {} {receiver} and takes {}.{}{}{}",
        chosen.name(),
        chosen.leaves(),
        quantity(chosen.computing(), "s"),
        of_connections(told, chosen),
        misfit(told, chosen),
        against_takeover(told, chosen),
        against_usual(told, chosen),
    )
}

/// `308 kB of contexts a connection, 15.4 GB for 50,000 connections, of 8.59 GB allowed`.
fn of_connections(told: &Told<'_>, chosen: &Candidate) -> String {
    let holder = told.options.holder;
    let contexts = chosen.contexts;
    let connections = holder.connections.get();
    let each = if contexts.takeover { "a connection" } else { "a core" };
    let mut words = match chosen.compressors {
        Compressors::All => format!("{} of contexts {each}", bytes(contexts.pair())),
        Compressors::Share(kept) => format!(
            "{} a connection to compress with, kept for {} of the time, and {} to decompress with",
            bytes(contexts.compressing),
            percent(kept.get()),
            bytes(contexts.decompressing)
        ),
        Compressors::One => format!(
            "{} to compress with for all, and {} a core to decompress with",
            bytes(contexts.compressing),
            bytes(contexts.decompressing)
        ),
    };
    if connections > 1 {
        let (memory, connections) = (bytes(chosen.memory(holder)), count(connections));
        words += &format!(", {memory} for {connections} connections");
    }
    if let Some(memory) = told.options.memory {
        words += &format!(", of {} allowed", bytes(memory));
    }
    words
}

/// What of that which was allowed is passed, and by how much; nothing where nothing is.
fn misfit(told: &Told<'_>, chosen: &Candidate) -> String {
    let passed = told.options.limits().passed(chosen);
    if passed.is_empty() {
        return String::new();
    }
    format!(
        " Nothing keeps within what was allowed, and this comes nearest: it {}.",
        excesses(&passed)
    )
}

/// `leaves 35 % where 28 % was allowed, 25 % too much`.
fn excesses(passed: &[Excess]) -> String {
    let one = |excess: &Excess| {
        let (does, told): (_, fn(f64) -> String) = match excess.what {
            Limit::Memory => ("takes", |octets| quantity(octets, "B")),
            Limit::Computing => ("computes", |seconds| quantity(seconds, "s")),
            Limit::Ratio => ("leaves", percent),
        };
        format!(
            "{does} {} where {} was allowed, {} too much",
            told(excess.found),
            told(excess.allowed),
            percent(excess.factor() - 1.0)
        )
    };
    passed.iter().map(one).collect::<Vec<_>>().join(", and ")
}

/// What each receiver's own context would do where one compression for all of them is chosen.
fn against_takeover(told: &Told<'_>, chosen: &Candidate) -> String {
    if chosen.compressors != Compressors::One {
        return String::new();
    }
    let Some(own) = told.with_takeover() else {
        return String::new();
    };
    let limits = told.options.limits();
    let passed = limits.passed(own);
    let (beats, but) = if passed.is_empty() {
        (" That beats a context for each connection", String::new())
    } else {
        (
            " A context for each connection does not fit",
            format!(": it {}", excesses(&passed)),
        )
    };
    format!(
        "{beats}: by {} a message leaves {}, computes {} and takes {}{but}.",
        own.name(),
        own.leaves(),
        quantity(own.computing(), "s"),
        bytes(own.memory(limits.holder)),
    )
}

/// What is given up against what zlib does unless told otherwise.
fn against_usual(told: &Told<'_>, chosen: &Candidate) -> String {
    let Some(usual) = told.usual() else {
        return String::new();
    };
    if chosen.is(USUAL) {
        return " That is what zlib does unless told otherwise.".to_owned();
    }
    let limits = told.options.limits();
    let fits = if limits.fits(usual) { "" } else { ", which does not fit" };
    format!(
        " What zlib does unless told otherwise, {}, leaves {}, computes {} and takes {}{fits}.",
        usual.name(),
        usual.leaves(),
        quantity(usual.computing(), "s"),
        bytes(usual.memory(limits.holder)),
    )
}

fn nothing_pays(told: &Told<'_>) -> String {
    let least = told
        .candidates
        .iter()
        .filter(|candidate| told.options.limits().fits(candidate))
        .map(|candidate| candidate.ratio)
        .fold(1.0, f64::min);
    let that_fits = that_fits(told.options);
    format!("no setting{that_fits} leaves less than {}.", percent(least))
}

/// Where something was said that a setting has to keep within.
fn that_fits(options: &super::Options) -> &'static str {
    if options.limits().are_any() { " that fits" } else { "" }
}

/// Why `chosen`, which is among what may be chosen from.
pub(super) fn why(told: &Told<'_>, among: &[Candidate], chosen: &Candidate) -> String {
    let limits = told.options.limits();
    let passed = limits.passed(chosen);
    if !passed.is_empty() {
        return format!(
            "None of {} settings fits; of all, this comes nearest: it {}.",
            among.len() - 1,
            excesses(&passed)
        );
    }
    if chosen.codec == MessageCodec::Identity {
        return nothing_pays(told);
    }
    let fitting = || among.iter().filter(|candidate| limits.fits(candidate));
    let smallest = fitting()
        .min_by(|a, b| a.ratio.total_cmp(&b.ratio))
        .expect("what was chosen fits");
    let of = if limits.are_any() {
        format!("Of {} settings, {} fit.", among.len(), fitting().count())
    } else {
        format!(
            "Of {} settings, no other beats it in size, computing and memory together.",
            among.len()
        )
    };
    let own = format!(
        "It leaves {} for {} a message",
        chosen.leaves(),
        quantity(chosen.computing(), "s")
    );
    let enough = match limits.ratio {
        // As `choose` has it.
        Some(_) => ", which is little enough, and nothing that leaves as little computes noticeably less",
        None => "",
    };
    let that_fits = that_fits(told.options);
    let reason = if smallest.name() == chosen.name() {
        format!(", which is the least{that_fits}, and nothing about as small computes noticeably less")
    } else {
        format!(
            "{enough}; the smallest{that_fits}, {}, leaves {} for {} and {} more memory",
            smallest.name(),
            smallest.leaves(),
            quantity(smallest.computing(), "s"),
            more(smallest.memory(limits.holder), chosen.memory(limits.holder)),
        )
    };
    let Contexts {
        compressing,
        decompressing,
        ..
    } = chosen.contexts;
    format!(
        "{of} {own}{reason}.{}{} A pair of contexts takes {} to compress with and {} to decompress with.",
        decided(told, among, chosen),
        known(told, chosen),
        bytes(compressing),
        bytes(decompressing)
    )
}

/// What the policy changes, beside the same setting on every message, whole; nothing where there is none.
fn decided(told: &Told<'_>, among: &[Candidate], chosen: &Candidate) -> String {
    let is_same = |other: &&Candidate| {
        (other.codec, &other.dictionary, other.policy_in_words()) == (chosen.codec, &chosen.dictionary, None)
    };
    let (Some(policy), Some(plain)) = (chosen.policy_in_words(), among.iter().find(is_same)) else {
        return String::new();
    };
    let holder = told.options.holder;
    format!(
        " Without the policy ({policy}), which the sender alone has to keep, it would leave {}, compute {} and take {}.",
        plain.leaves(),
        quantity(plain.computing(), "s"),
        bytes(plain.memory(holder))
    )
}

/// What the dictionary changes, and how both ends come by it; nothing where there is none.
fn known(told: &Told<'_>, chosen: &Candidate) -> String {
    let is_it = |tried: &&Tried| {
        let trial = &tried.trial;
        trial.codec == chosen.codec && trial.dictionary.as_ref().map(|(known, _)| known) == chosen.dictionary.as_ref()
    };
    let with = told
        .direction
        .tried
        .iter()
        .find(is_it)
        .filter(|_| chosen.dictionary.is_some());
    let Some((with, (_, dictionary))) = with.and_then(|with| Some((with, with.trial.dictionary.as_ref()?))) else {
        return String::new();
    };
    let without = told.direction.without_dictionary(with);
    let without = without.map_or_else(String::new, |without| {
        format!(" where without it {} is", percent(without.measured.ratio()))
    });
    let length = dictionary.content().len();
    let how = if dictionary.is_trained() {
        format!(
            "train one on such messages, a file each, with zstd --train -r MESSAGES --maxdict={length}, and load it at both ends before the \
             first message"
        )
    } else {
        format!("load the {length} octets of such messages at both ends before the first one")
    };
    format!(
        " On {}, which the dictionary was not learnt from, {} is left{without}; to have one, {how}.",
        with.trial.part.name,
        percent(with.measured.ratio())
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
