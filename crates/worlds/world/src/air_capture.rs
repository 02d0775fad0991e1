//! Captures of a radio's frames as a monitor next to the stations would record them: radiotap headers, 802.11 headers, LLC and SNAP,
//! and IP packets.
//!
//! The monitor hears everything, so a frame that its receiver did not get is whole, with a comment. A packet's time is the frame's end;
//! its radiotap timestamp is the beginning. Radiotap: radiotap.org; frames: IEEE Std 802.11-2007, clause 7.

use crate::pcapng_writer::Capture;
use lastmile_link::Station;
use lastmile_link::radio::{AirFrame, FrameKind, Phy, RadioSpec};
use std::io::{self, Write};

/// LINKTYPE_IEEE802_11_RADIOTAP.
const LINK_TYPE: u16 = 127;

/// Writes the frames of a radio to a capture.
pub(crate) struct AirFormat {
    phy: Phy,
    noise_dbm: i8,
    beacon_interval_units: u16,
    /// For reuse.
    bytes: Vec<u8>,
}

/// The radiotap fields present, by their bits: timestamp, flags, rate, channel, signal, noise.
const FIELDS: u32 = 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6;
const RADIOTAP_LENGTH: u16 = 8 + 8 + 1 + 1 + 4 + 1 + 1;
const FLAG_SHORT_PREAMBLE: u8 = 0x02;
const FLAG_HAS_CHECK_SEQUENCE: u8 = 0x10;
/// Frequency in MHz, and flags: CCK in the band at 2 GHz; OFDM at 5 GHz.
const CHANNEL_6: (u16, u16) = (2437, 0x0020 | 0x0080);
const CHANNEL_36: (u16, u16) = (5180, 0x0040 | 0x0100);

/// The first byte of the frame control field: type and subtype (7.1.3.1.2).
const BEACON: u8 = 0x80;
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;
const DATA: u8 = 0x08;
/// In its second byte.
const RETRY: u8 = 0x08;
/// LLC and SNAP before an IPv4 packet (RFC 1042).
const SNAP_IPV4: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00];
/// The network's identifier, locally administered, and its name.
const NETWORK_ID: [u8; 6] = [0x02, 0x6c, 0x61, 0x73, 0x74, 0x6d];
const NETWORK_NAME: &[u8; 8] = b"lastmile";
const BROADCAST: [u8; 6] = [0xff; 6];

impl AirFormat {
    /// Begins a capture of that kind.
    pub(crate) fn begin(to: Box<dyn Write + Send>) -> io::Result<Capture> {
        Capture::with_link_type(to, LINK_TYPE)
    }

    pub(crate) fn new(spec: &RadioSpec) -> Self {
        let time_units = spec.beacons.unwrap_or_default().interval.as_micros() / 1024;
        Self {
            phy: spec.phy,
            noise_dbm: spec.noise_power().get().round() as i8,
            beacon_interval_units: time_units as u16,
            bytes: Vec::new(),
        }
    }

    /// Writes a frame; `append` appends the bytes of a packet.
    ///
    /// # Errors
    /// Those of the capture's writer.
    pub(crate) fn write<P>(
        &mut self,
        frame: &AirFrame<P>,
        append: impl FnOnce(&P, &mut Vec<u8>),
        capture: &mut Capture,
    ) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        self.write_radiotap(frame, &mut bytes);
        let start = bytes.len();
        self.write_frame(frame, append, &mut bytes);
        // The frame check sequence (7.1.3.6).
        let check = crc32fast::hash(&bytes[start..]);
        bytes.extend(check.to_le_bytes());
        assert_eq!(bytes.len() - start, frame.bytes as usize, "{:?}", frame.kind);
        let comment = match (frame.is_received, frame.is_overlapped) {
            (true, _) => None,
            (false, true) => Some("not received: other frames were on the air"),
            (false, false) => Some("not received"),
        };
        let written = capture.packet(frame.end, &bytes, comment);
        self.bytes = bytes;
        written
    }

    fn write_radiotap<P>(&self, frame: &AirFrame<P>, to: &mut Vec<u8>) {
        to.extend([0, 0]); // Version 0.
        to.extend(RADIOTAP_LENGTH.to_le_bytes());
        to.extend(FIELDS.to_le_bytes());
        to.extend((frame.start.as_nanos() / 1000).to_le_bytes());
        let preamble = if frame.has_short_preamble {
            FLAG_SHORT_PREAMBLE
        } else {
            0
        };
        to.push(FLAG_HAS_CHECK_SEQUENCE | preamble);
        to.push(frame.rate.half_megabits());
        let (frequency, flags) = match self.phy {
            Phy::HighRateDsss(_) => CHANNEL_6,
            Phy::Ofdm => CHANNEL_36,
        };
        to.extend(frequency.to_le_bytes());
        to.extend(flags.to_le_bytes());
        to.push(frame.signal.get().round() as i8 as u8);
        to.push(self.noise_dbm as u8);
    }

    fn write_frame<P>(&self, frame: &AirFrame<P>, append: impl FnOnce(&P, &mut Vec<u8>), to: &mut Vec<u8>) {
        let kind = match frame.kind {
            FrameKind::Data => DATA,
            FrameKind::Ack => ACK,
            FrameKind::Rts => RTS,
            FrameKind::Cts => CTS,
            FrameKind::Beacon => BEACON,
        };
        to.extend([kind, if frame.is_retry { RETRY } else { 0 }]);
        to.extend((frame.reservation.as_micros() as u16).to_le_bytes());
        to.extend(frame.to.map_or(BROADCAST, hardware_address));
        if matches!(frame.kind, FrameKind::Ack | FrameKind::Cts) {
            return;
        }
        to.extend(hardware_address(frame.from));
        if frame.kind == FrameKind::Rts {
            return;
        }
        to.extend(NETWORK_ID);
        to.extend((frame.sequence << 4).to_le_bytes());
        if frame.kind == FrameKind::Beacon {
            return self.write_beacon(frame, to);
        }
        to.extend(SNAP_IPV4);
        if let Some(packet) = &frame.payload {
            append(packet, to);
        }
    }

    /// The body of a beacon (7.2.3.1) of an ad hoc network.
    fn write_beacon<P>(&self, frame: &AirFrame<P>, to: &mut Vec<u8>) {
        const IN_AD_HOC_NETWORK: u16 = 0x0002;
        to.extend((frame.start.as_nanos() / 1000).to_le_bytes());
        to.extend(self.beacon_interval_units.to_le_bytes());
        to.extend(IN_AD_HOC_NETWORK.to_le_bytes());
        to.extend([0, NETWORK_NAME.len() as u8]);
        to.extend(NETWORK_NAME);
        let rates = self.phy.rates();
        to.extend([1, rates.len() as u8]);
        let is_basic = |rate| rate <= self.phy.highest_basic_rate();
        to.extend(
            rates
                .iter()
                .map(|&rate| rate.half_megabits() | if is_basic(rate) { 0x80 } else { 0 }),
        );
        if let Phy::HighRateDsss(_) = self.phy {
            to.extend([3, 1, 6]); // Channel 6.
        }
        to.extend([6, 2, 0, 0]); // No announcements of traffic.
    }
}

/// The hardware address of a station: locally administered, with the number of its IP address.
fn hardware_address(station: Station) -> [u8; 6] {
    let [high, low] = (station.0 + 1).to_be_bytes();
    [0x02, 0, 0x0a, 0, high, low]
}
