//! Reads 802.11 frames with radiotap headers, and counts them by kind, rate and station.
//!
//! Radiotap is that of radiotap.org, frames are those of IEEE Std 802.11-2007, clause 7. A monitor hears a frame each time that it is
//! sent: what the MAC sends again is counted here, and is no packet of its own for IP and TCP.

use lastmile_units::ByteCount;
use std::collections::BTreeMap;
use std::time::Duration;

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameKind {
    /// A data frame.
    Data,
    /// An acknowledgement.
    Ack,
    /// A request to send.
    Rts,
    /// Its answer.
    Cts,
    /// A beacon.
    Beacon,
    /// Another management frame.
    Management,
    /// Another control frame.
    Control,
}

/// The frames of an 802.11 capture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wireless {
    /// By kind, and by rate in units of 500 kbit/s where it was captured.
    pub kinds: BTreeMap<(FrameKind, Option<u8>), FrameCounts>,
    /// By the address of the sender, where the frame has one: ACKs and CTSs have none.
    pub stations: BTreeMap<[u8; 6], StationCounts>,
    /// Frames of senders beyond the first [`STATIONS_MAX`], which are not told apart.
    pub of_other_stations: u64,
}

/// The most stations that are told apart. Our own choice, to bound the memory.
pub const STATIONS_MAX: usize = 1000;

/// Numbers of frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Frames.
    pub frames: u64,
    /// Those that are sent again.
    pub retries: u64,
    /// Bytes from the 802.11 header to the frame check sequence.
    pub bytes: ByteCount,
    /// Time on the air, preambles included, of those whose rate was captured.
    pub airtime: Duration,
}

/// The frames of a station.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StationCounts {
    /// All of them.
    pub all: FrameCounts,
    /// The sum of signal powers in dBm, and the number of frames that state one.
    pub signal: (i64, u64),
    recent: RecentSequences,
}

/// The sequence numbers of a station's last data frames, in no order. A frame that is sent again may come after others: to another
/// receiver, or of another priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct RecentSequences {
    numbers: [Option<u16>; RECENT],
    next: usize,
}

/// Our own choice.
const RECENT: usize = 8;

impl RecentSequences {
    /// Notes the number of a frame; returns whether it was there.
    fn note(&mut self, sequence: u16) -> bool {
        if self.numbers.contains(&Some(sequence)) {
            return true;
        }
        self.numbers[self.next] = Some(sequence);
        self.next = (self.next + 1) % RECENT;
        false
    }
}

/// A frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MacFrame<'a> {
    kind: FrameKind,
    is_retry: bool,
    rate: Option<u8>,
    from: Option<[u8; 6]>,
    sequence: Option<u16>,
    bytes: u32,
    airtime: Duration,
    signal_dbm: Option<i8>,
    /// What follows the 802.11 header of a data frame in clear, and the number of bytes before it.
    pub(crate) body: Option<(&'a [u8], u32)>,
}

impl FrameKind {
    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Ack => "ACK",
            Self::Rts => "RTS",
            Self::Cts => "CTS",
            Self::Beacon => "beacon",
            Self::Management => "management",
            Self::Control => "control",
        }
    }
}

impl Wireless {
    /// Counts a frame. True if the MAC sends a data frame again that this station has sent before.
    pub(crate) fn push(&mut self, frame: &MacFrame<'_>) -> bool {
        self.kinds.entry((frame.kind, frame.rate)).or_default().add(frame);
        let Some(from) = frame.from else { return false };
        if self.stations.len() >= STATIONS_MAX && !self.stations.contains_key(&from) {
            self.of_other_stations += 1;
            return false;
        }
        let station = self.stations.entry(from).or_default();
        station.all.add(frame);
        if let Some(signal) = frame.signal_dbm {
            station.signal.0 += i64::from(signal);
            station.signal.1 += 1;
        }
        let sequence = frame.sequence.filter(|_| frame.kind == FrameKind::Data);
        let is_known = sequence.is_some_and(|sequence| station.recent.note(sequence));
        is_known && frame.is_retry
    }

    /// All frames.
    pub fn total(&self) -> FrameCounts {
        let mut total = FrameCounts::default();
        for counts in self.kinds.values() {
            total.frames += counts.frames;
            total.retries += counts.retries;
            total.bytes += counts.bytes;
            total.airtime += counts.airtime;
        }
        total
    }
}

impl FrameCounts {
    fn add(&mut self, frame: &MacFrame<'_>) {
        self.frames += 1;
        self.retries += u64::from(frame.is_retry);
        self.bytes += ByteCount::new(frame.bytes.into());
        self.airtime += frame.airtime;
    }
}

/// What a radiotap header states.
#[derive(Debug, Default, PartialEq, Eq)]
struct Radiotap {
    length: usize,
    flags: u8,
    rate: Option<u8>,
    signal_dbm: Option<i8>,
}

const SHORT_PREAMBLE: u8 = 0x02;
const HAS_CHECK_SEQUENCE: u8 = 0x10;
/// Bytes of padding follow the 802.11 header up to a multiple of four.
const HEADER_IS_PADDED: u8 = 0x20;
const CHECK_SEQUENCE: u32 = 4;

