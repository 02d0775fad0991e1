//! Calls as requests of HTTP/1.1 or HTTP/2: the bytes that either end writes on a connection, and what it reads in them. Sans-IO.
//!
//! Requests have the header fields that a client cannot leave out, and are answered with 204. In HTTP/2 the fields of the first request go into
//! the table of HPACK, and later requests refer to them (RFC 7541, section 6.1); texts are not Huffman-coded. The callee opens all flow-control
//! windows, as gRPC's servers do for large messages.

use lastmile_testbed::failure::Failure;
use lastmile_testbed::http::Version;

/// What an end read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// Requests can be made.
    Opened,
    /// The response to a request.
    Response,
    /// The body of a request, and the bytes of its response.
    Request { body: Vec<u8>, response: Vec<u8> },
    /// The protocol wants these bytes to be sent.
    Send(Vec<u8>),
}

const AUTHORITY: &str = "callee";
const PATH: &str = "/calls";
const MEDIA_TYPE: &str = "application/octet-stream";
const HTTP1_RESPONSE: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";
const HEAD_END: &[u8] = b"\r\n\r\n";

/// RFC 9113, section 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames, and flags (RFC 9113, section 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
/// The longest frame that every end accepts.
const FRAME_MAX: usize = 16_384;
/// SETTINGS_INITIAL_WINDOW_SIZE, and the largest window (section 6.9.1).
const INITIAL_WINDOW_SIZE: u16 = 4;
const WINDOW_MAX: u32 = (1 << 31) - 1;
const WINDOW_DEFAULT: u32 = 65_535;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
}

/// One end of a connection.
#[derive(Debug)]
pub(super) struct HttpEnd {
    version: Version,
    is_callee: bool,
    /// What has arrived and is not complete yet.
    received: Vec<u8>,
    has_read_preface: bool,
    /// Of a caller: the next stream, 1 at first.
    next_stream: u32,
    /// Of a callee: the stream whose request is not complete, and what it has of the body.
    open: Option<(u32, Vec<u8>)>,
}

impl HttpEnd {
    pub(super) fn new(version: Version, is_callee: bool) -> Self {
        Self {
            version,
            is_callee,
            received: Vec::new(),
            has_read_preface: !is_callee,
            next_stream: 1,
            open: None,
        }
    }

    /// What it sends first.
    pub(super) fn opening(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.version == Version::H2 {
            if self.is_callee {
                let mut settings = INITIAL_WINDOW_SIZE.to_be_bytes().to_vec();
                settings.extend(WINDOW_MAX.to_be_bytes());
                frame(SETTINGS, 0, 0, &settings, &mut out);
                let increment = (WINDOW_MAX - WINDOW_DEFAULT).to_be_bytes();
                frame(WINDOW_UPDATE, 0, 0, &increment, &mut out);
            } else {
                out.extend(PREFACE);
                frame(SETTINGS, 0, 0, &[], &mut out);
            }
        }
        out
    }

    /// The bytes of a request.
    pub(super) fn request(&mut self, body: &[u8]) -> Vec<u8> {
        if self.version == Version::Http11 {
            let mut out = format!(
                "POST {PATH} HTTP/1.1\r\nhost: {AUTHORITY}\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {}\r\n\r\n",
                body.len()
            )
            .into_bytes();
            out.extend(body);
            return out;
        }
        let stream = self.next_stream;
        self.next_stream += 2;
        let mut out = Vec::new();
        frame(HEADERS, END_HEADERS, stream, &request_fields(stream == 1), &mut out);
        let mut pieces = body.chunks(FRAME_MAX).peekable();
        while let Some(piece) = pieces.next() {
            let flags = if pieces.peek().is_none() { END_STREAM } else { 0 };
            frame(DATA, flags, stream, piece, &mut out);
        }
        out
    }

    /// What has arrived, as far as it is complete.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Failure> {
        self.received.extend(bytes);
        let mut events = Vec::new();
        let mut read = 0;
        loop {
            let rest = &self.received[read..];
            let step = match self.version {
                Version::Http11 if self.is_callee => read_request(rest)?,
                Version::Http11 => read_response(rest)?,
                Version::H2 if !self.has_read_preface => {
                    if rest.len() < PREFACE.len() {
                        None
                    } else if rest.starts_with(PREFACE) {
                        self.has_read_preface = true;
                        Some((PREFACE.len(), None))
                    } else {
                        return Err(Failure::new("the caller does not begin with HTTP/2's preface"));
                    }
                }
                Version::H2 => read_frame(rest, self.is_callee, &mut self.open)?,
            };
            let Some((length, event)) = step else { break };
            read += length;
            events.extend(event);
        }
        self.received.drain(..read);
        Ok(events)
    }
}

/// How many bytes were read, and what they say.
type Step = Option<(usize, Option<Event>)>;

