//! The network of the simulated world: its clock and its events, the sockets of hosts, and the transport of their segments.
//!
//! Media, routes and captures are the network core's business.

use super::address_table::{AddressPair, AddressTable};
use super::event_queue::{Event, EventQueue};
use super::packet::Packet;
use super::socket::{Socket, SocketId};
use crate::topology::{LinkId, MediumId, NetworkCore, RadioId, SendOutcome};
use crate::world::{address_of, host_number};
use lastmile_link::radio::{Position, RadioSpec};
use lastmile_link::{DirectionSpec, Event as LinkEvent};
use lastmile_tcp::{Config, Connection, Counters as TcpCounters, Flags, Segment};
use lastmile_units::{Instant, Rng, Seed};
use rand_core::Rng as _;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::task::Waker;

/// The network, with the time and what is to happen.
pub(super) struct SimulatedNetwork {
    pub(super) now: Instant,
    pub(super) event_queue: EventQueue,
    initial_sequence_numbers: Rng,
    pub(super) core: NetworkCore<Packet>,
    hosts: Vec<HostState>,
    /// The earliest event in the queue for each medium.
    armed: Vec<Option<Instant>>,
    /// The medium whose packets are being handled. It is armed when the answers to all of them are on their way.
    polled: Option<MediumId>,
    sockets: Vec<Option<Box<Socket>>>,
    addresses: AddressTable,
    /// A buffer for reuse.
    events: Vec<LinkEvent<Packet>>,
}

struct HostState {
    tcp: Config,
    next_port: u16,
    listeners: BTreeMap<u16, ListenerState>,
    /// The counters of connections that have ended.
    counters: TcpCounters,
    /// Segments that found a full queue of a listener.
    listen_drops: u64,
}

struct ListenerState {
    established: VecDeque<SocketId>,
    /// More connections than this in `established` are one too many.
    backlog: usize,
    waker: Option<Waker>,
}

/// The first port that [`SimulatedNetwork::connect`] hands out, as Linux's `ip_local_port_range`.
const FIRST_PORT: u16 = 32_768;

