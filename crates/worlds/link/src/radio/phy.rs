//! The physical layers of IEEE 802.11: rates, timing, and how long a frame is on the air.
//!
//! Sections are those of IEEE Std 802.11-2007: clause 17 is OFDM (802.11a), clause 18 is HR/DSSS (802.11b).

use lastmile_units::BitRate;
use std::fmt;
use std::time::Duration;

/// A physical layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phy {
    /// High-rate direct sequence, 802.11b: 1, 2, 5.5 and 11 Mbit/s in the band at 2.4 GHz.
    HighRateDsss(Preamble),
    /// Orthogonal frequency division multiplexing, 802.11a: 6 to 54 Mbit/s in the band at 5 GHz, channels of 20 MHz.
    Ofdm,
}

/// The preamble of a frame of [`Phy::HighRateDsss`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preamble {
    /// 144 us and a header of 48 us (18.2.2.1).
    Long,
    /// 72 us and a header of 24 us (18.2.2.2). Frames at 1 Mbit/s have the long one in any case.
    Short,
}

/// A rate at which the bits of a frame are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rate {
    /// 1 Mbit/s, DBPSK.
    Dsss1,
    /// 2 Mbit/s, DQPSK.
    Dsss2,
    /// 5.5 Mbit/s, CCK.
    Cck5,
    /// 11 Mbit/s, CCK.
    Cck11,
    /// 6 Mbit/s, BPSK with a code of rate 1/2.
    Ofdm6,
    /// 9 Mbit/s, BPSK, 3/4.
    Ofdm9,
    /// 12 Mbit/s, QPSK, 1/2.
    Ofdm12,
    /// 18 Mbit/s, QPSK, 3/4.
    Ofdm18,
    /// 24 Mbit/s, 16-QAM, 1/2.
    Ofdm24,
    /// 36 Mbit/s, 16-QAM, 3/4.
    Ofdm36,
    /// 48 Mbit/s, 64-QAM, 2/3.
    Ofdm48,
    /// 54 Mbit/s, 64-QAM, 3/4.
    Ofdm54,
}

impl Rate {
    /// How many there are.
    pub(crate) const COUNT: usize = Self::Ofdm54 as usize + 1;

    /// In units of 500 kbit/s, as frames and radiotap headers state it (7.3.2.2).
    #[inline]
    pub const fn half_megabits(self) -> u8 {
        match self {
            Self::Dsss1 => 2,
            Self::Dsss2 => 4,
            Self::Cck5 => 11,
            Self::Cck11 => 22,
            Self::Ofdm6 => 12,
            Self::Ofdm9 => 18,
            Self::Ofdm12 => 24,
            Self::Ofdm18 => 36,
            Self::Ofdm24 => 48,
            Self::Ofdm36 => 72,
            Self::Ofdm48 => 96,
            Self::Ofdm54 => 108,
        }
    }

    /// As a bit rate.
    pub fn bit_rate(self) -> BitRate {
        BitRate::new(500_000 * u64::from(self.half_megabits())).expect("it is above 0")
    }

    /// Its position among the rates of its physical layer, from 0.
    #[inline]
    pub(crate) fn index(self) -> usize {
        let first = if self < Self::Ofdm6 { Self::Dsss1 } else { Self::Ofdm6 };
        self as usize - first as usize
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bit_rate().fmt(f)
    }
}

/// Bytes of the MAC header of a data frame (7.2.2) and of the frame check sequence.
pub(crate) const MAC_OVERHEAD: u32 = 24 + 4;
/// Bytes of the LLC and SNAP headers of an IP packet (RFC 1042).
pub(crate) const LLC_SNAP: u32 = 8;
/// Bytes of an ACK, or of a CTS (7.2.1.2, 7.2.1.3).
pub(crate) const ACK: u32 = 14;
/// Bytes of an RTS (7.2.1.1).
pub(crate) const RTS: u32 = 20;

const DSSS: [Rate; 4] = [Rate::Dsss1, Rate::Dsss2, Rate::Cck5, Rate::Cck11];
const OFDM: [Rate; 8] = [
    Rate::Ofdm6,
    Rate::Ofdm9,
    Rate::Ofdm12,
    Rate::Ofdm18,
    Rate::Ofdm24,
    Rate::Ofdm36,
    Rate::Ofdm48,
    Rate::Ofdm54,
];

