//! The two ends of a connection that carries calls: what each writes, and what it reads.
//!
//! A [`Caller`] makes calls, a [`Callee`] receives them. Both are sans-IO; `connection` moves their bytes.

use super::http_framing::{Event, HttpEnd, HttpVersion};
use super::plan::{Compression, Plan};
use lastmile_codec::message::{CodecError, Dictionary};
use lastmile_rpc::frame::{FrameCompression, FrameReader, FrameWriter, read_length, write_length};
use lastmile_rpc::giop::{self, OMNIORB_MESSAGE_MAX, Parameters, Reply, Request, ResponseFlags, ServiceContext};
use lastmile_rpc::ice::{self, Encapsulation, Identity, Invocation};
use lastmile_study::settings::Protocol;
use lastmile_testbed::failure::Failure;
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
}

/// Frames around the messages of a protocol, where there are any.
struct Frames {
    ends: Option<(FrameWriter, FrameReader)>,
}

impl Frames {
    fn new(spec: &WireSpec) -> Result<Self, CodecError> {
        let ends = match &spec.frames {
            None => None,
            Some(compression) => Some((
                FrameWriter::new(compression)?,
                FrameReader::new(compression, MESSAGE_LIMIT)?,
            )),
        };
        Ok(Self { ends })
    }

    fn wrap(&mut self, message: Vec<u8>) -> Vec<u8> {
        match &mut self.ends {
            None => message,
            Some((writer, _)) => {
                let mut out = Vec::new();
                writer.write(&message, &mut out);
                out
            }
        }
    }

    /// The messages in what has arrived; without frames, it is one piece of them.
    fn unwrap(&mut self, received: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
        let Some((_, reader)) = &mut self.ends else {
            return Ok(vec![received.to_vec()]);
        };
        reader.push(received);
        let mut contents = Vec::new();
        while let Some(content) = reader.next_frame().map_err(|error| Failure::new(error.to_string()))? {
            contents.push(content);
        }
        Ok(contents)
    }
}

/// The protocol's reader; raw frames need none.
enum Reader {
    Ice(ice::Reader),
    Giop(giop::Reader),
    Raw,
}

impl Reader {
    fn new(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Ice => Self::Ice(ice::Reader::new(MESSAGE_LIMIT)),
            Protocol::Giop => Self::Giop(giop::Reader::new(giop::Limits {
                message: MESSAGE_LIMIT,
                ..giop::Limits::default()
            })),
            Protocol::Raw | Protocol::Http1 | Protocol::Http2 => Self::Raw,
        }
    }
}

/// One end of HTTP, where the protocol is one of its versions.
fn http_end(protocol: Protocol, is_callee: bool) -> Option<HttpEnd> {
    let version = match protocol {
        Protocol::Http1 => HttpVersion::Http1,
        Protocol::Http2 => HttpVersion::Http2,
        _ => return None,
    };
    Some(HttpEnd::new(version, is_callee))
}

