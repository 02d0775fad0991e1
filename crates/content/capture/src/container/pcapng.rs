//! Reads pcapng files: blocks with their length at both ends, in sections that each have a byte order and interfaces of their own.
//!
//! As in draft-ietf-opsawg-pcapng (sections 3 and 4): section headers, interface descriptions, enhanced, simple and the obsolete packet
//! blocks. Blocks of other kinds are skipped, however long they are.

use super::endianness::Endianness;
use super::source::Source;
use super::{Interface, LinkType, Packet, ReadStep};
use crate::error::Problem;
use lastmile_units::Instant;
use std::io::Read;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// Shows a section's byte order.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// Type, length, and the length again at the end.
const FRAME: usize = 12;
/// The longest block that is read and not skipped. Wireshark's limit too (MAX_BLOCK_SIZE of its pcapng reader).
const BLOCK_LENGTH_MAX: usize = 16 << 20;
/// The most interfaces of a section. Our own choice, so that a damaged file uses no memory.
const INTERFACES_MAX: usize = 1 << 16;
/// The most comments of a packet; further ones are left out. Our own choice, likewise.
const COMMENTS_MAX: usize = 16;

const OPTION_COMMENT: u16 = 1;
const OPTION_TIME_RESOLUTION: u16 = 9;
const OPTION_TIME_OFFSET: u16 = 14;

/// The state of the section that is being read.
#[derive(Debug)]
pub(super) struct Pcapng {
    order: Endianness,
    /// All interfaces described so far, in all sections.
    interfaces: Vec<Interface>,
    clocks: Vec<Clock>,
    /// Where this section's interfaces begin among them.
    section: usize,
    comments: Vec<String>,
}

/// How an interface counts time.
#[derive(Debug, Clone, Copy)]
struct Clock {
    /// Units per second; 0 where they exceed 64 bits.
    units: u64,
    /// Added to every time, in seconds.
    offset: i64,
}

/// A block's bytes between its lengths, and where it begins.
struct Body<'a> {
    at: u64,
    kind: u32,
    bytes: &'a [u8],
}

impl Pcapng {
    /// Reads the first section header; none where the file does not begin with one.
    pub(super) fn open<R: Read>(source: &mut Source<R>) -> Result<Option<Self>, Problem> {
        let head = super::read(source, 12)?;
        if !head.starts_with(&SECTION_HEADER.to_le_bytes()) {
            return Ok(None);
        }
        Ok(Some(Self {
            order: Endianness::Little,
            interfaces: Vec::new(),
            clocks: Vec::new(),
            section: 0,
            comments: Vec::new(),
        }))
    }

    pub(super) fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The next packet; reads the other blocks before it.
    pub(super) fn next<'a, R: Read>(&'a mut self, source: &'a mut Source<R>) -> Result<ReadStep<'a>, Problem> {
        let (at, kind, length) = loop {
            let at = source.offset();
            let head = super::read(source, 12)?;
            if head.len() < 12 {
                return Ok(ReadStep::ended(head.is_empty(), source.bytes_read()));
            }
            // The type of a section header reads the same in both orders; the section's byte order follows the length.
            let kind = self.order.u32(head, 0);
            if kind == SECTION_HEADER {
                self.begin_section(at, head)?;
            }
            let length = self.order.u32(head, 4);
            if length < FRAME as u32 || !length.is_multiple_of(4) {
                return Err(damaged(
                    at,
                    "the length of a block",
                    &length,
                    "a multiple of 4, from 12 up",
                ));
            }
            if !matches!(
                kind,
                INTERFACE_DESCRIPTION | OBSOLETE_PACKET | SIMPLE_PACKET | ENHANCED_PACKET
            ) {
                if !self.pass_over(source, at, length)? {
                    return Ok(ReadStep::ended(false, source.bytes_read()));
                }
                continue;
            }
            let whole = length as usize;
            if whole > BLOCK_LENGTH_MAX {
                let wanted = "at most 16 MiB for an interface description or a packet block";
                return Err(damaged(at, "the length of a block", &length, wanted));
            }
            if super::read(source, whole)?.len() < whole {
                return Ok(ReadStep::ended(false, source.bytes_read()));
            }
            if kind != INTERFACE_DESCRIPTION {
                break (at, kind, length);
            }
            let block = source.take(whole);
            self.check_trailer(at, length, &block[whole - 4..])?;
            self.describe(at, &block[8..whole - 4])?;
        };
        let (block, trailer) = source.take(length as usize).split_at(length as usize - 4);
        self.check_trailer(at, length, trailer)?;
        let bytes = &block[8..];
        self.packet(Body { at, kind, bytes }).map(ReadStep::Packet)
    }

