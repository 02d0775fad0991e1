//! Compares our messages with recorded calls of Ice 3.7 and omniORB 4.2: byte for byte, for GIOP outside padding, whose content is unspecified.
//!
//! `make recordings` records them again, with the values of `examples/call_values.rs`.

use lastmile_rpc::giop::{
    self, LocateStatus, OMNIORB_MESSAGE_MAX, Parameters, Reply, ReplyStatus as GiopStatus, Request, ResponseFlags,
};
use lastmile_rpc::ice::{self, CompressionPolicy, Encapsulation, Identity, Invocation, Message, ReplyStatus};
use lastmile_units::Seed;
use lastmile_wire_formats::{cdr, ice as ice_encoding};
use lastmile_workload::bibliography::{self, Entry};
use lastmile_workload::prose;
use lastmile_workload::ticks::{Tick, ticks};
use serde::Serialize;
use std::fs;
use std::path::Path;

fn recorded(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recorded")
        .join(format!("{name}.bin"));
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; make recordings makes it", path.display()))
}

/// No parameters.
const NOTHING: [u8; 0] = [];

fn entries() -> Vec<Entry> {
    bibliography::entries(bibliography::ENTRIES, Seed::new(1))
}

fn all_ticks() -> Vec<Tick> {
    ticks(100, Seed::new(1))
}

fn invocation(operation: &str, parameters: &(impl Serialize + ?Sized)) -> Invocation {
    let content = ice_encoding::to_vec(parameters).unwrap();
    Invocation::new(Identity::named("t"), operation, Encapsulation::new(content))
}

fn request(id: u32, operation: &str, parameters: &(impl Serialize + ?Sized)) -> Message {
    Message::Request {
        id,
        invocation: invocation(operation, parameters),
    }
}

/// What an Ice client sends for an operation, between a `ping` and the end of the connection.
fn ice_client(operation: &str) -> Vec<Message> {
    let mut messages = vec![request(1, "ping", &NOTHING)];
    match operation {
        "text" => messages.push(request(2, "putText", &prose::lines())),
        "bibliography" => messages.push(request(2, "putBib", &entries())),
        "fetch" => messages.push(request(2, "getText", &NOTHING)),
        "ticks" => {
            messages.extend(all_ticks().iter().map(|tick| request(0, "tick", tick)));
            messages.push(request(2, "ping", &NOTHING));
        }
        _ => {
            messages.push(Message::Batch(
                all_ticks().iter().map(|tick| invocation("tick", tick)).collect(),
            ));
            messages.push(request(2, "ping", &NOTHING));
        }
    }
    messages
}

/// What an Ice server sends for an operation.
fn ice_server(operation: &str) -> Vec<Message> {
    let reply = |id, content| Message::Reply {
        id,
        status: ReplyStatus::Success(Encapsulation::new(content)),
    };
    let results = if operation == "fetch" {
        ice_encoding::to_vec(&prose::lines()).unwrap()
    } else {
        Vec::new()
    };
    vec![Message::Validate, reply(1, Vec::new()), reply(2, results)]
}

/// The place of the first difference, so that a failure can be read.
fn assert_same(name: &str, ours: &[u8], theirs: &[u8]) {
    let difference = ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs);
    assert_eq!(difference, None, "{name}: the first byte that differs");
    assert_eq!(ours.len(), theirs.len(), "{name}");
}

const OPERATIONS: [&str; 5] = ["text", "bibliography", "fetch", "ticks", "batch"];

#[test]
fn our_ice_messages_are_those_of_ice_byte_for_byte() {
    for operation in OPERATIONS {
        let close = Message::Close.encode();
        let ours: Vec<u8> = ice_client(operation)
            .iter()
            .flat_map(Message::encode)
            .chain(close)
            .collect();
        assert_same(operation, &ours, &recorded(&format!("ice-{operation}.c2s")));
        let ours: Vec<u8> = ice_server(operation).iter().flat_map(Message::encode).collect();
        assert_same(operation, &ours, &recorded(&format!("ice-{operation}.s2c")));
    }
}