/// The end that makes calls.
pub(super) struct Caller {
    spec: WireSpec,
    http: Option<HttpEnd>,
    frames: Frames,
    reader: Reader,
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
            spec: spec.clone(),
            http: http_end(spec.protocol, false),
            frames: Frames::new(spec).map_err(|error| Failure::new(error.to_string()))?,
            reader: Reader::new(spec.protocol),
            // omniORB counts by two, from 2.
            next_id: if spec.protocol == Protocol::Giop { 2 } else { 1 },
        })
    }

    /// What it sends before the first call, and whether it then waits for [`Heard::Opened`].
    pub(super) fn open(&mut self) -> (Vec<u8>, bool) {
        match self.spec.protocol {
            Protocol::Giop => {
                let locate = giop::Message::LocateRequest {
                    id: self.take_id(),
                    object_key: OBJECT_KEY.to_vec(),
                };
                (self.frames.wrap(locate.encode()), true)
            }
            Protocol::Ice => (Vec::new(), true),
            Protocol::Http2 => (self.http.as_ref().map_or_else(Vec::new, HttpEnd::opening), true),
            Protocol::Raw | Protocol::Http1 => (Vec::new(), false),
        }
    }

    /// What it sends before it closes the connection.
    pub(super) fn close(&mut self) -> Vec<u8> {
        match self.spec.protocol {
            Protocol::Ice => self.frames.wrap(ice::Message::Close.encode()),
            Protocol::Giop => self.frames.wrap(giop::Message::CloseConnection.encode()),
            Protocol::Raw | Protocol::Http1 | Protocol::Http2 => Vec::new(),
        }
    }

    fn take_id(&mut self) -> u32 {
        let step = if self.spec.protocol == Protocol::Giop { 2 } else { 1 };
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(step);
        id
    }

    /// The bytes of a two-way call.
    pub(super) fn two_way(&mut self, parameters: &[u8]) -> Vec<u8> {
        let id = self.take_id();
        let message = match self.spec.protocol {
            Protocol::Ice => self.spec.ice(&ice::Message::Request {
                id,
                invocation: self.spec.invocation(parameters),
            }),
            Protocol::Giop => self.giop_request(id, ResponseFlags::Target, parameters),
            Protocol::Raw | Protocol::Http1 | Protocol::Http2 => raw(id, &[parameters]),
        };
        self.framed(message)
    }

    /// A message in the frames that the connection has, and in a request where it is one of HTTP.
    fn framed(&mut self, message: Vec<u8>) -> Vec<u8> {
        let framed = self.frames.wrap(message);
        match &mut self.http {
            Some(http) => http.request(&framed),
            None => framed,
        }
    }

    /// The bytes of one-way calls, which are sent together.
    pub(super) fn one_ways(&mut self, calls: &[Vec<u8>]) -> Vec<u8> {
        match (self.spec.protocol, calls) {
            (Protocol::Ice, [call]) => {
                let invocation = self.spec.invocation(call);
                let message = self.spec.ice(&ice::Message::Request { id: 0, invocation });
                self.frames.wrap(message)
            }
            (Protocol::Ice, calls) => {
                let calls = calls.iter().map(|call| self.spec.invocation(call)).collect();
                let message = self.spec.ice(&ice::Message::Batch(calls));
                self.frames.wrap(message)
            }
            (Protocol::Giop, calls) => {
                // GIOP has no batches: its messages are written together.
                let mut messages = Vec::new();
                for call in calls {
                    let id = self.take_id();
                    messages.extend(self.giop_request(id, ResponseFlags::None, call));
                }
                self.frames.wrap(messages)
            }
            (Protocol::Raw | Protocol::Http1 | Protocol::Http2, calls) => {
                let calls: Vec<&[u8]> = calls.iter().map(Vec::as_slice).collect();
                self.framed(raw(0, &calls))
            }
        }
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
            operation: self.spec.operation.to_owned(),
            contexts,
            parameters: Parameters::new(parameters.to_vec()),
        });
        giop::fragment(request.encode(), OMNIORB_MESSAGE_MAX)
    }

    /// What has arrived from the callee.
    pub(super) fn read(&mut self, received: &[u8]) -> Result<Vec<Heard>, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
        let mut heard = Vec::new();
        if let Some(http) = &mut self.http {
            heard.extend(http.read(received)?.into_iter().filter_map(|event| match event {
                Event::Opened => Some(Heard::Opened),
                Event::Response => Some(Heard::Reply),
                Event::Request { .. } | Event::Send(_) => None,
            }));
            return Ok(heard);
        }
        for piece in self.frames.unwrap(received)? {
            match &mut self.reader {
                Reader::Ice(reader) => {
                    reader.push(&piece);
                    while let Some((message, _)) = reader.next_message().map_err(|error| failed(&error))? {
                        heard.push(match message {
                            ice::Message::Validate => Heard::Opened,
                            ice::Message::Reply {
                                status: ice::ReplyStatus::Success(_),
                                ..
                            } => Heard::Reply,
                            other => return Err(Failure::new(format!("the callee sent {other:?}"))),
                        });
                    }
                }
                Reader::Giop(reader) => {
                    reader.push(&piece);
                    while let Some(message) = reader.next_message().map_err(|error| failed(&error))? {
                        heard.push(match message {
                            giop::Message::LocateReply {
                                status: giop::LocateStatus::Here,
                                ..
                            } => Heard::Opened,
                            giop::Message::Reply(reply) if reply.status == giop::ReplyStatus::NoException => {
                                Heard::Reply
                            }
                            other => return Err(Failure::new(format!("the callee sent {other:?}"))),
                        });
                    }
                }
                Reader::Raw => heard.push(Heard::Reply),
            }
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
pub(super) struct Received {
    pub(super) calls: Vec<Vec<u8>>,
    /// The bytes to send back; empty where the calls are one-way.
    pub(super) answer: Vec<u8>,
}

/// The end that receives calls.
pub(super) struct Callee {
    spec: WireSpec,
    http: Option<HttpEnd>,
    frames: Frames,
    reader: Reader,
}

impl Callee {
    pub(super) fn new(spec: &WireSpec) -> Result<Self, Failure> {
        Ok(Self {
            spec: spec.clone(),
            http: http_end(spec.protocol, true),
            frames: Frames::new(spec).map_err(|error| Failure::new(error.to_string()))?,
            reader: Reader::new(spec.protocol),
        })
    }

    /// What it sends first.
    pub(super) fn open(&mut self) -> Vec<u8> {
        match self.spec.protocol {
            Protocol::Ice => self.frames.wrap(ice::Message::Validate.encode()),
            Protocol::Http2 => self.http.as_ref().map_or_else(Vec::new, HttpEnd::opening),
            Protocol::Giop | Protocol::Raw | Protocol::Http1 => Vec::new(),
        }
    }

    /// What has arrived from the caller.
    pub(super) fn read(&mut self, received: &[u8]) -> Result<Vec<Received>, Failure> {
        let mut all = Vec::new();
        if self.http.is_some() {
            self.read_requests(received, &mut all)?;
            return Ok(all);
        }
        for piece in self.frames.unwrap(received)? {
            self.read_piece(&piece, &mut all)?;
        }
        for received in &mut all {
            if !received.answer.is_empty() {
                let answer = std::mem::take(&mut received.answer);
                received.answer = self.frames.wrap(answer);
            }
        }
        Ok(all)
    }

    /// Every request is answered, also where its calls are one-way: HTTP has nothing else.
    fn read_requests(&mut self, received: &[u8], all: &mut Vec<Received>) -> Result<(), Failure> {
        let Some(http) = &mut self.http else { return Ok(()) };
        for event in http.read(received)? {
            match event {
                Event::Request { body, response } => {
                    for content in self.frames.unwrap(&body)? {
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
        }
        Ok(())
    }

    fn read_piece(&mut self, piece: &[u8], all: &mut Vec<Received>) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
        match &mut self.reader {
            Reader::Ice(reader) => {
                reader.push(piece);
                while let Some((message, _)) = reader.next_message().map_err(|error| failed(&error))? {
                    all.extend(answer_ice(&self.spec, message)?);
                }
            }
            Reader::Giop(reader) => {
                reader.push(piece);
                while let Some(message) = reader.next_message().map_err(|error| failed(&error))? {
                    all.extend(answer_giop(message)?);
                }
            }
            Reader::Raw => all.push(answer_raw(piece)?),
        }
        Ok(())
    }
}

fn answer_ice(spec: &WireSpec, message: ice::Message) -> Result<Option<Received>, Failure> {
    match message {
        ice::Message::Request { id: 0, invocation } => Ok(Some(Received {
            calls: vec![invocation.parameters.content],
            answer: Vec::new(),
        })),
        ice::Message::Request { id, invocation } => {
            let status = ice::ReplyStatus::Success(Encapsulation::new(Vec::new()));
            Ok(Some(Received {
                calls: vec![invocation.parameters.content],
                answer: spec.ice(&ice::Message::Reply { id, status }),
            }))
        }
        ice::Message::Batch(calls) => Ok(Some(Received {
            calls: calls.into_iter().map(|call| call.parameters.content).collect(),
            answer: Vec::new(),
        })),
        ice::Message::Close => Ok(None),
        other => Err(Failure::new(format!("the caller sent {other:?}"))),
    }
}

fn answer_giop(message: giop::Message) -> Result<Option<Received>, Failure> {
    match message {
        giop::Message::LocateRequest { id, .. } => {
            let status = giop::LocateStatus::Here;
            Ok(Some(Received {
                calls: Vec::new(),
                answer: giop::Message::LocateReply { id, status }.encode(),
            }))
        }
        giop::Message::Request(request) => {
            let reply = giop::Message::Reply(Reply {
                id: request.id,
                status: giop::ReplyStatus::NoException,
                contexts: Vec::new(),
                results: Parameters::new(Vec::new()),
            });
            let is_wanted = request.response != ResponseFlags::None;
            Ok(Some(Received {
                calls: vec![request.parameters.content],
                answer: if is_wanted { reply.encode() } else { Vec::new() },
            }))
        }
        giop::Message::CloseConnection => Ok(None),
        other => Err(Failure::new(format!("the caller sent {other:?}"))),
    }
}

fn answer_raw(content: &[u8]) -> Result<Received, Failure> {
    let broken = || Failure::new("a frame is cut off");
    let length_at = |at: usize| {
        let read = read_length(&content[at..]).map_err(|error| Failure::new(error.to_string()))?;
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
