//! Finds where HTTP/1.1 messages end (RFC 9112 sections 2, 6 and 7).
//!
//! Content ends by its length, by its last chunk, or where the connection closes.

use crate::stream::Arrival;
use lastmile_http::{BodyError, BodyPart, Framing, MessageBody, head_end};
use lastmile_units::Instant;

/// The result of reading on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A head is complete; the rest is read once its framing is set.
    Head(Vec<u8>),
    /// This many bytes of content.
    Content(u64),
    /// The message is complete.
    End,
    /// This is not HTTP, or bytes are missing without which it cannot be followed.
    Lost,
}

/// The messages of one direction.
#[derive(Debug)]
pub(super) struct Reader {
    state: State,
    /// When the message being read began.
    pub(super) began: Instant,
}

#[derive(Debug)]
enum State {
    Head(Vec<u8>),
    Body(MessageBody),
    Lost,
}

/// The longest head that is read. Our own choice: many times what servers accept.
const HEAD_MAX: usize = 256 << 10;

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            state: State::Head(Vec::new()),
            began: Instant::START,
        }
    }

    /// Sets the content framing of the message whose head was returned.
    pub(super) fn frame(&mut self, framing: Framing) {
        self.state = State::Body(MessageBody::new(framing));
    }

    /// The returned head is not the last of its message: an interim response (RFC 9110 section 15.2).
    pub(super) fn pass_over(&mut self) {
        self.state = State::Head(Vec::new());
    }

    /// Reads on, one event at a time; none where more data is needed.
    pub(super) fn read(&mut self, arrival: &mut Arrival<'_>, at: Instant) -> Option<Event> {
        if matches!(&self.state, State::Body(body) if body.is_complete()) {
            self.state = State::Head(Vec::new());
            return Some(Event::End);
        }
        match *arrival {
            Arrival::Bytes([]) | Arrival::Missing(0) => None,
            Arrival::Bytes(bytes) => {
                let (taken, event) = self.read_bytes(bytes, at);
                *arrival = Arrival::Bytes(&bytes[taken..]);
                event
            }
            Arrival::Missing(count) => {
                *arrival = Arrival::Missing(0);
                self.skip_missing(count)
            }
        }
    }

    /// The direction is closed. Returns whether that properly ends a message.
    pub(super) fn close(&mut self) -> bool {
        let ends = matches!(&self.state, State::Body(body) if body.ends_with_connection());
        self.state = State::Head(Vec::new());
        ends
    }

    /// How many bytes were consumed, and the resulting event.
    fn read_bytes(&mut self, bytes: &[u8], at: Instant) -> (usize, Option<Event>) {
        match &mut self.state {
            State::Head(head) => {
                if head.is_empty() {
                    // A server should ignore empty lines before a request (RFC 9112 section 2.2).
                    let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
                    if blank > 0 {
                        return (blank, Some(Event::Content(0)));
                    }
                    self.began = at;
                }
                let before = head.len();
                let room = (HEAD_MAX - before).min(bytes.len());
                head.extend_from_slice(&bytes[..room]);
                match head_end(head, before.saturating_sub(3)) {
                    Some(end) => {
                        head.truncate(end);
                        (end - before, Some(Event::Head(std::mem::take(head))))
                    }
                    None if head.len() == HEAD_MAX || !is_plausible(head) => (room, Some(self.lost())),
                    None => (room, None),
                }
            }
            State::Body(body) => match body.read(bytes) {
                Ok(BodyPart::Content(count)) => (count, Some(Event::Content(count as u64))),
                Ok(BodyPart::Framing(count)) => (count, Some(Event::Content(0))),
                Err(BodyError(_)) => (0, Some(self.lost())),
            },
            State::Lost => (bytes.len(), Some(Event::Lost)),
        }
    }

    fn skip_missing(&mut self, count: u64) -> Option<Event> {
        Some(match &mut self.state {
            State::Body(body) => {
                if body.skip(count) {
                    Event::Content(count)
                } else {
                    self.lost()
                }
            }
            // Between messages: it matters only if something follows.
            State::Head(head) if head.is_empty() => {
                self.state = State::Lost;
                return None;
            }
            _ => self.lost(),
        })
    }

    fn lost(&mut self) -> Event {
        self.state = State::Lost;
        Event::Lost
    }
}

/// Whether a head may begin like this: no binary bytes in its first line.
fn is_plausible(head: &[u8]) -> bool {
    let line = head.iter().take_while(|byte| **byte != b'\n');
    line.take(64)
        .all(|byte| (b' '..0x7f).contains(byte) || matches!(byte, b'\r' | b'\t' | 0x80..))
}
