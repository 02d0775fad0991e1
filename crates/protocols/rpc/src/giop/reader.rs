//! Reads GIOP messages from the bytes of a connection, whoever sent them, and joins fragments.

use super::ByteOrder;
use super::header::{HEADER_LENGTH, Header, MessageType};
use super::message::{LocateStatus, Message, Parameters, Reply, ReplyStatus, Request, ResponseFlags, ServiceContext};
use crate::ReadError;
use crate::fields::Fields;
use crate::receive_buffer::ReceiveBuffer;
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
    received: ReceiveBuffer,
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
        self.received.push(bytes);
    }

    /// The next message, if it is complete.
    ///
    /// # Errors
    /// Where the bytes are no message.
    pub fn next_message(&mut self) -> Result<Option<Message>, ReadError> {
        loop {
            let rest = self.received.unread();
            let Some(header) = Header::read(rest, self.limits.message)? else {
                return Ok(None);
            };
            let Some(message) = rest.get(..header.length) else {
                return Ok(None);
            };
            if !header.has_more && header.kind != MessageType::Fragment {
                let decoded = decode(header.kind, header.order, message);
                self.received.skip(header.length);
                return decoded.map(Some);
            }
            let message = message.to_vec();
            self.received.skip(header.length);
            if let Some(whole) = self.join(header, message)? {
                return decode(whole.kind, whole.order, &whole.joined).map(Some);
            }
        }
    }

    /// Whether part of a message has arrived.
    pub fn has_rest(&self) -> bool {
        !self.received.is_empty() || !self.unfinished.is_empty()
    }

    /// Adds a piece of a message to its beginning, and returns the message with its last piece.
    fn join(&mut self, header: Header, bytes: Vec<u8>) -> Result<Option<Unfinished>, ReadError> {
        let mut fields = Fields::new(&bytes, header.order, HEADER_LENGTH);
        let field = "the request id of a fragment";
        let id = fields.u32(field)?;
        let invalid = |found| ReadError::invalid(field, HEADER_LENGTH, format!("{id}, {found}"));
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
                return Err(ReadError::Unfinished(self.unfinished.len()));
            }
            if self.unfinished.contains_key(&id) {
                return Err(invalid("of which another message is unfinished"));
            }
            let length = bytes.len();
            let begun = Unfinished {
                kind: header.kind,
                order: header.order,
                joined: bytes,
            };
            self.unfinished.insert(id, begun);
            length
        };
        self.unfinished_length += added;
        ReadError::check_length(self.unfinished_length, self.limits.message)?;
        if header.has_more {
            return Ok(None);
        }
        let whole = self.unfinished.remove(&id);
        self.unfinished_length -= whole.as_ref().map_or(0, |whole| whole.joined.len());
        Ok(whole)
    }
}

fn decode(kind: MessageType, order: ByteOrder, message: &[u8]) -> Result<Message, ReadError> {
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

fn unknown(fields: &Fields<'_>, field: &'static str, value: u32, known: &str) -> ReadError {
    ReadError::invalid(field, fields.at().saturating_sub(4), format!("{value}; {known}"))
}

/// The target of a request, which must be given as an object key.
fn target(fields: &mut Fields<'_>) -> Result<Vec<u8>, ReadError> {
    let disposition = fields.u16("the target's disposition")?;
    if disposition != 0 {
        let (field, at) = ("the target's disposition", fields.at() - 2);
        let found = format!("{disposition}; only object keys (0) are read");
        return Err(ReadError::invalid(field, at, found));
    }
    Ok(fields.sequence("an object key")?.to_vec())
}

fn request(fields: &mut Fields<'_>, order: ByteOrder) -> Result<Request, ReadError> {
    let id = fields.u32("a request id")?;
    let flags = fields.byte("the response flags")?;
    let response = match flags {
        0 => ResponseFlags::None,
        1 => ResponseFlags::Server,
        3 => ResponseFlags::Target,
        other => {
            let (field, at) = ("the response flags", fields.at() - 1);
            let found = format!("{other}; they are 0, 1 or 3");
            return Err(ReadError::invalid(field, at, found));
        }
    };
    fields.bytes(3, "reserved bytes")?;
    Ok(Request {
        id,
        response,
        object_key: target(fields)?,
        operation: fields.terminated_string("an operation")?,
        contexts: contexts(fields)?,
        parameters: parameters(fields, order)?,
    })
}

fn reply(fields: &mut Fields<'_>, order: ByteOrder) -> Result<Reply, ReadError> {
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

fn contexts(fields: &mut Fields<'_>) -> Result<Vec<ServiceContext>, ReadError> {
    // Each has an id and a length.
    let count = fields.u32_count(8, "the number of service contexts")?;
    let context = |_| {
        Ok(ServiceContext {
            id: fields.u32("the id of a service context")?,
            data: fields.sequence("a service context")?.to_vec(),
        })
    };
    (0..count).map(context).collect()
}

fn parameters(fields: &mut Fields<'_>, order: ByteOrder) -> Result<Parameters, ReadError> {
    if fields.rest() > 0 {
        fields.align(8, "the padding before parameters")?;
    }
    let content = fields.bytes(fields.rest(), "parameters")?.to_vec();
    Ok(Parameters { order, content })
}
