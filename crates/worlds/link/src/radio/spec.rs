//! What a radio is: its physical layer, stations' settings, the channel between them, and what else is on the air.
//!
//! Every default has a source, or is marked as our own choice. None is fitted to a measurement of a network.

use super::phy::{Phy, Preamble, Rate};
use lastmile_units::{ByteCount, Dbm, Decibels, Metres, Probability};
use std::time::Duration;

/// A radio that stations share. [`RadioSpec::dot11b`] and [`RadioSpec::dot11a`] are those with defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioSpec {
    /// The physical layer.
    pub phy: Phy,
    /// How a station chooses the rate of its data frames. Default: the highest rate, fixed.
    pub rate: RateControl,
    /// The highest rate of ACKs, CTSs and RTSs. Default: [`Phy::highest_basic_rate`].
    pub highest_basic_rate: Rate,
    /// Of every station. Default: 20 dBm (100 mW), the most that ETSI EN 300 328 permits at 2.4 GHz.
    pub transmit_power: Dbm,
    /// Of stations without positions of their own: the first one is at the centre, the others are evenly on a circle of this radius.
    /// Default: 1 m, our own choice.
    pub distance: Metres,
    /// How the power falls with distance.
    pub path_loss: PathLoss,
    /// What every path loses besides: by bodies, cases of notebooks, furniture and walls. Default: 0 dB.
    pub obstruction_loss: Decibels,
    /// The antennas of a station, whose fading is independent: frames are received by the best of them (selection diversity), as by
    /// cards with two antennas. Default: 1.
    pub antennas: u32,
    /// How the power varies about its mean. Default: it does not.
    pub fading: Fading,
    /// How long the fading of a pair of stations stays about as it is. Default: 52 ms, which is 0.423 / f_m for a Doppler frequency f_m of
    /// 8.1 Hz: 1 m/s at 2.437 GHz (Rappaport, Wireless Communications, 2nd ed., 5.40c).
    pub coherence_time: Duration,
    /// Of the receiver. Default: 7 dB, as ns-3's `WifiPhy::RxNoiseFigure`, whose authors chose it because their curves then fit a card that
    /// was measured on a wireless emulator (ns-3's manual, "Testing Documentation" of the Wi-Fi module).
    pub noise_figure: Decibels,
    /// How much more signal a real receiver needs than the formulas say. Default: 5 dB, the margin that 17.3.10.1 of IEEE Std
    /// 802.11-2007 assumes, beside a noise figure of 10 dB. With both defaults the sensitivity is that of a card's manual, within 1.5 dB
    /// (a test holds it). ns-3 has no such margin, so its stations reach farther.
    pub implementation_loss: Decibels,
    /// The least power of a frame that makes the medium busy. Default: -92 dBm for 802.11b, where frames at 1 Mbit/s begin to be
    /// received with the other defaults (our own choice); -82 dBm for 802.11a (17.3.10.5).
    pub carrier_sense_threshold: Dbm,
    /// The least power of anything else that makes the medium busy. Default: -62 dBm for 802.11a (17.3.10.5, and ns-3's `CcaEdThreshold`).
    /// For 802.11b it is -76 dBm, our own choice: the standard demands at most some value between -80 and -70 dBm, by clause and by
    /// transmit power (15.4.8.4, 18.4.8.4).
    pub energy_detection_threshold: Dbm,
    /// How much stronger than all others together a frame must be to survive a collision; none if every collision destroys it. Default:
    /// 10 dB, as ns-2's `CPThresh_` (tcl/lib/ns-default.tcl). The receiver must have begun with that frame.
    pub capture: Option<Decibels>,
    /// The attempts for an RTS, or for a frame without one. Default: 7 (dot11ShortRetryLimit, annex D; ns-3's `MaxSsrc`).
    pub short_retry_limit: u32,
    /// The attempts for a frame after its RTS. Default: 4 (dot11LongRetryLimit, annex D; ns-3's `MaxSlrc`).
    pub long_retry_limit: u32,
    /// The size above which a frame, MAC header included, is sent after an RTS; none if none is. Default: none, as dot11RTSThreshold
    /// (2347 bytes) and Linux have it.
    pub rts_threshold: Option<ByteCount>,
    /// The packets that may wait at a station besides the one in service. Default: 100, `tx_queue_len` of Linux up to 2.4
    /// (`ether_setup` in drivers/net/net_init.c), which wireless drivers of that time had.
    pub queue_packets: usize,
    /// The beacons of an ad hoc network; none if nobody sends them. Default: none.
    pub beacons: Option<Beacons>,
    /// Something else on the air. Default: nothing.
    pub interferer: Option<Interferer>,
    /// The power that a station draws in each state.
    pub power_states: PowerStates,
}

