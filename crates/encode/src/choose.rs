//! Delivers settings over a link, finds its frontier, and says what to do there.

use crate::codecs::Compression;
use crate::deliver::{deliver, predicted};
use crate::framing::Framing;
use crate::sizes::Sized;
use crate::{EncodeError, Options};
use lastmile_document::Encoding;
use lastmile_lab::link_description::description;
use lastmile_link::LinkSpec;
use lastmile_report::encode::{EncodingDelivery, EncodingOutcome};
use lastmile_report::number::{quantity, with_decimals};
use lastmile_report::record::Figure;
use lastmile_units::Seed;
use lastmile_units::workers::Workers;

/// How many batches of a setting are delivered: our own choice. They are taken at equal distances.
const BATCHES_DELIVERED: usize = 12;

/// Of settings whose bytes differ by less, the one that changes least is recommended: our own choice.
const EQUAL: f64 = 1.03;

/// Delivers every setting over a link.
pub(crate) fn on_link(
    name: &str,
    link: &LinkSpec,
    settings: &[Sized],
    options: &Options,
    on_done: &mut dyn FnMut(f64),
) -> Result<EncodingDelivery, EncodeError> {
    let seed = options.seed.derive("encode").derive(name);
    let run = LinkRun {
        link,
        options,
        seed,
        opening: bytes_of(name, link, seed)?,
        name,
    };
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
    let choice = choose(&outcomes, settings, options);
    let chosen = choice.chosen;
    outcomes[chosen].to_use = true;
    let plain = settings
        .iter()
        .position(|setting| is(setting, Encoding::Json, Compression::None, 1))
        .unwrap_or(chosen);
    for framing in [Framing::Http1, Framing::Http2] {
        for at in [plain, chosen] {
            outcomes.push(run.outcome(&settings[at], framing)?);
        }
    }
    Ok(EncodingDelivery {
        name: name.to_owned(),
        description: description(link),
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

/// What opening and closing a connection carries.
fn bytes_of(name: &str, link: &LinkSpec, seed: Seed) -> Result<u64, EncodeError> {
    let opened = deliver(link, &[], seed).map_err(|failure| EncodeError::Link {
        link: name.to_owned(),
        failure,
    })?;
    Ok(opened.link_bytes)
}

struct LinkRun<'a> {
    name: &'a str,
    link: &'a LinkSpec,
    options: &'a Options,
    seed: Seed,
    /// The bytes of opening a connection.
    opening: u64,
}

impl LinkRun<'_> {
    fn outcome(&self, setting: &Sized, framing: Framing) -> Result<EncodingOutcome, EncodeError> {
        let framed: Vec<usize> = setting
            .sizes
            .iter()
            .map(|size| size + framing.overhead(*size, setting.compression))
            .collect();
        let count = framed.len().min(BATCHES_DELIVERED);
        let sample: Vec<usize> = (0..count).map(|at| framed[at * framed.len() / count]).collect();
        let delivered = deliver(self.link, &sample, self.seed).map_err(|failure| EncodeError::Link {
            link: self.name.to_owned(),
            failure,
        })?;
        // What packets add to each batch is measured on the sample; the batches themselves are counted all.
        let sampled: usize = sample.iter().sum();
        let added = delivered.link_bytes.saturating_sub(self.opening) as f64 - sampled as f64;
        let framing_bytes: usize = framed.iter().sum::<usize>() - setting.sizes.iter().sum::<usize>();
        let added_per_batch = framing_bytes as f64 / framed.len() as f64 + added / count as f64;
        let link_bytes = setting.bytes + added_per_batch * setting.batches as f64;
        let delivery_time =
            Figure::of_runs("s", "batch", &[delivered.times], &[], self.seed).expect("a batch was delivered");
        let link_bytes_per_message = link_bytes / setting.messages as f64;
        let link_rate = self.link.down.rate_mean();
        Ok(EncodingOutcome {
            encoding: setting.encoding.name().to_owned(),
            codec: setting.compression.to_string(),
            batch: setting.batch as u64,
            framing: framing.name().to_owned(),
            delivery_time,
            link_bytes_per_message,
            link_load: link_rate
                .map(|rate| 8.0 * link_bytes_per_message * self.options.rate / rate.bits_per_second() as f64),
            batch_delay_s: (setting.batch - 1) as f64 / 2.0 / self.options.rate,
            predicted_s: predicted(self.link, &sample),
            frontier: false,
            to_use: false,
        })
    }
}

fn is(setting: &Sized, encoding: Encoding, compression: Compression, batch: usize) -> bool {
    setting.encoding == encoding && setting.compression == compression && setting.batch == batch
}

/// The time from when a message arises until it has arrived, on the average.
fn delay(outcome: &EncodingOutcome) -> f64 {
    outcome.batch_delay_s + outcome.delivery_time.mean
}

fn mark_frontier(outcomes: &mut [EncodingOutcome]) {
    let costs: Vec<(f64, f64)> = outcomes
        .iter()
        .map(|outcome| (outcome.link_bytes_per_message, delay(outcome)))
        .collect();
    for (outcome, own) in outcomes.iter_mut().zip(&costs) {
        let beats = |other: &(f64, f64)| other.0 <= own.0 && other.1 <= own.1 && other != own;
        outcome.frontier = !costs.iter().any(beats);
    }
}

/// What is recommended.
#[derive(Clone, Copy)]
struct Choice {
    chosen: usize,
    /// The one with the fewest bytes of those that count.
    least: usize,
    /// Whether any setting fits the link.
    fits: bool,
}

/// Of those that fit the link within the wait that is allowed, the fewest bytes; of those that are nearly equal, the smallest change.
fn choose(outcomes: &[EncodingOutcome], settings: &[Sized], options: &Options) -> Choice {
    let all = || 0..settings.len();
    let allowed: Vec<usize> = all().filter(|at| is_allowed(&outcomes[*at], options)).collect();
    let allowed = if allowed.is_empty() { all().collect() } else { allowed };
    let fitting: Vec<usize> = allowed.iter().copied().filter(|at| fits(&outcomes[*at])).collect();
    let fits = !fitting.is_empty();
    let candidates = if fits { fitting } else { allowed };
    let bytes = |at: usize| outcomes[at].link_bytes_per_message;
    let least = candidates
        .iter()
        .copied()
        .min_by(|one, other| bytes(*one).total_cmp(&bytes(*other)));
    let least = least.unwrap_or(0);
    let near = candidates.into_iter().filter(|at| bytes(*at) <= EQUAL * bytes(least));
    let smallest = near.min_by(|one, other| {
        let sizes = [one, other].map(|at| change_size(&settings[*at]));
        sizes[0].cmp(&sizes[1]).then(bytes(*one).total_cmp(&bytes(*other)))
    });
    Choice {
        chosen: smallest.unwrap_or(least),
        least,
        fits,
    }
}

fn is_allowed(outcome: &EncodingOutcome, options: &Options) -> bool {
    outcome.batch_delay_s <= options.wait_max.as_secs_f64()
}

/// Whether the link carries the messages at the rate at which they arise.
fn fits(outcome: &EncodingOutcome) -> bool {
    outcome.link_load.is_none_or(|load| load <= 1.0)
}

/// How much a program that sends plain JSON must change: its format before its compression, and that before its batches.
fn change_size(setting: &Sized) -> (u8, u8, usize) {
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

/// The recommendation in words.
struct Summary<'a> {
    outcomes: &'a [EncodingOutcome],
    settings: &'a [Sized],
    choice: Choice,
    options: &'a Options,
}

impl Summary<'_> {
    fn text(&self) -> String {
        let plain = self
            .settings
            .iter()
            .position(|setting| is(setting, Encoding::Json, Compression::None, 1));
        let Some(plain) = plain else {
            let chosen = &self.outcomes[self.choice.chosen];
            return format!(
                "Use {}: {} bytes of the link a message, {}.",
                describe(&self.settings[self.choice.chosen]),
                with_decimals(chosen.link_bytes_per_message, 1),
                self.time(chosen)
            );
        };
        let plain = &self.outcomes[plain];
        let mut text = format!(
            "A message of plain JSON takes {} bytes of the link and {}.",
            with_decimals(plain.link_bytes_per_message, 0),
            self.time(plain)
        );
        text += &self.single_changes(plain);
        text + &self.recommendation(plain)
    }

    /// How long a message takes, and how full the link is; or that it does not fit.
    fn time(&self, outcome: &EncodingOutcome) -> String {
        let per_second = quantity(self.options.rate, "1/s");
        match outcome.link_load {
            Some(load) if load > 1.0 => {
                format!("does not fit: {per_second} need {} of the link", percent_of(load))
            }
            Some(load) => format!(
                "{}, {per_second} fill {} of the link",
                quantity(delay(outcome), "s"),
                percent_of(load)
            ),
            None => quantity(delay(outcome), "s"),
        }
    }

    /// What each change does alone.
    fn single_changes(&self, plain: &EncodingOutcome) -> String {
        let best = |wanted: &dyn Fn(&Sized) -> bool| {
            let bytes = |at: &usize| self.outcomes[*at].link_bytes_per_message;
            (0..self.settings.len())
                .filter(|at| wanted(&self.settings[*at]) && is_allowed(&self.outcomes[*at], self.options))
                .min_by(|one, other| bytes(one).total_cmp(&bytes(other)))
        };
        let compress = best(&|setting| setting.encoding == Encoding::Json && setting.batch == 1);
        let encode = best(&|setting| setting.compression == Compression::None && setting.batch == 1);
        let batch = best(&|setting| setting.encoding == Encoding::Json && setting.compression == Compression::None);
        let named = [
            compress.map(|at| (at, format!("compress ({})", self.settings[at].compression))),
            encode.map(|at| {
                (
                    at,
                    format!("change the encoding ({})", self.settings[at].encoding.label()),
                )
            }),
            batch.map(|at| (at, format!("send batches ({} messages each)", self.settings[at].batch))),
        ];
        let mut changes: Vec<(&EncodingOutcome, String)> = named
            .into_iter()
            .flatten()
            .map(|(at, name)| (&self.outcomes[at], name))
            .filter(|(outcome, _)| outcome.link_bytes_per_message < plain.link_bytes_per_message)
            .collect();
        changes.sort_by(|(one, _), (other, _)| one.link_bytes_per_message.total_cmp(&other.link_bytes_per_message));
        let alone = |(outcome, name): &(&EncodingOutcome, String)| {
            format!("{name}: {} of the bytes, {}", share(outcome, plain), self.time(outcome))
        };
        let mut text = String::new();
        if let [first, others @ ..] = &changes[..] {
            text += &format!(" First, {}.", alone(first));
            if !others.is_empty() {
                let others: Vec<String> = others.iter().map(alone).collect();
                text += &format!(" Instead, each alone: {}.", others.join("; "));
            }
        }
        text
    }

    fn recommendation(&self, plain: &EncodingOutcome) -> String {
        let Choice { chosen, least, fits } = self.choice;
        let all = &self.outcomes[chosen];
        let what = describe(&self.settings[chosen]);
        if !fits {
            return format!(
                " Nothing that was tried fits: even {what}, with the fewest bytes, takes {} of the link. Send fewer messages, or find a faster link.",
                percent_of(all.link_load.unwrap_or(0.0))
            );
        }
        let mut text = format!(
            " With at most {} of waiting, use {what}: {} bytes, {} of the plain ones, and {} from arising to arrival, {} of it waiting{}.",
            quantity(self.options.wait_max.as_secs_f64(), "s"),
            with_decimals(all.link_bytes_per_message, 1),
            share(all, plain),
            quantity(delay(all), "s"),
            quantity(all.batch_delay_s, "s"),
            all.link_load.map_or_else(String::new, |load| format!(
                "; it fills {} of the link",
                percent_of(load)
            )),
        );
        if least != chosen {
            let saved = 100.0 * (1.0 - self.outcomes[least].link_bytes_per_message / all.link_bytes_per_message);
            text += &format!(
                " {} saves {} % more: not worth it.",
                describe(&self.settings[least]),
                with_decimals(saved, 1)
            );
        }
        if let Some(load) = plain.link_load.filter(|load| *load <= 1.0)
            && delay(all) > SOONER * delay(plain)
        {
            text += &format!(
                " That arrives no sooner than plain JSON: leave it, unless bytes are paid for. Plain JSON fills the link from {} on.",
                quantity(self.options.rate / load, "1/s")
            );
        }
        text
    }
}

