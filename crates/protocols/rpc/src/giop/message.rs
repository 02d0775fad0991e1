//! GIOP messages, and their bytes.

use super::ByteOrder;
use super::header::{Header, MessageType, finish};

/// Whether a request wants a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseFlags {
    /// None: a one-way call.
    None = 0,
    /// When the request has arrived at the server.
    Server = 1,
    /// When the operation has been carried out.
    Target = 3,
}

/// Data beside a call that belongs to a service: the code sets of strings, a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceContext {
    /// Its id, as the OMG assigns it.
    pub id: u32,
    /// Its data: an encapsulation, which begins with its byte order.
    pub data: Vec<u8>,
}

impl ServiceContext {
    /// The code sets that omniORB names in the first request of a connection: ISO 8859-1 for `char`, and UTF-16 for `wchar`.
    pub fn code_sets() -> Self {
        const ID: u32 = 1;
        const ISO_8859_1: u32 = 0x0001_0001;
        const UTF_16: u32 = 0x0001_0109;
        let mut data = vec![1, 0, 0, 0];
        data.extend(ISO_8859_1.to_le_bytes());
        data.extend(UTF_16.to_le_bytes());
        Self { id: ID, data }
    }
}

/// Parameters or results with their byte order, encoded as if they began at a multiple of 8 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// The byte order of its numbers.
    pub order: ByteOrder,
    /// The encoded parameters; empty where there are none.
    pub content: Vec<u8>,
}

impl Parameters {
    /// Little-endian parameters.
    pub fn new(content: Vec<u8>) -> Self {
        Self {
            order: ByteOrder::Little,
            content,
        }
    }
}

/// A call of an operation of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The id that its reply repeats.
    pub id: u32,
    /// Whether a response is wanted.
    pub response: ResponseFlags,
    /// The key by which the server knows the object.
    pub object_key: Vec<u8>,
    /// The operation's name.
    pub operation: String,
    /// The data of services.
    pub contexts: Vec<ServiceContext>,
    /// The parameters.
    pub parameters: Parameters,
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyStatus {
    /// The reply has the results.
    NoException = 0,
    /// It has an exception of the interface.
    UserException = 1,
    /// It has an exception of the system.
    SystemException = 2,
    /// It has the address of the object.
    LocationForward = 3,
    /// The same, for good.
    LocationForwardPermanent = 4,
    /// The object is to be addressed in another way.
    NeedsAddressingMode = 5,
}

/// The reply to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The id of the request.
    pub id: u32,
    /// What came of it.
    pub status: ReplyStatus,
    /// The data of services.
    pub contexts: Vec<ServiceContext>,
    /// The results.
    pub results: Parameters,
}

/// Where an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocateStatus {
    /// The server does not know it.
    Unknown = 0,
    /// Here.
    Here = 1,
    /// Elsewhere.
    Forward = 2,
}

/// A message of GIOP 1.2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A call.
    Request(Request),
    /// Its reply.
    Reply(Reply),
    /// The reply to this request is no longer wanted.
    CancelRequest(u32),
    /// Where is this object?
    LocateRequest {
        /// The id that its reply repeats.
        id: u32,
        /// The key by which the server knows the object.
        object_key: Vec<u8>,
    },
    /// The answer to that.
    LocateReply {
        /// The id of the request.
        id: u32,
        /// The answer.
        status: LocateStatus,
    },
    /// The last message: outstanding requests are not carried out.
    CloseConnection,
    /// What was received is no GIOP message.
    MessageError,
}

impl Message {
    /// Its bytes in one piece, little-endian. Parameters are written as they are: their byte order must be little-endian.
    ///
    /// # Panics
    /// Where parameters are big-endian.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Request(request) => {
                Header::begin(MessageType::Request, &mut out);
                write_u32(request.id, &mut out);
                // Three reserved bytes, and the target's disposition: an object key.
                out.extend([request.response as u8, 0, 0, 0, 0, 0]);
                write_bytes(&request.object_key, &mut out);
                write_string(&request.operation, &mut out);
                write_contexts(&request.contexts, &mut out);
                write_parameters(&request.parameters, &mut out);
            }
            Self::Reply(reply) => {
                Header::begin(MessageType::Reply, &mut out);
                write_u32(reply.id, &mut out);
                write_u32(reply.status as u32, &mut out);
                write_contexts(&reply.contexts, &mut out);
                write_parameters(&reply.results, &mut out);
            }
            Self::CancelRequest(id) => {
                Header::begin(MessageType::CancelRequest, &mut out);
                write_u32(*id, &mut out);
            }
            Self::LocateRequest { id, object_key } => {
                Header::begin(MessageType::LocateRequest, &mut out);
                write_u32(*id, &mut out);
                out.extend([0, 0]);
                write_bytes(object_key, &mut out);
            }
            Self::LocateReply { id, status } => {
                Header::begin(MessageType::LocateReply, &mut out);
                write_u32(*id, &mut out);
                write_u32(*status as u32, &mut out);
            }
            Self::CloseConnection => Header::begin(MessageType::CloseConnection, &mut out),
            Self::MessageError => Header::begin(MessageType::MessageError, &mut out),
        }
        finish(&mut out);
        out
    }
}

fn write_contexts(contexts: &[ServiceContext], out: &mut Vec<u8>) {
    write_length(contexts.len(), out);
    for context in contexts {
        write_u32(context.id, out);
        write_bytes(&context.data, out);
    }
}

fn write_parameters(parameters: &Parameters, out: &mut Vec<u8>) {
    if !parameters.content.is_empty() {
        assert_eq!(
            parameters.order,
            ByteOrder::Little,
            "parameters are written little-endian"
        );
        align(out, 8);
        out.extend(&parameters.content);
    }
}

/// Appends zeros up to a multiple of `to` from the start of the message.
fn align(out: &mut Vec<u8>, to: usize) {
    out.resize(out.len().next_multiple_of(to), 0);
}

fn write_u32(value: u32, out: &mut Vec<u8>) {
    align(out, 4);
    out.extend(value.to_le_bytes());
}

/// # Panics
/// Where there are 4 GiB or more.
fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_length(bytes.len(), out);
    out.extend(bytes);
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    write_length(text.len() + 1, out);
    out.extend(text.as_bytes());
    out.push(0);
}

fn write_length(length: usize, out: &mut Vec<u8>) {
    write_u32(u32::try_from(length).expect("a sequence is shorter than 4 GiB"), out);
}
