//! The two ends of a connection that carries calls: what each writes, and what it reads.
//!
//! A [`Caller`] makes calls, a [`Callee`] receives them. Both are sans-IO; `connection` moves their bytes.

use super::http_framing::{Event, HttpEnd};
use super::plan::{Compression, Plan};
use lastmile_codec::message::{CodecError, Dictionary};
use lastmile_rpc::frame::{FrameCompression, FrameReader, FrameWriter, read_length, write_length};
use lastmile_rpc::giop::{self, OMNIORB_MESSAGE_MAX, Parameters, Reply, Request, ResponseFlags, ServiceContext};
use lastmile_rpc::ice::{self, Encapsulation, Identity, Invocation};
use lastmile_study::settings::Protocol;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::http::Version;
use lastmile_units::ByteCount;

/// The longest message that is accepted: above every payload of a study.
const MESSAGE_LIMIT: ByteCount = ByteCount::new(64 << 20);
/// The name of the object that is called.
const OBJECT: &str = "t";
/// The key of the object: omniORB's keys have 14 bytes, too.
const OBJECT_KEY: &[u8; 14] = b"\xfelastmile\0\0\0\0t";

/// What both ends of a connection have in common.
#[derive(Debug, Clone)]
pub(super) struct WireSpec {
    protocol: Protocol,
    compression: Compression,
    frames: Option<FrameCompression>,
    operation: &'static str,
}

impl WireSpec {
    /// The connection of a plan; `dictionary` is what both ends know, where the plan has one.
    pub(super) fn new(plan: &Plan, dictionary: Option<Dictionary>) -> Self {
        let frames = match plan.compression {
            Compression::Frames { codec, if_smaller, .. } => Some(FrameCompression {
                codec,
                if_smaller,
                dictionary,
            }),
            _ => matches!(plan.protocol, Protocol::Raw | Protocol::Http1 | Protocol::Http2)
                .then_some(FrameCompression::NONE),
        };
        Self {
            protocol: plan.protocol,
            compression: plan.compression,
            frames,
            operation: plan.values.operation(),
        }
    }

    /// The bytes of an Ice message, compressed where the plan says so.
    fn ice(&self, message: &ice::Message) -> Vec<u8> {
        let encoded = message.encode();
        match self.compression {
            Compression::Ice { level, policy } => ice::compress(encoded, level, policy),
            _ => encoded,
        }
    }

    /// A call of these parameters.
    pub(super) fn invocation(&self, parameters: &[u8]) -> Invocation {
        Invocation::new(
            Identity::named(OBJECT),
            self.operation,
            Encapsulation::new(parameters.to_vec()),
        )
    }

    fn giop_request(&self, id: u32, response: ResponseFlags, parameters: &[u8]) -> Vec<u8> {
        // omniORB names the code sets in the first request, whose id follows that of the LocateRequest.
        let contexts = if id == 4 {
            vec![ServiceContext::code_sets()]
        } else {
            Vec::new()
        };
        let request = giop::Message::Request(Request {
            id,
            response,
            object_key: OBJECT_KEY.to_vec(),
            operation: self.operation.to_owned(),
            contexts,
            parameters: Parameters::new(parameters.to_vec()),
        });
        giop::fragment(request.encode(), OMNIORB_MESSAGE_MAX)
    }
}

/// One end of a connection: what it makes its bytes with, and what it reads messages with.
struct End {
    spec: WireSpec,
    /// Frames around the messages of a protocol, where there are any.
    frames: Option<(FrameWriter, FrameReader)>,
    reader: Reader,
}

/// The protocol's reader; raw frames need none.
enum Reader {
    Ice(ice::Reader),
    Giop(giop::Reader),
    Http(HttpEnd),
    Raw,
}

/// What an end has read.
enum Message {
    Ice(ice::Message),
    Giop(giop::Message),
    Http(Event),
    Raw(Vec<u8>),
}

