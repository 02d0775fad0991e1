//! The channel between stations: received powers, who senses whom, and the chance that a frame arrives.

use super::error_rate::ln_bit_success;
use super::phy::{Phy, Rate};
use super::spec::{Fading, Position, RadioSpec};
use lastmile_units::{Dbm, Decibels, Seed};

/// The channel. Stations have indices from 0.
#[derive(Debug)]
pub(crate) struct Channel {
    phy: Phy,
    stations: usize,
    /// The mean power in mW that `to` receives from `from`, at `from * stations + to`.
    received: Vec<f64>,
    /// For each station, those that sense it.
    audience: Vec<Vec<u16>>,
    /// For each pair as in `received`: whether `to` senses `from`.
    senses: Vec<bool>,
    /// For each pair as in `received`: how many of the rates `to` can mostly receive, when nothing fades or collides.
    intelligible_rates: Vec<u8>,
    /// The power of noise in mW.
    noise: f64,
    /// What a ratio of signal to noise is divided by.
    implementation_loss: f64,
    fading: Fading,
    antennas: u64,
    coherence_nanos: u64,
    seed: Seed,
    /// What was computed for each pair, in its present block of fading.
    links: Vec<Option<Box<PairState>>>,
}

/// A pair of stations in one block of fading.
#[derive(Debug, Clone)]
struct PairState {
    block: u64,
    /// The received power in mW, and its ratio to the noise, without the implementation loss.
    power: f64,
    ratio: f64,
    /// The logarithm of the chance of a bit, by the rate's index; not a number where it was not needed yet.
    ln_bit: [f64; 8],
}

/// A part of a frame with other power on the air.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interference {
    /// The part's share of the frame's duration.
    pub(crate) share: f64,
    /// The power of everything else in mW.
    pub(crate) power: f64,
}

/// The bits of the header of the physical layer: 48 in 802.11b (18.2.3), 24 in 802.11a (17.3.4).
const DSSS_HEADER_BITS: f64 = 48.0;
const OFDM_HEADER_BITS: f64 = 24.0;

/// The size of a frame by which a pair's rates count as intelligible; 802.11b's sensitivity is stated for it (18.4.8.1).
const REFERENCE_BYTES: u32 = 1024;

impl Channel {
    pub(crate) fn new(spec: &RadioSpec, positions: &[Position], seed: Seed) -> Self {
        let stations = positions.len();
        let noise = spec.noise_power().milliwatts();
        let implementation_loss = spec.implementation_loss.ratio();
        let pairs = || {
            positions
                .iter()
                .flat_map(|from| positions.iter().map(move |to| (from, to)))
        };
        let levels: Vec<Dbm> = pairs()
            .map(|(from, to)| spec.received_power(from.distance_to(*to)))
            .collect();
        let received: Vec<f64> = levels.iter().map(|level| level.milliwatts()).collect();
        let is_sensed =
            |(pair, level): (usize, &Dbm)| pair / stations != pair % stations && *level >= spec.carrier_sense_threshold;
        let senses: Vec<bool> = levels.iter().enumerate().map(is_sensed).collect();
        let audience = senses.chunks(stations.max(1)).map(|of| {
            let those = of.iter().enumerate().filter(|(_, senses)| **senses);
            those.map(|(to, _)| to as u16).collect()
        });
        let audience = audience.collect();
        let needed: Vec<f64> = spec.phy.rates().iter().map(|rate| needed_ratio(*rate)).collect();
        let intelligible = |power: &f64| {
            let ratio = power / noise / implementation_loss;
            needed
                .iter()
                .rposition(|needed| ratio >= *needed)
                .map_or(0, |index| index as u8 + 1)
        };
        Self {
            phy: spec.phy,
            stations,
            audience,
            senses,
            intelligible_rates: received.iter().map(intelligible).collect(),
            received,
            noise,
            implementation_loss,
            fading: spec.fading,
            antennas: u64::from(spec.antennas),
            coherence_nanos: (spec.coherence_time.as_nanos() as u64).max(1),
            seed,
            links: vec![None; stations * stations],
        }
    }

    /// Those who sense `from`.
    #[inline]
    pub(crate) fn audience(&self, from: usize) -> &[u16] {
        &self.audience[from]
    }

    /// Whether `to` senses `from`.
    #[inline]
    pub(crate) fn senses(&self, from: usize, to: usize) -> bool {
        self.senses[from * self.stations + to]
    }

    /// The mean power in mW that `to` receives from `from`.
    #[inline]
    pub(crate) fn received(&self, from: usize, to: usize) -> f64 {
        self.received[from * self.stations + to]
    }

    /// Whether `to` receives most frames of `from` at `rate`.
    #[inline]
    pub(crate) fn is_intelligible(&self, from: usize, to: usize, rate: Rate) -> bool {
        usize::from(self.intelligible_rates[from * self.stations + to]) > rate.index()
    }

