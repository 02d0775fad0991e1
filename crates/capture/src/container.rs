//! Which packets are in a capture file, and when did they pass? pcap and pcapng, read from any reader, in constant memory.
//!
//! Own readers and not a library's: the ones there are refuse a pipe that hands over its first octets one by one, cannot pass
//! over blocks longer than their buffer, lose the reader's error and the place of damage, or refuse packets cut by a snap length.

mod order;
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

/// How a capture file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The older: one interface, no comments.
    Pcap,
    /// The newer: sections, interfaces, comments.
    Pcapng,
}

/// What a packet begins with, by its number in the registry of tcpdump.org (LINKTYPE_...).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkType(pub u16);

/// What packets were captured at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    /// What its packets begin with.
    pub link_type: LinkType,
    /// How many octets of a packet were kept at most; 0 is all of them.
    pub snap_length: u32,
}

/// A packet that passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// When, since 1970 or whatever the capture counts from: virtual time, in captures of the simulated world.
    pub at: Instant,
    /// What it begins with.
    pub link_type: LinkType,
    /// As much of it as was captured.
    pub octets: &'a [u8],
    /// How many octets it had.
    pub length: u32,
    /// What the capture's writer remarks on it.
    pub comments: &'a [String],
}

/// The packets of a capture file, in its order.
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

/// What reading on came to.
enum Step<'a> {
    Packet(Packet<'a>),
    /// The file ends here, as it should.
    End,
    /// The file ends in the midst of something.
    CutOff {
        at: u64,
    },
}

impl Step<'_> {
    fn ended(cleanly: bool, at: u64) -> Self {
        if cleanly { Step::End } else { Step::CutOff { at } }
    }
}

impl<R: Read> Packets<R> {
    /// Reads how a file begins. `name` is what errors call it.
    ///
    /// # Errors
    /// When it is empty, no capture, or cannot be read.
    pub fn open(from: R, name: &str) -> Result<Self, CaptureError> {
        let mut source = Source::new(from);
        let layout = Layout::of(&mut source).map_err(|problem| CaptureError {
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

    /// The next packet; none where there are no more. A file whose end is cut off ends with its last whole packet; see
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
            Ok(Step::Packet(packet)) => Ok(Some(packet)),
            Ok(Step::End) => Ok(None),
            Ok(Step::CutOff { at }) => {
                self.cut_off = Some(at);
                Ok(None)
            }
            Err(problem) => Err(CaptureError {
                name: self.name.clone(),
                problem,
            }),
        }
    }

    /// How the file is laid out.
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

    /// Octets read so far.
    pub fn octets(&self) -> u64 {
        self.source.seen()
    }

    /// Where the file ends, if that is in the midst of something.
    pub fn cut_off(&self) -> Option<u64> {
        self.cut_off
    }
}

impl Layout {
    fn of<R: Read>(source: &mut Source<R>) -> Result<Self, Problem> {
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
            "gzip's mark",
            "decompress it first; gunzip -c FILE gives what is in it, and - reads that from standard input",
        ),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => (
            "zstd's mark",
            "decompress it first; zstd -dc FILE gives what is in it, and - reads that from standard input",
        ),
        [0xfd, b'7', b'z', b'X', ..] => (
            "xz's mark",
            "decompress it first; xz -dc FILE gives what is in it, and - reads that from standard input",
        ),
        _ if begins
            .iter()
            .all(|octet| octet.is_ascii_graphic() || octet.is_ascii_whitespace()) =>
        {
            ("text", "give what `tcpdump -w FILE` wrote, and not what it printed")
        }
        _ => ("", "convert it: editcap -F pcapng FILE NEW.pcapng"),
    };
    let octets: Vec<String> = begins.iter().take(4).map(|octet| format!("{octet:02x}")).collect();
    let found = match what {
        "" => octets.join(" "),
        what => format!("{} ({what})", octets.join(" ")),
    };
    Problem::NotACapture { found, remedy }
}

/// Looks at the next octets; at fewer where the file ends.
fn read<R: Read>(source: &mut Source<R>, count: usize) -> Result<&[u8], Problem> {
    let at = source.seen();
    source.peek(count).map_err(|error| unreadable(at, error))
}

fn unreadable(at: u64, error: io::Error) -> Problem {
    Problem::Unreadable { at, error }
}
