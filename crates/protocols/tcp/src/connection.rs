//! A connection: the state machine of RFC 9293 section 3.3.2, and its interface for programs and timers.
//!
//! `handshake` opens it, `input` handles segments that arrive, and `output` makes those that leave.

mod handshake;
mod input;
mod output;

use super::config::Config;
use super::deadline::earlier;
use super::receiver::Receiver;
use super::segment::Segment;
use super::sender::{Counters, Sender};
use super::sequence_space::SequenceSpace;
use bytes::Bytes;
use handshake::Handshake;
use lastmile_units::Instant;
use std::io;
use std::net::SocketAddrV4;

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    local: SocketAddrV4,
    remote: SocketAddrV4,
    numbering: SequenceSpace,
    state: State,
    error: Option<io::ErrorKind>,
    /// A RST is to leave, and closes this end.
    reset_due: bool,
    /// The RST that answers a segment that does not belong to this connection.
    refusal: Option<Segment>,
    fin: Option<CloseOrder>,
    /// The program has closed it: nobody will read data that arrives.
    released: bool,
    /// When a closed end stops waiting for the other's FIN.
    fin_awaited_until: Option<Instant>,
    counters: Counters,
}

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// That many bytes.
    Bytes(usize),
    /// Nothing yet.
    Empty,
    /// The end of the stream.
    End,
}

/// Whose FIN left first, as seen by this end when its own left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CloseOrder {
    /// This end's: it enters TIME-WAIT.
    Own,
    /// The other end's: this one is closed once its own FIN is acknowledged.
    Others,
}

#[derive(Debug)]
enum State {
    /// A SYN was sent (SYN-SENT), or a SYN-ACK (SYN-RECEIVED, with the receiving half known).
    Handshake(Handshake),
    /// ESTABLISHED to LAST-ACK: the two halves determine which.
    Open {
        sender: Box<Sender>,
        receiver: Box<Receiver>,
    },
    /// TIME-WAIT.
    TimeWait {
        receiver: Box<Receiver>,
        next: u64,
        ends: Instant,
    },
    /// CLOSED, with what the program has not read yet.
    Closed { unread: Option<Box<Receiver>> },
}

impl Connection {
    /// Opens actively: a SYN is due at once. `initial` is the initial sequence number.
    pub fn connect(config: Config, local: SocketAddrV4, remote: SocketAddrV4, initial: u32, now: Instant) -> Self {
        Self::new(config, local, remote, initial, Handshake::new(now, None, None))
    }

    /// Answers a SYN: a SYN-ACK is due at once.
    pub fn accept(config: Config, local: SocketAddrV4, initial: u32, syn: &Segment, now: Instant) -> Self {
        let receiver = Receiver::new(&config, syn, now, Self::shift(&config));
        let peer = Self::peer(&config, syn);
        let handshake = Handshake::new(now, Some(Box::new(receiver)), Some(peer));
        Self::new(config, local, syn.source, initial, handshake)
    }

    fn new(config: Config, local: SocketAddrV4, remote: SocketAddrV4, initial: u32, handshake: Handshake) -> Self {
        let (numbering, state) = (SequenceSpace::new(initial), State::Handshake(handshake));
        // RFC 791 section 3.2: every network carries 68.
        assert!(
            config.mtu >= 68,
            "an MTU of {} leaves no room for data: at least 68",
            config.mtu
        );
        Self {
            config,
            local,
            remote,
            numbering,
            state,
            error: None,
            reset_due: false,
            refusal: None,
            fin: None,
            released: false,
            fin_awaited_until: None,
            counters: Counters::default(),
        }
    }

    /// This end's address.
    pub const fn local(&self) -> SocketAddrV4 {
        self.local
    }

    /// The other end's address.
    pub const fn remote(&self) -> SocketAddrV4 {
        self.remote
    }

    /// Whether the handshake is done and the connection has not ended.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    /// Whether both ends are done, and this one waits for segments that were delayed.
    pub const fn is_in_time_wait(&self) -> bool {
        matches!(self.state, State::TimeWait { .. })
    }