    /// The power in mW that `to` receives from `from` at this time.
    pub(crate) fn power(&mut self, from: usize, to: usize, at_nanos: u64) -> f64 {
        self.pair(from, to, at_nanos).power
    }

    /// The logarithm of the chance that a frame without interference arrives.
    #[inline]
    pub(crate) fn ln_success(&mut self, from: usize, to: usize, rate: Rate, bytes: u32, at_nanos: u64) -> f64 {
        let (header_rate, header_bits) = self.header(rate);
        let pair = self.pair(from, to, at_nanos);
        let (of_header, of_body) = (pair.ln_bit(header_rate), pair.ln_bit(rate));
        header_bits * of_header + 8.0 * f64::from(bytes) * of_body
    }

    /// The logarithm of the chance that a frame arrives whose `parts` have other power on the air, which counts as noise.
    pub(crate) fn ln_success_among(
        &mut self,
        [from, to]: [usize; 2],
        rate: Rate,
        bytes: u32,
        at_nanos: u64,
        parts: &[Interference],
    ) -> f64 {
        let power = self.power(from, to, at_nanos);
        let (_, header_bits) = self.header(rate);
        let bits = header_bits + 8.0 * f64::from(bytes);
        let of_part = |part: &Interference| {
            let ratio = power / (self.noise + part.power) / self.implementation_loss;
            part.share * bits * ln_bit_success(rate, ratio)
        };
        parts.iter().map(of_part).sum()
    }

    /// The rate and the number of bits of the header of the physical layer.
    const fn header(&self, rate: Rate) -> (Rate, f64) {
        match (self.phy, rate) {
            (Phy::Ofdm, _) => (Rate::Ofdm6, OFDM_HEADER_BITS),
            (Phy::HighRateDsss(super::Preamble::Short), Rate::Dsss2 | Rate::Cck5 | Rate::Cck11) => {
                (Rate::Dsss2, DSSS_HEADER_BITS)
            }
            (Phy::HighRateDsss(_), _) => (Rate::Dsss1, DSSS_HEADER_BITS),
        }
    }

    #[inline]
    fn pair(&mut self, from: usize, to: usize, at_nanos: u64) -> &mut PairState {
        let block = match self.fading {
            Fading::None => 0,
            Fading::Rayleigh | Fading::Rician(_) => at_nanos / self.coherence_nanos,
        };
        let index = from * self.stations + to;
        if self.links[index].as_ref().is_none_or(|pair| pair.block != block) {
            let power = self.received(from, to) * self.fading_gain(from, to, block);
            let ln_bit = [f64::NAN; 8];
            let ratio = power / self.noise / self.implementation_loss;
            let fresh = PairState {
                block,
                power,
                ratio,
                ln_bit,
            };
            match &mut self.links[index] {
                Some(pair) => **pair = fresh,
                empty => *empty = Some(Box::new(fresh)),
            }
        }
        self.links[index].as_mut().expect("it was made above")
    }

    /// The factor by which the power of a pair differs from its mean in a block. It follows from the seed, the pair and the block
    /// alone, so it does not depend on who sends when.
    fn fading_gain(&self, one: usize, other: usize, block: u64) -> f64 {
        let pair = (one.min(other) * self.stations + one.max(other)) as u64;
        let seed = self.seed.derive_index(pair).derive_index(block);
        let of_antenna = |antenna: u64| antenna_gain(self.fading, seed, 2 * antenna);
        (0..self.antennas).map(of_antenna).fold(0.0, f64::max)
    }
}