    fn begin_section(&mut self, at: u64, head: &[u8]) -> Result<(), Problem> {
        self.order = match (Endianness::Little.u32(head, 8), Endianness::Big.u32(head, 8)) {
            (BYTE_ORDER, _) => Endianness::Little,
            (_, BYTE_ORDER) => Endianness::Big,
            (found, _) => {
                let found = format!("{found:#010x}");
                return Err(damaged(
                    at,
                    "the byte order of a section",
                    &found,
                    "0x1a2b3c4d in either order",
                ));
            }
        };
        self.section = self.interfaces.len();
        Ok(())
    }

    /// Skips a block that holds no packets; false where the file ends in it.
    fn pass_over<R: Read>(&self, source: &mut Source<R>, at: u64, length: u32) -> Result<bool, Problem> {
        let body = u64::from(length) - 4;
        let taken = source
            .skip(body)
            .map_err(|error| super::unreadable(source.bytes_read(), error))?;
        let trailer = super::read(source, 4)?;
        if taken < body || trailer.len() < 4 {
            return Ok(false);
        }
        self.check_trailer(at, length, trailer)?;
        source.take(4);
        Ok(true)
    }

    /// Checks that a block ends with the length it began with, which shows that the next block follows it.
    fn check_trailer(&self, at: u64, length: u32, trailer: &[u8]) -> Result<(), Problem> {
        match self.order.u32(trailer, 0) {
            again if again == length => Ok(()),
            again => {
                let wanted = format!("{length}, the length at its beginning");
                Err(damaged(at, "the length at the end of a block", &again, &wanted))
            }
        }
    }

    fn describe(&mut self, at: u64, bytes: &[u8]) -> Result<(), Problem> {
        if bytes.len() < 8 {
            return Err(damaged(
                at,
                "the length of an interface description",
                &(bytes.len() + 12),
                "20 or more",
            ));
        }
        if self.interfaces.len() - self.section >= INTERFACES_MAX || self.interfaces.len() >= 4 * INTERFACES_MAX {
            return Err(damaged(at, "the number of interfaces", &"more than 65536", "fewer"));
        }
        // Without options, times are in microseconds (section 4.2 of the draft).
        let mut clock = Clock {
            units: 1_000_000,
            offset: 0,
        };
        for (code, value) in options(self.order, &bytes[8..]) {
            match (code, value.len()) {
                (OPTION_TIME_RESOLUTION, 1) => clock.units = units_a_second(value[0]),
                (OPTION_TIME_OFFSET, 8) => clock.offset = self.order.u64(value, 0) as i64,
                _ => {}
            }
        }
        self.clocks.push(clock);
        self.interfaces.push(Interface {
            link_type: LinkType(self.order.u16(bytes, 0)),
            snap_length: self.order.u32(bytes, 4),
        });
        Ok(())
    }

