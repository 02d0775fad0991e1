//! Where does an HTTP/1.1 message end? Its head, and its content by length, in chunks, or until the connection closes (RFC 9112
//! sections 2, 6 and 7).

use crate::stream::Arrival;
use lastmile_units::Instant;

/// How a message's content is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// So many octets.
    Length(u64),
    /// Chunks, each with its length before it.
    Chunked,
    /// Everything until the connection closes.
    UntilClose,
}

/// What reading on came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A head is whole; what follows is read when its framing is told.
    Head(Vec<u8>),
    /// So many octets of content.
    Content(u64),
    /// The message is whole.
    End,
    /// This is no HTTP, or octets are missing that cannot be missed.
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
    /// The line before a chunk, with its length.
    ChunkLine(Vec<u8>),
    Chunk(u64),
    /// The end of the line behind a chunk.
    ChunkEnd,
    /// A line of what follows the last chunk.
    Trailer(Vec<u8>),
    /// Nothing more, and nobody was told.
    Whole,
    Lost,
}

/// Heads and lines that are longer are not read. Our own choice: many times what servers accept.
const HEAD_MAX: usize = 256 << 10;
const LINE_MAX: usize = 8 << 10;

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            state: State::Head(Vec::new()),
            began: Instant::START,
        }
    }

    /// How the content is framed of the message whose head was given.
    pub(super) fn frame(&mut self, framing: Framing) {
        self.state = match framing {
            Framing::Length(0) => State::Whole,
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::ChunkLine(Vec::new()),
            Framing::UntilClose => State::UntilClose,
        };
    }

    /// The head that was given is not the last of its message: an interim response (RFC 9110 section 15.2).
    pub(super) fn pass_over(&mut self) {
        self.state = State::Head(Vec::new());
    }

    /// Reads on, one event at a time; none where more is needed.
    pub(super) fn read(&mut self, arrival: &mut Arrival<'_>, at: Instant) -> Option<Event> {
        if let State::Whole = self.state {
            self.state = State::Head(Vec::new());
            return Some(Event::End);
        }
        match *arrival {
            Arrival::Octets([]) | Arrival::Missing(0) => None,
            Arrival::Octets(octets) => {
                let (taken, event) = self.octets(octets, at);
                *arrival = Arrival::Octets(&octets[taken..]);
                event
            }
            Arrival::Missing(count) => {
                *arrival = Arrival::Missing(0);
                self.missing(count)
            }
        }
    }

    /// The direction is closed. Tells whether that ends a message as it should.
    pub(super) fn close(&mut self) -> bool {
        let ends = matches!(self.state, State::UntilClose);
        self.state = State::Head(Vec::new());
        ends
    }

    /// How many octets were taken, and what they came to.
    fn octets(&mut self, octets: &[u8], at: Instant) -> (usize, Option<Event>) {
        match &mut self.state {
            State::Head(head) => {
                if head.is_empty() {
                    // A server ought to pass over empty lines before a request (RFC 9112 section 2.2).
                    let blank = octets.iter().take_while(|octet| matches!(octet, b'\r' | b'\n')).count();
                    if blank > 0 {
                        return (blank, Some(Event::Content(0)));
                    }
                    self.began = at;
                }
                let before = head.len();
                let room = (HEAD_MAX - before).min(octets.len());
                head.extend_from_slice(&octets[..room]);
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
                let taken = (*left).min(octets.len() as u64);
                *left -= taken;
                (taken as usize, Some(self.content(taken)))
            }
            State::UntilClose => (octets.len(), Some(Event::Content(octets.len() as u64))),
            State::ChunkLine(line) | State::Trailer(line) => {
                let taken = octets
                    .iter()
                    .position(|octet| *octet == b'\n')
                    .map_or(octets.len(), |end| end + 1);
                line.extend_from_slice(&octets[..taken]);
                if line.ends_with(b"\n") {
                    (taken, Some(self.line()))
                } else if line.len() > LINE_MAX {
                    (taken, Some(self.lost()))
                } else {
                    (taken, None)
                }
            }
            State::ChunkEnd => match octets[0] {
                b'\r' => (1, Some(Event::Content(0))),
                b'\n' => {
                    self.state = State::ChunkLine(Vec::new());
                    (1, Some(Event::Content(0)))
                }
                _ => (0, Some(self.lost())),
            },
            State::Whole => (0, None),
            State::Lost => (octets.len(), Some(Event::Lost)),
        }
    }

    fn missing(&mut self, count: u64) -> Option<Event> {
        Some(match &mut self.state {
            State::Length(left) | State::Chunk(left) if count <= *left => {
                *left -= count;
                self.content(count)
            }
            State::UntilClose => Event::Content(count),
            // Between messages: whether that matters shows when something follows.
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
            // The length in hexadecimal, and extensions that nobody uses.
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

/// Where the empty line ends that ends a head, looking from `from` on. Bare line feeds are taken, as RFC 9112 section 2.2 allows.
fn end_of_head(head: &[u8], from: usize) -> Option<usize> {
    (from..head.len())
        .filter(|at| head[*at] == b'\n')
        .find_map(|at| match head.get(at + 1..)? {
            [b'\n', ..] => Some(at + 2),
            [b'\r', b'\n', ..] => Some(at + 3),
            _ => None,
        })
}

/// Whether a head may begin so: no binary octets in its first line.
fn is_plausible(head: &[u8]) -> bool {
    let line = head.iter().take_while(|octet| **octet != b'\n');
    line.take(64)
        .all(|octet| (b' '..0x7f).contains(octet) || matches!(octet, b'\r' | b'\t' | 0x80..))
}