/// Reads a radiotap header; none if it is cut off or of another version.
fn radiotap(frame: &[u8]) -> Option<Radiotap> {
    let u32_at = |at: usize| Some(u32::from_le_bytes(*frame.get(at..)?.first_chunk()?));
    let length = usize::from(u16::from_le_bytes([*frame.get(2)?, *frame.get(3)?]));
    if frame[0] != 0 || length < 8 || length > frame.len() {
        return None;
    }
    let present = u32_at(4)?;
    // More words of fields follow while the highest bit is set.
    let (mut at, mut word) = (8, present);
    while word >> 31 == 1 {
        word = u32_at(at)?;
        at += 4;
    }
    let mut read = Radiotap {
        length,
        ..Radiotap::default()
    };
    // The first fields, by their bits: size and alignment. Timestamp, flags, rate, channel, hopping, signal.
    for (bit, size, alignment) in [(0, 8, 8), (1, 1, 1), (2, 1, 1), (3, 4, 2), (4, 2, 2), (5, 1, 1)] {
        if present >> bit & 1 == 0 {
            continue;
        }
        at = at.next_multiple_of(alignment);
        let value = *frame[..length].get(at)?;
        match bit {
            1 => read.flags = value,
            2 => read.rate = Some(value & 0x7f).filter(|rate| *rate > 0),
            5 => read.signal_dbm = Some(value as i8),
            _ => {}
        }
        at += size;
    }
    Some(read)
}

/// Reads a frame with its radiotap header that had `length` bytes; none if its headers are cut off or invalid.
pub(crate) fn read(captured: &[u8], length: u32) -> Option<MacFrame<'_>> {
    let radiotap = radiotap(captured)?;
    let frame = &captured[radiotap.length..];
    let (control, flags) = (*frame.first()?, *frame.get(1)?);
    let (kind, header) = match (control >> 2 & 3, control >> 4) {
        (0, 8) => (FrameKind::Beacon, 24),
        (0, _) => (FrameKind::Management, 24),
        (1, 11) => (FrameKind::Rts, 16),
        (1, 12) => (FrameKind::Cts, 10),
        (1, 13) => (FrameKind::Ack, 10),
        (1, _) => (FrameKind::Control, 10),
        (2, subtype) => (FrameKind::Data, data_header(subtype, flags)),
        _ => return None,
    };
    let address = |at: usize| frame.get(at..)?.first_chunk::<6>().copied();
    let has_sequence = matches!(kind, FrameKind::Data | FrameKind::Beacon | FrameKind::Management);
    let sequence = frame
        .get(22..24)
        .filter(|_| has_sequence)
        .map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    if frame.len() < header {
        return None;
    }
    let check_sequence = if radiotap.flags & HAS_CHECK_SEQUENCE == 0 {
        CHECK_SEQUENCE
    } else {
        0
    };
    let bytes = length.saturating_sub(radiotap.length as u32) + check_sequence;
    Some(MacFrame {
        kind,
        is_retry: flags & RETRY != 0,
        rate: radiotap.rate,
        from: if has_sequence || kind == FrameKind::Rts {
            address(10)
        } else {
            None
        },
        sequence,
        bytes,
        airtime: radiotap
            .rate
            .map_or(Duration::ZERO, |rate| airtime(rate, bytes, radiotap.flags)),
        signal_dbm: radiotap.signal_dbm,
        body: (kind == FrameKind::Data)
            .then(|| body(frame, header, flags, control, &radiotap))
            .flatten(),
    })
}

/// Flags of the frame control field.
const TO_AND_FROM_NETWORK: u8 = 0x03;
const RETRY: u8 = 0x08;
const PROTECTED: u8 = 0x40;
const ORDER: u8 = 0x80;
/// Subtypes of data frames: with quality of service, and without data.
const QUALITY_OF_SERVICE: u8 = 0x8;
const NO_DATA: u8 = 0x4;

/// The length of a data frame's header.
const fn data_header(subtype: u8, flags: u8) -> usize {
    let fourth_address = if flags & TO_AND_FROM_NETWORK == TO_AND_FROM_NETWORK {
        6
    } else {
        0
    };
    let quality_of_service = match (subtype & QUALITY_OF_SERVICE, flags & ORDER) {
        (0, _) => 0,
        (_, 0) => 2,
        _ => 6,
    };
    24 + fourth_address + quality_of_service
}

/// What follows the header of a data frame, unless it is encrypted or nothing.
fn body<'a>(frame: &'a [u8], header: usize, flags: u8, control: u8, radiotap: &Radiotap) -> Option<(&'a [u8], u32)> {
    if flags & PROTECTED != 0 || control >> 4 & NO_DATA != 0 {
        return None;
    }
    let is_padded = radiotap.flags & HEADER_IS_PADDED != 0;
    let start = if is_padded { header.next_multiple_of(4) } else { header };
    Some((frame.get(start..)?, (radiotap.length + start) as u32))
}

/// The time on the air of a frame at a rate in units of 500 kbit/s: 1, 2, 5.5 and 11 Mbit/s are those of 802.11b (18.3.4, 18.2.2), all
/// others OFDM (17.4.3).
fn airtime(rate: u8, bytes: u32, flags: u8) -> Duration {
    let microseconds = if matches!(rate, 2 | 4 | 11 | 22) {
        let header = if flags & SHORT_PREAMBLE != 0 && rate > 2 {
            96
        } else {
            192
        };
        header + (16 * u64::from(bytes)).div_ceil(rate.into())
    } else {
        20 + 4 * (22 + 8 * u64::from(bytes)).div_ceil(2 * u64::from(rate))
    };
    Duration::from_micros(microseconds)
}

/// A hardware address as text.
pub fn address_text(address: [u8; 6]) -> String {
    address.map(|byte| format!("{byte:02x}")).join(":")
}

#[cfg(test)]
mod tests;