    /// Whether this connection has ended for good.
    pub const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed { .. })
    }

    /// Why it ended prematurely.
    pub const fn error(&self) -> Option<io::ErrorKind> {
        self.error
    }

    /// What this end has done so far.
    pub fn counters(&self) -> Counters {
        let mut counters = self.counters;
        if let State::Open { sender, .. } = &self.state {
            counters += sender.counters;
        }
        counters
    }

    /// Whether a read would return something, including the end or an error.
    pub fn is_readable(&self) -> bool {
        match &self.state {
            State::Open { receiver, .. } | State::TimeWait { receiver, .. } => {
                receiver.readable() > 0 || receiver.is_finished()
            }
            State::Closed { .. } => true,
            State::Handshake(_) => false,
        }
    }

    /// Whether something arrived that the program has not read.
    pub fn has_unread(&self) -> bool {
        match &self.state {
            State::Open { receiver, .. } | State::TimeWait { receiver, .. } => receiver.readable() > 0,
            State::Closed { unread } => unread.as_ref().is_some_and(|receiver| receiver.readable() > 0),
            State::Handshake(_) => false,
        }
    }

    /// Whether a waiting writer should be woken: there is enough room, or a write would fail.
    pub fn is_writable(&self) -> bool {
        match &self.state {
            State::Open { sender, .. } => sender.has_room() || sender.is_finishing(),
            State::Closed { .. } | State::TimeWait { .. } => true,
            State::Handshake(_) => false,
        }
    }

    /// Moves arrived data into `to`.
    ///
    /// # Errors
    /// `ConnectionReset`, `ConnectionRefused` or `TimedOut`, once all arrived data is read.
    pub fn read(&mut self, now: Instant, to: &mut [u8]) -> io::Result<Read> {
        let receiver = match &mut self.state {
            State::Open { receiver, .. } | State::TimeWait { receiver, .. } => receiver,
            State::Closed { unread: Some(receiver) } if receiver.readable() > 0 => receiver,
            State::Closed { .. } => return self.error.map_or(Ok(Read::End), |error| Err(error.into())),
            State::Handshake(_) => return Ok(Read::Empty),
        };
        Ok(match receiver.read(now, to) {
            0 if receiver.is_finished() => Read::End,
            0 => Read::Empty,
            read => Read::Bytes(read),
        })
    }

    /// Accepts as much of `bytes` as there is room for; 0 where there is none now.
    ///
    /// # Errors
    /// As [`Connection::read`], `NotConnected` before the handshake is done, `BrokenPipe` after [`Connection::shutdown`].
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Open { sender, .. } if !sender.is_finishing() => {
                let taken = bytes.len().min(sender.room() as usize);
                sender.write(Bytes::copy_from_slice(&bytes[..taken]));
                Ok(taken)
            }
            State::Handshake(_) => Err(io::ErrorKind::NotConnected.into()),
            _ => Err(self.error.unwrap_or(io::ErrorKind::BrokenPipe).into()),
        }
    }

    /// Ends this end's stream: a FIN follows the written data. Before the handshake is complete, aborts the connection.
    pub fn shutdown(&mut self) {
        match &mut self.state {
            State::Open { sender, .. } => sender.finish(),
            State::Handshake(_) => self.abort(),
            State::TimeWait { .. } | State::Closed { .. } => {}
        }
    }

    /// Closes the connection, as `close` does: written data is still delivered, unless unread data has arrived or arrives from
    /// now on; then the connection is reset (RFC 9293 section 3.6.1, RFC 2525 section 2.17).
    pub fn close(&mut self) {
        self.released = true;
        if self.has_unread() {
            self.abort();
        } else {
            self.shutdown();
        }
    }

    /// Aborts the connection: a RST is due where the other end knows of it. An end in TIME-WAIT stays there.
    pub fn abort(&mut self) {
        match &self.state {
            State::Open { .. } | State::Handshake(Handshake { receiver: Some(_), .. }) => self.reset_due = true,
            State::Handshake(_) => self.end(Some(io::ErrorKind::ConnectionAborted)),
            State::TimeWait { .. } | State::Closed { .. } => {}
        }
    }

    fn end(&mut self, error: Option<io::ErrorKind>) {
        self.counters = self.counters();
        self.error = self.error.or(error);
        let ended = std::mem::replace(&mut self.state, State::Closed { unread: None });
        if let State::Open { receiver, .. } | State::TimeWait { receiver, .. } = ended {
            self.state = State::Closed { unread: Some(receiver) };
        }
    }

    /// Does what is due at `now`.
    pub fn on_timer(&mut self, now: Instant) {
        match &mut self.state {
            State::Handshake(handshake) => {
                if handshake.resend_at <= now && !handshake.due {
                    if handshake.has_exhausted_retries(&self.config) {
                        return self.end(Some(io::ErrorKind::TimedOut));
                    }
                    handshake.repeated += 1;
                    handshake.due = true;
                }
            }
            State::Open { sender, .. } => {
                if self.fin_awaited_until.is_some_and(|at| at <= now) {
                    self.end(None);
                } else if !sender.on_timer(now) {
                    self.end(Some(io::ErrorKind::TimedOut));
                }
            }
            State::TimeWait { ends, .. } => {
                if *ends <= now {
                    self.end(None);
                }
            }
            State::Closed { .. } => {}
        }
    }

    /// When [`Connection::on_timer`] or [`Connection::next_transmit`] has something to do without an arrival.
    pub fn next_deadline(&self) -> Option<Instant> {
        match &self.state {
            State::Handshake(handshake) => Some(handshake.resend_at),
            State::Open { sender, receiver } => {
                let of_halves = earlier(sender.next_deadline(), receiver.acknowledgement.next_deadline());
                earlier(of_halves, self.fin_awaited_until)
            }
            State::TimeWait { receiver, ends, .. } => earlier(receiver.acknowledgement.next_deadline(), Some(*ends)),
            State::Closed { .. } => None,
        }
    }
}
