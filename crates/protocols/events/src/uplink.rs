//! How an emitter passes chunks on: the contract, and the one over a socket to a sensor.
//!
//! Over a socket a chunk is answered by 16 bytes: `EC 4C 41 01`, the status, the durability, two zeros, and the source's next sequence
//! number (little-endian). Chunks are answered in order.

use crate::Chunk;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

/// What survives once a chunk is acknowledged. Each one holds more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Durability {
    /// Nothing but the present process: it is in its memory.
    #[default]
    Memory,
    /// The end of the process, also by `kill -9`: the operating system has it.
    Process,
    /// A power failure: the disk says that it has it.
    Power,
}

impl Durability {
    /// All of them with their names.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("memory", Self::Memory),
        ("process", Self::Process),
        ("power", Self::Power),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// The one of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .find_map(|(known, value)| (*known == name).then_some(*value))
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The answer to a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// All events of the source below `next` are kept, so well.
    Acknowledged {
        /// The source's next number.
        next: u64,
        /// What the events survive.
        durability: Durability,
    },
    /// The chunk would leave a gap, and was not taken: the number that comes next. Send from there, or a loss event for what is gone.
    Gap {
        /// The source's next number.
        expected: u64,
    },
    /// There is no room now. Nothing was taken; try again later.
    Full,
    /// The chunk is refused for good.
    Refused,
}

/// Passes chunks on, one at a time.
pub trait Uplink: Send {
    /// Sends a chunk and waits for the answer.
    ///
    /// # Errors
    /// When there is no answer. The chunk may have been taken all the same; sending it again is harmless.
    fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply>;
}

/// Where a sensor listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SensorAddress {
    /// A Unix socket.
    Path(PathBuf),
    /// Host and port.
    Tcp(String),
}

/// The uplink to a sensor's socket. It connects when it must, also again.
#[derive(Debug)]
pub struct SocketUplink {
    address: SensorAddress,
    timeout: Duration,
    stream: Option<Stream>,
}

#[derive(Debug)]
enum Stream {
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
    Tcp(TcpStream),
}

impl SocketUplink {
    /// An uplink to the sensor there; an answer that takes longer than `timeout` is an error.
    pub const fn new(address: SensorAddress, timeout: Duration) -> Self {
        Self {
            address,
            timeout,
            stream: None,
        }
    }

    fn connect(&self) -> io::Result<Stream> {
        match &self.address {
            #[cfg(unix)]
            SensorAddress::Path(path) => {
                let stream = std::os::unix::net::UnixStream::connect(path)?;
                stream.set_read_timeout(Some(self.timeout))?;
                stream.set_write_timeout(Some(self.timeout))?;
                Ok(Stream::Unix(stream))
            }
            #[cfg(not(unix))]
            SensorAddress::Path(_) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "there are no Unix sockets here: give HOST:PORT",
            )),
            SensorAddress::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(self.timeout))?;
                stream.set_write_timeout(Some(self.timeout))?;
                Ok(Stream::Tcp(stream))
            }
        }
    }

    fn exchange(&mut self, chunk: &Chunk) -> io::Result<Reply> {
        if self.stream.is_none() {
            self.stream = Some(self.connect()?);
        }
        let mut answer = [0; REPLY];
        match self.stream.as_mut().expect("it was connected") {
            #[cfg(unix)]
            Stream::Unix(stream) => {
                stream.write_all(chunk.bytes())?;
                stream.read_exact(&mut answer)?;
            }
            Stream::Tcp(stream) => {
                stream.write_all(chunk.bytes())?;
                stream.read_exact(&mut answer)?;
            }
        }
        Reply::from_bytes(answer).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the answer is no sensor's"))
    }
}

impl Uplink for SocketUplink {
    fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
        let reply = self.exchange(chunk);
        if reply.is_err() {
            self.stream = None;
        }
        reply
    }
}

/// The bytes of an answer over a socket.
pub const REPLY: usize = 16;
const REPLY_MAGIC: [u8; 4] = [0xec, b'L', b'A', 1];

impl Reply {
    /// As bytes, for a socket.
    pub fn to_bytes(self) -> [u8; REPLY] {
        let (status, durability, next) = match self {
            Self::Acknowledged { next, durability } => (0, durability as u8, next),
            Self::Gap { expected } => (1, 0, expected),
            Self::Full => (2, 0, 0),
            Self::Refused => (3, 0, 0),
        };
        let mut bytes = [0; REPLY];
        bytes[..4].copy_from_slice(&REPLY_MAGIC);
        bytes[4] = status;
        bytes[5] = durability;
        bytes[8..].copy_from_slice(&next.to_le_bytes());
        bytes
    }

    /// The answer of these bytes; `None` where they are none.
    pub fn from_bytes(bytes: [u8; REPLY]) -> Option<Self> {
        let next = u64::from_le_bytes(bytes[8..].try_into().expect("eight bytes"));
        if bytes[..4] != REPLY_MAGIC {
            return None;
        }
        match bytes[4] {
            0 => {
                let (_, durability) = *Durability::NAMES.get(usize::from(bytes[5]))?;
                Some(Self::Acknowledged { next, durability })
            }
            1 => Some(Self::Gap { expected: next }),
            2 => Some(Self::Full),
            3 => Some(Self::Refused),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let durability = Durability::Power;
        for reply in [
            Reply::Acknowledged { next: 9, durability },
            Reply::Gap { expected: 4 },
            Reply::Full,
            Reply::Refused,
        ] {
            assert_eq!(Reply::from_bytes(reply.to_bytes()), Some(reply));
        }
        assert_eq!(Reply::from_bytes([0; REPLY]), None);
    }
}