#[test]
fn our_compressed_ice_messages_are_those_of_ice_byte_for_byte() {
    let compress = |message: &Message| ice::compress(message.encode(), 1, CompressionPolicy::AboveThreshold);
    for operation in OPERATIONS {
        let close = Message::Close.encode();
        let ours: Vec<u8> = ice_client(operation).iter().flat_map(compress).chain(close).collect();
        assert_same(operation, &ours, &recorded(&format!("ice-bzip2-{operation}.c2s")));
        let validate = Message::Validate.encode();
        let replies = ice_server(operation).split_off(1);
        let ours: Vec<u8> = validate.into_iter().chain(replies.iter().flat_map(compress)).collect();
        assert_same(operation, &ours, &recorded(&format!("ice-bzip2-{operation}.s2c")));
    }
}

#[test]
fn what_ice_sent_is_read_as_what_was_sent() {
    for name in ["ice", "ice-bzip2"] {
        for operation in OPERATIONS {
            let mut reader = ice::Reader::default();
            reader.push(&recorded(&format!("{name}-{operation}.c2s")));
            let mut read = Vec::new();
            while let Some((message, _)) = reader.next_message().unwrap() {
                read.push(message);
            }
            assert_eq!(read.pop(), Some(Message::Close));
            assert!(read == ice_client(operation), "{name} {operation}");
        }
    }
}

const OBJECT_KEY: &[u8] = b"t";

fn giop_request(id: u32, operation: &str, response: ResponseFlags, content: Vec<u8>) -> giop::Message {
    giop::Message::Request(Request {
        id,
        response,
        object_key: OBJECT_KEY.to_vec(),
        operation: operation.to_owned(),
        contexts: Vec::new(),
        parameters: Parameters::new(content),
    })
}

/// What omniORB's client sends for an operation: it asks where the object is, calls `ping`, and counts by two.
fn giop_client(operation: &str) -> Vec<giop::Message> {
    let two_way = |id, operation: &str, content| giop_request(id, operation, ResponseFlags::Target, content);
    let mut messages = vec![
        giop::Message::LocateRequest {
            id: 2,
            object_key: OBJECT_KEY.to_vec(),
        },
        two_way(4, "ping", Vec::new()),
    ];
    match operation {
        "text" => messages.push(two_way(6, "putText", cdr::to_vec(&prose::lines()).unwrap())),
        "bibliography" => messages.push(two_way(6, "putBib", cdr::to_vec(&entries()).unwrap())),
        "fetch" => messages.push(two_way(6, "getText", Vec::new())),
        _ => {
            for (tick, id) in all_ticks().iter().zip((6..).step_by(2)) {
                messages.push(giop_request(
                    id,
                    "tick",
                    ResponseFlags::None,
                    cdr::to_vec(tick).unwrap(),
                ));
            }
            messages.push(two_way(206, "ping", Vec::new()));
        }
    }
    messages.push(giop::Message::CloseConnection);
    messages
}

fn giop_server(operation: &str) -> Vec<giop::Message> {
    let reply = |id, content| {
        giop::Message::Reply(Reply {
            id,
            status: GiopStatus::NoException,
            contexts: Vec::new(),
            results: Parameters::new(content),
        })
    };
    let here = giop::Message::LocateReply {
        id: 2,
        status: LocateStatus::Here,
    };
    let results = if operation == "fetch" {
        cdr::to_vec(&prose::lines()).unwrap()
    } else {
        Vec::new()
    };
    let last = if operation == "ticks" { 206 } else { 6 };
    vec![here, reply(4, Vec::new()), reply(last, results)]
}

/// Compares everything but padding: bytes may differ only where ours is a zero of at most seven before a multiple of 4 from the start of
/// a message; `sent` shows that nothing else was lost there.
fn assert_same_outside_padding(name: &str, sent: &[giop::Message], theirs: &[u8]) {
    let pieces = sent
        .iter()
        .map(|message| giop::fragment(message.encode(), OMNIORB_MESSAGE_MAX));
    let ours: Vec<u8> = pieces.flatten().collect();
    assert_eq!(ours.len(), theirs.len(), "{name}");
    let mut differing = 0;
    for offset in (0..ours.len()).filter(|offset| ours[*offset] != theirs[*offset]) {
        let zeros = ours[offset..].iter().take_while(|byte| **byte == 0).count();
        assert!(
            ours[offset] == 0 && zeros > 0,
            "{name}: byte {offset} is {} in ours, {} in theirs",
            ours[offset],
            theirs[offset]
        );
        differing += 1;
    }
    println!("{name}: {} bytes, of which {differing} of padding differ", ours.len());
    let mut reader = giop::Reader::default();
    reader.push(theirs);
    let mut read = Vec::new();
    while let Some(message) = reader.next_message().unwrap() {
        read.push(message);
    }
    assert_eq!(read.len(), sent.len(), "{name}");
    for (read, sent) in read.iter().zip(sent) {
        assert!(value(read) == value(sent), "{name}: {read:?} was sent as {sent:?}");
    }
}

