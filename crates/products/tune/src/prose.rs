//! The answer in sentences.

use super::candidate::{Candidate, ZLIB_DEFAULT};
use super::context_memory::{CompressorCount, ContextMemory};
use super::direction_report::DirectionReport;
use super::select::{Constraint, Violation};
use super::trial_results::TrialResult;
use crate::record::{DeliveryOutcome, Direction, LinkDelivery};
use lastmile_codec::message::MessageCodec;
use lastmile_report::number::{count, percent, quantity};
use lastmile_units::ByteCount;

/// The answer: the setting for each direction, how it compares with others, and what it does on links.
pub(super) fn answer(reports: &[DirectionReport<'_>], links: &[LinkDelivery]) -> String {
    let directions = reports.iter().map(direction_text);
    let links = links.iter().map(|link| link.summary.clone());
    directions.chain(links).collect::<Vec<_>>().join(" ")
}

fn direction_text(report: &DirectionReport<'_>) -> String {
    let chosen = report.chosen();
    let messages = report.direction.stream.messages;
    let what = format!(
        "{} {} {} ({})",
        count(messages.len() as u64),
        if messages.len() == 1 { "message" } else { "messages" },
        report.name(),
        bytes(messages.total())
    );
    if chosen.codec == MessageCodec::Identity {
        return format!(
            "Leave the {what} uncompressed: {}{}",
            no_gain_text(report),
            violated_limits_text(report, chosen)
        );
    }
    let receiver = match chosen.compressors {
        CompressorCount::Shared => "receiver",
        CompressorCount::PerConnection | CompressorCount::Fraction(_) => "message",
    };
    let passed = report.options.limits().violations(chosen);
    let name = chosen.name();
    let recommended = if passed.is_empty() {
        format!("use {name}")
    } else {
        let passed = violations_text(&passed);
        format!("no setting is within the limits; {name} comes closest, with {passed}")
    };
    format!(
        "For the {what} {recommended}: ratio {}, {} CPU per {receiver}, {}.{}{}",
        chosen.ratio_text(),
        quantity(chosen.compress_seconds(), "s"),
        memory_text(report, chosen),
        takeover_comparison(report, chosen),
        zlib_default_comparison(report, chosen),
    )
}

/// `308 kB of compression state per connection, 15.4 GB for 50,000 connections (limit 8.59 GB)`.
fn memory_text(report: &DirectionReport<'_>, chosen: &Candidate) -> String {
    let holder = report.options.server;
    let contexts = chosen.contexts;
    let connections = holder.connections.get();
    let each = if contexts.takeover {
        "per connection"
    } else {
        "per core"
    };
    let mut words = match chosen.compressors {
        CompressorCount::PerConnection => format!("{} of compression state {each}", bytes(contexts.pair())),
        CompressorCount::Fraction(kept) => format!(
            "{} per connection for compression, allocated {} of the time, and {} for decompression",
            bytes(contexts.compressing),
            percent(kept.get()),
            bytes(contexts.decompressing)
        ),
        CompressorCount::Shared => format!(
            "{} for one shared compressor, and {} per core for decompression",
            bytes(contexts.compressing),
            bytes(contexts.decompressing)
        ),
    };
    if connections > 1 {
        let (memory, connections) = (bytes(chosen.memory(holder)), count(connections));
        words += &format!(", {memory} for {connections} connections");
    }
    if let Some(memory) = report.options.memory {
        words += &format!(" (limit {})", bytes(memory));
    }
    words
}

/// Which limits the setting exceeds, and by how much; empty if it exceeds none.
fn violated_limits_text(report: &DirectionReport<'_>, chosen: &Candidate) -> String {
    let passed = report.options.limits().violations(chosen);
    if passed.is_empty() {
        return String::new();
    }
    format!(
        " No setting is within the limits; this one comes closest: {}.",
        violations_text(&passed)
    )
}

/// `ratio 35 % (limit 28 %, exceeded by 25 %)`.
fn violations_text(passed: &[Violation]) -> String {
    let one = |excess: &Violation| {
        let (name, text): (_, fn(f64) -> String) = match excess.what {
            Constraint::Memory => ("memory", |bytes| quantity(bytes, "B")),
            Constraint::CpuTime => ("CPU time", |seconds| quantity(seconds, "s")),
            Constraint::Ratio => ("ratio", percent),
        };
        format!(
            "{name} {} (limit {}, exceeded by {})",
            text(excess.found),
            text(excess.allowed),
            percent(excess.factor() - 1.0)
        )
    };
    passed.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// How one context per receiver compares where shared compression is chosen.
fn takeover_comparison(report: &DirectionReport<'_>, chosen: &Candidate) -> String {
    if chosen.compressors != CompressorCount::Shared {
        return String::new();
    }
    let Some(own) = report.best_with_takeover() else {
        return String::new();
    };
    let passed = report.options.limits().violations(own);
    let (beats, but) = if passed.is_empty() {
        (" This beats one context per connection", String::new())
    } else {
        (
            " One context per connection does not fit the limits",
            format!("; {}", violations_text(&passed)),
        )
    };
    format!("{beats}, {}: {}{but}.", own.name(), figures_text(report, own))
}

/// How zlib's default compares.
fn zlib_default_comparison(report: &DirectionReport<'_>, chosen: &Candidate) -> String {
    let Some(usual) = report.zlib_default() else {
        return String::new();
    };
    if chosen.same_as(ZLIB_DEFAULT) {
        return " This is zlib's default.".to_owned();
    }
    let fits = if report.options.limits().fits(usual) {
        ""
    } else {
        "; it does not fit the limits"
    };
    format!(
        " For comparison, zlib's default, {}: {}{fits}.",
        usual.name(),
        figures_text(report, usual)
    )
}

/// `ratio 35 %, 20 us CPU per message, 15.4 GB in all`.
fn figures_text(report: &DirectionReport<'_>, candidate: &Candidate) -> String {
    format!(
        "ratio {}, {} CPU per message, {} in all",
        candidate.ratio_text(),
        quantity(candidate.compress_seconds(), "s"),
        bytes(candidate.memory(report.options.server))
    )
}

fn no_gain_text(report: &DirectionReport<'_>) -> String {
    let least = report
        .candidates
        .iter()
        .filter(|candidate| report.options.limits().fits(candidate))
        .map(|candidate| candidate.ratio)
        .fold(1.0, f64::min);
    let that_fits = within_limits_text(report.options);
    format!("no setting{that_fits} compresses to less than {}.", percent(least))
}

/// A restriction to settings that fit, if there are limits.
fn within_limits_text(options: &super::Options) -> &'static str {
    if options.limits().has_any() {
        " within the limits"
    } else {
        ""
    }
}

/// Why `chosen`, one of the candidates `among`, was chosen.
pub(super) fn reason(report: &DirectionReport<'_>, among: &[Candidate], chosen: &Candidate) -> String {
    let limits = report.options.limits();
    let passed = limits.violations(chosen);
    if !passed.is_empty() {
        return format!(
            "None of {} settings is within the limits; this one comes closest: {}.",
            among.len() - 1,
            violations_text(&passed)
        );
    }
    if chosen.codec == MessageCodec::Identity {
        return no_gain_text(report);
    }
    let fitting = || among.iter().filter(|candidate| limits.fits(candidate));
    let smallest = fitting()
        .min_by(|a, b| a.ratio.total_cmp(&b.ratio))
        .expect("the chosen setting is within the limits");
    let of = if limits.has_any() {
        format!("Settings within the limits: {} of {}.", fitting().count(), among.len())
    } else {
        format!(
            "None of {} settings beats it in ratio, CPU time and memory at once.",
            among.len()
        )
    };
    let own = format!(
        "This setting costs {} CPU per message at a ratio of {}",
        quantity(chosen.compress_seconds(), "s"),
        chosen.ratio_text()
    );
    let enough = match limits.ratio {
        // The rule of `choose`.
        Some(_) => {
            ", which meets the required ratio, and no other setting that meets it costs noticeably less CPU time"
        }
        None => "",
    };
    let that_fits = within_limits_text(report.options);
    let reason = if smallest.name() == chosen.name() {
        format!(
            ", the lowest ratio{that_fits}, and no setting with about the same ratio costs noticeably less CPU time"
        )
    } else {
        format!(
            "{enough}; the setting with the lowest ratio{that_fits}, {}, compresses to {} at {} CPU and needs {} more memory",
            smallest.name(),
            smallest.ratio_text(),
            quantity(smallest.compress_seconds(), "s"),
            extra_memory(smallest.memory(limits.holder), chosen.memory(limits.holder)),
        )
    };
    let ContextMemory {
        compressing,
        decompressing,
        ..
    } = chosen.contexts;
    format!(
        "{of} {own}{reason}.{}{} One compressing context uses {}, one decompressing context {}.",
        policy_comparison(report, among, chosen),
        dictionary_comparison(report, chosen),
        bytes(compressing),
        bytes(decompressing)
    )
}

/// What the policy changes, compared with the same setting on every message, unfragmented; empty if there is no policy.
fn policy_comparison(report: &DirectionReport<'_>, among: &[Candidate], chosen: &Candidate) -> String {
    let is_same = |other: &&Candidate| {
        (other.codec, &other.dictionary, other.policy_text()) == (chosen.codec, &chosen.dictionary, None)
    };
    let (Some(policy), Some(plain)) = (chosen.policy_text(), among.iter().find(is_same)) else {
        return String::new();
    };
    format!(
        " Without the policy ({policy}), which only the sender has to follow: {}.",
        figures_text(report, plain)
    )
}

/// What the dictionary changes, and how both ends obtain it; empty if there is none.
fn dictionary_comparison(report: &DirectionReport<'_>, chosen: &Candidate) -> String {
    let is_it = |tried: &&TrialResult| {
        let trial = &tried.trial;
        trial.codec == chosen.codec && trial.dictionary.as_ref().map(|(known, _)| known) == chosen.dictionary.as_ref()
    };
    let with = report
        .direction
        .results
        .iter()
        .find(is_it)
        .filter(|_| chosen.dictionary.is_some());
    let Some((with, (_, dictionary))) = with.and_then(|with| Some((with, with.trial.dictionary.as_ref()?))) else {
        return String::new();
    };
    let without = report.direction.without_dictionary(with);
    let without = without.map_or_else(String::new, |without| {
        format!(", and {} without it", percent(without.measured.ratio()))
    });
    let length = dictionary.content().len();
    let how = if dictionary.is_trained() {
        format!(
            "train one on such messages, one file per message, with zstd --train -r MESSAGES --maxdict={length}, and load it at both ends \
             before the first message"
        )
    } else {
        format!("load the {length} bytes of such messages at both ends before the first message")
    };
    format!(
        " On {}, which the dictionary was not made from, the ratio is {}{without}; to obtain a dictionary, {how}.",
        with.trial.part.name,
        percent(with.measured.ratio())
    )
}

fn extra_memory(a: ByteCount, b: ByteCount) -> String {
    if a > b { bytes(a - b) } else { "no".to_owned() }
}

/// What the chosen settings gain over a link; `chosen` holds one setting per direction.
pub(super) fn link_summary(name: &str, outcomes: &[DeliveryOutcome], chosen: &[(Direction, String)]) -> String {
    let quantile = |outcome: &DeliveryOutcome, text: &str| quantity(outcome.delivery_time.quantiles[text], "s");
    let of_direction = |(direction, setting): &(Direction, String)| {
        let of = |setting: &str| {
            let mut outcomes = outcomes.iter();
            outcomes.find(|outcome| outcome.direction == *direction && outcome.setting == setting)
        };
        let (own, identity) = (of(setting)?, of("identity")?);
        let time = |outcome: &DeliveryOutcome| {
            format!(
                "{} (median; p95 {})",
                quantile(outcome, "0.5"),
                quantile(outcome, "0.95")
            )
        };
        let Some(saving) = &own.saving_against_identity else {
            return Some(format!(
                "messages {} take {}, uncompressed",
                direction.name(),
                time(own)
            ));
        };
        let change = match saving.share {
            share if share.abs() < 0.005 => "the same as".to_owned(),
            share if share > 0.0 => format!("{} less than", percent(share)),
            share => format!("{} more than", percent(-share)),
        };
        Some(format!(
            "messages {} take {} with {setting}, on average {change} uncompressed messages, which take {}",
            direction.name(),
            time(own),
            time(identity),
        ))
    };
    let directions: Vec<String> = chosen.iter().filter_map(of_direction).collect();
    format!("On {name}, {}.", directions.join("; "))
}

pub(super) fn bytes(bytes: ByteCount) -> String {
    quantity(bytes.as_f64(), "B")
}
