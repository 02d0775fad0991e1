//! Reads GIOP messages from the bytes of a connection, whoever sent them, and joins fragments.

use super::fields::Fields;
use super::header::{HEADER_LENGTH, Header, MessageType};
use super::message::{LocateStatus, Message, Parameters, Reply, ReplyStatus, Request, ResponseFlags, ServiceContext};
use super::{ByteOrder, GiopError};
use lastmile_units::ByteCount;
use std::collections::BTreeMap;

/// What a reader accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest message, with all its fragments.
    pub message: ByteCount,
    /// The number of messages whose fragments have not all arrived. All of them together may have the length of one message.
    pub unfinished: usize,
}

impl Default for Limits {
    /// 2 MiB, as omniORB's `giopMaxMsgSize` has it, and 16 messages: our own choice.
    fn default() -> Self {
        Self {
            message: ByteCount::new(2 << 20),
            unfinished: 16,
        }
    }
}

/// A message that fragments follow, from its header on, without theirs.
#[derive(Debug)]
struct Unfinished {
    kind: MessageType,
    order: ByteOrder,
    joined: Vec<u8>,
}

/// Takes bytes as they arrive, and returns messages. After an error it has none any more.
///
/// It holds at most a message of the limit, as much again in unfinished ones, and what was pushed beyond.
#[derive(Debug, Default)]
pub struct Reader {
    limits: Limits,
    received: Vec<u8>,
    /// How much of `received` was read.
    read: usize,
    /// By the ids of their requests.
    unfinished: BTreeMap<u32, Unfinished>,
    /// The length of all unfinished messages.
    unfinished_length: usize,
}

impl Reader {
    /// A reader before the first byte.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Adds bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.read > 0 {
            self.received.drain(..self.read);
            self.read = 0;
        }
        self.received.extend_from_slice(bytes);
    }

    /// The next message, if it is complete.
    ///
    /// # Errors
    /// Where the bytes are no message.
    pub fn next_message(&mut self) -> Result<Option<Message>, GiopError> {
        loop {
            let rest = &self.received[self.read..];
            let Some(header) = Header::read(rest, self.limits.message)? else {
                return Ok(None);
            };
            if rest.len() < header.length {
                return Ok(None);
            }
            let message = self.read..self.read + header.length;
            self.read = message.end;
            if !header.has_more && header.kind != MessageType::Fragment {
                return decode(header.kind, header.order, &self.received[message]).map(Some);
            }
            if let Some(whole) = self.join(header, message)? {
                return decode(whole.kind, whole.order, &whole.joined).map(Some);
            }
        }
    }

    /// Whether part of a message has arrived.
    pub fn has_rest(&self) -> bool {
        self.read < self.received.len() || !self.unfinished.is_empty()
    }

    /// Adds a piece of a message to its beginning, and returns the message with its last piece.
    fn join(&mut self, header: Header, message: std::ops::Range<usize>) -> Result<Option<Unfinished>, GiopError> {
        let bytes = &self.received[message];
        let mut fields = Fields::new(bytes, header.order, HEADER_LENGTH);
        let id = fields.u32("the request id of a fragment")?;
        let invalid = |found: &str| GiopError::Invalid {
            field: "the request id of a fragment",
            at: HEADER_LENGTH,
            found: format!("{id}, {found}"),
        };
        let added = if header.kind == MessageType::Fragment {
            let unfinished = self
                .unfinished
                .get_mut(&id)
                .ok_or_else(|| invalid("of which no message is unfinished"))?;
            let piece = &bytes[fields.at()..];
            unfinished.joined.extend_from_slice(piece);
            piece.len()
        } else {
            if self.unfinished.len() >= self.limits.unfinished {
                return Err(GiopError::Unfinished(self.unfinished.len()));
            }
            if self.unfinished.contains_key(&id) {
                return Err(invalid("of which another message is unfinished"));
            }
            let begun = Unfinished {
                kind: header.kind,
                order: header.order,
                joined: bytes.to_vec(),
            };
            self.unfinished.insert(id, begun);
            bytes.len()
        };
        self.unfinished_length += added;
        let length = ByteCount::from(self.unfinished_length);
        if length > self.limits.message {
            let limit = self.limits.message;
            return Err(GiopError::TooLarge { length, limit });
        }
        if header.has_more {
            return Ok(None);
        }
        let whole = self.unfinished.remove(&id);
        self.unfinished_length -= whole.as_ref().map_or(0, |whole| whole.joined.len());
        Ok(whole)
    }
}