    fn packet<'a>(&'a mut self, Body { at, kind, bytes }: Body<'a>) -> Result<Packet<'a>, Problem> {
        let head = if kind == SIMPLE_PACKET { 4 } else { 20 };
        if bytes.len() < head {
            return Err(damaged(
                at,
                "the length of a packet block",
                &(bytes.len() + FRAME),
                "longer",
            ));
        }
        let number = |index| self.order.u32(bytes, index);
        let interface = match kind {
            SIMPLE_PACKET => 0,
            OBSOLETE_PACKET => u32::from(self.order.u16(bytes, 0)),
            _ => number(0),
        };
        let index = (self.section as u64 + u64::from(interface)) as usize;
        let (Some(described), Some(clock)) = (self.interfaces.get(index), self.clocks.get(index)) else {
            let wanted = format!(
                "below {}, the number of interfaces described before it",
                self.interfaces.len() - self.section
            );
            return Err(damaged(at, "the interface of a packet", &interface, &wanted));
        };
        let (nanoseconds, captured, length) = match kind {
            // A simple block has no time, and as many bytes as the interface lets pass.
            SIMPLE_PACKET => {
                let snapped = if described.snap_length == 0 {
                    u32::MAX
                } else {
                    described.snap_length
                };
                (0, number(0).min(snapped).min((bytes.len() - head) as u32), number(0))
            }
            _ => (
                clock.nanoseconds(u64::from(number(4)) << 32 | u64::from(number(8))),
                number(12),
                number(16),
            ),
        };
        let rest = &bytes[head..];
        if captured as usize > rest.len() {
            let wanted = format!("at most {}, the room in its block", rest.len());
            return Err(damaged(at, "the length of a packet", &captured, &wanted));
        }
        self.comments.clear();
        // Writers that do not pad the packet have no options after it.
        if kind != SIMPLE_PACKET
            && let Some(behind) = rest
                .get((captured as usize).next_multiple_of(4)..)
                .filter(|behind| !behind.is_empty())
        {
            let comments = options(self.order, behind)
                .filter(|(code, _)| *code == OPTION_COMMENT)
                .take(COMMENTS_MAX);
            self.comments
                .extend(comments.map(|(_, text)| String::from_utf8_lossy(text).into_owned()));
        }
        Ok(Packet {
            at: Instant::from_nanos(nanoseconds),
            link_type: described.link_type,
            length: length.max(captured),
            bytes: &rest[..captured as usize],
            comments: &self.comments,
        })
    }
}

impl Clock {
    /// A time in nanoseconds, rounded down; times before 1970 or after 2554 are clamped.
    fn nanoseconds(self, time: u64) -> u64 {
        let nanoseconds = match self.units {
            0 => 0,
            1_000_000_000 => i128::from(time),
            units => i128::from(time) * 1_000_000_000 / i128::from(units),
        };
        (nanoseconds + i128::from(self.offset) * 1_000_000_000).clamp(0, i128::from(u64::MAX)) as u64
    }
}

/// `if_tsresol`: a negative power of 2 where the highest bit is set, else of 10; 0 where that exceeds 64 bits.
fn units_a_second(resolution: u8) -> u64 {
    let power = u32::from(resolution & 0x7f);
    if resolution & 0x80 == 0 {
        10_u64.checked_pow(power).unwrap_or(0)
    } else {
        1_u64.checked_shl(power).unwrap_or(0)
    }
}

/// A block's complete options: one that reaches beyond its block ends them.
fn options(order: Endianness, bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut left = bytes;
    std::iter::from_fn(move || {
        if left.len() < 4 {
            return None;
        }
        let (code, length) = (order.u16(left, 0), usize::from(order.u16(left, 2)));
        let value = left.get(4..4 + length)?;
        left = left.get((4 + length).next_multiple_of(4)..).unwrap_or(&[]);
        // Code 0 ends them.
        (code != 0).then_some((code, value))
    })
}

fn damaged(at: u64, what: &'static str, found: &impl ToString, wanted: &str) -> Problem {
    Problem::Damaged {
        at,
        what,
        found: found.to_string(),
        wanted: wanted.to_owned(),
    }
}
