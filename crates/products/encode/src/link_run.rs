//! Delivers settings over one link: the bytes that they take of it, and the time of a batch while messages arise at the rate.

use crate::deliver::{arrivals, deliver, predicted};
use crate::framing::Framing;
use crate::record::EncodingOutcome;
use crate::sizes::SettingSize;
use crate::{EncodeError, Options};
use lastmile_link::LinkSpec;
use lastmile_report::record::Figure;
use lastmile_testbed::failure::Failure;
use lastmile_units::Seed;
use std::time::Duration;

/// How many batches of a setting are delivered one by one, to count the bytes that packets add: our own choice.
const BATCHES_ONE_BY_ONE: usize = 12;

/// How many batches of a setting are delivered at the rate: as many as have this many bytes, within these bounds. Our own choice; the mean
/// wait of a queue that is half full is then some 10 % from that of all time.
const BYTES_AT_RATE: usize = 400_000;
const BATCHES_AT_RATE: (usize, usize) = (12, 500);

/// A message that takes more than this share of another's time is not called sooner: our own choice.
pub(crate) const SOONER: f64 = 0.9;

/// How often the rates are halved between which compressing begins to pay.
const HALVINGS: usize = 8;

pub(crate) struct LinkRun<'a> {
    name: &'a str,
    link: &'a LinkSpec,
    options: &'a Options,
    seed: Seed,
    /// The bytes of opening and closing a connection.
    opening: u64,
    /// When messages arise, in units of the mean time between two: the same for every setting.
    arrivals: Vec<f64>,
}

impl<'a> LinkRun<'a> {
    /// Batches have at most `batch_max` messages.
    ///
    /// # Errors
    /// When the link delivers nothing.
    pub(crate) fn new(
        name: &'a str,
        link: &'a LinkSpec,
        batch_max: usize,
        options: &'a Options,
    ) -> Result<Self, EncodeError> {
        let seed = options.seed.derive("encode").derive(name);
        let mut run = Self {
            name,
            link,
            options,
            seed,
            opening: 0,
            arrivals: arrivals(BATCHES_AT_RATE.1 * batch_max, seed),
        };
        let opened = deliver(link, &[], None, seed);
        run.opening = opened.map_err(|failure| run.error(failure))?.link_bytes;
        Ok(run)
    }

    fn error(&self, failure: Failure) -> EncodeError {
        EncodeError::Link {
            link: self.name.to_owned(),
            failure,
        }
    }

    /// What a setting takes.
    ///
    /// # Errors
    /// When the link does not deliver it.
    pub(crate) fn outcome(&self, setting: &SettingSize, framing: Framing) -> Result<EncodingOutcome, EncodeError> {
        let framed = framed(setting, framing);
        let count = framed.len().min(BATCHES_ONE_BY_ONE);
        let sample = spread(&framed, count);
        let delivered = deliver(self.link, &sample, None, self.seed).map_err(|failure| self.error(failure))?;
        // What packets add to each batch is measured on the sample; the batches themselves are counted all.
        let sampled: usize = sample.iter().sum();
        let added = delivered.link_bytes.saturating_sub(self.opening) as f64 - sampled as f64;
        let framing_bytes: usize = framed.iter().sum::<usize>() - setting.sizes.iter().sum::<usize>();
        let added_per_batch = framing_bytes as f64 / framed.len() as f64 + added / count as f64;
        let link_bytes = setting.bytes + added_per_batch * setting.batches as f64;
        let link_bytes_per_message = link_bytes / setting.messages as f64;
        let link_rate = self.link.down.rate_mean();
        let link_load =
            link_rate.map(|rate| 8.0 * link_bytes_per_message * self.options.rate / rate.bits_per_second() as f64);
        let delivery_time = match link_load {
            Some(load) if load > 1.0 => None,
            _ => {
                let times = self.times(setting, framing, self.options.rate)?;
                Figure::of_runs("s", "batch", &[times], &[], self.seed)
            }
        };
        Ok(EncodingOutcome {
            encoding: setting.encoding.name().to_owned(),
            codec: setting.compression.to_string(),
            batch: setting.batch as u64,
            framing: framing.name().to_owned(),
            delivery_time,
            link_bytes_per_message,
            link_load,
            batch_delay_s: (setting.batch - 1) as f64 / 2.0 / self.options.rate,
            predicted_s: predicted(self.link, &sample),
            frontier: false,
            to_use: false,
        })
    }

    /// How long each batch takes from when it is full, where `rate` messages arise in a second, in seconds.
    fn times(&self, setting: &SettingSize, framing: Framing, rate: f64) -> Result<Vec<f64>, EncodeError> {
        let framed = framed(setting, framing);
        let mean = framed.iter().sum::<usize>() / framed.len();
        let (least, most) = BATCHES_AT_RATE;
        let count = (BYTES_AT_RATE / mean.max(1)).clamp(least, most);
        let full = |batch: usize| Duration::from_secs_f64(self.arrivals[(batch + 1) * setting.batch - 1] / rate);
        let full: Vec<Duration> = (0..count).map(full).collect();
        let delivered = deliver(self.link, &spread(&framed, count), Some(&full), self.seed);
        Ok(delivered.map_err(|failure| self.error(failure))?.times)
    }

    /// From how many messages a second on `smaller` arrives sooner than `plain`, each sent alone; below `fills`, at which plain fills the link.
    ///
    /// # Errors
    /// When the link does not deliver them.
    pub(crate) fn rate_of_gain(
        &self,
        plain: &SettingSize,
        smaller: &SettingSize,
        fills: f64,
    ) -> Result<f64, EncodeError> {
        let mean = |setting, rate| {
            let times = self.times(setting, Framing::LengthPrefix, rate)?;
            Ok::<_, EncodeError>(times.iter().sum::<f64>() / times.len() as f64)
        };
        let (mut without, mut with) = (self.options.rate, fills);
        for _ in 0..HALVINGS {
            let middle = (without * with).sqrt();
            if mean(smaller, middle)? < SOONER * mean(plain, middle)? {
                with = middle;
            } else {
                without = middle;
            }
        }
        Ok(with)
    }
}

/// The batches that were compressed, with what carries them, in bytes.
fn framed(setting: &SettingSize, framing: Framing) -> Vec<usize> {
    let framed = |size: &usize| size + framing.overhead(*size, setting.compression);
    setting.sizes.iter().map(framed).collect()
}

/// So many of the sizes, at equal distances; from the beginning again where there are fewer.
fn spread(sizes: &[usize], count: usize) -> Vec<usize> {
    let distance = (sizes.len() / count).max(1);
    sizes.iter().step_by(distance).cycle().take(count).copied().collect()
}
