//! Which messages passed over WebSocket connections in clear? A capture's, as a transcript's, one by one.
//!
//! Each TCP connection is listened to for a handshake; both of its directions are then read as an endpoint would read them, with compressed
//! messages turned back. What was not captured costs the messages that it is part of, or that refer to it: they are counted
//! ([`Conversation`]), and nothing is guessed. A connection whose handshake was not captured is not recognised, nor is one within TLS.

mod dialogue;
mod left_out;
#[cfg(test)]
mod tests;

use crate::analysis::read;
use crate::container::{Packet, Packets};
use crate::datagram::{SetAside, Transport};
use crate::error::{CaptureError, Problem};
use crate::tcp::Connection;
use dialogue::{Dialogue, News};
use lastmile_payload::transcript::{Direction, Message};
use lastmile_payload::websocket::{Agreement, Close, HandshakeError, Violation};
use lastmile_units::{Bytes, Instant};
use left_out::Unread;
use std::collections::{HashMap, VecDeque};
use std::io::Read;
use std::net::SocketAddr;

/// A WebSocket connection, as far as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Who asked for it.
    pub client: SocketAddr,
    /// The other.
    pub server: SocketAddr,
    /// What was asked for.
    pub target: String,
    /// How messages are compressed, or why the client has to refuse what the server answered; such a connection's messages are not read.
    pub deflate: Result<Option<Agreement>, HandshakeError>,
    /// What the client sent.
    pub sent: Told,
    /// What the server sent.
    pub received: Told,
}

/// What is known of one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// Messages that were read.
    pub messages: u64,
    /// Octets of payload in their frames, compressed or not.
    pub coded_bytes: Bytes,
    /// Messages that passed and could not be read: a part of them, or of what they refer to, was not captured.
    pub lost: u64,
    /// Why no more of it was read; none where the capture or the connection just ends.
    pub ended: Option<Ended>,
}

/// Why a direction is read no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// With a close frame.
    Closed(Close),
    /// With something that is against the protocol, or a message above the limit.
    Broken(Violation),
    /// With a hole that a frame's beginning fell into.
    Hole,
}

/// The messages of a capture's WebSocket connections, in the order of their ends; what a client sent is [`Direction::Sent`]. Times count from
/// the capture's first packet: when a message's last octet passed, in its turn.
///
/// That no message can be read is an error too, the last.
///
/// Memory holds the messages that are being read, and what is known of each connection.
#[derive(Debug)]
pub struct Messages<R> {
    name: String,
    packets: Packets<R>,
    limit: Bytes,
    began: Option<Instant>,
    now: Instant,
    flows: Vec<Flow>,
    /// The latest flow between two ends. Looked up and never walked.
    by_ends: HashMap<Ends, usize>,
    conversations: Vec<Conversation>,
    unread: Unread,
    ready: VecDeque<Message>,
    /// Whether any message was read.
    is_any: bool,
    is_over: bool,
}

impl<R: Read> Messages<R> {
    /// Reads how a capture begins. `name` is what errors call it; `limit` is the largest message that is read.
    ///
    /// # Errors
    /// When it is empty, no capture, or cannot be read.
    pub fn open(from: R, name: &str, limit: Bytes) -> Result<Self, CaptureError> {
        Ok(Self {
            name: name.to_owned(),
            packets: Packets::open(from, name)?,
            limit,
            began: None,
            now: Instant::START,
            flows: Vec::new(),
            by_ends: HashMap::new(),
            conversations: Vec::new(),
            unread: Unread::default(),
            ready: VecDeque::new(),
            is_any: false,
            is_over: false,
        })
    }

    /// The connections so far, in the order of their handshakes: [`Message::connection`] is a place in this list.
    pub fn conversations(&self) -> &[Conversation] {
        &self.conversations
    }

    /// Reads a packet; whether there was one.
    fn step(&mut self) -> Result<bool, CaptureError> {
        let Some(packet) = self.packets.next()? else {
            return Ok(false);
        };
        self.began.get_or_insert(packet.at);
        // A clock that is put back stands still here: octets stay in TCP's order, and messages with them.
        self.now = self.now.max(packet.at);
        let packet = Packet { at: self.now, ..packet };
        match pass(&packet, &mut self.flows, &mut self.by_ends, self.limit) {
            Ok(Some(place)) => self.collect(place),
            Ok(None) => {}
            Err(why) => self.unread.count(why, packet.link_type),
        }
        Ok(true)
    }