/// The gain of one antenna, from the draws of `seed` from number `first` on.
fn antenna_gain(fading: Fading, seed: Seed, first: u64) -> f64 {
    // In (0, 1], from the upper 53 bits of a 64-bit hash.
    let uniform = |index: u64| ((seed.derive_index(index).get() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    match fading {
        Fading::None => 1.0,
        Fading::Rayleigh => -libm::log(uniform(first)),
        Fading::Rician(line_of_sight) => {
            // A constant, and a complex Gaussian (Box and Muller) with the rest of the power.
            let k = line_of_sight.ratio();
            let (radius, angle) = (
                (-libm::log(uniform(first)) / (k + 1.0)).sqrt(),
                2.0 * std::f64::consts::PI * uniform(first + 1),
            );
            let real = (k / (k + 1.0)).sqrt() + radius * libm::cos(angle);
            let imaginary = radius * libm::sin(angle);
            real * real + imaginary * imaginary
        }
    }
}

impl PairState {
    /// The logarithm of the chance of a bit at `rate`.
    #[inline]
    fn ln_bit(&mut self, rate: Rate) -> f64 {
        let known = &mut self.ln_bit[rate.index()];
        if known.is_nan() {
            *known = ln_bit_success(rate, self.ratio);
        }
        *known
    }
}

/// The ratio of signal to noise at which half of the reference frames arrive, by bisection.
fn needed_ratio(rate: Rate) -> f64 {
    let arrives = |decibels: f64| {
        let ln = 8.0 * f64::from(REFERENCE_BYTES) * ln_bit_success(rate, Decibels::new(decibels).ratio());
        ln > libm::log(0.5)
    };
    let (mut low, mut high) = (-20.0, 40.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if arrives(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Decibels::new(high).ratio()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_units::Metres;

    fn channel(spec: &RadioSpec, metres: &[f64]) -> Channel {
        let positions: Vec<Position> = metres.iter().map(|&x| Position { x, y: 0.0 }).collect();
        Channel::new(spec, &positions, Seed::new(1))
    }

    #[test]
    fn stations_sense_those_in_range_and_not_themselves() {
        let spec = RadioSpec::dot11b();
        // -92 dBm is reached at 247 m.
        let channel = channel(&spec, &[0.0, 200.0, 400.0]);
        assert_eq!(channel.audience(0), [1]);
        assert_eq!(channel.audience(1), [0, 2]);
        assert!(channel.senses(1, 2) && !channel.senses(0, 2));
        assert!(channel.is_intelligible(0, 1, Rate::Dsss1) && !channel.is_intelligible(0, 1, Rate::Cck11));
    }

    #[test]
    fn the_gain_of_fading_has_the_mean_and_the_spread_of_its_distribution() {
        const BLOCKS: u64 = 40_000;
        for (fading, variance) in [
            (Fading::Rayleigh, 1.0),
            // (2 K + 1) / (K + 1)^2 with K = 10.
            (Fading::Rician(Decibels::new(10.0)), 21.0 / 121.0),
        ] {
            let spec = RadioSpec {
                fading,
                ..RadioSpec::dot11b()
            };
            let channel = channel(&spec, &[0.0, 10.0]);
            let gains: Vec<f64> = (0..BLOCKS).map(|block| channel.fading_gain(0, 1, block)).collect();
            let mean = gains.iter().sum::<f64>() / BLOCKS as f64;
            let square = gains.iter().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>() / BLOCKS as f64;
            // Five standard errors of a mean.
            assert!((mean - 1.0).abs() < 5.0 * (variance / BLOCKS as f64).sqrt(), "{mean}");
            assert!((square / variance - 1.0).abs() < 0.1, "{square}");
            assert_eq!(channel.fading_gain(0, 1, 7), channel.fading_gain(1, 0, 7));
        }
    }

    /// The better of two exponential gains has the mean 1 + 1/2, and is below a hundredth with the square of the chance of one.
    #[test]
    fn the_better_of_two_antennas_is_received() {
        const BLOCKS: u64 = 40_000;
        let spec = RadioSpec {
            fading: Fading::Rayleigh,
            antennas: 2,
            ..RadioSpec::dot11b()
        };
        let channel = channel(&spec, &[0.0, 10.0]);
        let gains: Vec<f64> = (0..BLOCKS).map(|block| channel.fading_gain(0, 1, block)).collect();
        let mean = gains.iter().sum::<f64>() / BLOCKS as f64;
        assert!((mean - 1.5).abs() < 0.03, "{mean}");
        let below = |bound: f64| gains.iter().filter(|gain| **gain < bound).count() as f64 / BLOCKS as f64;
        let expected = (1.0 - libm::exp(-0.1_f64)).powi(2);
        assert!((below(0.1) / expected - 1.0).abs() < 0.3, "{}", below(0.1));
    }

    #[test]
    fn a_block_of_fading_lasts_the_coherence_time() {
        let spec = RadioSpec {
            fading: Fading::Rayleigh,
            ..RadioSpec::dot11b()
        };
        let mut channel = channel(&spec, &[0.0, 10.0]);
        let block = spec.coherence_time.as_nanos() as u64;
        let powers = [0, block - 1, block, 2 * block - 1, 2 * block].map(|at| channel.power(0, 1, at));
        assert!(powers[0] == powers[1] && powers[2] == powers[3]);
        assert!(powers[1] != powers[2] && powers[3] != powers[4]);
    }

    #[test]
    fn interference_of_the_noises_power_costs_three_decibels() {
        let spec = RadioSpec::dot11b();
        let mut channel = channel(&spec, &[0.0, 100.0]);
        let noise = spec.noise_power().milliwatts();
        let parts = [Interference {
            share: 1.0,
            power: noise,
        }];
        let among = channel.ln_success_among([0, 1], Rate::Cck11, 1000, 0, &parts);
        let ratio = spec.signal_to_noise(Metres::new(100.0)).ratio() / 2.0;
        let expected = 8048.0 * ln_bit_success(Rate::Cck11, ratio);
        assert!((among / expected - 1.0).abs() < 1e-9, "{among} {expected}");
    }
}