/// A message that takes more than this share of another's time is not called sooner: our own choice.
const SOONER: f64 = 0.97;

fn share(outcome: &EncodingOutcome, plain: &EncodingOutcome) -> String {
    percent_of(outcome.link_bytes_per_message / plain.link_bytes_per_message)
}

fn percent_of(share: f64) -> String {
    let decimals = if share < 0.1 { 1 } else { 0 };
    format!("{} %", with_decimals(100.0 * share, decimals))
}

fn describe(setting: &Sized) -> String {
    let batch = match setting.batch {
        1 => "each message alone".to_owned(),
        batch => format!("in batches of {batch}"),
    };
    let codec = match setting.compression {
        Compression::None => "uncompressed".to_owned(),
        compression => compression.to_string(),
    };
    format!("{}, {codec}, {batch}", setting.encoding.label())
}

/// What to do, in words: for each link, or from sizes alone where no link is named.
pub(crate) fn answer(settings: &[Sized], links: &[EncodingDelivery]) -> String {
    if links.is_empty() {
        let smallest = settings
            .iter()
            .min_by(|one, other| one.bytes_per_message().total_cmp(&other.bytes_per_message()));
        return smallest.map_or_else(String::new, |setting| {
            format!(
                "The fewest bytes: {}: {} bytes a message.",
                describe(setting),
                with_decimals(setting.bytes_per_message(), 1)
            )
        });
    }
    let on_link = |link: &EncodingDelivery| format!("On {}: {}", link.name, link.summary);
    links.iter().map(on_link).collect::<Vec<_>>().join("\n")
}
