//! The loop of one thread: it asks the client what to do, does it, and sleeps until the next event or deadline.

use super::secure::Secure;
use super::socket::{Outcome, Socket};
use super::{Clock, Generator};
use crate::client::{Action, Client, ConnectionId};
use crate::error_cause::{ErrorCause, RequestFailure};
use crate::live::LiveFigures;
use crate::measurement::Ending;
use crate::tls::ClientTls;
use crate::tls_reason;
use lastmile_units::Instant;
use lastmile_world::emu::TcpInfo;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One thread's sockets.
pub(super) struct EventLoop<'a> {
    server: SocketAddr,
    clock: Clock,
    interrupt: &'a AtomicBool,
    tls: Option<&'a ClientTls>,
    live: Option<&'a LiveFigures>,
    /// When recent figures are handed over.
    live_at: Instant,
    epoll: OwnedFd,
    /// By the index of their connection.
    slots: Vec<Option<Slot>>,
    buffer: Vec<u8>,
    /// What was received over TLS.
    content: Vec<u8>,
}

/// A connection of the client.
struct Slot {
    generation: u32,
    socket: Socket,
    tls: Option<Secure>,
}

/// What is read at once: our own choice.
const BUFFER: usize = 64 * 1024;
/// Events that are read at once: our own choice.
const EVENTS: usize = 256;
/// The longest sleep, so that an interrupt is seen. Our own choice.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// The part of a sleep's end that is spent awake, as a kernel wakes a thread this much too late. Our own choice, by measuring.
const SPIN: Duration = Duration::from_micros(60);
/// What fits into one segment over any path (RFC 9293 section 3.7.1).
const SEGMENT_MIN: usize = 536;
/// How often recent figures are handed over. Our own choice.
const LIVE_INTERVAL: Duration = Duration::from_millis(200);
/// Sleeps shorter than this are not worth the system call.
const SLEEP_MIN: Duration = Duration::from_micros(5);

impl<'a> EventLoop<'a> {
    pub(super) fn new(generator: &'a Generator, tls: Option<&'a ClientTls>, clock: Clock) -> io::Result<Self> {
        // Linux adds 50 us to each sleep unless it is told not to (prctl(2), PR_SET_TIMERSLACK).
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        Ok(Self {
            server: generator.server,
            clock,
            interrupt: &generator.interrupt,
            tls,
            live: generator.live.as_deref(),
            live_at: Instant::START,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            slots: Vec::new(),
            buffer: vec![0; BUFFER],
            content: Vec::new(),
        })
    }

    /// Drives the client to its end.
    pub(super) fn run(&mut self, client: &mut Client) -> io::Result<()> {
        let mut events: Vec<epoll::Event> = Vec::with_capacity(EVENTS);
        loop {
            if self.interrupt.load(Ordering::Relaxed) {
                client.stop(Ending::Interrupted, self.clock.now());
            }
            let now = self.clock.now();
            client.advance(now);
            self.show(client, now);
            self.act(client)?;
            if client.is_done() {
                return Ok(());
            }
            events.clear();
            self.wait(client.next_deadline(), &mut events)?;
            for event in &events {
                self.on_event(client, *event)?;
            }
        }
    }

    /// Does all that the client wants.
    fn act(&mut self, client: &mut Client) -> io::Result<()> {
        while let Some(action) = client.next_action() {
            match action {
                Action::Connect(id) => self.connect(client, id)?,
                Action::Write(id) => self.write(client, id),
                Action::Close(id) => {
                    let slot = self.slots.get_mut(id.index as usize);
                    let is_current =
                        |slot: &&mut Option<Slot>| matches!(slot, Some(slot) if slot.generation == id.generation);
                    if let Some(mut slot) = slot.filter(is_current).and_then(Option::take) {
                        count_tcp(client, &slot.socket);
                        if let Some(tls) = &mut slot.tls {
                            tls.close(&slot.socket);
                        }
                        slot.socket.close();
                    }
                }
            }
        }
        Ok(())
    }