impl Phy {
    /// Its rates, the lowest first.
    pub const fn rates(self) -> &'static [Rate] {
        match self {
            Self::HighRateDsss(_) => &DSSS,
            Self::Ofdm => &OFDM,
        }
    }

    /// Its lowest rate: beacons and the EIFS use it.
    pub(crate) const fn lowest_rate(self) -> Rate {
        self.rates()[0]
    }

    /// Its highest rate.
    pub(crate) const fn highest_rate(self) -> Rate {
        let rates = self.rates();
        rates[rates.len() - 1]
    }

    /// The highest of its rates that every station supports (7.3.2.2; 17.3 makes 6, 12 and 24 Mbit/s mandatory). For HR/DSSS it is the
    /// 2 Mbit/s of the first standard, our own choice: the standard leaves it to the network, and ns-3 sends ACKs at 11 Mbit/s.
    pub const fn highest_basic_rate(self) -> Rate {
        match self {
            Self::HighRateDsss(_) => Rate::Dsss2,
            Self::Ofdm => Rate::Ofdm24,
        }
    }

    /// The bytes of a beacon: header and frame check sequence, timestamp, interval, capabilities, a name of 8 characters, the rates, the
    /// channel (of 802.11b), and the parameters of an ad hoc network (7.2.3.1).
    pub const fn beacon_bytes(self) -> u32 {
        let channel = match self {
            Self::HighRateDsss(_) => 3,
            Self::Ofdm => 0,
        };
        24 + 4 + 8 + 2 + 2 + (2 + 8) + (2 + self.rates().len() as u32) + channel + 4
    }

    /// aSlotTime (18.3.3, 17.3.8.6).
    pub const fn slot(self) -> Duration {
        Duration::from_micros(match self {
            Self::HighRateDsss(_) => 20,
            Self::Ofdm => 9,
        })
    }

    /// aSIFSTime (18.3.3, 17.3.8.6).
    pub const fn sifs(self) -> Duration {
        Duration::from_micros(match self {
            Self::HighRateDsss(_) => 10,
            Self::Ofdm => 16,
        })
    }

    /// The DIFS: a SIFS and two slots (9.2.10).
    pub fn difs(self) -> Duration {
        self.sifs() + 2 * self.slot()
    }

    /// The EIFS: a SIFS, an ACK at the lowest rate, and a DIFS (9.2.10). At 1 Mbit/s the ACK has a long preamble in any case, so that
    /// short preambles do not shorten it.
    pub fn eifs(self) -> Duration {
        self.sifs() + self.frame_duration(self.lowest_rate(), ACK) + self.difs()
    }

    /// The time after a frame at which a station gives up an ACK or a CTS that has not begun: a SIFS, a slot and aPHY-RX-START-Delay
    /// (9.2.8).
    pub const fn response_timeout(self) -> Duration {
        let start_delay = match self {
            Self::HighRateDsss(Preamble::Long) => 192,
            Self::HighRateDsss(Preamble::Short) => 96,
            Self::Ofdm => 25,
        };
        Duration::from_micros((self.sifs().as_micros() + self.slot().as_micros()) as u64 + start_delay)
    }

    /// aCWmin (18.3.3, 17.3.8.6): the contention window of the first attempt, in slots.
    pub const fn contention_window_min(self) -> u32 {
        match self {
            Self::HighRateDsss(_) => 31,
            Self::Ofdm => 15,
        }
    }

    /// aCWmax (18.3.3, 17.3.8.6).
    pub const fn contention_window_max(self) -> u32 {
        1023
    }

    /// The bandwidth of the noise at the receiver, in Hz.
    pub const fn noise_bandwidth_hz(self) -> f64 {
        match self {
            Self::HighRateDsss(_) => 22e6,
            Self::Ofdm => 20e6,
        }
    }

    /// The preamble and the header of the physical layer in a frame at `rate`.
    #[inline]
    pub fn header_duration(self, rate: Rate) -> Duration {
        Duration::from_micros(self.header_micros(rate))
    }

    #[inline]
    fn header_micros(self, rate: Rate) -> u64 {
        match self {
            Self::HighRateDsss(Preamble::Short) if rate != Rate::Dsss1 => 72 + 24,
            Self::HighRateDsss(_) => 144 + 48,
            Self::Ofdm => 16 + 4,
        }
    }

    /// How long a frame of `bytes`, MAC header and frame check sequence included, is on the air at `rate` (18.3.4, rounded up to a
    /// microsecond; 17.4.3, rounded up to a symbol of 4 us).
    #[inline]
    pub fn frame_duration(self, rate: Rate, bytes: u32) -> Duration {
        Duration::from_nanos(self.frame_nanos(rate, bytes))
    }

    /// As [`Self::frame_duration`], in nanoseconds.
    #[inline]
    pub(crate) fn frame_nanos(self, rate: Rate, bytes: u32) -> u64 {
        let half_megabits = u32::from(rate.half_megabits());
        let body = match self {
            Self::HighRateDsss(_) => (16 * bytes).div_ceil(half_megabits),
            // 16 bits of SERVICE and 6 tail bits; a symbol has 2 data bits per 500 kbit/s.
            Self::Ofdm => 4 * (16 + 8 * bytes + 6).div_ceil(2 * half_megabits),
        };
        1000 * (self.header_micros(rate) + u64::from(body))
    }

    /// The rate of the ACK or CTS that answers a frame at `rate`: the highest basic rate that is not above it (9.6).
    #[inline]
    pub fn control_rate(self, rate: Rate, highest_basic: Rate) -> Rate {
        let basic = |of: &Rate| match self {
            Self::HighRateDsss(_) => *of <= highest_basic,
            Self::Ofdm => matches!(of, Rate::Ofdm6 | Rate::Ofdm12 | Rate::Ofdm24) && *of <= highest_basic,
        };
        let mut rates = self.rates().iter().rev();
        *rates.find(|of| **of <= rate && basic(of)).unwrap_or(&self.rates()[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Phy = Phy::HighRateDsss(Preamble::Long);
    const SHORT: Phy = Phy::HighRateDsss(Preamble::Short);

    fn us(microseconds: u64) -> Duration {
        Duration::from_micros(microseconds)
    }

    #[test]
    fn the_spaces_between_frames_are_those_of_the_standard() {
        assert_eq!([LONG.sifs(), LONG.difs(), LONG.eifs()], [us(10), us(50), us(364)]);
        assert_eq!(
            [Phy::Ofdm.sifs(), Phy::Ofdm.difs(), Phy::Ofdm.eifs()],
            [us(16), us(34), us(94)]
        );
    }

    #[test]
    fn airtimes_are_those_of_the_standard() {
        assert_eq!(LONG.frame_duration(Rate::Dsss2, ACK), us(248));
        assert_eq!(LONG.frame_duration(Rate::Dsss1, ACK), us(304));
        assert_eq!(SHORT.frame_duration(Rate::Dsss2, ACK), us(152));
        assert_eq!(SHORT.frame_duration(Rate::Dsss1, ACK), us(304));
        // 1,536 B are 1,117.09 us at 11 Mbit/s.
        assert_eq!(LONG.frame_duration(Rate::Cck11, 1536), us(192 + 1118));
        assert_eq!(Phy::Ofdm.frame_duration(Rate::Ofdm24, ACK), us(28));
        assert_eq!(Phy::Ofdm.frame_duration(Rate::Ofdm54, 1536), us(20 + 4 * 57));
    }

    #[test]
    fn an_ack_has_the_highest_basic_rate_that_is_not_above_the_frames() {
        let of = |phy: Phy, rate| phy.control_rate(rate, phy.highest_basic_rate());
        assert_eq!(of(LONG, Rate::Cck11), Rate::Dsss2);
        assert_eq!(of(LONG, Rate::Dsss1), Rate::Dsss1);
        assert_eq!(of(Phy::Ofdm, Rate::Ofdm54), Rate::Ofdm24);
        assert_eq!(of(Phy::Ofdm, Rate::Ofdm18), Rate::Ofdm12);
        assert_eq!(of(Phy::Ofdm, Rate::Ofdm9), Rate::Ofdm6);
    }
}
