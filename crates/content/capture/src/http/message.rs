//! Finds where HTTP/1.1 messages end (RFC 9112 sections 2, 6 and 7).
//!
//! Content ends by its length, by its last chunk, or where the connection closes.

use crate::stream::Arrival;
use lastmile_units::Instant;

/// How a message's content is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// This many bytes.
    Length(u64),
    /// Chunks, each with its length before it.
    Chunked,
    /// Everything until the connection closes.
    UntilClose,
}

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
    Length(u64),
    UntilClose,
    /// The line before a chunk, which states its length.
    ChunkLine(Vec<u8>),
    Chunk(u64),
    /// The end of the line after a chunk.
    ChunkEnd,
    /// A line after the last chunk.
    Trailer(Vec<u8>),
    /// The message is complete, which was not reported yet.
    Whole,
    Lost,
}

/// The longest head and line that are read. Our own choice: many times what servers accept.
const HEAD_MAX: usize = 256 << 10;
const LINE_MAX: usize = 8 << 10;

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            state: State::Head(Vec::new()),
            began: Instant::START,
        }
    }

    /// Sets the content framing of the message whose head was returned.
    pub(super) fn frame(&mut self, framing: Framing) {
        self.state = match framing {
            Framing::Length(0) => State::Whole,
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::ChunkLine(Vec::new()),
            Framing::UntilClose => State::UntilClose,
        };
    }

    /// The returned head is not the last of its message: an interim response (RFC 9110 section 15.2).
    pub(super) fn pass_over(&mut self) {
        self.state = State::Head(Vec::new());
    }

    /// Reads on, one event at a time; none where more data is needed.
    pub(super) fn read(&mut self, arrival: &mut Arrival<'_>, at: Instant) -> Option<Event> {
        if let State::Whole = self.state {
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
        let ends = matches!(self.state, State::UntilClose);
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
                match end_of_head(head, before.saturating_sub(3)) {
                    Some(end) => {
                        head.truncate(end);
                        (end - before, Some(Event::Head(std::mem::take(head))))
                    }
                    None if head.len() == HEAD_MAX || !is_plausible(head) => (room, Some(self.lost())),
                    None => (room, None),
                }
            }
            State::Length(left) | State::Chunk(left) => {
                let taken = (*left).min(bytes.len() as u64);
                *left -= taken;
                (taken as usize, Some(self.content(taken)))
            }
            State::UntilClose => (bytes.len(), Some(Event::Content(bytes.len() as u64))),
            State::ChunkLine(line) | State::Trailer(line) => {
                let taken = bytes
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .map_or(bytes.len(), |end| end + 1);
                line.extend_from_slice(&bytes[..taken]);
                if line.ends_with(b"\n") {
                    (taken, Some(self.line()))
                } else if line.len() > LINE_MAX {
                    (taken, Some(self.lost()))
                } else {
                    (taken, None)
                }
            }
            State::ChunkEnd => match bytes[0] {
                b'\r' => (1, Some(Event::Content(0))),
                b'\n' => {
                    self.state = State::ChunkLine(Vec::new());
                    (1, Some(Event::Content(0)))
                }
                _ => (0, Some(self.lost())),
            },
            State::Whole => (0, None),
            State::Lost => (bytes.len(), Some(Event::Lost)),
        }
    }

    fn skip_missing(&mut self, count: u64) -> Option<Event> {
        Some(match &mut self.state {
            State::Length(left) | State::Chunk(left) if count <= *left => {
                *left -= count;
                self.content(count)
            }
            State::UntilClose => Event::Content(count),
            // Between messages: it matters only if something follows.
            State::Head(head) if head.is_empty() => {
                self.state = State::Lost;
                return None;
            }
            _ => self.lost(),
        })
    }

    fn content(&mut self, count: u64) -> Event {
        match self.state {
            State::Length(0) => self.state = State::Whole,
            State::Chunk(0) => self.state = State::ChunkEnd,
            _ => {}
        }
        Event::Content(count)
    }

    fn line(&mut self) -> Event {
        match &self.state {
            // The length in hexadecimal, and extensions, which nobody uses.
            State::ChunkLine(line) => match httparse::parse_chunk_size(line) {
                Ok(httparse::Status::Complete((_, 0))) => {
                    self.state = State::Trailer(Vec::new());
                    Event::Content(0)
                }
                Ok(httparse::Status::Complete((_, length))) => {
                    self.state = State::Chunk(length);
                    Event::Content(0)
                }
                _ => self.lost(),
            },
            State::Trailer(line) if line.as_slice() == b"\r\n" || line.as_slice() == b"\n" => {
                self.state = State::Whole;
                Event::Content(0)
            }
            _ => {
                self.state = State::Trailer(Vec::new());
                Event::Content(0)
            }
        }
    }

    fn lost(&mut self) -> Event {
        self.state = State::Lost;
        Event::Lost
    }
}

/// The end of the empty line that ends a head, searched from `from` on. Bare line feeds are accepted, as RFC 9112 section 2.2 allows.
fn end_of_head(head: &[u8], from: usize) -> Option<usize> {
    (from..head.len())
        .filter(|at| head[*at] == b'\n')
        .find_map(|at| match head.get(at + 1..)? {
            [b'\n', ..] => Some(at + 2),
            [b'\r', b'\n', ..] => Some(at + 3),
            _ => None,
        })
}

/// Whether a head may begin like this: no binary bytes in its first line.
fn is_plausible(head: &[u8]) -> bool {
    let line = head.iter().take_while(|byte| **byte != b'\n');
    line.take(64)
        .all(|byte| (b' '..0x7f).contains(byte) || matches!(byte, b'\r' | b'\t' | 0x80..))
}
