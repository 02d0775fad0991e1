//! Writes packet captures: pcapng files that Wireshark opens, with whole IPv4 and TCP headers.
//!
//! One file is one vantage point. Blocks are those of the pcapng specification (draft-ietf-opsawg-pcapng), with a link type
//! of raw IPv4 and nanosecond times; virtual time zero is the epoch.

use lastmile_link::DropCause;
use lastmile_tcp::Segment;
use lastmile_units::Instant;
use std::io::{self, Write};

/// A capture being written.
pub(crate) struct Capture {
    to: Box<dyn Write + Send>,
    block: Vec<u8>,
}

const SECTION_HEADER_BLOCK: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION_BLOCK: u32 = 1;
const ENHANCED_PACKET_BLOCK: u32 = 6;
/// LINKTYPE_IPV4: a packet begins with its IPv4 header.
const LINK_TYPE_IPV4: u16 = 228;
/// Option `if_tsresol` of an interface: times are in 10^-9 s.
const OPTION_TIME_RESOLUTION: u16 = 9;
/// Option `opt_comment` of a packet: text for the reader of the capture.
const OPTION_COMMENT: u16 = 1;

impl Capture {
    /// Begins a capture: writes the section and interface headers.
    ///
    /// # Errors
    /// Those of `to`.
    pub(crate) fn new(to: Box<dyn Write + Send>) -> io::Result<Self> {
        Self::with_link_type(to, LINK_TYPE_IPV4)
    }

    /// Begins a capture whose packets begin as `link_type` says (the registry of LINKTYPE values of tcpdump.org).
    ///
    /// # Errors
    /// As [`Capture::new`].
    pub(crate) fn with_link_type(to: Box<dyn Write + Send>, link_type: u16) -> io::Result<Self> {
        let mut capture = Self {
            to,
            block: Vec::with_capacity(1600),
        };
        let mut section = Vec::new();
        section.extend(0x1a2b_3c4d_u32.to_le_bytes()); // Byte order.
        section.extend(1u16.to_le_bytes()); // Version 1.0.
        section.extend(0u16.to_le_bytes());
        section.extend(u64::MAX.to_le_bytes()); // The section's length is not known.
        capture.block(SECTION_HEADER_BLOCK, &section)?;
        let mut interface = Vec::new();
        interface.extend(link_type.to_le_bytes());
        interface.extend(0u16.to_le_bytes());
        interface.extend(0u32.to_le_bytes()); // No snap length.
        interface.extend(OPTION_TIME_RESOLUTION.to_le_bytes());
        interface.extend(1u16.to_le_bytes());
        interface.extend([9, 0, 0, 0]);
        interface.extend([0; 4]); // End of options.
        capture.block(INTERFACE_DESCRIPTION_BLOCK, &interface)?;
        Ok(capture)
    }

    /// Writes a packet that passed at `at`, of the capture's link type, and an optional comment.
    ///
    /// # Errors
    /// Those of the writer.
    pub(crate) fn packet(&mut self, at: Instant, packet: &[u8], comment: Option<&str>) -> io::Result<()> {
        let mut block = std::mem::take(&mut self.block);
        block.clear();
        block.extend(0u32.to_le_bytes()); // The only interface.
        block.extend(((at.as_nanos() >> 32) as u32).to_le_bytes());
        block.extend((at.as_nanos() as u32).to_le_bytes());
        block.extend((packet.len() as u32).to_le_bytes());
        block.extend((packet.len() as u32).to_le_bytes());
        block.extend_from_slice(packet);
        block.resize(block.len().next_multiple_of(4), 0);
        if let Some(comment) = comment {
            block.extend(OPTION_COMMENT.to_le_bytes());
            block.extend((comment.len() as u16).to_le_bytes());
            block.extend_from_slice(comment.as_bytes());
            block.resize(block.len().next_multiple_of(4), 0);
            block.extend([0; 4]); // End of options.
        }
        let written = self.block(ENHANCED_PACKET_BLOCK, &block);
        self.block = block;
        written
    }

    /// Flushes the writer.
    ///
    /// # Errors
    /// Those of the writer.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    fn block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let length = (body.len() as u32 + 12).to_le_bytes();
        self.to.write_all(&kind.to_le_bytes())?;
        self.to.write_all(&length)?;
        self.to.write_all(body)?;
        self.to.write_all(&length)
    }
}

/// The comment on a dropped packet.
pub(crate) fn dropped_comment(cause: DropCause) -> String {
    format!("dropped: {cause}")
}

/// Writes the IPv4 packet of a segment (RFC 791 section 3.1, RFC 9293 section 3.1), checksums included.
pub(crate) fn write_ipv4(segment: &Segment, time_to_live: u8, to: &mut Vec<u8>) {
    let length = segment.size().get() as u16;
    let start = to.len();
    to.extend([0x45, 0]);
    to.extend(length.to_be_bytes());
    to.extend([0, 0, 0x40, 0, time_to_live, 6, 0, 0]); // Identification 0, do not fragment, TCP.
    to.extend(segment.source.ip().octets());
    to.extend(segment.destination.ip().octets());
    let checksum = internet_checksum(0, &to[start..]);
    to[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());

    let tcp = to.len();
    let header_words = ((Segment::TCP_HEADER + segment.options_length()) / 4) as u8;
    to.extend(segment.source.port().to_be_bytes());
    to.extend(segment.destination.port().to_be_bytes());
    to.extend(segment.sequence.to_be_bytes());
    to.extend(segment.acknowledgement.to_be_bytes());
    to.extend([header_words << 4, segment.flags.bits()]);
    to.extend(segment.window.to_be_bytes());
    to.extend([0; 4]); // Checksum, and no urgent data.
    write_options(segment, to);
    to.extend_from_slice(&segment.payload);
    let pseudo_header = u32::from(u16::from(6u8)) + (to.len() - tcp) as u32 + sum_words(&to[start + 12..start + 20]);
    let checksum = internet_checksum(pseudo_header, &to[tcp..]);
    to[tcp + 16..tcp + 18].copy_from_slice(&checksum.to_be_bytes());
}

/// Options in the order and with the padding that Linux uses.
fn write_options(segment: &Segment, to: &mut Vec<u8>) {
    const NO_OPERATION: u8 = 1;
    let start = to.len();
    if let Some(size) = segment.maximum_segment_size {
        to.extend([2, 4]);
        to.extend(size.to_be_bytes());
    }
    match (segment.sack_permitted, segment.timestamps.is_some()) {
        (true, _) => to.extend([4, 2]),
        (false, true) => to.extend([NO_OPERATION; 2]),
        (false, false) => {}
    }
    if let Some(timestamps) = segment.timestamps {
        to.extend([8, 10]);
        to.extend(timestamps.value.to_be_bytes());
        to.extend(timestamps.echo.to_be_bytes());
    }
    if let Some(shift) = segment.window_scale {
        to.extend([NO_OPERATION, 3, 3, shift]);
    }
    if !segment.sack.is_empty() {
        let blocks = segment.sack.as_slice();
        to.extend([NO_OPERATION, NO_OPERATION, 5, 2 + 8 * blocks.len() as u8]);
        for (from, until) in blocks {
            to.extend(from.to_be_bytes());
            to.extend(until.to_be_bytes());
        }
    }
    to.resize(start + segment.options_length(), NO_OPERATION);
}

fn sum_words(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)))
        .sum()
}

/// RFC 1071: the complement of the ones' complement sum of 16-bit words.
fn internet_checksum(start: u32, bytes: &[u8]) -> u16 {
    let mut sum = start + sum_words(bytes);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
