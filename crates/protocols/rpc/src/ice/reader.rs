//! Reads Ice messages from the bytes of a connection, whoever sent them.

use super::compression::decompress;
use super::fields::Fields;
use super::header::{CompressionStatus, HEADER_LENGTH, Header, MessageType};
use super::{Encapsulation, IceError, Identity, Invocation, Message, Mode, ReplyStatus};
use lastmile_units::ByteCount;

/// What a reader accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest message, before and after decompression.
    pub message: ByteCount,
}

impl Default for Limits {
    /// 1 MiB, as Ice's property `Ice.MessageSizeMax` has it.
    fn default() -> Self {
        Self {
            message: ByteCount::new(1 << 20),
        }
    }
}

/// Takes bytes as they arrive, and returns messages. After an error it has none any more.
///
/// It holds at most one message of the limit, and what was pushed beyond it.
#[derive(Debug, Default)]
pub struct Reader {
    limits: Limits,
    received: Vec<u8>,
    /// How much of `received` was read.
    read: usize,
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

    /// The next message with its length as received, if it is complete.
    ///
    /// # Errors
    /// Where the bytes are no message.
    pub fn next_message(&mut self) -> Result<Option<(Message, ByteCount)>, IceError> {
        let rest = &self.received[self.read..];
        let Some(header) = Header::read(rest, self.limits.message)? else {
            return Ok(None);
        };
        let Some(message) = rest.get(..header.length) else {
            return Ok(None);
        };
        let decoded = decode_with(header, message, self.limits)?;
        self.read += header.length;
        Ok(Some((decoded, ByteCount::from(header.length))))
    }

    /// Whether part of a message has arrived.
    pub fn has_rest(&self) -> bool {
        self.read < self.received.len()
    }
}

/// Decodes one whole message.
///
/// # Errors
/// Where it is none, or something follows it.
pub fn decode(message: &[u8], limits: Limits) -> Result<Message, IceError> {
    let cut_off = |length| IceError::Truncated {
        field: "a message",
        at: message.len(),
        length,
    };
    let header = Header::read(message, limits.message)?.ok_or_else(|| cut_off(ByteCount::from(HEADER_LENGTH)))?;
    if header.length > message.len() {
        return Err(cut_off(ByteCount::from(header.length)));
    }
    no_more(header.length, message.len())?;
    decode_with(header, message, limits)
}

fn decode_with(header: Header, message: &[u8], limits: Limits) -> Result<Message, IceError> {
    if header.status == CompressionStatus::Compressed {
        return decode_body(header.kind, &decompress(message, limits.message)?);
    }
    decode_body(header.kind, message)
}

fn decode_body(kind: MessageType, message: &[u8]) -> Result<Message, IceError> {
    let mut fields = Fields::new(message, HEADER_LENGTH);
    let decoded = match kind {
        MessageType::Request => Message::Request {
            id: fields.int("a request's id")?.cast_unsigned(),
            invocation: invocation(&mut fields)?,
        },
        MessageType::Batch => {
            let count = fields.int_count(Invocation::SHORTEST, "the number of calls of a batch")?;
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
    if !fields.is_at_end() {
        no_more(fields.at(), message.len())?;
    }
    Ok(decoded)
}

/// Refuses bytes after the end of a message.
fn no_more(end: usize, length: usize) -> Result<(), IceError> {
    if end == length {
        return Ok(());
    }
    Err(IceError::Invalid {
        field: "the end of a message",
        at: end,
        found: format!("followed by {} bytes", length - end),
    })
}

fn invocation(fields: &mut Fields<'_>) -> Result<Invocation, IceError> {
    let identity = identity(fields)?;
    let facet = facet(fields)?;
    let operation = fields.string("an operation")?;
    let at = fields.at();
    let mode = match fields.byte("an operation's mode")? {
        0 => Mode::Normal,
        1 => Mode::Nonmutating,
        2 => Mode::Idempotent,
        other => {
            return Err(IceError::Invalid {
                field: "an operation's mode",
                at,
                found: format!("{other}; it is 0, 1 or 2"),
            });
        }
    };
    // An entry has two strings, of a byte each at least.
    let entries = fields.count(2, "the number of entries of a context")?;
    let context = (0..entries)
        .map(|_| Ok((fields.string("a context's key")?, fields.string("a context's value")?)))
        .collect::<Result<_, IceError>>()?;
    Ok(Invocation {
        identity,
        facet,
        operation,
        mode,
        context,
        parameters: encapsulation(fields)?,
    })
}

fn identity(fields: &mut Fields<'_>) -> Result<Identity, IceError> {
    Ok(Identity {
        name: fields.string("an object's name")?,
        category: fields.string("an object's category")?,
    })
}

fn facet(fields: &mut Fields<'_>) -> Result<Option<String>, IceError> {
    let at = fields.at();
    match fields.count(1, "the number of facets")? {
        0 => Ok(None),
        1 => fields.string("a facet").map(Some),
        other => Err(IceError::Invalid {
            field: "the number of facets",
            at,
            found: format!("{other}; it is 0 or 1"),
        }),
    }
}

fn encapsulation(fields: &mut Fields<'_>) -> Result<Encapsulation, IceError> {
    let at = fields.at();
    let size = fields.int("the size of an encapsulation")?;
    let content = usize::try_from(size)
        .ok()
        .and_then(|size| size.checked_sub(Encapsulation::HEAD));
    let content = content.ok_or_else(|| IceError::Invalid {
        field: "the size of an encapsulation",
        at,
        found: format!("{size}, but its head alone has {} bytes", Encapsulation::HEAD),
    })?;
    let major = fields.byte("the version of an encoding")?;
    let minor = fields.byte("the version of an encoding")?;
    if major != 1 || minor > 1 {
        return Err(IceError::Invalid {
            field: "the version of an encoding",
            at: at + 4,
            found: format!("{major}.{minor}; 1.0 and 1.1 are read"),
        });
    }
    let content = fields.bytes(content, "an encapsulation")?.to_vec();
    Ok(Encapsulation { minor, content })
}

fn status(fields: &mut Fields<'_>) -> Result<ReplyStatus, IceError> {
    let at = fields.at();
    Ok(match fields.byte("a reply's status")? {
        0 => ReplyStatus::Success(encapsulation(fields)?),
        1 => ReplyStatus::UserException(encapsulation(fields)?),
        status @ 2..=4 => ReplyStatus::NotThere {
            status,
            identity: identity(fields)?,
            facet: facet(fields)?,
            operation: fields.string("an operation")?,
        },
        status @ 5..=7 => ReplyStatus::Unknown {
            status,
            reason: fields.string("a reason")?,
        },
        other => {
            return Err(IceError::Invalid {
                field: "a reply's status",
                at,
                found: format!("{other}; it is 0 to 7"),
            });
        }
    })
}
