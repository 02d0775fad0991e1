//! Who is joined with whom, and what happens to a segment on its way? Hosts' sockets, links, and what is captured of them.

use super::agenda::{Agenda, Due};
use super::socket::{Socket, SocketId};
use crate::capture::{Capture, dropped_comment};
use crate::tcp::{Config, Connection, Counters as TcpCounters, Flags, Segment};
use crate::world::{LinkId, address_of, host_number};
use lastmile_link::{Counters, DirectionSpec, DropCause, Event, Frame, Link, Medium, Station};
use lastmile_units::{Instant, Rng, Seed};
use rand_core::Rng as _;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use std::task::Waker;

pub(super) struct Network {
    seed: Seed,
    initial_sequence_numbers: Rng,
    hosts: Vec<HostState>,
    media: Vec<MediumState>,
    /// Which medium carries from one host to another.
    routes: BTreeMap<(usize, usize), usize>,
    sockets: Vec<Option<Box<Socket>>>,
    /// By local and remote address; those that are closed are not in it.
    by_address: BTreeMap<(SocketAddrV4, SocketAddrV4), SocketId>,
    delivered: Vec<Segment>,
    capture_error: Option<io::Error>,
}

struct HostState {
    tcp: Config,
    next_port: u16,
    listeners: BTreeMap<u16, ListenerState>,
    /// Of connections that are gone.
    counters: TcpCounters,
    tap: Option<Tap>,
}

#[derive(Default)]
struct ListenerState {
    established: VecDeque<SocketId>,
    waker: Option<Waker>,
}

/// Where packets are written; the two directions of a link may share one.
type Tap = Rc<RefCell<Capture<Box<dyn Write>>>>;

struct MediumState {
    link: Link<Segment>,
    /// Where what it drops is written.
    drops: Option<Tap>,
    /// The earliest entry on the agenda for it.
    armed: Option<Instant>,
}

/// The first port that [`Network::connect`] hands out, as Linux's `ip_local_port_range`.
const FIRST_PORT: u16 = 32_768;

