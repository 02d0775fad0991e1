//! Ice messages, and their bytes.

use super::header::{Header, MessageType, finish};

/// The name of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its category; often empty.
    pub category: String,
}

impl Identity {
    /// An identity without a category.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            category: String::new(),
        }
    }
}

/// Whether an operation may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// It may not.
    #[default]
    Normal = 0,
    /// It does not change anything; superseded by idempotent.
    Nonmutating = 1,
    /// It may.
    Idempotent = 2,
}

/// Encoded parameters with the version of their encoding: 1.0 or 1.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encapsulation {
    /// The minor version of the encoding, whose major version is 1.
    pub minor: u8,
    /// The encoded parameters.
    pub content: Vec<u8>,
}

impl Encapsulation {
    /// Parameters of encoding 1.1.
    pub fn new(content: Vec<u8>) -> Self {
        Self { minor: 1, content }
    }

    pub(super) const HEAD: usize = 6;

    fn write(&self, out: &mut Vec<u8>) {
        let size = i32::try_from(self.content.len() + Self::HEAD).expect("an encapsulation is shorter than 2 GiB");
        out.extend(size.to_le_bytes());
        out.extend([1, self.minor]);
        out.extend(&self.content);
    }
}

/// A call of an operation of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The object.
    pub identity: Identity,
    /// Its facet: none, or one name.
    pub facet: Option<String>,
    /// The operation's name.
    pub operation: String,
    /// Whether it may be repeated.
    pub mode: Mode,
    /// The request's context, by its keys.
    pub context: Vec<(String, String)>,
    /// The parameters.
    pub parameters: Encapsulation,
}

impl Invocation {
    /// A normal call without facet and context.
    pub fn new(identity: Identity, operation: &str, parameters: Encapsulation) -> Self {
        Self {
            identity,
            facet: None,
            operation: operation.to_owned(),
            mode: Mode::Normal,
            context: Vec::new(),
            parameters,
        }
    }

    /// The bytes that it has in a message.
    pub fn encoded_length(&self) -> usize {
        let text = |text: &str| size_length(text.len()) + text.len();
        let context = |(key, value): &(String, String)| text(key) + text(value);
        text(&self.identity.name)
            + text(&self.identity.category)
            + 1
            + self.facet.as_deref().map_or(0, text)
            + text(&self.operation)
            + 1
            + size_length(self.context.len())
            + self.context.iter().map(context).sum::<usize>()
            + Encapsulation::HEAD
            + self.parameters.content.len()
    }

    /// The fewest bytes that an invocation can have: empty strings, no context, no parameters.
    pub(super) const LENGTH_MIN: usize = 6 + Encapsulation::HEAD;

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_target(&self.identity, self.facet.as_deref(), &self.operation, out);
        out.push(self.mode as u8);
        write_size(self.context.len(), out);
        for (key, value) in &self.context {
            write_string(key, out);
            write_string(value, out);
        }
        self.parameters.write(out);
    }
}

/// What came of a two-way request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyStatus {
    /// Its results.
    Success(Encapsulation),
    /// An exception of its interface.
    UserException(Encapsulation),
    /// There is no such object (2), facet (3) or operation (4).
    NotThere {
        /// Which of them: 2, 3 or 4.
        status: u8,
        /// The object that was asked for.
        identity: Identity,
        /// Its facet.
        facet: Option<String>,
        /// The operation.
        operation: String,
    },
    /// Another failure: of Ice (5), of the interface (6), or of the program (7).
    Unknown {
        /// Which of them: 5, 6 or 7.
        status: u8,
        /// The reason.
        reason: String,
    },
}

/// A message of the Ice protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A call. Its id is 0 where no reply is wanted.
    Request {
        /// The id that its reply repeats; 0 for a one-way call.
        id: u32,
        /// The call.
        invocation: Invocation,
    },
    /// Several one-way calls.
    Batch(Vec<Invocation>),
    /// The reply to a two-way request.
    Reply {
        /// The id of the request.
        id: u32,
        /// What came of it.
        status: ReplyStatus,
    },
    /// The first message of a server: it accepts requests.
    Validate,
    /// The last message: no request that was sent after it is carried out.
    Close,
}

impl Message {
    /// Its bytes, not compressed.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Request { id, invocation } => {
                Header::begin(MessageType::Request, &mut out);
                out.extend(id.to_le_bytes());
                invocation.write(&mut out);
            }
            Self::Batch(invocations) => {
                Header::begin(MessageType::Batch, &mut out);
                let count = i32::try_from(invocations.len()).expect("a batch has fewer than 2^31 calls");
                out.extend(count.to_le_bytes());
                invocations.iter().for_each(|invocation| invocation.write(&mut out));
            }
            Self::Reply { id, status } => {
                Header::begin(MessageType::Reply, &mut out);
                out.extend(id.to_le_bytes());
                write_status(status, &mut out);
            }
            Self::Validate => Header::begin(MessageType::Validate, &mut out),
            Self::Close => {
                Header::begin(MessageType::Close, &mut out);
                // As Ice 3.7 does, whether or not anything was compressed.
                super::header::set_status(&mut out, super::CompressionStatus::AcceptsCompressed);
            }
        }
        finish(&mut out);
        out
    }
}

/// Appends what is called: an operation of an object, or of a facet of it.
fn write_target(identity: &Identity, facet: Option<&str>, operation: &str, out: &mut Vec<u8>) {
    write_string(&identity.name, out);
    write_string(&identity.category, out);
    write_size(usize::from(facet.is_some()), out);
    if let Some(facet) = facet {
        write_string(facet, out);
    }
    write_string(operation, out);
}

fn write_status(status: &ReplyStatus, out: &mut Vec<u8>) {
    match status {
        ReplyStatus::Success(results) => {
            out.push(0);
            results.write(out);
        }
        ReplyStatus::UserException(exception) => {
            out.push(1);
            exception.write(out);
        }
        ReplyStatus::NotThere {
            status,
            identity,
            facet,
            operation,
        } => {
            out.push(*status);
            write_target(identity, facet.as_deref(), operation, out);
        }
        ReplyStatus::Unknown { status, reason } => {
            out.push(*status);
            write_string(reason, out);
        }
    }
}

/// Appends a size: one byte below 255, else 255 and four bytes.
///
/// # Panics
/// Where it is 2^31 or more.
fn write_size(size: usize, out: &mut Vec<u8>) {
    match u8::try_from(size) {
        Ok(small) if small < u8::MAX => out.push(small),
        _ => {
            out.push(u8::MAX);
            let size = i32::try_from(size).expect("a size is below 2^31");
            out.extend(size.to_le_bytes());
        }
    }
}

/// The bytes of a size.
const fn size_length(size: usize) -> usize {
    if size < u8::MAX as usize { 1 } else { 5 }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    write_size(text.len(), out);
    out.extend(text.as_bytes());
}
