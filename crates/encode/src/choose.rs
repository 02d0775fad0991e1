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

/// Settings whose bytes differ by less are told apart by what they cost otherwise: our own choice.
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
    let chosen = choose(&outcomes, options);
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
        summary: summary(&outcomes[..settings.len()], settings, chosen, options),
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
        Ok(EncodingOutcome {
            encoding: setting.encoding.name().to_owned(),
            codec: setting.compression.to_string(),
            batch: setting.batch as u64,
            framing: framing.name().to_owned(),
            delivery_time,
            link_bytes_per_message: link_bytes / setting.messages as f64,
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

/// The fewest bytes within the wait that is allowed; of those that are nearly equal, the one with the least delay.
fn choose(outcomes: &[EncodingOutcome], options: &Options) -> usize {
    let allowed = |outcome: &&EncodingOutcome| outcome.batch_delay_s <= options.wait_max.as_secs_f64();
    let least = outcomes
        .iter()
        .filter(allowed)
        .map(|outcome| outcome.link_bytes_per_message)
        .fold(f64::INFINITY, f64::min);
    let near = outcomes.iter().enumerate().filter(|(_, outcome)| {
        (outcome.batch_delay_s <= options.wait_max.as_secs_f64() || least.is_infinite())
            && outcome.link_bytes_per_message <= EQUAL * least
    });
    near.min_by(|(_, one), (_, other)| delay(one).total_cmp(&delay(other)))
        .map_or(0, |(at, _)| at)
}

/// A change of one thing, or of all.
struct Change {
    name: String,
    what: String,
    bytes: f64,
    delay: f64,
}

fn summary(outcomes: &[EncodingOutcome], settings: &[Sized], chosen: usize, options: &Options) -> String {
    let Some(plain) = settings
        .iter()
        .position(|setting| is(setting, Encoding::Json, Compression::None, 1))
    else {
        return format!("Use {}.", describe(&settings[chosen]));
    };
    let allowed = |at: &usize| outcomes[*at].batch_delay_s <= options.wait_max.as_secs_f64();
    let best = |wanted: &dyn Fn(&Sized) -> bool| {
        let bytes = |at: &usize| outcomes[*at].link_bytes_per_message;
        (0..settings.len())
            .filter(|at| wanted(&settings[*at]) && allowed(at))
            .min_by(|one, other| bytes(one).total_cmp(&bytes(other)))
    };
    let change = |name: &str, at: usize, what: String| Change {
        name: name.to_owned(),
        what,
        bytes: outcomes[at].link_bytes_per_message,
        delay: delay(&outcomes[at]),
    };
    let mut changes = Vec::new();
    if let Some(at) = best(&|setting| setting.encoding == Encoding::Json && setting.batch == 1) {
        changes.push(change("compress", at, settings[at].compression.to_string()));
    }
    if let Some(at) = best(&|setting| setting.compression == Compression::None && setting.batch == 1) {
        changes.push(change(
            "change the encoding",
            at,
            settings[at].encoding.label().to_owned(),
        ));
    }
    if let Some(at) = best(&|setting| setting.encoding == Encoding::Json && setting.compression == Compression::None) {
        changes.push(change(
            "send batches",
            at,
            format!("{} messages each", settings[at].batch),
        ));
    }
    let (plain_bytes, plain_delay) = (outcomes[plain].link_bytes_per_message, delay(&outcomes[plain]));
    changes.retain(|change| change.bytes < plain_bytes);
    changes.sort_by(|one, other| one.bytes.total_cmp(&other.bytes));
    let share = |bytes: f64| format!("{} %", with_decimals(100.0 * bytes / plain_bytes, 0));
    let mut text = format!(
        "A message of plain JSON takes {} bytes of the link and {}.",
        with_decimals(plain_bytes, 0),
        quantity(plain_delay, "s")
    );
    let alone = |change: &Change| {
        format!(
            "{} ({}): {} of the bytes, {}",
            change.name,
            change.what,
            share(change.bytes),
            quantity(change.delay, "s")
        )
    };
    if let [first, others @ ..] = &changes[..] {
        text += &format!(" First, {}.", alone(first));
        if !others.is_empty() {
            let others: Vec<String> = others.iter().map(alone).collect();
            text += &format!(" Instead, each alone: {}.", others.join("; "));
        }
    }
    let all = &outcomes[chosen];
    text + &format!(
        " The fewest bytes with at most {} of waiting: {}: {} bytes, {} of the plain ones, and {} from arising to arrival, {} of it waiting.",
        quantity(options.wait_max.as_secs_f64(), "s"),
        describe(&settings[chosen]),
        with_decimals(all.link_bytes_per_message, 1),
        share(all.link_bytes_per_message),
        quantity(delay(all), "s"),
        quantity(all.batch_delay_s, "s"),
    )
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
