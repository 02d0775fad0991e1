//! A TCP connection on which every answer is due by a deadline, even if bytes trickle in until then.

use super::case_error::{CaseError, broken, not_opened};
use super::server_url::Target;
use lastmile_units::duration;
use lastmile_websocket::head_length;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A TCP connection to a server, with its timeouts.
pub(super) struct TimedSocket {
    stream: TcpStream,
    timeout: Duration,
    /// The deadline of the connection as a whole.
    deadline: Instant,
    piece: Vec<u8>,
}

/// The time by which an answer must have arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Instant);

/// What was received.
pub(super) enum Arrival {
    Bytes(Vec<u8>),
    /// The server ended the connection, in an orderly way or by a reset.
    End,
    /// The deadline passed.
    Silence,
}

/// The answer to a handshake request.
pub(super) struct HandshakeResponse {
    pub(super) head: Vec<u8>,
    /// The bytes after the head that were received with it.
    pub(super) rest: Vec<u8>,
}

/// A connection may last as long as this many timeouts. Our own choice.
const TIMEOUTS_MAX: u32 = 10;
/// The longest timeout: a year, so that deadlines stay within the range of `Instant`.
const TIMEOUT_MAX: Duration = Duration::from_secs(365 * 24 * 3600);
/// The longest head that is read, in bytes. Our own choice: what servers accept from a client.
const HEAD_MAX: usize = 16 << 10;
/// Bytes per read.
const PIECE: usize = 64 << 10;

impl Deadline {
    /// The time left until then; none where it has passed.
    fn left(self) -> Option<Duration> {
        let left = self.0.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

impl TimedSocket {
    /// Connects to the first of the target's addresses that answers.
    pub(super) fn connect(target: &Target, timeout: Duration) -> Result<Self, CaseError> {
        let timeout = timeout.min(TIMEOUT_MAX);
        let refused = |error: &io::Error| CaseError::not_opened(format!("connecting: {error}"));
        let mut last = CaseError::not_opened("connecting: the host has no address");
        for address in target.addresses().map_err(|error| refused(&error))? {
            match TcpStream::connect_timeout(&address, timeout) {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(|error| refused(&error))?;
                    return Ok(Self {
                        stream,
                        timeout,
                        deadline: Instant::now() + timeout * TIMEOUTS_MAX,
                        piece: vec![0; PIECE],
                    });
                }
                Err(error) => last = refused(&error),
            }
        }
        Err(last)
    }

    /// The deadline of an answer that is asked for now.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline((Instant::now() + self.timeout).min(self.deadline))
    }

    /// The timeout of an answer as text.
    pub(super) fn timeout_text(&self) -> String {
        duration::print(self.timeout)
    }

    /// Waits for the next bytes, the end or the deadline.
    pub(super) fn read(&mut self, deadline: Deadline) -> Result<Arrival, CaseError> {
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
                Ok(count) => return Ok(Arrival::Bytes(self.piece[..count].to_vec())),
                Err(error) if is_closed(&error) => return Ok(Arrival::End),
                Err(error) if is_passing(&error) => {}
                Err(error) => return broken(format!("receiving: {error}")),
            }
        }
    }

    /// Sends bytes. Not an error where the server has closed the connection: what it sent before that is still to be read.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Result<(), CaseError> {
        let deadline = self.deadline();
        while !bytes.is_empty() {
            let Some(left) = deadline.left() else {
                let found = format!(
                    "the server does not read what it is sent within {}",
                    self.timeout_text()
                );
                return broken(found);
            };
            let written = self
                .stream
                .set_write_timeout(Some(left))
                .and_then(|()| self.stream.write(bytes));
            match written {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if is_closed(&error) => return Ok(()),
                Err(error) if is_passing(&error) => {}
                Err(error) => return broken(format!("sending: {error}")),
            }
        }
        Ok(())
    }

    /// The answer to a handshake request; none where the server ends the connection before it is complete.
    pub(super) fn read_head(&mut self) -> Result<Option<HandshakeResponse>, CaseError> {
        let deadline = self.deadline();
        let mut head = Vec::new();
        loop {
            if let Some(length) = head_length(&head) {
                let rest = head.split_off(length);
                return Ok(Some(HandshakeResponse { head, rest }));
            }
            if head.len() > HEAD_MAX {
                let found = format!("the head of the answer is longer than {HEAD_MAX} bytes");
                return not_opened(found);
            }
            match self.read(deadline)? {
                Arrival::Bytes(bytes) => head.extend(bytes),
                Arrival::End => return Ok(None),
                Arrival::Silence => {
                    let found = format!("the handshake is not answered within {}", self.timeout_text());
                    return not_opened(found);
                }
            }
        }
    }
}

/// Whether to try again before the deadline.
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
