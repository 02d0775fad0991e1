//! An echo server that breaks a chosen rule.
//!
//! It reads frames with code of its own and checks nothing: it accepts what our library refuses.

use lastmile_websocket::{FrameHeader, Key, Opcode, head_length};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Changes a head.
pub(super) type Change = Box<dyn Fn(&str) -> String + Send + Sync>;

/// The server's fault.
pub(super) enum Fault {
    /// Answers with an altered head.
    Head(Change),
    /// Sends its head byte by byte, without end.
    TricklesItsHead,
    /// Sends a message back byte by byte, without end.
    TricklesMessages,
    /// Answers a frame with pings only.
    PingsForEver,
    /// Closes, and leaves the TCP connection open.
    StaysOpen,
    /// Sends a message after its close frame.
    SpeaksAfterClosing,
    /// Answers a frame with a close frame that has no code.
    ClosesWithoutACode,
    /// Answers pings with pongs that are not final.
    FragmentsPongs,
    /// Accepts any request as a handshake, and sends any frame back as a message.
    TakesEverything,
}

/// The pause between repeated writes.
const PAUSE: Duration = Duration::from_millis(5);

/// Serves a connection with that fault.
pub(super) fn server(fault: Fault) -> impl Fn(TcpStream) + Send + Sync + 'static {
    move |mut stream| {
        // Ends when the client ends the connection.
        let _ = serve(&fault, &mut stream);
    }
}

/// The head of a request; none where the client ends the connection before it is complete.
pub(super) fn receive_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while head_length(&head).is_none() {
        head.extend(take(stream, 1)?);
    }
    String::from_utf8(head).ok()
}

fn serve(fault: &Fault, stream: &mut TcpStream) -> Option<()> {
    let asked = receive_head(stream)?;
    let field = |name: &str| asked.lines().find_map(|line| line.strip_prefix(name));
    let accept = field("Sec-WebSocket-Key: ").and_then(Key::read).map(|key| key.accept());
    let mut head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n",
        accept.unwrap_or_default()
    );
    if field("Sec-WebSocket-Extensions: ").is_some() {
        head.push_str("Sec-WebSocket-Extensions: permessage-deflate\r\n");
    }
    head.push_str("\r\n");
    match fault {
        Fault::Head(change) => head = change(&head),
        Fault::TricklesItsHead => return forever(stream, b"H"),
        _ => {}
    }
    stream.write_all(head.as_bytes()).ok()?;
    loop {
        let (opcode, payload) = frame(stream)?;
        match (fault, opcode) {
            (Fault::TricklesMessages, _) => {
                send(stream, FrameHeader::new(Opcode::Text, 1 << 20), b"")?;
                return forever(stream, b"x");
            }
            (Fault::PingsForEver, _) => return forever(stream, &[0x89, 0]),
            (Fault::ClosesWithoutACode, _) => return send(stream, FrameHeader::new(Opcode::Close, 0), b""),
            (_, Opcode::Close) => {
                send(stream, FrameHeader::new(Opcode::Close, 2), &1000_u16.to_be_bytes())?;
                match fault {
                    // Until the client ends.
                    Fault::StaysOpen => while take(stream, 1).is_some() {},
                    Fault::SpeaksAfterClosing => send(stream, FrameHeader::new(Opcode::Text, 4), b"more")?,
                    _ => {}
                }
                return None;
            }
            (Fault::FragmentsPongs, opcode) if opcode != Opcode::Ping => {}
            (_, Opcode::Ping) => {
                let header = FrameHeader {
                    is_final: !matches!(fault, Fault::FragmentsPongs),
                    ..FrameHeader::new(Opcode::Pong, payload.len() as u64)
                };
                send(stream, header, &payload)?;
            }
            (_, Opcode::Text | Opcode::Binary) => {
                send(stream, FrameHeader::new(opcode, payload.len() as u64), &payload)?;
            }
            _ => send(stream, FrameHeader::new(Opcode::Text, payload.len() as u64), &payload)?,
        }
    }
}

fn send(stream: &mut TcpStream, header: FrameHeader, payload: &[u8]) -> Option<()> {
    let mut bytes = Vec::new();
    header.write_with(payload, &mut bytes);
    stream.write_all(&bytes).ok()
}

/// Writes the same bytes again and again, until the client has gone.
fn forever(stream: &mut TcpStream, bytes: &[u8]) -> Option<()> {
    loop {
        stream.write_all(bytes).ok()?;
        std::thread::sleep(PAUSE);
    }
}

/// The next frame's opcode and payload, whatever its form. A length of 2^32 or more counts as 0.
fn frame(stream: &mut TcpStream) -> Option<(Opcode, Vec<u8>)> {
    let start = take(stream, 2)?;
    let (first, second) = (start[0], start[1]);
    let length = match second & 0x7f {
        126 => take(stream, 2)?,
        127 => take(stream, 8)?,
        short => vec![short],
    };
    let length = length.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
    let mask = if second & 0x80 == 0 {
        vec![0; 4]
    } else {
        take(stream, 4)?
    };
    let payload = take(
        stream,
        usize::try_from(length)
            .ok()
            .filter(|length| length >> 32 == 0)
            .unwrap_or(0),
    )?;
    let payload = payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask);
    Some((Opcode::from_bits(first), payload.collect()))
}

fn take(stream: &mut TcpStream, count: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).ok()?;
    Some(bytes)
}