impl SimulatedNetwork {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            now: Instant::START,
            event_queue: EventQueue::default(),
            initial_sequence_numbers: seed.derive("initial sequence numbers").rng(),
            core: NetworkCore::new(seed),
            hosts: Vec::new(),
            armed: Vec::new(),
            polled: None,
            sockets: Vec::new(),
            addresses: AddressTable::default(),
            events: Vec::new(),
        }
    }

    pub(super) fn add_host(&mut self, tcp: Config, is_router: bool) -> usize {
        let (listeners, counters) = (BTreeMap::new(), TcpCounters::default());
        self.hosts.push(HostState {
            tcp,
            next_port: FIRST_PORT,
            listeners,
            counters,
            listen_drops: 0,
        });
        self.core.add_host(is_router)
    }

    pub(super) fn add_link(&mut self, directions: [&DirectionSpec; 2], near: &[usize], far: &[usize]) -> LinkId {
        let link = self.core.add_link(directions, near, far);
        self.armed.resize(self.core.media(), None);
        link
    }

    pub(super) fn add_radio(&mut self, spec: &RadioSpec, stations: &[(usize, Position)]) -> RadioId {
        let radio = self.core.add_radio(spec, stations);
        self.armed.resize(self.core.media(), None);
        radio
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

    pub(super) fn listen_drops(&self, host: usize) -> u64 {
        self.hosts[host].listen_drops
    }

    // The socket interface of programs.

    pub(super) fn connect(&mut self, host: usize, to: SocketAddrV4) -> io::Result<SocketId> {
        let far = self.host_at(*to.ip()).filter(|far| self.core.reaches(host, *far));
        if far.is_none() {
            return Err(io::ErrorKind::NetworkUnreachable.into());
        }
        let local = self.free_address(host, to)?;
        let initial = self.initial_sequence_numbers.next_u32();
        let connection = Connection::connect(self.hosts[host].tcp.clone(), local, to, initial, self.now);
        Ok(self.add_socket(connection, None))
    }

    fn free_address(&mut self, host: usize, to: SocketAddrV4) -> io::Result<SocketAddrV4> {
        for _ in FIRST_PORT..u16::MAX {
            let state = &mut self.hosts[host];
            let port = state.next_port;
            state.next_port = if port == u16::MAX { FIRST_PORT } else { port + 1 };
            let local = SocketAddrV4::new(address_of(host), port);
            if self.addresses.get(AddressPair::new(local, to)).is_none() {
                return Ok(local);
            }
        }
        Err(io::ErrorKind::AddrNotAvailable.into())
    }

    fn add_socket(&mut self, connection: Connection, accepted_at: Option<u16>) -> SocketId {
        let id = SocketId(self.sockets.len());
        self.addresses.insert(Self::pair(&connection), id);
        self.sockets.push(Some(Box::new(Socket::new(connection, accepted_at))));
        self.flush(id);
        id
    }

    pub(super) fn listen(&mut self, host: usize, port: u16, backlog: u32) -> io::Result<()> {
        let listeners = &mut self.hosts[host].listeners;
        if listeners.contains_key(&port) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let state = ListenerState {
            established: VecDeque::new(),
            backlog: backlog as usize,
            waker: None,
        };
        listeners.insert(port, state);
        Ok(())
    }

    /// Closes a listener; connections that it has not accepted are reset.
    pub(super) fn unlisten(&mut self, host: usize, port: u16) {
        let listener = self.hosts[host].listeners.remove(&port);
        for id in listener.into_iter().flat_map(|listener| listener.established) {
            self.abort(id);
        }
    }

    fn abort(&mut self, id: SocketId) {
        let socket = self.socket(id);
        socket.orphaned = true;
        socket.connection.abort();
        self.flush(id);
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
        self.sockets[id.0]
            .as_mut()
            .expect("a socket lives as long as a program holds it")
    }

    /// The program drops its handle.
    pub(super) fn release(&mut self, id: SocketId) {
        let socket = self.socket(id);
        socket.orphaned = true;
        socket.connection.close();
        self.flush(id);
    }

    // The transport of segments.

    /// Sends a connection's pending segments, wakes the programs that wait for it, and schedules its next deadline.
    pub(super) fn flush(&mut self, id: SocketId) {
        while let Some(segment) = self.sockets[id.0]
            .as_mut()
            .and_then(|socket| socket.connection.next_transmit(self.now))
        {
            self.send(segment);
        }
        let Some(socket) = &mut self.sockets[id.0] else {
            return;
        };
        if let Some(deadline) = socket.deadline_to_arm() {
            self.event_queue.put(deadline, Event::Socket(id));
        }
        socket.wake_waiters();
        if let Some(port) = socket.accepted_at.filter(|_| socket.connection.is_open()) {
            socket.accepted_at = None;
            let local = socket.connection.local();
            if !self.offer_to_listener(id, *local.ip(), port) {
                self.abort(id);
            }
        } else if socket.connection.is_closed() {
            let (pair, gone) = (
                Self::pair(&socket.connection),
                socket.orphaned || socket.accepted_at.is_some(),
            );
            // Only a program that still holds a closed connection can reach it; its port may be reused.
            self.addresses.remove(pair, id);
            if gone {
                self.remove(id);
            }
        } else if socket.connection.is_in_time_wait() {
            self.addresses.begin_time_wait(Self::pair(&socket.connection), id);
        }
    }

    fn pair(connection: &Connection) -> AddressPair {
        AddressPair::new(connection.local(), connection.remote())
    }

    /// False if the listener is gone.
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
        let Some(socket) = self.sockets[id.0].take() else {
            return;
        };
        if let Some(host) = self.host_at(*socket.connection.local().ip()) {
            self.hosts[host].counters += socket.connection.counters();
        }
    }

    /// Sends a segment from its source host.
    fn send(&mut self, segment: Segment) {
        if let Some(from) = self.host_at(*segment.source.ip()) {
            self.send_from(from, Packet::new(segment));
        }
    }

    fn send_from(&mut self, from: usize, packet: Packet) {
        let Some(to) = self.host_at(*packet.segment.destination.ip()) else {
            return;
        };
        match self.core.send(from, to, packet, self.now) {
            // The link counts a frame that a full queue drops, and TCP detects the loss.
            SendOutcome::Carried(medium) | SendOutcome::Dropped(medium, _) => self.arm(medium),
            SendOutcome::Unroutable(_) => {}
        }
    }

    fn arm(&mut self, medium: MediumId) {
        if self.polled == Some(medium) {
            return;
        }
        let armed = &mut self.armed[medium.0];
        if let Some(at) = self.core.next_at(medium)
            && armed.is_none_or(|armed| at < armed)
        {
            *armed = Some(at);
            self.event_queue.put(at, Event::Medium(medium));
        }
    }

    pub(super) fn on_medium(&mut self, medium: MediumId) {
        if self.armed[medium.0] != Some(self.now) {
            return;
        }
        self.armed[medium.0] = None;
        let mut events = std::mem::take(&mut self.events);
        self.core.poll(medium, self.now, &mut events);
        self.polled = Some(medium);
        for event in events.drain(..) {
            if let LinkEvent::Delivered { frame, .. } = event {
                self.on_packet(usize::from(frame.to.0), frame.payload);
            }
        }
        self.polled = None;
        self.events = events;
        self.arm(medium);
    }

    /// Handles a packet that has arrived at a host: the host is its destination, or forwards it.
    fn on_packet(&mut self, host: usize, packet: Packet) {
        self.core.tap(host, self.now, &packet, None);
        if *packet.segment.destination.ip() == address_of(host) {
            self.on_segment(host, &packet.segment);
        } else if let Some(packet) = packet.forwarded() {
            // At once: the forwarding time of a kernel is not modelled.
            self.send_from(host, packet);
        }
    }

    fn on_segment(&mut self, host: usize, segment: &Segment) {
        let pair = AddressPair::new(segment.destination, segment.source);
        let mut known = self.addresses.get(pair);
        if let Some(id) = known
            && self.socket(id).connection.may_be_replaced_by(segment)
        {
            self.addresses.remove(pair, id);
            known = None;
        }
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        let port = segment.destination.port();
        // Linux drops the end of a handshake, too, and sends its SYN-ACK again later (tcp(7), tcp_abort_on_overflow).
        let would_be_queued = match known {
            Some(id) => {
                let ends_handshake = !segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::RST);
                ends_handshake && self.socket(id).accepted_at.is_some()
            }
            None => opens,
        };
        if would_be_queued && self.is_full(host, port) {
            self.hosts[host].listen_drops += 1;
            return;
        }
        if let Some(id) = known {
            if let Some(socket) = &mut self.sockets[id.0] {
                socket.connection.on_segment(self.now, segment);
            }
            self.flush(id);
            return;
        }
        if opens && self.hosts[host].listeners.contains_key(&port) {
            let initial = self.initial_sequence_numbers.next_u32();
            let tcp = self.hosts[host].tcp.clone();
            let connection = Connection::accept(tcp, segment.destination, initial, segment, self.now);
            self.add_socket(connection, Some(port));
        } else if let Some(reset) = Connection::refuse(segment) {
            self.send(reset);
        }
    }

    /// Whether no more connections may wait to be accepted.
    fn is_full(&self, host: usize, port: u16) -> bool {
        let listener = self.hosts[host].listeners.get(&port);
        listener.is_some_and(|listener| listener.established.len() > listener.backlog)
    }

    pub(super) fn on_socket_deadline(&mut self, id: SocketId) {
        let Some(socket) = &mut self.sockets[id.0] else {
            return;
        };
        if socket.is_armed_for(self.now) {
            socket.on_deadline(self.now);
            self.flush(id);
        }
    }
}