/// How a station chooses the rate of its data frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateControl {
    /// Always this one.
    Fixed(Rate),
    /// Automatic Rate Fallback: see [`Arf`](super::Arf).
    Arf,
}

/// The log-distance model: the mean path loss at d metres is `reference` + 10 `exponent` log10(d); below 1 m it is `reference`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathLoss {
    /// The loss at 1 m. Default: that of free space (Friis) at the middle of the band: 40.18 dB at 2.437 GHz (channel 6), 46.73 dB at
    /// 5.18 GHz (channel 36).
    pub reference: Decibels,
    /// Default: 3.0, an office with hard partitions (Rappaport, 2nd ed., table 4.6), and ns-3's `LogDistancePropagationLossModel`.
    pub exponent: f64,
}

/// How the received power of a pair of stations varies about its mean, continuously, as Clarke's model has it. Both directions
/// of a pair fade alike; carrier sense and collisions work with the means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fading {
    /// It does not.
    None,
    /// Many paths and none of them the strongest: the power is exponentially distributed.
    Rayleigh,
    /// A line of sight with this many decibels above the sum of all other paths.
    Rician(Decibels),
}

/// The beacons of an ad hoc network (11.1.2.2 of IEEE Std 802.11-2007): at every target time all stations contend, and one sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beacons {
    /// The time between two target times. Default: 102.4 ms (100 time units of 1,024 us), our own choice: the usual setting of cards.
    pub interval: Duration,
}

/// Something that sends now and then without regard to others, such as a microwave oven. It is equally strong at all stations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interferer {
    /// The time from one beginning to the next. Default: 20 ms, of an oven on mains of 50 Hz.
    pub period: Duration,
    /// The share of it in which it sends. Default: 50 %, an oven's half-wave.
    pub duty_cycle: Probability,
    /// Its power at every station.
    pub received_power: Dbm,
}

/// The power that a station draws, in watts. Default: Feeney and Nilsson, "Investigating the energy consumption of a wireless network
/// interface in an ad hoc networking environment", INFOCOM 2001, vol. 3, p. 1548: Lucent's card of 11 Mbit/s takes 284, 190 and 156 mA at
/// 4.74 V. The power while sending does not follow the transmit power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerStates {
    /// While it sends.
    pub transmit_watts: f64,
    /// While it senses frames of others.
    pub receive_watts: f64,
    /// Otherwise.
    pub idle_watts: f64,
}

impl Interferer {
    /// A microwave oven with this power at every station, and the defaults of the rest.
    pub fn microwave_oven(received_power: Dbm) -> Self {
        Self {
            period: Duration::from_millis(20),
            duty_cycle: Probability::new(0.5).expect("it is from 0 to 1"),
            received_power,
        }
    }
}

impl Default for PowerStates {
    fn default() -> Self {
        Self {
            transmit_watts: 1.346,
            receive_watts: 0.901,
            idle_watts: 0.739,
        }
    }
}

impl Default for Beacons {
    fn default() -> Self {
        Self {
            interval: Duration::from_micros(102_400),
        }
    }
}

/// A place in the plane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Position {
    /// Metres to the east.
    pub x: f64,
    /// Metres to the north.
    pub y: f64,
}

impl Position {
    /// How far it is from here to `other`.
    pub fn distance_to(self, other: Self) -> Metres {
        Metres::new(libm::hypot(self.x - other.x, self.y - other.y))
    }
}

impl RadioSpec {
    /// 802.11b with long preambles at 11 Mbit/s.
    pub fn dot11b() -> Self {
        Self {
            phy: Phy::HighRateDsss(Preamble::Long),
            rate: RateControl::Fixed(Rate::Cck11),
            highest_basic_rate: Rate::Dsss2,
            transmit_power: Dbm::new(20.0),
            distance: Metres::new(1.0),
            path_loss: PathLoss {
                reference: Decibels::new(40.18),
                exponent: 3.0,
            },
            obstruction_loss: Decibels::new(0.0),
            antennas: 1,
            fading: Fading::None,
            coherence_time: Duration::from_millis(52),
            noise_figure: Decibels::new(7.0),
            implementation_loss: Decibels::new(5.0),
            carrier_sense_threshold: Dbm::new(-92.0),
            energy_detection_threshold: Dbm::new(-76.0),
            capture: Some(Decibels::new(10.0)),
            short_retry_limit: 7,
            long_retry_limit: 4,
            rts_threshold: None,
            queue_packets: 100,
            beacons: None,
            interferer: None,
            power_states: PowerStates::default(),
        }
    }

    /// 802.11a at 54 Mbit/s.
    pub fn dot11a() -> Self {
        let phy = Phy::Ofdm;
        Self {
            phy,
            rate: RateControl::Fixed(Rate::Ofdm54),
            highest_basic_rate: phy.highest_basic_rate(),
            path_loss: PathLoss {
                reference: Decibels::new(46.73),
                exponent: 3.0,
            },
            carrier_sense_threshold: Dbm::new(-82.0),
            energy_detection_threshold: Dbm::new(-62.0),
            ..Self::dot11b()
        }
    }