impl End {
    fn new(spec: &WireSpec, is_callee: bool) -> Result<Self, Failure> {
        let frames = |compression: &FrameCompression| {
            let writer = FrameWriter::new(compression)?;
            Ok::<_, CodecError>((writer, FrameReader::new(compression, MESSAGE_LIMIT)?))
        };
        let frames = spec.frames.as_ref().map(frames).transpose();
        let reader = match spec.protocol {
            Protocol::Ice => Reader::Ice(ice::Reader::new(MESSAGE_LIMIT)),
            Protocol::Giop => Reader::Giop(giop::Reader::new(giop::Limits {
                message: MESSAGE_LIMIT,
                ..giop::Limits::default()
            })),
            Protocol::Http1 => Reader::Http(HttpEnd::new(Version::Http11, is_callee)),
            Protocol::Http2 => Reader::Http(HttpEnd::new(Version::H2, is_callee)),
            Protocol::Raw => Reader::Raw,
        };
        Ok(Self {
            spec: spec.clone(),
            frames: frames.map_err(Failure::from_error)?,
            reader,
        })
    }

    /// A message in the frames that the connection has.
    fn wrap(&mut self, message: Vec<u8>) -> Vec<u8> {
        let Some((writer, _)) = &mut self.frames else {
            return message;
        };
        let mut out = Vec::new();
        writer.write(&message, &mut out);
        out
    }

    /// The contents of the frames that have arrived; without frames, all of it.
    fn unwrap(&mut self, received: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
        let Some((_, reader)) = &mut self.frames else {
            return Ok(vec![received.to_vec()]);
        };
        reader.push(received);
        let mut contents = Vec::new();
        while let Some(content) = reader.next_frame().map_err(Failure::from_error)? {
            contents.push(content);
        }
        Ok(contents)
    }

    /// What HTTP/2 sends first; nothing of other protocols.
    fn http_opening(&self) -> Vec<u8> {
        match &self.reader {
            Reader::Http(http) => http.opening(),
            _ => Vec::new(),
        }
    }

    /// The messages in what has arrived.
    fn read(&mut self, received: &[u8]) -> Result<Vec<Message>, Failure> {
        if let Reader::Http(http) = &mut self.reader {
            return Ok(http.read(received)?.into_iter().map(Message::Http).collect());
        }
        let mut messages = Vec::new();
        for piece in self.unwrap(received)? {
            match &mut self.reader {
                Reader::Ice(reader) => {
                    reader.push(&piece);
                    while let Some((message, _)) = reader.next_message().map_err(Failure::from_error)? {
                        messages.push(Message::Ice(message));
                    }
                }
                Reader::Giop(reader) => {
                    reader.push(&piece);
                    while let Some(message) = reader.next_message().map_err(Failure::from_error)? {
                        messages.push(Message::Giop(message));
                    }
                }
                Reader::Http(_) | Reader::Raw => messages.push(Message::Raw(piece)),
            }
        }
        Ok(messages)
    }
}

/// The end that makes calls.
pub(super) struct Caller {
    end: End,
    next_id: u32,
}

/// What a caller has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// Calls can be made.
    Opened,
    /// The reply to a call.
    Reply,
}

impl Caller {
    pub(super) fn new(spec: &WireSpec) -> Result<Self, Failure> {
        Ok(Self {
            end: End::new(spec, false)?,
            // omniORB counts by two, from 2.
            next_id: if spec.protocol == Protocol::Giop { 2 } else { 1 },
        })
    }

    /// What it sends before the first call, and whether it then waits for [`Heard::Opened`].
    pub(super) fn open(&mut self) -> (Vec<u8>, bool) {
        match self.end.spec.protocol {
            Protocol::Giop => {
                let locate = giop::Message::LocateRequest {
                    id: self.take_id(),
                    object_key: OBJECT_KEY.to_vec(),
                };
                (self.end.wrap(locate.encode()), true)
            }
            Protocol::Ice | Protocol::Http2 => (self.end.http_opening(), true),
            Protocol::Raw | Protocol::Http1 => (Vec::new(), false),
        }
    }

    /// What it sends before it closes the connection.
    pub(super) fn close(&mut self) -> Vec<u8> {
        match self.end.spec.protocol {
            Protocol::Ice => self.end.wrap(ice::Message::Close.encode()),
            Protocol::Giop => self.end.wrap(giop::Message::CloseConnection.encode()),
            Protocol::Raw | Protocol::Http1 | Protocol::Http2 => Vec::new(),
        }
    }