    fn end(&mut self) {
        for place in 0..self.flows.len() {
            self.flows[place].connection.listener().end(self.now);
            self.collect(place);
        }
        self.is_over = true;
    }

    fn nothing(&self) -> CaptureError {
        CaptureError {
            name: self.name.clone(),
            problem: match self.began {
                None => Problem::NoPacket,
                Some(_) => Problem::NoWebSocketMessage {
                    connections: self.flows.len(),
                    conversations: self.conversations.len(),
                    unread: self.unread.sentences().collect(),
                },
            },
        }
    }

    /// Takes what a flow came upon.
    fn collect(&mut self, place: usize) {
        let flow = &mut self.flows[place];
        let (client, server) = flow.connection.ends();
        for news in flow.connection.listener().take_news() {
            if let News::Opened {
                by_client,
                target,
                deflate,
            } = news
            {
                let (client, server) = if by_client { (client, server) } else { (server, client) };
                flow.conversation = Some(self.conversations.len());
                self.conversations.push(Conversation {
                    client,
                    server,
                    target,
                    deflate,
                    sent: Told::default(),
                    received: Told::default(),
                });
                continue;
            }
            let Some(connection) = flow.conversation else { continue };
            let conversation = &mut self.conversations[connection];
            match news {
                News::Opened { .. } => {}
                News::Message(direction, at, message) => {
                    let told = conversation.told(direction);
                    told.messages += 1;
                    told.coded_bytes += message.coded_bytes;
                    let began = self.began.unwrap_or(at);
                    self.ready.push_back(Message {
                        direction,
                        at: Some(at.saturating_since(began)),
                        kind: message.kind,
                        connection: u32::try_from(connection).unwrap_or(u32::MAX),
                        payload: message.payload.into(),
                    });
                }
                News::Lost(direction) => conversation.told(direction).lost += 1,
                News::Ended(direction, ended) => conversation.told(direction).ended = Some(ended),
            }
        }
    }
}

impl Conversation {
    fn told(&mut self, direction: Direction) -> &mut Told {
        match direction {
            Direction::Sent => &mut self.sent,
            Direction::Received => &mut self.received,
        }
    }
}

impl<R: Read> Iterator for Messages<R> {
    type Item = Result<Message, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                self.is_any = true;
                return Some(Ok(message));
            }
            if self.is_over {
                return None;
            }
            match self.step() {
                Ok(true) => {}
                Ok(false) => {
                    self.end();
                    if !self.is_any && self.ready.is_empty() {
                        return Some(Err(self.nothing()));
                    }
                }
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// Both ends of a flow, the lesser first, so that both directions are one.
type Ends = (SocketAddr, SocketAddr);

/// A TCP connection.
#[derive(Debug)]
struct Flow {
    connection: Connection<Dialogue>,
    /// Its place among the conversations, once its handshake has told that it is one.
    conversation: Option<usize>,
}

/// Gives a packet to its flow; which that is, where it is TCP.
///
/// # Errors
/// When it cannot be read: why.
fn pass(
    packet: &Packet<'_>,
    flows: &mut Vec<Flow>,
    by_ends: &mut HashMap<Ends, usize>,
    limit: Bytes,
) -> Result<Option<usize>, SetAside> {
    let datagram = read(packet)?;
    let Transport::Tcp(segment) = &datagram.transport else {
        return Ok(None);
    };
    let ends = (datagram.from.min(datagram.to), datagram.from.max(datagram.to));
    let known = by_ends.get(&ends).copied();
    let going_on = known.filter(|place| !flows[*place].connection.is_reused_by(datagram.from, segment));
    let place = going_on.unwrap_or_else(|| {
        let dialogue = Dialogue::new(limit);
        flows.push(Flow {
            connection: Connection::new(packet.at, &datagram, segment, dialogue),
            conversation: None,
        });
        by_ends.insert(ends, flows.len() - 1);
        flows.len() - 1
    });
    flows[place]
        .connection
        .pass(packet.at, &datagram, segment, packet.comments);
    Ok(Some(place))
}
