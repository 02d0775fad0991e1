//! Reads the packets of pcap and pcapng files, with their times, from any reader and in constant memory.
//!
//! These readers are our own: the existing libraries refuse a pipe that delivers its first bytes one by one, cannot skip blocks longer than
//! their buffer, lose the reader's error and the position of damage, or refuse packets cut by a snap length.

mod endianness;
mod pcap;
mod pcapng;
mod source;
#[cfg(test)]
mod tests;

use crate::error::{CaptureError, Problem};
use lastmile_units::Instant;
use pcap::Pcap;
use pcapng::Pcapng;
use source::Source;
use std::io::{self, Read};

/// The format of a capture file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The older format: one interface, no comments.
    Pcap,
    /// The newer format: sections, interfaces, comments.
    Pcapng,
}

/// The link-layer header type of packets, by its number in the registry of tcpdump.org (LINKTYPE_...).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkType(pub u16);

/// The interface that packets were captured at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    /// The link type of its packets.
    pub link_type: LinkType,
    /// The most bytes of a packet that were kept; 0 is all of them.
    pub snap_length: u32,
}

/// A captured packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// When it passed, since 1970 or another origin of the capture: virtual time, in captures of the simulated world.
    pub at: Instant,
    /// Its link type.
    pub link_type: LinkType,
    /// Its bytes, as many as were captured.
    pub bytes: &'a [u8],
    /// How many bytes it had on the wire.
    pub length: u32,
    /// The comments that the capture's writer attached to it.
    pub comments: &'a [String],
}

/// The packets of a capture file, in file order.
#[derive(Debug)]
pub struct Packets<R> {
    name: String,
    source: Source<R>,
    layout: Layout,
    cut_off: Option<u64>,
}

#[derive(Debug)]
enum Layout {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// The result of reading on.
enum ReadStep<'a> {
    Packet(Packet<'a>),
    /// The file ends here, as it should.
    End,
    /// The file ends inside a block or record.
    CutOff {
        at: u64,
    },
}

impl ReadStep<'_> {
    fn ended(cleanly: bool, at: u64) -> Self {
        if cleanly {
            ReadStep::End
        } else {
            ReadStep::CutOff { at }
        }
    }
}

impl<R: Read> Packets<R> {
    /// Reads the start of a file. Errors call it `name`.
    ///
    /// # Errors
    /// When it is empty, not a capture, or cannot be read.
    pub fn open(from: R, name: &str) -> Result<Self, CaptureError> {
        let mut source = Source::new(from);
        let layout = Layout::detect(&mut source).map_err(|problem| CaptureError {
            name: name.to_owned(),
            problem,
        })?;
        Ok(Self {
            name: name.to_owned(),
            source,
            layout,
            cut_off: None,
        })
    }

    /// The next packet; none where there are no more. A file whose end is cut off ends with its last complete packet; see
    /// [`Packets::cut_off`].
    ///
    /// # Errors
    /// When the file is damaged, or cannot be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "a packet borrows from its reader, which no Iterator can say"
    )]
    pub fn next(&mut self) -> Result<Option<Packet<'_>>, CaptureError> {
        let step = match &mut self.layout {
            Layout::Pcap(pcap) => pcap.next(&mut self.source),
            Layout::Pcapng(pcapng) => pcapng.next(&mut self.source),
        };
        match step {
            Ok(ReadStep::Packet(packet)) => Ok(Some(packet)),
            Ok(ReadStep::End) => Ok(None),
            Ok(ReadStep::CutOff { at }) => {
                self.cut_off = Some(at);
                Ok(None)
            }
            Err(problem) => Err(CaptureError {
                name: self.name.clone(),
                problem,
            }),
        }
    }

    /// The file format.
    pub fn format(&self) -> Format {
        match self.layout {
            Layout::Pcap(_) => Format::Pcap,
            Layout::Pcapng(_) => Format::Pcapng,
        }
    }

    /// The interfaces described so far.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.layout {
            Layout::Pcap(pcap) => pcap.interfaces(),
            Layout::Pcapng(pcapng) => pcapng.interfaces(),
        }
    }

    /// Bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    /// The problem of a file that ended before its first packet.
    pub(crate) fn without_packet(&self) -> Problem {
        match self.cut_off {
            Some(at) => Problem::NothingWhole { at },
            None => Problem::NoPacket,
        }
    }

    /// Where the file ends, if it ends inside a block or record.
    pub fn cut_off(&self) -> Option<u64> {
        self.cut_off
    }
}

impl Layout {
    fn detect<R: Read>(source: &mut Source<R>) -> Result<Self, Problem> {
        if let Some(pcapng) = Pcapng::open(source)? {
            return Ok(Layout::Pcapng(pcapng));
        }
        if let Some(pcap) = Pcap::open(source)? {
            return Ok(Layout::Pcap(pcap));
        }
        Err(match read(source, 8)? {
            [] => Problem::Empty,
            begins => not_a_capture(begins),
        })
    }
}

fn not_a_capture(begins: &[u8]) -> Problem {
    let (what, remedy) = match begins {
        [0x1f, 0x8b, ..] => (
            "gzip's magic number",
            "decompress it first (gunzip -c FILE); the file name - reads standard input",
        ),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => (
            "zstd's magic number",
            "decompress it first (zstd -dc FILE); the file name - reads standard input",
        ),
        [0xfd, b'7', b'z', b'X', ..] => (
            "xz's magic number",
            "decompress it first (xz -dc FILE); the file name - reads standard input",
        ),
        _ if begins
            .iter()
            .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) =>
        {
            (
                "text",
                "pass the file that `tcpdump -w FILE` writes, not the text that tcpdump prints",
            )
        }
        _ => ("", "convert it: editcap -F pcapng FILE NEW.pcapng"),
    };
    let bytes: Vec<String> = begins.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let found = match what {
        "" => bytes.join(" "),
        what => format!("{} ({what})", bytes.join(" ")),
    };
    Problem::NotACapture { found, remedy }
}

/// Peeks at the next bytes; fewer where the file ends.
fn read<R: Read>(source: &mut Source<R>, count: usize) -> Result<&[u8], Problem> {
    let at = source.bytes_read();
    source.peek(count).map_err(|error| unreadable(at, error))
}

fn unreadable(at: u64, error: io::Error) -> Problem {
    Problem::Unreadable { at, error }
}