    fn take_id(&mut self) -> u32 {
        let step = if self.end.spec.protocol == Protocol::Giop { 2 } else { 1 };
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(step);
        id
    }

    /// The bytes of a two-way call.
    pub(super) fn two_way(&mut self, parameters: &[u8]) -> Vec<u8> {
        let id = self.take_id();
        let spec = &self.end.spec;
        let message = match spec.protocol {
            Protocol::Ice => spec.ice(&ice::Message::Request {
                id,
                invocation: spec.invocation(parameters),
            }),
            Protocol::Giop => spec.giop_request(id, ResponseFlags::Target, parameters),
            Protocol::Raw | Protocol::Http1 | Protocol::Http2 => raw(id, &[parameters]),
        };
        self.framed(message)
    }

    /// A message in the frames that the connection has, and in a request where it is one of HTTP.
    fn framed(&mut self, message: Vec<u8>) -> Vec<u8> {
        let framed = self.end.wrap(message);
        match &mut self.end.reader {
            Reader::Http(http) => http.request(&framed),
            _ => framed,
        }
    }

    /// The bytes of one-way calls, which are sent together.
    pub(super) fn one_ways(&mut self, calls: &[Vec<u8>]) -> Vec<u8> {
        let spec = &self.end.spec;
        let message = match (spec.protocol, calls) {
            (Protocol::Ice, [call]) => {
                let invocation = spec.invocation(call);
                spec.ice(&ice::Message::Request { id: 0, invocation })
            }
            (Protocol::Ice, calls) => {
                let calls = calls.iter().map(|call| spec.invocation(call)).collect();
                spec.ice(&ice::Message::Batch(calls))
            }
            (Protocol::Giop, calls) => {
                // GIOP has no batches: its messages are written together.
                let mut messages = Vec::new();
                for call in calls {
                    let id = self.take_id();
                    messages.extend(self.end.spec.giop_request(id, ResponseFlags::None, call));
                }
                messages
            }
            (Protocol::Raw | Protocol::Http1 | Protocol::Http2, calls) => {
                let calls: Vec<&[u8]> = calls.iter().map(Vec::as_slice).collect();
                raw(0, &calls)
            }
        };
        self.framed(message)
    }

    /// What has arrived from the callee.
    pub(super) fn read(&mut self, received: &[u8]) -> Result<Vec<Heard>, Failure> {
        let mut heard = Vec::new();
        for message in self.end.read(received)? {
            heard.push(match message {
                Message::Ice(ice::Message::Validate)
                | Message::Giop(giop::Message::LocateReply {
                    status: giop::LocateStatus::Here,
                    ..
                })
                | Message::Http(Event::Opened) => Heard::Opened,
                Message::Ice(ice::Message::Reply {
                    status: ice::ReplyStatus::Success(_),
                    ..
                })
                | Message::Http(Event::Response)
                | Message::Raw(_) => Heard::Reply,
                Message::Giop(giop::Message::Reply(reply)) if reply.status == giop::ReplyStatus::NoException => {
                    Heard::Reply
                }
                Message::Http(Event::Request { .. } | Event::Send(_)) => continue,
                Message::Ice(other) => return Err(Failure::new(format!("the callee sent {other:?}"))),
                Message::Giop(other) => return Err(Failure::new(format!("the callee sent {other:?}"))),
            });
        }
        Ok(heard)
    }
}

/// The content of a frame: an id, 0 for one-way calls, and the calls, each with its length.
fn raw(id: u32, calls: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    write_length(u64::from(id), &mut out);
    for call in calls {
        write_length(call.len() as u64, &mut out);
        out.extend_from_slice(call);
    }
    out
}

/// A message of the caller: its calls, and what answers them.
#[derive(Default)]
pub(super) struct Received {
    pub(super) calls: Vec<Vec<u8>>,
    /// The bytes to send back; empty where the calls are one-way.
    pub(super) answer: Vec<u8>,
}

