//! Reads a response as its bytes arrive, whatever their portions, with bounded memory.

use lastmile_http::{BodyError, BodyPart, Framing, MessageBody, head_end};

/// The maximum size of the heads of one response, interim ones included: that of `nginx`'s and hyper's buffers is 64 kB or less; our own
/// choice.
pub const HEAD_MAX: usize = 64 * 1024;
/// The maximum number of fields of a head: our own choice.
const FIELDS_MAX: usize = 128;

/// Reads one response after another of a connection.
#[derive(Debug, Clone)]
pub struct ResponseReader {
    answers_head: bool,
    state: State,
    /// A head that has begun, and not ended.
    pub(super) head: Vec<u8>,
    /// The heads of this response so far: interim ones, and the one that has begun.
    head_bytes: usize,
    status: u16,
    keeps_alive: bool,
    body_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Body(MessageBody),
}

impl State {
    const COMPLETE: Self = Self::Body(MessageBody::new(Framing::Length(0)));
}

/// A response that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// The head does not end within [`HEAD_MAX`] bytes.
    #[error("the head of the response is longer than {HEAD_MAX} B")]
    HeadTooLong,
    /// It is not HTTP/1, or its framing contradicts itself.
    #[error("the response is malformed: {0}")]
    Malformed(&'static str),
    /// The connection ended before the first byte.
    #[error("the connection ended before the response")]
    ClosedBeforeResponse,
    /// The connection ended within the head.
    #[error("the connection ended within the head of the response")]
    ShortHead,
    /// The connection ended within the body.
    #[error("the connection ended within the body of the response")]
    ShortBody,
}

impl From<BodyError> for ResponseError {
    fn from(BodyError(why): BodyError) -> Self {
        Self::Malformed(why)
    }
}

impl ResponseReader {
    /// A reader of a response to HEAD, or to another method.
    pub(crate) fn new(answers_head: bool) -> Self {
        Self {
            answers_head,
            state: State::Head,
            head: Vec::new(),
            head_bytes: 0,
            status: 0,
            keeps_alive: true,
            body_bytes: 0,
        }
    }

