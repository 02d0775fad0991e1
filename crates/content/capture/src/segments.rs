//! Lists the TCP segments of a capture one by one, with sequence numbers relative to their connection's beginning.
//!
//! A time-sequence plot is drawn from this list, and two captures of the same exchange can be compared by it. The figures of whole
//! connections are left to `analysis`.

use crate::connection_table::ConnectionTable;
use crate::container::Packets;
use crate::datagram::{Datagram, Segment, Transport};
use crate::error::CaptureError;
use crate::packet_reader::PacketReader;
use crate::tcp::sequence::{SeenRanges, SequenceUnwrapper};
use lastmile_report::segment_line as record;
use lastmile_units::Instant;
use std::io::Read;
use std::net::SocketAddr;

/// The TCP segments of a capture, in file order; memory is bounded by the number of connections.
#[derive(Debug)]
pub struct Segments<R> {
    name: String,
    packets: Packets<R>,
    reader: PacketReader,
    first: Option<Instant>,
    table: ConnectionTable<Connection>,
    others: u64,
}

impl<R: Read> Segments<R> {
    /// Reads the start of a capture. Errors call it `name`.
    ///
    /// # Errors
    /// When it is empty, not a capture, or cannot be read.
    pub fn open(from: R, name: &str) -> Result<Self, CaptureError> {
        Ok(Self {
            name: name.to_owned(),
            packets: Packets::open(from, name)?,
            reader: PacketReader::default(),
            first: None,
            table: ConnectionTable::default(),
            others: 0,
        })
    }

    /// The next segment; none where there are no more. A file whose end is cut off ends with its last complete packet.
    ///
    /// # Errors
    /// When the file is damaged, holds no packet, or cannot be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "named as `Packets::next` is, which it reads"
    )]
    pub fn next(&mut self) -> Result<Option<record::Segment>, CaptureError> {
        while let Some(packet) = self.packets.next()? {
            let Ok(
                datagram @ Datagram {
                    transport: Transport::Tcp(segment),
                    ..
                },
            ) = self.reader.read(&packet)
            else {
                self.others += 1;
                continue;
            };
            let is_reused = |connection: &Connection| connection.is_reused_by(datagram.from, &segment);
            let begin = || Connection::new(&datagram, &segment);
            let index = self.table.index_of(&datagram, is_reused, begin);
            let first = *self.first.get_or_insert(packet.at);
            // A packet may have an earlier time than one before it in the file: one of the two is zero.
            let (after, before) = (packet.at.saturating_since(first), first.saturating_since(packet.at));
            let connection = &mut self.table.connections[index];
            return Ok(Some(record::Segment {
                connection: index as u64 + 1,
                time_s: after.as_secs_f64() - before.as_secs_f64(),
                comments: packet.comments.to_vec(),
                ..connection.push(datagram.from, &segment)
            }));
        }
        if self.table.connections.is_empty() && self.others == 0 {
            let problem = self.packets.without_packet();
            let name = self.name.clone();
            return Err(CaptureError { name, problem });
        }
        Ok(None)
    }

    /// Packets skipped so far: they carry no TCP segment, or one with an incomplete header, or are sent again by the MAC of 802.11.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Where the file ends, if it ends inside a block or record.
    pub fn cut_off(&self) -> Option<u64> {
        self.packets.cut_off()
    }
}

/// The origins that a connection's numbers are relative to.
#[derive(Debug)]
struct Connection {
    client: SocketAddr,
    server: SocketAddr,
    up: SequenceOrigin,
    down: SequenceOrigin,
}

/// One direction of it.
#[derive(Debug, Default)]
struct SequenceOrigin {
    sequence: SequenceUnwrapper,
    seen: SeenRanges,
    /// The position of its SYN.
    origin: Option<i64>,
    /// What its SYN announces, where that was captured: its number, and the unit of its windows.
    syn: Option<(u32, Option<u8>)>,
}

impl SequenceOrigin {
    /// The position of `number`, which is a SYN's or follows a SYN, and the origin to subtract from it.
    fn relative_position(&mut self, number: u32, is_syn: bool) -> (i64, i64) {
        let index = self.sequence.unwrap_number(number);
        let origin = *self.origin.get_or_insert(index - i64::from(!is_syn));
        (index, origin)
    }
}

impl Connection {
    fn new(datagram: &Datagram<'_>, segment: &Segment<'_>) -> Self {
        let (client, server) = datagram.client_and_server(segment);
        let (up, down) = (SequenceOrigin::default(), SequenceOrigin::default());
        Self {
            client,
            server,
            up,
            down,
        }
    }

    /// Whether a segment begins another connection between the same ports: a SYN with a different number.
    fn is_reused_by(&self, from: SocketAddr, segment: &Segment<'_>) -> bool {
        segment.reopens(from == self.client, self.up.syn.map(|(number, _)| number))
    }