impl Network {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            seed,
            initial_sequence_numbers: seed.derive("initial sequence numbers").rng(),
            hosts: Vec::new(),
            media: Vec::new(),
            routes: BTreeMap::new(),
            sockets: Vec::new(),
            by_address: BTreeMap::new(),
            delivered: Vec::new(),
            capture_error: None,
        }
    }

    pub(super) fn add_host(&mut self, tcp: Config) -> usize {
        let (listeners, counters) = (BTreeMap::new(), TcpCounters::default());
        self.hosts.push(HostState {
            tcp,
            next_port: FIRST_PORT,
            listeners,
            counters,
            tap: None,
        });
        self.hosts.len() - 1
    }

    pub(super) fn add_link(
        &mut self,
        down: &DirectionSpec,
        up: &DirectionSpec,
        near: &[usize],
        far: &[usize],
    ) -> LinkId {
        let seed = self.seed.derive("link").derive_index(self.media.len() as u64);
        let id = LinkId {
            down: self.media.len(),
            up: self.media.len() + 1,
        };
        for (direction, name) in [(down, "down"), (up, "up")] {
            self.media.push(MediumState {
                link: Link::new(direction, seed.derive(name)),
                drops: None,
                armed: None,
            });
        }
        for &near in near {
            for &far in far {
                self.routes.insert((far, near), id.down);
                self.routes.insert((near, far), id.up);
            }
        }
        id
    }

    pub(super) fn link_counters(&self, id: LinkId) -> (Counters, Counters) {
        (self.media[id.down].link.counters(), self.media[id.up].link.counters())
    }

    pub(super) fn add_tap(&mut self, host: usize, to: Box<dyn Write>) -> io::Result<()> {
        self.hosts[host].tap = Some(Rc::new(RefCell::new(Capture::new(to)?)));
        Ok(())
    }

    pub(super) fn add_drop_tap(&mut self, link: LinkId, to: Box<dyn Write>) -> io::Result<()> {
        let tap = Rc::new(RefCell::new(Capture::new(to)?));
        self.media[link.down].drops = Some(Rc::clone(&tap));
        self.media[link.up].drops = Some(tap);
        Ok(())
    }

    pub(super) fn take_capture_error(&mut self) -> Option<io::Error> {
        self.capture_error.take()
    }

    fn host_at(&self, address: Ipv4Addr) -> Option<usize> {
        host_number(address).filter(|host| *host < self.hosts.len())
    }

    pub(super) fn tcp_counters(&self, host: usize) -> TcpCounters {
        let address = address_of(host);
        let mut counters = self.hosts[host].counters;
        for socket in self.sockets.iter().flatten() {
            if *socket.connection.local().ip() == address {
                counters += socket.connection.counters();
            }
        }
        counters
    }

    // Sockets, as programs see them.

    pub(super) fn connect(
        &mut self,
        host: usize,
        to: SocketAddrV4,
        now: Instant,
        agenda: &mut Agenda,
    ) -> io::Result<SocketId> {
        let far = self
            .host_at(*to.ip())
            .filter(|far| self.routes.contains_key(&(host, *far)));
        if far.is_none() {
            return Err(io::ErrorKind::NetworkUnreachable.into());
        }
        let local = self.free_address(host, to)?;
        let initial = self.initial_sequence_numbers.next_u32();
        let connection = Connection::connect(self.hosts[host].tcp.clone(), local, to, initial, now);
        Ok(self.add_socket(connection, None, now, agenda))
    }

    fn free_address(&mut self, host: usize, to: SocketAddrV4) -> io::Result<SocketAddrV4> {
        for _ in FIRST_PORT..u16::MAX {
            let state = &mut self.hosts[host];
            let port = state.next_port;
            state.next_port = if port == u16::MAX { FIRST_PORT } else { port + 1 };
            let local = SocketAddrV4::new(address_of(host), port);
            if !self.by_address.contains_key(&(local, to)) {
                return Ok(local);
            }
        }
        Err(io::ErrorKind::AddrNotAvailable.into())
    }

    fn add_socket(
        &mut self,
        connection: Connection,
        accepted_at: Option<u16>,
        now: Instant,
        agenda: &mut Agenda,
    ) -> SocketId {
        let id = SocketId::new(self.sockets.len());
        self.by_address.insert((connection.local(), connection.remote()), id);
        self.sockets.push(Some(Box::new(Socket::new(connection, accepted_at))));
        self.flush(id, now, agenda);
        id
    }

    pub(super) fn listen(&mut self, host: usize, port: u16) -> io::Result<()> {
        let listeners = &mut self.hosts[host].listeners;
        if listeners.contains_key(&port) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        listeners.insert(port, ListenerState::default());
        Ok(())
    }

    /// The listener is gone: what it has not accepted is reset.
    pub(super) fn unlisten(&mut self, host: usize, port: u16, now: Instant, agenda: &mut Agenda) {
        let listener = self.hosts[host].listeners.remove(&port);
        for id in listener.into_iter().flat_map(|listener| listener.established) {
            self.give_up(id, now, agenda);
        }
    }

    fn give_up(&mut self, id: SocketId, now: Instant, agenda: &mut Agenda) {
        let socket = self.socket(id);
        socket.orphaned = true;
        socket.connection.abort();
        self.flush(id, now, agenda);
    }

    pub(super) fn accept(&mut self, host: usize, port: u16, waker: &Waker) -> Option<SocketId> {
        let listener = self.hosts[host].listeners.get_mut(&port)?;
        let accepted = listener.established.pop_front();
        if accepted.is_none() {
            listener.waker = Some(waker.clone());
        }
        accepted
    }

    pub(super) fn connection(&mut self, id: SocketId) -> &mut Connection {
        &mut self.socket(id).connection
    }

    pub(super) fn wake_when_readable(&mut self, id: SocketId, waker: &Waker) {
        self.socket(id).reader = Some(waker.clone());
    }

    pub(super) fn wake_when_writable(&mut self, id: SocketId, waker: &Waker) {
        self.socket(id).writer = Some(waker.clone());
    }

    fn socket(&mut self, id: SocketId) -> &mut Socket {
        self.sockets[id.index()]
            .as_mut()
            .expect("a socket lives as long as a program holds it")
    }

    /// The program lets go.
    pub(super) fn release(&mut self, id: SocketId, now: Instant, agenda: &mut Agenda) {
        let socket = self.socket(id);
        socket.orphaned = true;
        socket.connection.close();
        self.flush(id, now, agenda);
    }

    // Segments on their way.

    /// Sends what a connection has to send, wakes who waits for it, and notes when it wants to be called.
    pub(super) fn flush(&mut self, id: SocketId, now: Instant, agenda: &mut Agenda) {
        while let Some(segment) = self.sockets[id.index()]
            .as_mut()
            .and_then(|socket| socket.connection.next_transmit(now))
        {
            self.send(segment, now, agenda);
        }
        let Some(socket) = &mut self.sockets[id.index()] else {
            return;
        };
        if let Some(deadline) = socket.deadline_to_arm() {
            agenda.put(deadline, Due::Socket(id));
        }
        socket.wake_who_waits();
        if let Some(port) = socket.accepted_at.filter(|_| socket.connection.is_open()) {
            socket.accepted_at = None;
            let local = socket.connection.local();
            if !self.offer_to_listener(id, *local.ip(), port) {
                self.give_up(id, now, agenda);
            }
        } else if socket.connection.is_closed() {
            let (pair, gone) = (
                Self::pair(&socket.connection),
                socket.orphaned || socket.accepted_at.is_some(),
            );
            // A closed connection is known to nobody but the program that still holds it; its port may be used again.
            if self.by_address.get(&pair) == Some(&id) {
                self.by_address.remove(&pair);
            }
            if gone {
                self.remove(id);
            }
        }
    }

    const fn pair(connection: &Connection) -> (SocketAddrV4, SocketAddrV4) {
        (connection.local(), connection.remote())
    }

    /// False where nobody listens any more.
    fn offer_to_listener(&mut self, id: SocketId, address: Ipv4Addr, port: u16) -> bool {
        let host = self.host_at(address);
        let Some(listener) = host.and_then(|host| self.hosts[host].listeners.get_mut(&port)) else {
            return false;
        };
        listener.established.push_back(id);
        if let Some(waker) = listener.waker.take() {
            waker.wake();
        }
        true
    }

    fn remove(&mut self, id: SocketId) {
        let Some(socket) = self.sockets[id.index()].take() else {
            return;
        };
        if let Some(host) = self.host_at(*socket.connection.local().ip()) {
            self.hosts[host].counters += socket.connection.counters();
        }
    }

    fn send(&mut self, segment: Segment, now: Instant, agenda: &mut Agenda) {
        let (Some(from), Some(to)) = (
            self.host_at(*segment.source.ip()),
            self.host_at(*segment.destination.ip()),
        ) else {
            return;
        };
        let Some(&medium) = self.routes.get(&(from, to)) else {
            self.tap(from, now, &segment, Some("dropped: no link leads there"));
            return;
        };
        let tapped = self.hosts[from].tap.is_some().then(|| segment.clone());
        let frame = Frame {
            from: Station(from as u16),
            to: Station(to as u16),
            size: segment.size(),
            payload: segment,
        };
        // A frame that finds the queue full is counted by the link, and found missing by TCP.
        let rejected = self.media[medium].link.offer(now, frame).err();
        if let Some(segment) = tapped {
            let comment = rejected.as_ref().map(|rejected| dropped_comment(rejected.cause));
            self.tap(from, now, &segment, comment.as_deref());
        }
        if let Some(rejected) = rejected {
            self.tap_drop(medium, now, &rejected.frame.payload, rejected.cause);
        }
        self.arm(medium, agenda);
    }

    fn arm(&mut self, medium: usize, agenda: &mut Agenda) {
        let state = &mut self.media[medium];
        if let Some(at) = state.link.next_at()
            && state.armed.is_none_or(|armed| at < armed)
        {
            state.armed = Some(at);
            agenda.put(at, Due::Medium(medium));
        }
    }

    pub(super) fn on_medium(&mut self, medium: usize, now: Instant, agenda: &mut Agenda) {
        let state = &mut self.media[medium];
        if state.armed != Some(now) {
            return;
        }
        state.armed = None;
        let mut delivered = std::mem::take(&mut self.delivered);
        let mut dropped = Vec::new();
        state.link.poll(now, &mut |event| match event {
            Event::Delivered { frame, .. } => delivered.push(frame.payload),
            Event::Dropped { at, frame, cause } => dropped.push((at, frame.payload, cause)),
        });
        for (at, segment, cause) in dropped {
            self.tap_drop(medium, at, &segment, cause);
        }
        self.arm(medium, agenda);
        for segment in delivered.drain(..) {
            self.on_segment(&segment, now, agenda);
        }
        self.delivered = delivered;
    }

    fn on_segment(&mut self, segment: &Segment, now: Instant, agenda: &mut Agenda) {
        let Some(host) = self.host_at(*segment.destination.ip()) else {
            return;
        };
        self.tap(host, now, segment, None);
        let pair = (segment.destination, segment.source);
        let mut known = self.by_address.get(&pair).copied();
        if let Some(id) = known
            && self.socket(id).connection.gives_way_to(segment)
        {
            self.by_address.remove(&pair);
            known = None;
        }
        if let Some(id) = known {
            if let Some(socket) = &mut self.sockets[id.index()] {
                socket.connection.on_segment(now, segment);
            }
            self.flush(id, now, agenda);
            return;
        }
        let port = segment.destination.port();
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if opens && self.hosts[host].listeners.contains_key(&port) {
            let initial = self.initial_sequence_numbers.next_u32();
            let tcp = self.hosts[host].tcp.clone();
            let connection = Connection::accept(tcp, segment.destination, initial, segment, now);
            self.add_socket(connection, Some(port), now, agenda);
        } else if let Some(reset) = Connection::refuse(segment) {
            self.send(reset, now, agenda);
        }
    }

    pub(super) fn on_socket_deadline(&mut self, id: SocketId, now: Instant, agenda: &mut Agenda) {
        let Some(socket) = &mut self.sockets[id.index()] else {
            return;
        };
        if socket.is_armed_for(now) {
            socket.on_deadline(now);
            self.flush(id, now, agenda);
        }
    }

    fn tap(&mut self, host: usize, now: Instant, segment: &Segment, comment: Option<&str>) {
        let tap = &mut self.hosts[host].tap;
        write_to(tap, &mut self.capture_error, now, segment, comment);
    }

    fn tap_drop(&mut self, medium: usize, at: Instant, segment: &Segment, cause: DropCause) {
        let tap = &mut self.media[medium].drops;
        if tap.is_some() {
            write_to(tap, &mut self.capture_error, at, segment, Some(&dropped_comment(cause)));
        }
    }
}

/// Writes a segment, where it is captured; what cannot be written ends the capture.
fn write_to(
    tap: &mut Option<Tap>,
    capture_error: &mut Option<io::Error>,
    at: Instant,
    segment: &Segment,
    comment: Option<&str>,
) {
    let Some(capture) = tap else { return };
    let written = capture.borrow_mut().segment(at, segment, comment);
    if let Err(error) = written {
        *tap = None;
        capture_error.get_or_insert(error);
    }
}