    /// Hands recent figures over, where somebody looks and it is time.
    fn show(&mut self, client: &mut Client, now: Instant) {
        if let Some(live) = self.live
            && now >= self.live_at
        {
            live.add(&client.take_recent());
            self.live_at = now + LIVE_INTERVAL;
        }
    }

    fn connect(&mut self, client: &mut Client, id: ConnectionId) -> io::Result<()> {
        client.on_connecting(id, self.clock.now());
        // A request of one segment finds nothing on its way, as no request is sent before the last is answered.
        let no_delay = self.tls.is_some() || client.has_streams() || client.request_size() > SEGMENT_MIN;
        let begun = Socket::new(self.server, no_delay).and_then(|socket| socket.connect(self.server).map(|()| socket));
        match begun {
            Ok(socket) => {
                let flags =
                    epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
                epoll::add(&self.epoll, &socket, epoll::EventData::new_u64(token(id)), flags)?;
                let index = id.index as usize;
                if self.slots.len() <= index {
                    self.slots.resize_with(index + 1, || None);
                }
                let tls = self.tls.map(Secure::new).transpose();
                self.slots[index] = Some(Slot {
                    generation: id.generation,
                    socket,
                    tls: tls.map_err(io::Error::other)?,
                });
            }
            Err(error) => client.on_failed(id, ErrorCause::of_io(&error), self.clock.now()),
        }
        Ok(())
    }

    /// Writes what the client wants written, and what TLS does, as far as there is room.
    fn write(&mut self, client: &mut Client, id: ConnectionId) {
        let clock = self.clock;
        let Some(Slot { socket, tls, .. }) = self.slot(id) else {
            return;
        };
        let written = match tls {
            None => write_clear(client, id, socket, clock),
            Some(tls) => write_secure(client, id, socket, tls, clock),
        };
        match written {
            // What the server said before it closed may still be there.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                client.on_failed(id, ErrorCause::of_io(&error), clock.now());
            }
            _ => {}
        }
    }

    fn on_event(&mut self, client: &mut Client, event: epoll::Event) -> io::Result<()> {
        let id = connection(event.data.u64());
        let flags = event.flags;
        let is_broken = flags.intersects(epoll::EventFlags::ERR | epoll::EventFlags::HUP);
        let Some(slot) = self.slot(id) else { return Ok(()) };
        if client.is_connecting(id) && (is_broken || flags.contains(epoll::EventFlags::OUT)) {
            // A socket without an error can be written to because its handshake is complete.
            match is_broken.then(|| slot.socket.take_error()).flatten() {
                Some(error) => client.on_failed(id, ErrorCause::of_io(&error), self.clock.now()),
                None => client.on_connected(id, self.clock.now()),
            }
            if self.tls.is_some() {
                self.write(client, id);
            }
            self.act(client)?;
        } else if flags.contains(epoll::EventFlags::OUT) {
            self.write(client, id);
        }
        let has_ended = is_broken || flags.contains(epoll::EventFlags::RDHUP);
        if has_ended || flags.contains(epoll::EventFlags::IN) {
            self.read(client, id, has_ended)?;
        }
        Ok(())
    }

    /// Reads until nothing is left, or the client has closed the connection; where the server `has_ended` its side, until that end.
    fn read(&mut self, client: &mut Client, id: ConnectionId, has_ended: bool) -> io::Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        while let Some(slot) = self.slot(id) {
            let mut is_empty = false;
            match slot.socket.receive(&mut buffer) {
                Ok(Outcome::WouldBlock) => break,
                Ok(Outcome::Bytes(0)) => client.on_end(id, self.clock.now()),
                Ok(Outcome::Bytes(received)) => {
                    if slot.tls.is_some() {
                        self.receive_secure(client, id, &buffer[..received]);
                    } else {
                        client.on_received(id, &buffer[..received], self.clock.now());
                    }
                    // A short read has emptied the socket; a later arrival is another event.
                    is_empty = received < buffer.len() && !has_ended;
                }
                Err(error) => client.on_failed(id, ErrorCause::of_io(&error), self.clock.now()),
            }
            self.act(client)?;
            if is_empty {
                break;
            }
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Takes bytes of TLS: the client gets their content, and the server what TLS answers.
    fn receive_secure(&mut self, client: &mut Client, id: ConnectionId, bytes: &[u8]) {
        let clock = self.clock;
        let mut content = std::mem::take(&mut self.content);
        content.clear();
        if let Some(Slot {
            socket, tls: Some(tls), ..
        }) = self.slot(id)
        {
            let arrived = tls.receive(bytes, &mut content);
            // What the server said before it closed may still be there.
            let _ = tls.flush(socket);
            if arrived == Ok(true) {
                if tls.has_protocol() {
                    client.on_secured(id, clock.now());
                } else {
                    let why = RequestFailure::new(ErrorCause::Tls, tls_reason::NO_PROTOCOL);
                    client.on_failed(id, why, clock.now());
                }
            }
            if !content.is_empty() {
                client.on_received(id, &content, clock.now());
            }
            if let Err(error) = arrived {
                let why = RequestFailure::new(ErrorCause::Tls, tls_reason::tls_reason(&error));
                client.on_failed(id, why, clock.now());
            }
        }
        self.content = content;
    }

    /// Waits for events, until the deadline.
    fn wait(&self, deadline: Option<Instant>, events: &mut Vec<epoll::Event>) -> io::Result<()> {
        let left = deadline.map_or(SLEEP_MAX, |deadline| deadline.saturating_since(self.clock.now()));
        let sleep = match left.checked_sub(SPIN) {
            Some(sleep) if sleep >= SLEEP_MIN => sleep.min(SLEEP_MAX),
            // The deadline is near: look for events, and return at once.
            _ => Duration::ZERO,
        };
        let timeout = |duration| Timespec::try_from(duration).map_err(io::Error::other);
        if sleep > Duration::ZERO {
            // An epoll instance can itself be polled: `ppoll` knows nanoseconds on every kernel, `epoll_wait` only since Linux 5.11.
            let mut readiness = [PollFd::new(&self.epoll, PollFlags::IN)];
            ignore_interrupt(poll(&mut readiness, Some(&timeout(sleep)?)))?;
        }
        ignore_interrupt(epoll::wait(
            &self.epoll,
            spare_capacity(events),
            Some(&timeout(Duration::ZERO)?),
        ))
    }

    fn slot(&mut self, id: ConnectionId) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(id.index as usize)?.as_mut()?;
        (slot.generation == id.generation).then_some(slot)
    }
}