    /// The record of a segment, without its time.
    fn push(&mut self, from: SocketAddr, segment: &Segment<'_>) -> record::Segment {
        let is_up = from == self.client;
        let (near, far) = if is_up {
            (&mut self.up, &mut self.down)
        } else {
            (&mut self.down, &mut self.up)
        };
        let is_syn = segment.has(Segment::SYN);
        if is_syn {
            near.syn.get_or_insert((segment.sequence, segment.window_scale()));
        }
        let (index, origin) = near.relative_position(segment.sequence, is_syn);
        let newest = near.sequence.newest();
        // The number of a reset may be any, and its payload is not data (RFC 9293 section 3.5.3).
        let is_reset = segment.has(Segment::RST);
        let again = if is_reset {
            0
        } else {
            near.seen.add(index, index + segment.span())
        };
        if !is_reset {
            near.sequence.advance(index + segment.span());
        }
        let acknowledgement = segment.has(Segment::ACK).then(|| {
            let (until, origin) = far.relative_position(segment.acknowledgement, false);
            if !is_reset {
                if far.sequence.newest().is_none() {
                    far.sequence.advance(until);
                }
                far.seen.acknowledged(until);
            }
            until - origin
        });
        let blocks = segment.selective_acknowledgements().map(|(from, until)| {
            let (from, origin) = far.relative_position(from, false);
            [from - origin, far.sequence.unwrap_number(until) - origin]
        });
        let selective_acknowledgements = blocks.collect();
        record::Segment {
            schema: record::Segment::SCHEMA.to_owned(),
            connection: 0,
            client: self.client.to_string(),
            server: self.server.to_string(),
            time_s: 0.0,
            direction: if is_up { "up" } else { "down" }.to_owned(),
            flags: flags(segment),
            sequence: index - origin,
            length_bytes: segment.length.into(),
            acknowledgement,
            window_bytes: window(segment, near.syn, far.syn),
            selective_acknowledgements,
            resent: again > 0 && newest.is_some_and(|newest| index < newest),
            comments: Vec::new(),
        }
    }
}

/// The window in bytes, where both SYNs state its unit: a SYN's window is never shifted, and others only if both announce scaling (RFC 7323
/// section 2.2).
fn window(segment: &Segment<'_>, near: Option<(u32, Option<u8>)>, far: Option<(u32, Option<u8>)>) -> Option<u64> {
    let window = u64::from(segment.window);
    if segment.has(Segment::SYN) {
        return Some(window);
    }
    match (near?.1, far?.1) {
        (Some(shift), Some(_)) => Some(window << shift),
        _ => Some(window),
    }
}

/// The letters of the flags that are set (RFC 9293 section 3.1).
fn flags(segment: &Segment<'_>) -> String {
    let letters = "FSRPAUEC".chars().enumerate();
    letters
        .filter(|(bit, _)| segment.has(1 << bit))
        .map(|(_, letter)| letter)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Problem;
    use crate::test_packets::{ACK, FIN, SYN, Tcp, capture, down, up};

    fn lines(segments: &[(u64, Tcp<'_>)]) -> Vec<String> {
        let file = capture(segments);
        let mut segments = Segments::open(&file[..], "crafted").unwrap();
        let mut lines = Vec::new();
        while let Some(segment) = segments.next().unwrap() {
            lines.push(segment.to_string());
        }
        lines
    }

    #[test]
    fn numbers_count_from_the_syn_even_where_they_wrap() {
        let (isn, other) = (u32::MAX - 1, 5000);
        let segments = [
            (0, up(SYN, isn, 0, b"")),
            (10, down(SYN | ACK, other, isn.wrapping_add(1), b"")),
            (20, up(ACK, isn.wrapping_add(1), other + 1, b"abc")),
            (30, down(ACK, other + 1, isn.wrapping_add(4), b"")),
            (40, up(ACK, isn.wrapping_add(1), other + 1, b"abc")),
            (50, up(ACK | FIN, isn.wrapping_add(4), other + 1, b"")),
        ];
        let expected = [
            "1 0.000000000 up   S 0 0 - 1000",
            "1 0.010000000 down SA 0 0 1 1000",
            "1 0.020000000 up   A 1 3 1 1000",
            "1 0.030000000 down A 1 0 4 1000",
            "1 0.040000000 up   A 1 3 1 1000 resent",
            "1 0.050000000 up   FA 4 0 1 1000",
        ];
        assert_eq!(lines(&segments), expected);
    }

    #[test]
    fn where_the_beginning_is_missing_the_first_byte_is_1_and_windows_have_no_unit() {
        let segments = [
            (0, down(ACK, 700, 300, b"abc")),
            (1, up(ACK, 300, 703, b"")),
            (2, down(ACK, 600, 300, b"x")),
        ];
        let expected = [
            "1 0.000000000 up   A 1 3 1 -",
            "1 0.001000000 down A 1 0 4 -",
            "1 0.002000000 up   A -99 1 1 -",
        ];
        assert_eq!(lines(&segments), expected);
    }

    #[test]
    fn a_syn_between_the_same_ports_begins_another_connection() {
        let segments = [
            (0, up(SYN, 100, 0, b"")),
            (1, up(SYN, 100, 0, b"")),
            (2, up(SYN, 900, 0, b"")),
        ];
        let expected = [
            "1 0.000000000 up   S 0 0 - 1000",
            "1 0.001000000 up   S 0 0 - 1000 resent",
            "2 0.002000000 up   S 0 0 - 1000",
        ];
        assert_eq!(lines(&segments), expected);
    }

    #[test]
    fn a_capture_without_a_packet_is_refused_as_the_analysis_refuses_it() {
        let error = Segments::open(&capture(&[])[..], "crafted")
            .unwrap()
            .next()
            .unwrap_err();
        assert!(matches!(error.problem, Problem::NoPacket), "{error}");
    }
}
