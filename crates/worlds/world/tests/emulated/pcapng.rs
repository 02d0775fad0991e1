//! Reads the captures that these worlds write: one section, one interface, whole packets.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A place to write a capture to that can be read meanwhile.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A captured packet.
pub(crate) struct Packet {
    pub(crate) at: Duration,
    /// From its IPv4 header on.
    pub(crate) bytes: Vec<u8>,
    pub(crate) comment: Option<String>,
}

/// Everything captured so far.
pub(crate) fn packets(capture: &Shared) -> Vec<Packet> {
    let capture = capture.0.lock().unwrap();
    let (mut packets, mut rest) = (Vec::new(), &capture[..]);
    while !rest.is_empty() {
        let (kind, length) = (word(rest, 0), word(rest, 4) as usize);
        assert_eq!(
            length,
            word(rest, length - 4) as usize,
            "a block tells its length twice"
        );
        let block;
        (block, rest) = rest.split_at(length);
        const SECTION_HEADER: u32 = 0x0a0d_0d0a;
        match kind {
            SECTION_HEADER | 1 => {}
            6 => packets.push(enhanced_packet(block)),
            other => panic!("a block of type {other}"),
        }
    }
    packets
}

fn enhanced_packet(block: &[u8]) -> Packet {
    let at = u64::from(word(block, 12)) << 32 | u64::from(word(block, 16));
    let (captured, original) = (word(block, 20) as usize, word(block, 24) as usize);
    assert_eq!(captured, original, "packets are whole");
    let options = &block[28 + captured.next_multiple_of(4)..block.len() - 4];
    let comment = (!options.is_empty()).then(|| {
        assert_eq!(options[..2], [1, 0], "the only option is a comment");
        let length = usize::from(u16::from_le_bytes([options[2], options[3]]));
        String::from_utf8(options[4..4 + length].to_vec()).unwrap()
    });
    Packet {
        at: Duration::from_nanos(at),
        bytes: block[28..28 + captured].to_vec(),
        comment,
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().unwrap())
}

impl Packet {
    /// The ones' complement sums over the IPv4 header, and over the TCP or UDP message with its pseudo header: 0xffff each where the
    /// checksums are right (RFC 1071, RFC 9293 section 3.1).
    pub(crate) fn checksums(&self) -> [u16; 2] {
        let (header, message) = self.bytes.split_at(self.header_length());
        let pseudo = u32::from(self.bytes[9]) + message.len() as u32;
        let addresses = folded(0, &header[12..20]);
        [folded(0, header), folded(pseudo + u32::from(addresses), message)]
    }

    fn header_length(&self) -> usize {
        usize::from(self.bytes[0] & 0xf) * 4
    }

    /// The TCP segment.
    pub(crate) fn segment(&self) -> &[u8] {
        &self.bytes[self.header_length()..]
    }

    /// Where its data begins among all that the sender sends, and how much it has.
    pub(crate) fn data(&self) -> (u32, usize) {
        let segment = self.segment();
        let sequence = u32::from_be_bytes(*segment[4..].first_chunk().unwrap());
        (sequence, segment.len() - usize::from(segment[12] >> 4) * 4)
    }

    /// Where it begins among all that the sender sends, and how much of that it takes: its data, and one each for SYN and FIN.
    pub(crate) fn sequence_space(&self) -> (u32, u32) {
        const FIN_AND_SYN: u8 = 0b11;
        let (sequence, data) = self.data();
        (sequence, data as u32 + (self.segment()[13] & FIN_AND_SYN).count_ones())
    }

    /// Whether this host sent it.
    pub(crate) fn is_from(&self, host: u8) -> bool {
        self.bytes[12..16] == [10, 0, 0, host]
    }
}

fn folded(start: u32, bytes: &[u8]) -> u16 {
    let word = |word: &[u8]| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
    let mut sum = start + bytes.chunks(2).map(word).sum::<u32>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