    /// Begins with the next response. Memory is kept.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.head.clear();
        self.head_bytes = 0;
        self.status = 0;
        self.keeps_alive = true;
        self.body_bytes = 0;
    }

    /// Reads bytes up to the end of the response, and returns how many belong to it. [`Self::is_complete`] says whether it has ended.
    ///
    /// # Errors
    /// When the response is malformed, or its head is too long. Nothing that follows can be read.
    pub fn read(&mut self, bytes: &[u8]) -> Result<usize, ResponseError> {
        let mut read = 0;
        while read < bytes.len() && !self.is_complete() {
            let rest = &bytes[read..];
            read += match &mut self.state {
                State::Head => self.read_head(rest)?,
                State::Body(body) => match body.read(rest)? {
                    BodyPart::Content(count) => {
                        self.body_bytes += count as u64;
                        count
                    }
                    BodyPart::Framing(count) => count,
                },
            };
        }
        Ok(read)
    }

    /// The end of the connection: it ends a response whose length was not given.
    ///
    /// # Errors
    /// When the response is not complete.
    pub fn end(&mut self) -> Result<(), ResponseError> {
        match self.state {
            State::Head if self.head_bytes == 0 => Err(ResponseError::ClosedBeforeResponse),
            State::Head => Err(ResponseError::ShortHead),
            State::Body(body) if body.ends_with_connection() => {
                self.state = State::COMPLETE;
                Ok(())
            }
            State::Body(_) => Err(ResponseError::ShortBody),
        }
    }

    /// Whether the response has been read to its end.
    pub fn is_complete(&self) -> bool {
        matches!(&self.state, State::Body(body) if body.is_complete())
    }

    /// Whether the head of the final response has been read.
    pub fn has_head(&self) -> bool {
        self.state != State::Head
    }

    /// The status code; 0 before the final head.
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Whether another request may be sent over the connection (RFC 9112 section 9.3).
    pub const fn keeps_alive(&self) -> bool {
        self.keeps_alive
    }

    /// The bytes of the body so far, without chunk headers.
    pub const fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Reads a head, or a portion of one, and returns how many bytes belong to it.
    fn read_head(&mut self, bytes: &[u8]) -> Result<usize, ResponseError> {
        // The usual case: the whole head is here, and is parsed where it is.
        if self.head.is_empty()
            && let Some(end) = head_end(bytes, 0)
        {
            self.count_head_bytes(end)?;
            self.parse_head(&bytes[..end])?;
            return Ok(end);
        }
        let before = self.head.len();
        let room = (HEAD_MAX + 1).saturating_sub(self.head_bytes).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        // The end may have begun in the portion before.
        let Some(end) = head_end(&self.head, before.saturating_sub(3)) else {
            self.count_head_bytes(room)?;
            return Ok(room);
        };
        self.count_head_bytes(end - before)?;
        let mut head = std::mem::take(&mut self.head);
        self.parse_head(&head[..end])?;
        head.clear();
        self.head = head;
        Ok(end - before)
    }

    fn count_head_bytes(&mut self, bytes: usize) -> Result<(), ResponseError> {
        self.head_bytes += bytes;
        if self.head_bytes > HEAD_MAX {
            return Err(ResponseError::HeadTooLong);
        }
        Ok(())
    }

    /// The framing of the body, by RFC 9112 section 6.3.
    fn parse_head(&mut self, head: &[u8]) -> Result<(), ResponseError> {
        let malformed = |why| Err(ResponseError::Malformed(why));
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut response = httparse::Response::new(&mut fields);
        match response.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => return malformed("its head is incomplete"),
            Err(httparse::Error::TooManyHeaders) => return Err(ResponseError::HeadTooLong),
            Err(_) => return malformed("its head is not HTTP/1"),
        }
        let (Some(status), Some(version)) = (response.code, response.version) else {
            return malformed("it has no status line");
        };
        match status {
            // No upgrade is ever requested.
            101 => return malformed("it switches to another protocol"),
            100..200 => return Ok(()),
            200..600 => {}
            _ => return malformed("its status code is not between 100 and 599"),
        }
        let mut length = None;
        let (mut transfer_encoding, mut is_chunked) = (false, false);
        self.keeps_alive = version == 1;
        for field in response.headers.iter() {
            if field.name.eq_ignore_ascii_case("content-length") {
                for value in list(field.value) {
                    let value =
                        parse_length(value).ok_or(ResponseError::Malformed("its Content-Length is no number"))?;
                    if length.is_some_and(|known| known != value) {
                        return malformed("it has two different lengths");
                    }
                    length = Some(value);
                }
            } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
                transfer_encoding = true;
                is_chunked = list(field.value)
                    .last()
                    .is_some_and(|last| last.eq_ignore_ascii_case(b"chunked"));
            } else if field.name.eq_ignore_ascii_case("connection") {
                for option in list(field.value) {
                    if option.eq_ignore_ascii_case(b"close") {
                        self.keeps_alive = false;
                    } else if option.eq_ignore_ascii_case(b"keep-alive") && version == 0 {
                        self.keeps_alive = true;
                    }
                }
            }
        }
        self.status = status;
        let framing = if self.answers_head || matches!(status, 204 | 304) {
            Framing::Length(0)
        } else if transfer_encoding {
            // A response with both may be an attack (RFC 9112 section 6.3, item 3): the connection is not used again.
            self.keeps_alive &= is_chunked && length.is_none();
            if is_chunked {
                Framing::Chunked
            } else {
                Framing::UntilClose
            }
        } else if let Some(length) = length {
            Framing::Length(length)
        } else {
            self.keeps_alive = false;
            Framing::UntilClose
        };
        self.state = State::Body(MessageBody::new(framing));
        Ok(())
    }
}

/// The elements of a comma-separated list (RFC 9110 section 5.6.1), without empty ones.
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|element| !element.is_empty())
}

/// A number of digits alone: no sign, no space.
fn parse_length(text: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(text).ok()?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())?
}
