//! The loop of one thread: it asks the client what to do, does it, and sleeps until the next event or deadline.

use super::Clock;
use super::socket::{Outcome, Socket};
use crate::client::{Action, Client, ConnectionId};
use crate::error_cause::ErrorCause;
use crate::measurement::Ending;
use lastmile_units::Instant;
use lastmile_world::emu::TcpInfo;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
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
    epoll: OwnedFd,
    /// By the index of their connection.
    sockets: Vec<Option<(u32, Socket)>>,
    buffer: Vec<u8>,
}

/// What is read at once: our own choice.
const BUFFER: usize = 64 * 1024;
/// Events that are read at once: our own choice.
const EVENTS: usize = 256;
/// The longest sleep, so that an interrupt is seen. Our own choice.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// The part of a sleep's end that is spent awake, as a kernel wakes a thread this much too late. Our own choice, by measuring.
const SPIN: Duration = Duration::from_micros(60);
/// Sleeps shorter than this are not worth the system call.
const SLEEP_MIN: Duration = Duration::from_micros(5);

impl<'a> EventLoop<'a> {
    pub(super) fn new(server: SocketAddr, clock: Clock, interrupt: &'a AtomicBool) -> io::Result<Self> {
        // Linux adds 50 us to each sleep unless it is told not to (prctl(2), PR_SET_TIMERSLACK).
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        Ok(Self {
            server,
            clock,
            interrupt,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            sockets: Vec::new(),
            buffer: vec![0; BUFFER],
        })
    }

    /// Drives the client to its end.
    pub(super) fn run(&mut self, client: &mut Client) -> io::Result<()> {
        let mut events: Vec<epoll::Event> = Vec::with_capacity(EVENTS);
        loop {
            if self.interrupt.load(Ordering::Relaxed) {
                client.stop(Ending::Interrupted, self.clock.now());
            }
            client.advance(self.clock.now());
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
                    let slot = self.sockets.get_mut(id.index as usize);
                    let is_current = |slot: &&mut Option<(u32, Socket)>| matches!(slot, Some((generation, _)) if *generation == id.generation);
                    if let Some((_, socket)) = slot.filter(is_current).and_then(Option::take) {
                        count_tcp(client, &socket);
                    }
                }
            }
        }
        Ok(())
    }

    fn connect(&mut self, client: &mut Client, id: ConnectionId) -> io::Result<()> {
        client.on_connecting(id, self.clock.now());
        let begun = Socket::new(self.server).and_then(|socket| socket.connect(self.server).map(|()| socket));
        match begun {
            Ok(socket) => {
                let flags =
                    epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
                epoll::add(&self.epoll, &socket, epoll::EventData::new_u64(token(id)), flags)?;
                let index = id.index as usize;
                if self.sockets.len() <= index {
                    self.sockets.resize_with(index + 1, || None);
                }
                self.sockets[index] = Some((id.generation, socket));
            }
            Err(error) => client.on_failed(id, ErrorCause::of_io(&error), self.clock.now()),
        }
        Ok(())
    }

    fn write(&mut self, client: &mut Client, id: ConnectionId) {
        let Some(socket) = self.socket(id) else { return };
        loop {
            let bytes = client.unsent(id);
            if bytes.is_empty() {
                return;
            }
            let before = self.clock.now();
            match socket.send(bytes) {
                Ok(Outcome::Bytes(written)) => client.on_written(id, written, before),
                Ok(Outcome::WouldBlock) => return,
                // What the server said before it closed may still be there.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
                Err(error) => {
                    client.on_failed(id, ErrorCause::of_io(&error), self.clock.now());
                    return;
                }
            }
        }
    }

    fn on_event(&mut self, client: &mut Client, event: epoll::Event) -> io::Result<()> {
        let id = connection(event.data.u64());
        let flags = event.flags;
        if self.socket(id).is_none() {
            return Ok(());
        }
        if client.is_connecting(id)
            && flags.intersects(epoll::EventFlags::OUT | epoll::EventFlags::ERR | epoll::EventFlags::HUP)
        {
            match self.socket(id).and_then(Socket::take_error) {
                Some(error) => client.on_failed(id, ErrorCause::of_io(&error), self.clock.now()),
                None => client.on_connected(id, self.clock.now()),
            }
            self.act(client)?;
        } else if flags.contains(epoll::EventFlags::OUT) {
            self.write(client, id);
        }
        let has_ended = flags.intersects(epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR);
        if has_ended || flags.contains(epoll::EventFlags::IN) {
            self.read(client, id, has_ended)?;
        }
        Ok(())
    }

    /// Reads until nothing is left, or the client has closed the connection; where the server `has_ended` its side, until that end.
    fn read(&mut self, client: &mut Client, id: ConnectionId, has_ended: bool) -> io::Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        while let Some(socket) = self.socket(id) {
            match socket.receive(&mut buffer) {
                Ok(Outcome::WouldBlock) => break,
                Ok(Outcome::Bytes(0)) => client.on_end(id, self.clock.now()),
                Ok(Outcome::Bytes(received)) => {
                    client.on_received(id, &buffer[..received], self.clock.now());
                    // A short read has emptied the socket; a later arrival is another event.
                    if received < buffer.len() && !has_ended {
                        self.act(client)?;
                        break;
                    }
                }
                Err(error) => client.on_failed(id, ErrorCause::of_io(&error), self.clock.now()),
            }
            self.act(client)?;
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Waits for events, until the deadline.
    fn wait(&self, deadline: Option<Instant>, events: &mut Vec<epoll::Event>) -> io::Result<()> {
        let left = deadline.map_or(SLEEP_MAX, |deadline| deadline.saturating_since(self.clock.now()));
        let sleep = match left.checked_sub(SPIN) {
            Some(sleep) if sleep >= SLEEP_MIN => sleep.min(SLEEP_MAX),
            // The deadline is near: look for events, and return at once.
            _ => Duration::ZERO,
        };
        let timeout = Timespec::try_from(sleep).map_err(io::Error::other)?;
        match epoll::wait(&self.epoll, spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn socket(&self, id: ConnectionId) -> Option<&Socket> {
        let (generation, socket) = self.sockets.get(id.index as usize)?.as_ref()?;
        (*generation == id.generation).then_some(socket)
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
