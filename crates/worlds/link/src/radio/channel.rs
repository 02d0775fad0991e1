//! The channel between stations: received powers, who senses whom, and the chance that a frame arrives.

use super::error_rate::ln_bit_success;
use super::error_table::interpolated_ln_bit_success;
use super::fading::FadingGain;
use super::phy::{Phy, Rate};
use super::spec::{Fading, Position, RadioSpec};
use lastmile_units::{Dbm, Decibels, Seed};
use std::time::Duration;

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
    coherence_time: Duration,
    seed: Seed,
    /// What was computed for each pair.
    links: Vec<Option<Box<PairState>>>,
}

/// A pair of stations at the latest time that was asked for. A frame is short beside a coherence time: it has the power of its start.
#[derive(Debug, Clone)]
struct PairState {
    /// Of each antenna; none where nothing fades.
    gains: Vec<FadingGain>,
    at_nanos: u64,
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
            coherence_time: spec.coherence_time,
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
        let index = from * self.stations + to;
        if self.links[index].is_none() {
            self.links[index] = Some(Box::new(self.new_pair(from, to)));
        }
        let mean = self.received[index];
        let pair = self.links[index].as_mut().expect("it was made above");
        if pair.at_nanos != at_nanos && !pair.gains.is_empty() {
            let gain = pair.gains.iter().map(|gain| gain.at(at_nanos)).fold(0.0, f64::max);
            pair.at_nanos = at_nanos;
            pair.power = mean * gain;
            pair.ratio = pair.power / self.noise / self.implementation_loss;
            pair.ln_bit = [f64::NAN; 8];
        }
        pair
    }

    /// A pair at no time yet. Both directions have the same gains.
    fn new_pair(&self, from: usize, to: usize) -> PairState {
        let pair = (from.min(to) * self.stations + from.max(to)) as u64;
        let seed = self.seed.derive_index(pair);
        let of_antenna = |antenna| FadingGain::new(self.fading, self.coherence_time, seed.derive_index(antenna));
        let power = self.received(from, to);
        PairState {
            gains: (0..self.antennas).filter_map(of_antenna).collect(),
            at_nanos: u64::MAX,
            power,
            ratio: power / self.noise / self.implementation_loss,
            ln_bit: [f64::NAN; 8],
        }
    }
}

impl PairState {
    /// The logarithm of the chance of a bit at `rate`.
    #[inline]
    fn ln_bit(&mut self, rate: Rate) -> f64 {
        let known = &mut self.ln_bit[rate.index()];
        if known.is_nan() {
            *known = if self.gains.is_empty() {
                ln_bit_success(rate, self.ratio)
            } else {
                interpolated_ln_bit_success(rate, self.ratio)
            };
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

    fn fading(antennas: u32) -> RadioSpec {
        RadioSpec {
            fading: Fading::Rayleigh,
            antennas,
            ..RadioSpec::dot11b()
        }
    }

    #[test]
    fn both_directions_of_a_pair_fade_alike() {
        let mut channel = channel(&fading(1), &[0.0, 10.0]);
        let mut at = |nanos| [channel.power(0, 1, nanos), channel.power(1, 0, nanos)];
        let (one, other) = (at(0), at(30_000_000));
        assert!(one[0] == one[1] && other[0] == other[1] && one[0] != other[0]);
        // Whatever was asked between, a time has one power.
        assert_eq!(at(0), one);
    }

    /// The better of two exponential gains has the mean 1 + 1/2, and is below a tenth with the square of the chance of one.
    #[test]
    fn the_better_of_two_antennas_is_received() {
        let metres: Vec<f64> = (0..250).map(f64::from).collect();
        let mut channel = channel(&fading(2), &metres);
        let pairs = (0..metres.len()).flat_map(|from| (0..from).map(move |to| (from, to)));
        let gains: Vec<f64> = pairs
            .map(|(from, to)| channel.power(from, to, 0) / channel.received(from, to))
            .collect();
        let count = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / count;
        assert!((mean - 1.5).abs() < 0.03, "{mean}");
        let below = |bound: f64| gains.iter().filter(|gain| **gain < bound).count() as f64 / count;
        let expected = (1.0 - libm::exp(-0.1_f64)).powi(2);
        assert!((below(0.1) / expected - 1.0).abs() < 0.3, "{}", below(0.1));
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
