//! Reads the messages of unencrypted WebSocket connections from a capture, one by one, in the form of a transcript.
//!
//! Each TCP connection is watched for a handshake; both of its directions are then read as an endpoint would read them, and compressed
//! messages are decompressed. Missing bytes cost the messages that they belong to, and those compressed with reference to them: these are
//! counted ([`Conversation`]), and nothing is guessed. A connection whose handshake was not captured, or that is inside TLS, is not
//! recognised.

mod connection_tracker;
mod coverage_notes;
#[cfg(test)]
mod tests;

use crate::connection_table::ConnectionTable;
use crate::container::{Packet, Packets};
use crate::datagram::Transport;
use crate::error::{CaptureError, Problem};
use crate::packet_reader::PacketReader;
use crate::tcp::Connection;
use connection_tracker::{TrackerEvent, WebSocketTracker};
use coverage_notes::UnreadPackets;
use lastmile_traffic::messages::{Direction, Message};
use lastmile_units::{ByteCount, Instant};
use lastmile_websocket::{Agreement, Close, HandshakeError, Violation};
use std::collections::VecDeque;
use std::io::Read;
use std::net::SocketAddr;

/// A WebSocket connection, as far as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The side that sent the handshake request.
    pub client: SocketAddr,
    /// The other side.
    pub server: SocketAddr,
    /// The requested target.
    pub target: String,
    /// How messages are compressed, or why the client has to refuse the server's response; the messages of such a connection are not read.
    pub deflate: Result<Option<Agreement>, HandshakeError>,
    /// What the client sent.
    pub sent: DirectionStats,
    /// What the server sent.
    pub received: DirectionStats,
}

/// What is known of one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectionStats {
    /// Messages that were read.
    pub messages: u64,
    /// Bytes of payload in their frames, compressed or not.
    pub frame_payload: ByteCount,
    /// Messages that passed and could not be read: a part of them, or of the data that they refer to, was not captured.
    pub lost: u64,
    /// Why reading stopped; none where the capture or the connection just ends.
    pub ended: Option<ReadingEnd>,
}

/// Why the reading of a direction stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadingEnd {
    /// At a close frame.
    Closed(Close),
    /// At a violation of the protocol, or a message above the limit.
    Broken(Violation),
    /// At a hole that hides the beginning of a frame.
    Hole,
}

/// The messages of a capture's WebSocket connections, in the order of their ends; a client's messages are [`Direction::Sent`]. Times count
/// from the capture's first packet to the message's last byte in stream order.
///
/// If no message can be read, the last item is an error.
///
/// Memory holds the messages that are being read, and the state of each connection.
#[derive(Debug)]
pub struct Messages<R> {
    name: String,
    packets: Packets<R>,
    reader: PacketReader,
    limit: ByteCount,
    began: Option<Instant>,
    now: Instant,
    flows: ConnectionTable<Flow>,
    conversations: Vec<Conversation>,
    unread: UnreadPackets,
    ready: VecDeque<Message>,
    /// Whether any message was read.
    has_message: bool,
    is_over: bool,
}

impl<R: Read> Messages<R> {
    /// Reads the start of a capture. Errors call it `name`; `limit` is the largest message that is read.
    ///
    /// # Errors
    /// When it is empty, not a capture, or cannot be read.
    pub fn open(from: R, name: &str, limit: ByteCount) -> Result<Self, CaptureError> {
        Ok(Self {
            name: name.to_owned(),
            packets: Packets::open(from, name)?,
            reader: PacketReader::default(),
            limit,
            began: None,
            now: Instant::START,
            flows: ConnectionTable::default(),
            conversations: Vec::new(),
            unread: UnreadPackets::default(),
            ready: VecDeque::new(),
            has_message: false,
            is_over: false,
        })
    }

    /// The connections so far, in the order of their handshakes: [`Message::connection`] is an index into this list.
    pub fn conversations(&self) -> &[Conversation] {
        &self.conversations
    }

    /// Reads one packet; returns whether there was one.
    fn step(&mut self) -> Result<bool, CaptureError> {
        let Some(packet) = self.packets.next()? else {
            return Ok(false);
        };
        self.began.get_or_insert(packet.at);
        // If the clock is set back, time stands still here: bytes stay in TCP's order, and messages with them.
        self.now = self.now.max(packet.at);
        let packet = Packet { at: self.now, ..packet };
        let datagram = match self.reader.read(&packet) {
            Ok(datagram) => datagram,
            Err(why) => {
                self.unread.count(why, packet.link_type);
                return Ok(true);
            }
        };
        if let Transport::Tcp(segment) = &datagram.transport {
            let is_reused = |flow: &Flow| flow.connection.is_reused_by(datagram.from, segment);
            let begin = || Flow {
                connection: Connection::new(packet.at, &datagram, segment, WebSocketTracker::new(self.limit)),
                conversation: None,
            };
            let index = self.flows.index_of(&datagram, is_reused, begin);
            let connection = &mut self.flows.connections[index].connection;
            connection.observe(packet.at, &datagram, segment, packet.comments);
            self.collect(index);
        }
        Ok(true)
    }

    fn end(&mut self) {
        for index in 0..self.flows.connections.len() {
            self.flows.connections[index].connection.observer_mut().end(self.now);
            self.collect(index);
        }
        self.is_over = true;
    }

    fn empty_error(&self) -> CaptureError {
        CaptureError {
            name: self.name.clone(),
            problem: match self.began {
                None => Problem::NoPacket,
                Some(_) => Problem::NoWebSocketMessage {
                    connections: self.flows.connections.len(),
                    conversations: self.conversations.len(),
                    unread: self.unread.sentences().collect(),
                },
            },
        }
    }

    /// Collects the events of a flow.
    fn collect(&mut self, index: usize) {
        let flow = &mut self.flows.connections[index];
        let (client, server) = flow.connection.ends();
        for news in flow.connection.observer_mut().drain_events() {
            if let TrackerEvent::Opened {
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
                    sent: DirectionStats::default(),
                    received: DirectionStats::default(),
                });
                continue;
            }
            let Some(connection) = flow.conversation else { continue };
            let conversation = &mut self.conversations[connection];
            match news {
                TrackerEvent::Opened { .. } => {}
                TrackerEvent::Message(direction, at, message) => {
                    let stats = conversation.direction_stats_mut(direction);
                    stats.messages += 1;
                    stats.frame_payload += message.encoded_bytes;
                    let began = self.began.unwrap_or(at);
                    self.ready.push_back(Message {
                        direction,
                        at: Some(at.saturating_since(began)),
                        kind: message.kind,
                        connection: u32::try_from(connection).unwrap_or(u32::MAX),
                        payload: message.payload.into(),
                    });
                }
                TrackerEvent::Lost(direction) => conversation.direction_stats_mut(direction).lost += 1,
                TrackerEvent::Ended(direction, ended) => {
                    conversation.direction_stats_mut(direction).ended = Some(ended);
                }
            }
        }
    }
}

impl Conversation {
    fn direction_stats_mut(&mut self, direction: Direction) -> &mut DirectionStats {
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
                self.has_message = true;
                return Some(Ok(message));
            }
            if self.is_over {
                return None;
            }
            match self.step() {
                Ok(true) => {}
                Ok(false) => {
                    self.end();
                    if !self.has_message && self.ready.is_empty() {
                        return Some(Err(self.empty_error()));
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

/// Both ends of a flow, the lesser first, so that both directions have the same key.
/// A TCP connection.
#[derive(Debug)]
struct Flow {
    connection: Connection<WebSocketTracker>,
    /// Its index among the conversations, once its handshake is complete.
    conversation: Option<usize>,
}