fn decode(kind: MessageType, order: ByteOrder, message: &[u8]) -> Result<Message, GiopError> {
    let mut fields = Fields::new(message, order, HEADER_LENGTH);
    Ok(match kind {
        MessageType::Request => Message::Request(request(&mut fields, order)?),
        MessageType::Reply => Message::Reply(reply(&mut fields, order)?),
        MessageType::CancelRequest => Message::CancelRequest(fields.u32("a request id")?),
        MessageType::LocateRequest => Message::LocateRequest {
            id: fields.u32("a request id")?,
            object_key: target(&mut fields)?,
        },
        MessageType::LocateReply => Message::LocateReply {
            id: fields.u32("a request id")?,
            status: match fields.u32("the status of an object")? {
                0 => LocateStatus::Unknown,
                1 => LocateStatus::Here,
                2 => LocateStatus::Forward,
                other => return Err(unknown(&fields, "the status of an object", other, "0 to 2 are read")),
            },
        },
        MessageType::CloseConnection => Message::CloseConnection,
        MessageType::MessageError => Message::MessageError,
        MessageType::Fragment => unreachable!("a fragment is joined to its message"),
    })
}

fn unknown(fields: &Fields<'_>, field: &'static str, value: u32, known: &str) -> GiopError {
    GiopError::Invalid {
        field,
        at: fields.at().saturating_sub(4),
        found: format!("{value}; {known}"),
    }
}

/// The target of a request, which must be given as an object key.
fn target(fields: &mut Fields<'_>) -> Result<Vec<u8>, GiopError> {
    let disposition = fields.u16("the target's disposition")?;
    if disposition != 0 {
        let (field, at) = ("the target's disposition", fields.at() - 2);
        let found = format!("{disposition}; only object keys (0) are read");
        return Err(GiopError::Invalid { field, at, found });
    }
    Ok(fields.sequence("an object key")?.to_vec())
}

fn request(fields: &mut Fields<'_>, order: ByteOrder) -> Result<Request, GiopError> {
    let id = fields.u32("a request id")?;
    let flags = fields.byte("the response flags")?;
    let response = match flags {
        0 => ResponseFlags::None,
        1 => ResponseFlags::Server,
        3 => ResponseFlags::Target,
        other => {
            let (field, at) = ("the response flags", fields.at() - 1);
            let found = format!("{other}; they are 0, 1 or 3");
            return Err(GiopError::Invalid { field, at, found });
        }
    };
    fields.bytes(3, "reserved bytes")?;
    Ok(Request {
        id,
        response,
        object_key: target(fields)?,
        operation: fields.string("an operation")?,
        contexts: contexts(fields)?,
        parameters: parameters(fields, order)?,
    })
}

fn reply(fields: &mut Fields<'_>, order: ByteOrder) -> Result<Reply, GiopError> {
    Ok(Reply {
        id: fields.u32("a request id")?,
        status: match fields.u32("a reply's status")? {
            0 => ReplyStatus::NoException,
            1 => ReplyStatus::UserException,
            2 => ReplyStatus::SystemException,
            3 => ReplyStatus::LocationForward,
            4 => ReplyStatus::LocationForwardPermanent,
            5 => ReplyStatus::NeedsAddressingMode,
            other => return Err(unknown(fields, "a reply's status", other, "0 to 5 are read")),
        },
        contexts: contexts(fields)?,
        results: parameters(fields, order)?,
    })
}

fn contexts(fields: &mut Fields<'_>) -> Result<Vec<ServiceContext>, GiopError> {
    // Each has an id and a length.
    let count = fields.count(8, "the number of service contexts")?;
    let context = |_| {
        Ok(ServiceContext {
            id: fields.u32("the id of a service context")?,
            data: fields.sequence("a service context")?.to_vec(),
        })
    };
    (0..count).map(context).collect()
}

fn parameters(fields: &mut Fields<'_>, order: ByteOrder) -> Result<Parameters, GiopError> {
    if fields.rest() > 0 {
        fields.align(8, "the padding before parameters")?;
    }
    let content = fields.bytes(fields.rest(), "parameters")?.to_vec();
    Ok(Parameters { order, content })
}
