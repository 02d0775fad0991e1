//! How long is a server waited for? A TCP connection on which every answer is due by a deadline, whatever trickles in until then.

use super::target::Target;
use super::trouble::Trouble;
use lastmile_payload::websocket::head_length;
use lastmile_units::duration;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A TCP connection to a server, and how long is waited on it.
pub(super) struct Wire {
    stream: TcpStream,
    patience: Duration,
    /// When it has lasted long enough as a whole.
    ends: Instant,
    piece: Vec<u8>,
}

/// By when an answer must be there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Instant);

/// What came.
pub(super) enum Arrival {
    Octets(Vec<u8>),
    /// The server ended the connection, in an orderly way or by a reset.
    End,
    /// The deadline passed.
    Silence,
}

/// What a handshake's request is answered with.
pub(super) struct Answer {
    pub(super) head: Vec<u8>,
    /// What came behind the head, and with it.
    pub(super) rest: Vec<u8>,
}

/// So many answers may take as long as one may: what a connection may last as a whole. Our own choice.
const ANSWERS: u32 = 10;
/// Nobody waits longer. It keeps moments within what a clock can tell.
const PATIENCE_MAX: Duration = Duration::from_secs(365 * 24 * 3600);
/// Octets of a head that are read. Our own choice, what servers accept of a client.
const HEAD_MAX: usize = 16 << 10;
/// Octets that are read at once.
const PIECE: usize = 64 << 10;

impl Deadline {
    /// What is left until then; none where it has passed.
    fn left(self) -> Option<Duration> {
        let left = self.0.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

impl Wire {
    /// Connects to the first of the target's addresses that answers.
    pub(super) fn connect(target: &Target, patience: Duration) -> Result<Self, Trouble> {
        let patience = patience.min(PATIENCE_MAX);
        let refused = |error: &io::Error| Trouble::not_opened(format!("connecting: {error}"));
        let mut last = Trouble::not_opened("connecting: the host has no address");
        for address in target.addresses().map_err(|error| refused(&error))? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(|error| refused(&error))?;
                    return Ok(Self {
                        stream,
                        patience,
                        ends: Instant::now() + patience * ANSWERS,
                        piece: vec![0; PIECE],
                    });
                }
                Err(error) => last = refused(&error),
            }
        }
        Err(last)
    }

    /// By when what is asked for now must be there.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline((Instant::now() + self.patience).min(self.ends))
    }

    /// How long an answer may take, in words.
    pub(super) fn patience(&self) -> String {
        duration::print(self.patience)
    }

    /// What comes next.
    pub(super) fn read(&mut self, deadline: Deadline) -> Result<Arrival, Trouble> {
        loop {
            let Some(left) = deadline.left() else {
                return Ok(Arrival::Silence);
            };
            let read = self
                .stream
                .set_read_timeout(Some(left))
                .and_then(|()| self.stream.read(&mut self.piece));
            match read {
                Ok(0) => return Ok(Arrival::End),
                Ok(count) => return Ok(Arrival::Octets(self.piece[..count].to_vec())),
                Err(error) if is_closed(&error) => return Ok(Arrival::End),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(Trouble::broken(format!("receiving: {error}"))),
            }
        }
    }

    /// Sends octets. A server that takes none any more, since it closed, has said something first: whoever expects an answer reads it.
    pub(super) fn write(&mut self, mut octets: &[u8]) -> Result<(), Trouble> {
        let deadline = self.deadline();
        while !octets.is_empty() {
            let Some(left) = deadline.left() else {
                let found = format!("the server does not take what it is sent within {}", self.patience());
                return Err(Trouble::broken(found));
            };
            let written = self
                .stream
                .set_write_timeout(Some(left))
                .and_then(|()| self.stream.write(octets));
            match written {
                Ok(count) => octets = &octets[count..],
                Err(error) if is_closed(&error) => return Ok(()),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(Trouble::broken(format!("sending: {error}"))),
            }
        }
        Ok(())
    }

    /// The answer to a handshake's request; none where the server ends the connection before it is whole.
    pub(super) fn read_head(&mut self) -> Result<Option<Answer>, Trouble> {
        let deadline = self.deadline();
        let mut head = Vec::new();
        loop {
            if let Some(length) = head_length(&head) {
                let rest = head.split_off(length);
                return Ok(Some(Answer { head, rest }));
            }
            if head.len() > HEAD_MAX {
                let found = format!("the answer's head is longer than {HEAD_MAX} octets");
                return Err(Trouble::not_opened(found));
            }
            match self.read(deadline)? {
                Arrival::Octets(octets) => head.extend(octets),
                Arrival::End => return Ok(None),
                Arrival::Silence => {
                    let found = format!("the handshake is not answered within {}", self.patience());
                    return Err(Trouble::not_opened(found));
                }
            }
        }
    }
}

/// Whether it is to be tried again, while there is time.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted
    )
}
