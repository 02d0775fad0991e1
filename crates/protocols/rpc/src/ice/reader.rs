//! Reads Ice messages from the bytes of a connection, whoever sent them.

use super::compression::decompress;
use super::header::{CompressionStatus, HEADER_LENGTH, Header, MessageType};
use super::{Encapsulation, Identity, Invocation, Message, Mode, ReplyStatus};
use crate::ReadError;
use crate::fields::Fields;
use crate::giop::ByteOrder;
use crate::receive_buffer::ReceiveBuffer;
use lastmile_units::ByteCount;

/// The longest message, before and after decompression, that a reader accepts by default: Ice's property `Ice.MessageSizeMax`.
pub const MESSAGE_SIZE_MAX: ByteCount = ByteCount::new(1 << 20);

/// Takes bytes as they arrive, and returns messages. After an error it has none any more.
///
/// It holds at most one message of the limit, and what was pushed beyond it.
#[derive(Debug)]
pub struct Reader {
    limit: ByteCount,
    received: ReceiveBuffer,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new(MESSAGE_SIZE_MAX)
    }
}

impl Reader {
    /// A reader before the first byte, of messages of at most `limit` before and after decompression.
    pub fn new(limit: ByteCount) -> Self {
        Self {
            limit,
            received: ReceiveBuffer::default(),
        }
    }

    /// Adds bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.received.push(bytes);
    }

    /// The next message with its length as received, if it is complete.
    ///
    /// # Errors
    /// Where the bytes are no message.
    pub fn next_message(&mut self) -> Result<Option<(Message, ByteCount)>, ReadError> {
        let rest = self.received.unread();
        let Some(header) = Header::read(rest, self.limit)? else {
            return Ok(None);
        };
        let Some(message) = rest.get(..header.length) else {
            return Ok(None);
        };
        let decoded = decode_with(header, message, self.limit)?;
        self.received.skip(header.length);
        Ok(Some((decoded, ByteCount::from(header.length))))
    }

    /// Whether part of a message has arrived.
    pub fn has_rest(&self) -> bool {
        !self.received.is_empty()
    }
}

/// Decodes one whole message.
///
/// # Errors
/// Where it is none, or something follows it.
pub fn decode(message: &[u8], limit: ByteCount) -> Result<Message, ReadError> {
    let cut_off = |length| ReadError::Truncated {
        field: "a message",
        at: message.len(),
        length,
    };
    let header = Header::read(message, limit)?.ok_or_else(|| cut_off(ByteCount::from(HEADER_LENGTH)))?;
    if header.length > message.len() {
        return Err(cut_off(ByteCount::from(header.length)));
    }
    no_more(header.length, message.len())?;
    decode_with(header, message, limit)
}

fn decode_with(header: Header, message: &[u8], limit: ByteCount) -> Result<Message, ReadError> {
    if header.status == CompressionStatus::Compressed {
        return decode_body(header.kind, &decompress(message, limit)?);
    }
    decode_body(header.kind, message)
}

fn decode_body(kind: MessageType, message: &[u8]) -> Result<Message, ReadError> {
    let mut fields = Fields::new(message, ByteOrder::Little, HEADER_LENGTH);
    let decoded = match kind {
        MessageType::Request => Message::Request {
            id: fields.int("a request's id")?.cast_unsigned(),
            invocation: invocation(&mut fields)?,
        },
        MessageType::Batch => {
            let count = fields.int_count(Invocation::LENGTH_MIN, "the number of calls of a batch")?;
            let calls = (0..count).map(|_| invocation(&mut fields));
            Message::Batch(calls.collect::<Result<_, _>>()?)
        }
        MessageType::Reply => Message::Reply {
            id: fields.int("a reply's id")?.cast_unsigned(),
            status: status(&mut fields)?,
        },
        MessageType::Validate => Message::Validate,
        MessageType::Close => Message::Close,
    };
    no_more(fields.at(), message.len())?;
    Ok(decoded)
}

/// Refuses bytes after the end of a message.
fn no_more(end: usize, length: usize) -> Result<(), ReadError> {
    if end == length {
        return Ok(());
    }
    let found = format!("followed by {} bytes", length - end);
    Err(ReadError::invalid("the end of a message", end, found))
}

fn invocation(fields: &mut Fields<'_>) -> Result<Invocation, ReadError> {
    let identity = identity(fields)?;
    let facet = facet(fields)?;
    let operation = fields.compact_string("an operation")?;
    let at = fields.at();
    let field = "an operation's mode";
    let mode = match fields.byte(field)? {
        0 => Mode::Normal,
        1 => Mode::Nonmutating,
        2 => Mode::Idempotent,
        other => return Err(ReadError::invalid(field, at, format!("{other}; it is 0, 1 or 2"))),
    };
    // An entry has two strings, of a byte each at least.
    let entries = fields.compact_count(2, "the number of entries of a context")?;
    let context = (0..entries)
        .map(|_| {
            Ok((
                fields.compact_string("a context's key")?,
                fields.compact_string("a context's value")?,
            ))
        })
        .collect::<Result<_, ReadError>>()?;
    Ok(Invocation {
        identity,
        facet,
        operation,
        mode,
        context,
        parameters: encapsulation(fields)?,
    })
}

fn identity(fields: &mut Fields<'_>) -> Result<Identity, ReadError> {
    Ok(Identity {
        name: fields.compact_string("an object's name")?,
        category: fields.compact_string("an object's category")?,
    })
}

fn facet(fields: &mut Fields<'_>) -> Result<Option<String>, ReadError> {
    let at = fields.at();
    let field = "the number of facets";
    match fields.compact_count(1, field)? {
        0 => Ok(None),
        1 => fields.compact_string("a facet").map(Some),
        other => Err(ReadError::invalid(field, at, format!("{other}; it is 0 or 1"))),
    }
}

fn encapsulation(fields: &mut Fields<'_>) -> Result<Encapsulation, ReadError> {
    let at = fields.at();
    let size = fields.int("the size of an encapsulation")?;
    let content = usize::try_from(size)
        .ok()
        .and_then(|size| size.checked_sub(Encapsulation::HEAD));
    let content = content.ok_or_else(|| {
        let found = format!("{size}, but its head alone has {} bytes", Encapsulation::HEAD);
        ReadError::invalid("the size of an encapsulation", at, found)
    })?;
    let field = "the version of an encoding";
    let (major, minor) = (fields.byte(field)?, fields.byte(field)?);
    if major != 1 || minor > 1 {
        let found = format!("{major}.{minor}; 1.0 and 1.1 are read");
        return Err(ReadError::invalid(field, at + 4, found));
    }
    let content = fields.bytes(content, "an encapsulation")?.to_vec();
    Ok(Encapsulation { minor, content })
}

fn status(fields: &mut Fields<'_>) -> Result<ReplyStatus, ReadError> {
    let at = fields.at();
    let field = "a reply's status";
    Ok(match fields.byte(field)? {
        0 => ReplyStatus::Success(encapsulation(fields)?),
        1 => ReplyStatus::UserException(encapsulation(fields)?),
        status @ 2..=4 => ReplyStatus::NotThere {
            status,
            identity: identity(fields)?,
            facet: facet(fields)?,
            operation: fields.compact_string("an operation")?,
        },
        status @ 5..=7 => ReplyStatus::Unknown {
            status,
            reason: fields.compact_string("a reason")?,
        },
        other => return Err(ReadError::invalid(field, at, format!("{other}; it is 0 to 7"))),
    })
}