    /// The positions of `stations` stations where none are given: the first at the centre, the others evenly on a circle of radius
    /// [`distance`](Self::distance) around it.
    pub fn default_positions(&self, stations: usize) -> Vec<Position> {
        let radius = self.distance.get();
        let on_circle = |number: usize| {
            let angle = 2.0 * std::f64::consts::PI * (number as f64 - 1.0) / (stations as f64 - 1.0);
            Position {
                x: radius * libm::cos(angle),
                y: radius * libm::sin(angle),
            }
        };
        let centre = (stations > 0).then_some(Position::default());
        centre.into_iter().chain((1..stations).map(on_circle)).collect()
    }

    /// The mean power at a receiver `distance` away.
    pub fn received_power(&self, distance: Metres) -> Dbm {
        let beyond = 10.0 * self.path_loss.exponent * libm::log10(distance.get().max(1.0));
        self.transmit_power - (self.path_loss.reference + Decibels::new(beyond) + self.obstruction_loss)
    }

    /// The power of the noise: that of a resistor at 290 K (-174 dBm per Hz) in the bandwidth, and the noise figure.
    pub fn noise_power(&self) -> Dbm {
        let bandwidth = Decibels::from_ratio(self.phy.noise_bandwidth_hz());
        Dbm::new(-174.0) + bandwidth + self.noise_figure
    }

    /// The mean ratio of signal to noise at a receiver `distance` away, with the implementation loss taken off: what decides over bits.
    pub fn signal_to_noise(&self, distance: Metres) -> Decibels {
        self.received_power(distance) - self.implementation_loss - self.noise_power()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::error_rate::ln_bit_success;

    #[test]
    fn power_noise_and_their_ratio_are_the_arithmetic_of_the_link_budget() {
        let spec = RadioSpec::dot11b();
        assert!(
            (spec.noise_power().get() + 93.576).abs() < 0.001,
            "{}",
            spec.noise_power()
        );
        assert!((spec.received_power(Metres::new(100.0)).get() + 80.18).abs() < 1e-9);
        assert_eq!(
            spec.received_power(Metres::new(0.2)),
            spec.received_power(Metres::new(1.0))
        );
        assert!((spec.signal_to_noise(Metres::new(100.0)).get() - 8.396).abs() < 0.001);
        let obstructed = RadioSpec {
            obstruction_loss: Decibels::new(7.0),
            ..spec
        };
        assert!((obstructed.received_power(Metres::new(100.0)).get() + 87.18).abs() < 1e-9);
    }

    /// The manual of a card of the time (Acer MPCI-101, section 3.3.2) states at which levels less than 8 % of frames of 1,024 bytes are lost.
    #[test]
    fn the_defaults_have_the_sensitivity_of_a_real_card() {
        let spec = RadioSpec::dot11b();
        let (noise, loss) = (spec.noise_power(), spec.implementation_loss);
        for (rate, manual) in [
            (Rate::Dsss1, -91.0),
            (Rate::Dsss2, -88.0),
            (Rate::Cck5, -85.0),
            (Rate::Cck11, -82.0),
        ] {
            let lost = |level: f64| {
                let ratio = (Dbm::new(level) - loss - noise).ratio();
                -libm::expm1(8.0 * 1024.0 * ln_bit_success(rate, ratio))
            };
            assert!(
                lost(manual - 1.5) > 0.08 && lost(manual + 1.5) < 0.08,
                "{rate}: {}",
                lost(manual)
            );
        }
    }

    #[test]
    fn the_loss_at_one_metre_is_that_of_free_space() {
        let friis = |hertz: f64| 20.0 * libm::log10(4.0 * std::f64::consts::PI * hertz / 299_792_458.0);
        assert!((RadioSpec::dot11b().path_loss.reference.get() - friis(2.437e9)).abs() < 0.01);
        assert!((RadioSpec::dot11a().path_loss.reference.get() - friis(5.18e9)).abs() < 0.01);
    }

    #[test]
    fn stations_without_positions_are_around_the_first() {
        let spec = RadioSpec {
            distance: Metres::new(10.0),
            ..RadioSpec::dot11b()
        };
        let positions = spec.default_positions(5);
        assert_eq!(positions[0], Position::default());
        for position in &positions[1..] {
            assert!((position.distance_to(positions[0]).get() - 10.0).abs() < 1e-9);
        }
        assert!((positions[1].distance_to(positions[3]).get() - 20.0).abs() < 1e-9);
        assert_eq!(spec.default_positions(0), []);
    }
}