/// The end that receives calls.
pub(super) struct Callee(End);

impl Callee {
    pub(super) fn new(spec: &WireSpec) -> Result<Self, Failure> {
        End::new(spec, true).map(Self)
    }

    /// What it sends first.
    pub(super) fn open(&mut self) -> Vec<u8> {
        match self.0.spec.protocol {
            Protocol::Ice => self.0.wrap(ice::Message::Validate.encode()),
            _ => self.0.http_opening(),
        }
    }

    /// What has arrived from the caller.
    pub(super) fn read(&mut self, received: &[u8]) -> Result<Vec<Received>, Failure> {
        let mut all = Vec::new();
        for message in self.0.read(received)? {
            let mut received = match message {
                Message::Ice(message) => answer_ice(&self.0.spec, message)?,
                Message::Giop(message) => answer_giop(message)?,
                Message::Raw(content) => answer_raw(&content)?,
                Message::Http(event) => {
                    self.answer_http(event, &mut all)?;
                    continue;
                }
            };
            if !received.answer.is_empty() {
                received.answer = self.0.wrap(received.answer);
            }
            all.push(received);
        }
        Ok(all)
    }

    /// Every request is answered, also where its calls are one-way: HTTP has nothing else.
    fn answer_http(&mut self, event: Event, all: &mut Vec<Received>) -> Result<(), Failure> {
        match event {
            Event::Request { body, response } => {
                for content in self.0.unwrap(&body)? {
                    all.push(Received {
                        answer: response.clone(),
                        ..answer_raw(&content)?
                    });
                }
            }
            Event::Send(answer) => all.push(Received {
                calls: Vec::new(),
                answer,
            }),
            Event::Opened | Event::Response => {}
        }
        Ok(())
    }
}

fn answer_ice(spec: &WireSpec, message: ice::Message) -> Result<Received, Failure> {
    let mut received = Received::default();
    match message {
        ice::Message::Request { id, invocation } => {
            received.calls.push(invocation.parameters.content);
            if id != 0 {
                let status = ice::ReplyStatus::Success(Encapsulation::new(Vec::new()));
                received.answer = spec.ice(&ice::Message::Reply { id, status });
            }
        }
        ice::Message::Batch(calls) => received
            .calls
            .extend(calls.into_iter().map(|call| call.parameters.content)),
        ice::Message::Close => {}
        other => return Err(Failure::new(format!("the caller sent {other:?}"))),
    }
    Ok(received)
}

fn answer_giop(message: giop::Message) -> Result<Received, Failure> {
    let mut received = Received::default();
    match message {
        giop::Message::LocateRequest { id, .. } => {
            let status = giop::LocateStatus::Here;
            received.answer = giop::Message::LocateReply { id, status }.encode();
        }
        giop::Message::Request(request) => {
            received.calls.push(request.parameters.content);
            if request.response != ResponseFlags::None {
                let reply = giop::Message::Reply(Reply {
                    id: request.id,
                    status: giop::ReplyStatus::NoException,
                    contexts: Vec::new(),
                    results: Parameters::new(Vec::new()),
                });
                received.answer = reply.encode();
            }
        }
        giop::Message::CloseConnection => {}
        other => return Err(Failure::new(format!("the caller sent {other:?}"))),
    }
    Ok(received)
}

fn answer_raw(content: &[u8]) -> Result<Received, Failure> {
    let broken = || Failure::new("a frame is cut off");
    let length_at = |at: usize| {
        let read = read_length(&content[at..]).map_err(Failure::from_error)?;
        let (value, head) = read.ok_or_else(broken)?;
        Ok::<_, Failure>((value, at + head))
    };
    let (id, mut start) = length_at(0)?;
    let mut calls = Vec::new();
    while start < content.len() {
        let (value, from) = length_at(start)?;
        let end = from.saturating_add(usize::try_from(value).unwrap_or(usize::MAX));
        calls.push(content.get(from..end).ok_or_else(broken)?.to_vec());
        start = end;
    }
    let mut answer = Vec::new();
    if id != 0 {
        write_length(id, &mut answer);
    }
    Ok(Received { calls, answer })
}