fn ignore_interrupt(result: rustix::io::Result<usize>) -> io::Result<()> {
    match result {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn write_clear(client: &mut Client, id: ConnectionId, socket: &Socket, clock: Clock) -> io::Result<()> {
    loop {
        let bytes = client.unsent(id);
        if bytes.is_empty() {
            return Ok(());
        }
        let before = clock.now();
        match socket.send(bytes)? {
            Outcome::Bytes(written) => client.on_written(id, written, before),
            Outcome::WouldBlock => return Ok(()),
        }
    }
}

fn write_secure(
    client: &mut Client,
    id: ConnectionId,
    socket: &Socket,
    tls: &mut Secure,
    clock: Clock,
) -> io::Result<()> {
    loop {
        let before = clock.now();
        let written = match client.unsent(id) {
            [] => 0,
            bytes => tls.write(bytes)?,
        };
        if written > 0 {
            client.on_written(id, written, before);
        }
        tls.flush(socket)?;
        if written == 0 {
            return Ok(());
        }
    }
}

/// Adds the kernel's counters of a connection that is about to be closed.
fn count_tcp(client: &mut Client, socket: &Socket) {
    // A connection that was never established may have none.
    if let Ok(info) = TcpInfo::read(socket.as_fd()) {
        let counts = &mut client.measurement_mut().tcp;
        counts.connections += 1;
        counts.retransmissions += u64::from(info.retransmissions);
        counts.round_trip.record(info.round_trip);
    }
}

/// A connection as epoll stores it.
fn token(id: ConnectionId) -> u64 {
    u64::from(id.generation) << 32 | u64::from(id.index)
}

fn connection(token: u64) -> ConnectionId {
    ConnectionId {
        index: token as u32,
        generation: (token >> 32) as u32,
    }
}
