//! Delivers settings over a link, finds its frontier, and chooses what to do there.

use crate::codecs::Compression;
use crate::framing::Framing;
use crate::link_run::{LinkRun, SOONER};
use crate::record::{EncodingDelivery, EncodingOutcome};
use crate::sizes::SettingSize;
use crate::summary::Summary;
use crate::{EncodeError, Options};
use lastmile_document_formats::Encoding;
use lastmile_link::LinkSpec;
use lastmile_testbed::link_description::description;
use lastmile_units::workers::Workers;

/// Of settings whose bytes differ by less, the one that changes least is recommended: our own choice.
const EQUAL: f64 = 1.03;

/// Delivers every setting over a link.
pub(crate) fn on_link(
    name: &str,
    link: &LinkSpec,
    settings: &[SettingSize],
    options: &Options,
    on_done: &mut dyn FnMut(f64),
) -> Result<EncodingDelivery, EncodeError> {
    let batch_max = settings.iter().map(|setting| setting.batch).max().unwrap_or(1);
    let run = LinkRun::new(name, link, batch_max, options)?;
    let workers = Workers {
        threads: options.threads,
        interrupt: &options.interrupt,
    };
    let outcomes = workers.run(
        settings,
        |setting| run.outcome(setting, Framing::LengthPrefix),
        &mut |done| on_done(done as f64 / settings.len() as f64),
    )?;
    let mut outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    mark_frontier(&mut outcomes);
    let choice = choose(&outcomes, settings, &run, options)?;
    let Choice { plain, chosen, .. } = choice;
    outcomes[chosen].to_use = true;
    for framing in [Framing::Http1, Framing::Http2] {
        for at in [plain, chosen] {
            outcomes.push(run.outcome(&settings[at], framing)?);
        }
    }
    Ok(EncodingDelivery {
        name: name.to_owned(),
        description: description(link),
        rate_of_gain_per_second: choice.rate_of_gain,
        summary: Summary {
            outcomes: &outcomes[..settings.len()],
            settings,
            choice,
            options,
        }
        .text(),
        outcomes,
    })
}

fn mark_frontier(outcomes: &mut [EncodingOutcome]) {
    let cost = |outcome: &EncodingOutcome| Some((outcome.link_bytes_per_message, outcome.delay_s()?));
    let costs: Vec<Option<(f64, f64)>> = outcomes.iter().map(cost).collect();
    for (outcome, own) in outcomes.iter_mut().zip(&costs) {
        let beats = |own: &(f64, f64), other: &(f64, f64)| other.0 <= own.0 && other.1 <= own.1 && other != own;
        outcome.frontier = own.is_some_and(|own| !costs.iter().flatten().any(|other| beats(&own, other)));
    }
}

/// What is recommended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    /// Plain JSON, each message alone.
    pub(crate) plain: usize,
    pub(crate) chosen: usize,
    /// The one with the fewest bytes of those that count.
    pub(crate) least: usize,
    /// Whether any setting fits the link.
    pub(crate) fits: bool,
    /// Whether plain JSON arrives as soon as anything else.
    pub(crate) nothing_gained: bool,
    /// From how many messages a second on compressing each message would make it arrive sooner, where that is not now.
    pub(crate) rate_of_gain: Option<f64>,
}

/// Of those that fit the link within the wait that is allowed, the fewest bytes; of those that are nearly equal, the smallest change.
fn choose(
    outcomes: &[EncodingOutcome],
    settings: &[SettingSize],
    run: &LinkRun<'_>,
    options: &Options,
) -> Result<Choice, EncodeError> {
    let all = || 0..settings.len();
    let allowed: Vec<usize> = all().filter(|at| is_allowed(&outcomes[*at], options)).collect();
    let allowed = if allowed.is_empty() { all().collect() } else { allowed };
    let fitting: Vec<usize> = allowed
        .iter()
        .copied()
        .filter(|at| outcomes[*at].delay_s().is_some())
        .collect();
    let fits = !fitting.is_empty();
    let candidates = if fits { fitting } else { allowed };
    let bytes = |at: usize| outcomes[at].link_bytes_per_message;
    let fewest = |one: &usize, other: &usize| bytes(*one).total_cmp(&bytes(*other));
    let least = candidates.iter().copied().min_by(fewest).unwrap_or(0);
    let near = candidates
        .iter()
        .copied()
        .filter(|at| bytes(*at) <= EQUAL * bytes(least));
    let smallest = near.min_by(|one, other| {
        let sizes = [one, other].map(|at| change_size(&settings[*at]));
        sizes[0].cmp(&sizes[1]).then(fewest(one, other))
    });
    let plain = all().find(|at| settings[*at].is_plain_json()).unwrap_or(least);
    let soonest = candidates.iter().filter_map(|at| outcomes[*at].delay_s());
    let soonest = soonest.fold(f64::INFINITY, f64::min);
    let nothing_gained = outcomes[plain].delay_s().is_some_and(|delay| soonest >= SOONER * delay);
    let smaller = all()
        .filter(|at| settings[*at].batch == 1 && bytes(*at) < bytes(plain))
        .min_by(fewest);
    let rate_of_gain = match (smaller, outcomes[plain].link_load) {
        (Some(smaller), Some(load)) if nothing_gained => {
            Some(run.rate_of_gain(&settings[plain], &settings[smaller], options.rate / load)?)
        }
        _ => None,
    };
    Ok(Choice {
        plain,
        chosen: smallest.unwrap_or(least),
        least,
        fits,
        nothing_gained,
        rate_of_gain,
    })
}

pub(crate) fn is_allowed(outcome: &EncodingOutcome, options: &Options) -> bool {
    outcome.batch_delay_s <= options.wait_max.as_secs_f64()
}

/// How much a program that sends plain JSON must change: its format before its compression, and that before its batches.
fn change_size(setting: &SettingSize) -> (u8, u8, usize) {
    let encoding = match setting.encoding {
        Encoding::Json => 0,
        Encoding::MessagePack | Encoding::Cbor | Encoding::Xml => 1,
        _ => 2,
    };
    let compression = match setting.compression {
        Compression::None => 0,
        Compression::Alone(_) => 1,
        Compression::Stream(_) => 2,
        Compression::IceBzip2 => 3,
        Compression::Dictionary(_) => 4,
    };
    (encoding, compression, setting.batch)
}