/// The fields of a request: static entries 3, 6, 4, 1 and 31 of RFC 7541, appendix A, and once they are known the dynamic ones 64, 63, 62.
fn request_fields(is_first: bool) -> Vec<u8> {
    let mut block = vec![0x83, 0x86];
    if is_first {
        for (name, value) in [(4, PATH), (1, AUTHORITY), (31, MEDIA_TYPE)] {
            block.extend([0x40 | name, value.len() as u8]);
            block.extend(value.as_bytes());
        }
    } else {
        block.extend([0x80 | 64, 0x80 | 63, 0x80 | 62]);
    }
    block
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn read_request(bytes: &[u8]) -> Result<Step, Failure> {
    let Some(head_length) = find(bytes, HEAD_END) else {
        return Ok(None);
    };
    let head = String::from_utf8_lossy(&bytes[..head_length]);
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let length = length.ok_or_else(|| Failure::new("a request has no length"))?;
    let begin = head_length + HEAD_END.len();
    Ok(bytes.get(begin..begin.saturating_add(length)).map(|body| {
        let event = Event::Request {
            body: body.to_vec(),
            response: HTTP1_RESPONSE.to_vec(),
        };
        (begin + length, Some(event))
    }))
}

fn read_response(bytes: &[u8]) -> Result<Step, Failure> {
    if bytes.len() < HTTP1_RESPONSE.len() {
        return Ok(None);
    }
    if !bytes.starts_with(HTTP1_RESPONSE) {
        return Err(Failure::new("the callee refused a request"));
    }
    Ok(Some((HTTP1_RESPONSE.len(), Some(Event::Response))))
}

fn read_frame(bytes: &[u8], is_callee: bool, open: &mut Option<(u32, Vec<u8>)>) -> Result<Step, Failure> {
    let [high, middle, low, kind, flags, stream @ ..] = bytes else {
        return Ok(None);
    };
    let length = usize::from(*high) << 16 | usize::from(*middle) << 8 | usize::from(*low);
    let (Some(stream), Some(payload)) = (stream.first_chunk::<4>(), bytes.get(9..9 + length)) else {
        return Ok(None);
    };
    let stream = u32::from_be_bytes(*stream);
    let event = match (*kind, is_callee) {
        (SETTINGS, _) if flags & ACK != 0 => None,
        (SETTINGS, true) => {
            let mut out = Vec::new();
            frame(SETTINGS, ACK, 0, &[], &mut out);
            Some(Event::Send(out))
        }
        (SETTINGS, false) => Some(Event::Opened),
        (WINDOW_UPDATE, _) => None,
        (HEADERS, true) => {
            *open = Some((stream, Vec::new()));
            None
        }
        (HEADERS, false) => Some(Event::Response),
        (DATA, true) => {
            let (of, body) = open.as_mut().ok_or_else(|| Failure::new("a body has no head"))?;
            if *of != stream {
                return Err(Failure::new("bodies of two requests are mixed"));
            }
            body.extend(payload);
            if flags & END_STREAM == 0 {
                None
            } else {
                let body = std::mem::take(body);
                *open = None;
                // The static entry 9 is the status 204.
                let mut response = Vec::new();
                frame(HEADERS, END_HEADERS | END_STREAM, stream, &[0x80 | 9], &mut response);
                Some(Event::Request { body, response })
            }
        }
        (kind, _) => return Err(Failure::new(format!("a frame of type {kind} has no meaning here"))),
    };
    Ok(Some((9 + length, event)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests in pieces of any size come out whole, and cost what RFC 9113 and RFC 7541 say.
    #[test]
    fn requests_arrive_whole_in_any_pieces_and_later_ones_refer_to_known_fields() {
        for version in [Version::Http11, Version::H2] {
            let (mut caller, callee) = (HttpEnd::new(version, false), HttpEnd::new(version, true));
            let opening = caller.opening();
            caller.read(&callee.opening()).unwrap();
            let bodies = [vec![1; 10], vec![2; 40_000], vec![3; 10]];
            let requests: Vec<Vec<u8>> = bodies.iter().map(|body| caller.request(body)).collect();
            let sent = [opening, requests.concat()].concat();
            for piece in [1, 7, 100_000] {
                let mut callee = HttpEnd::new(version, true);
                let mut events = Vec::new();
                for bytes in sent.chunks(piece) {
                    events.extend(callee.read(bytes).unwrap());
                }
                let mut received = Vec::new();
                for event in events {
                    if let Event::Request { body, response } = event {
                        assert_eq!(caller.read(&response).unwrap(), [Event::Response]);
                        received.push(body);
                    }
                }
                assert_eq!(received, bodies);
            }
            if version == Version::H2 {
                // A frame of 5 bytes of fields, and one of data.
                assert_eq!(requests[2].len(), 9 + 5 + 9 + 10);
                assert_eq!(requests[1].len(), 9 + 5 + 3 * 9 + 40_000);
            }
        }
    }
}