/// A message with its parameters decoded and encoded again, so that their padding is ours.
fn value(message: &giop::Message) -> giop::Message {
    let mut message = message.clone();
    let again = |content: &[u8], operation: &str| match operation {
        "putText" | "getText" if !content.is_empty() => {
            cdr::to_vec(&cdr::from_slice::<Vec<String>>(content).unwrap()).unwrap()
        }
        "putBib" => cdr::to_vec(&cdr::from_slice::<Vec<Entry>>(content).unwrap()).unwrap(),
        "tick" => cdr::to_vec(&cdr::from_slice::<Tick>(content).unwrap()).unwrap(),
        _ => content.to_vec(),
    };
    match &mut message {
        giop::Message::Request(request) => {
            request.parameters.content = again(&request.parameters.content, &request.operation);
        }
        giop::Message::Reply(reply) => reply.results.content = again(&reply.results.content, "getText"),
        _ => {}
    }
    message
}

/// Holds streams of other texts, where `LASTMILE_RPC_STREAMS` names a folder that has them: `ice_*.bin` plain, `icez_*.bin` compressed and
/// `omni_*.bin`, with the text in `carol.txt` and the entries in `bib.json`.
#[test]
fn streams_of_other_texts_hold_too() {
    let Some(folder) = std::env::var_os("LASTMILE_RPC_STREAMS") else {
        println!("skipped: LASTMILE_RPC_STREAMS names no folder of recorded streams");
        return;
    };
    let folder = Path::new(&folder);
    let text = fs::read_to_string(folder.join("carol.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let entries: Vec<Entry> = serde_json::from_slice(&fs::read(folder.join("bib.json")).unwrap()).unwrap();
    let expected = |operation: &str, bytes: &[u8], to_vec: [Vec<u8>; 2]| match operation {
        "putText" => assert_same(operation, &to_vec[0], bytes),
        "putBib" => assert_same(operation, &to_vec[1], bytes),
        _ => {}
    };
    let (mut ice_streams, mut giop_streams) = (0, 0);
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".bin") {
            continue;
        }
        let theirs = fs::read(&path).unwrap();
        if name.starts_with("omni_") {
            let mut reader = giop::Reader::default();
            reader.push(&theirs);
            let mut sent = Vec::new();
            while let Some(message) = reader.next_message().unwrap() {
                if let giop::Message::Request(request) = value(&message) {
                    let native = [cdr::to_vec(&lines).unwrap(), cdr::to_vec(&entries).unwrap()];
                    expected(&request.operation, &request.parameters.content, native);
                }
                sent.push(value(&message));
            }
            assert_same_outside_padding(&name, &sent, &theirs);
            giop_streams += 1;
        } else {
            let mut reader = ice::Reader::default();
            reader.push(&theirs);
            let mut ours = Vec::new();
            while let Some((message, _)) = reader.next_message().unwrap() {
                if let Message::Request { invocation, .. } = &message
                    && !name.contains("_e10_")
                {
                    let native = [
                        ice_encoding::to_vec(&lines).unwrap(),
                        ice_encoding::to_vec(&entries).unwrap(),
                    ];
                    expected(&invocation.operation, &invocation.parameters.content, native);
                }
                let is_compressed = name.starts_with("icez_") && !matches!(message, Message::Validate | Message::Close);
                ours.extend(if is_compressed {
                    ice::compress(message.encode(), 1, CompressionPolicy::AboveThreshold)
                } else {
                    message.encode()
                });
            }
            assert_same(&name, &ours, &theirs);
            ice_streams += 1;
        }
    }
    println!("{ice_streams} streams of Ice and {giop_streams} of GIOP");
    assert!(ice_streams > 0 && giop_streams > 0);
}

#[test]
fn our_giop_messages_are_those_of_omniorb_outside_padding() {
    for operation in ["text", "bibliography", "fetch", "ticks"] {
        let name = format!("omniorb-{operation}");
        assert_same_outside_padding(&name, &giop_client(operation), &recorded(&format!("{name}.c2s")));
        assert_same_outside_padding(&name, &giop_server(operation), &recorded(&format!("{name}.s2c")));
    }
}
