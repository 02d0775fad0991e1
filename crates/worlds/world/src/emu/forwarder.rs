//! The forwarder: one thread that reads what hosts send, offers it to the link model, and delivers what the model delivers, at
//! the model's time.
//!
//! Deadlines are absolute: a late packet does not delay the next. The lateness of each packet is recorded at each medium, since a
//! packet has a due time at a router, too. The time that the router's kernel then needs to forward it, some microseconds, is real.

use super::clock::Clock;
use super::cpu_watch::{SharedWatch, ThreadWaits};
use super::interface::{Interface, MTU};
use super::lateness::Lateness;
use super::packet;
use super::syscalls;
use crate::topology::{MediumId, NetworkCore, Payload, SendOutcome};
use crate::world::host_number;
use lastmile_link::Event;
use lastmile_units::{ByteCount, Instant, Seed};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The thread, and what it shares with the world.
pub(super) struct Forwarder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    real_time: bool,
}

struct Shared {
    network: Mutex<EmulatedNetwork>,
    stop: AtomicBool,
    /// Written to when the thread has to check again.
    wake: EventFd,
}

/// The network and its interfaces.
pub(super) struct EmulatedNetwork {
    pub(super) core: NetworkCore<Vec<u8>>,
    ports: Vec<Port>,
    /// The host that receives the packets of another for addresses outside this world.
    gateways: BTreeMap<usize, usize>,
    pub(super) lateness: Lateness,
    /// Packets for addresses outside this world.
    pub(super) unroutable: u64,
    /// Packets that the receiver's interface refused.
    pub(super) refused: u64,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
    events: Vec<Event<Vec<u8>>>,
}

/// Where a host is attached.
struct Port {
    interface: Arc<Interface>,
    on_request: Option<Box<RequestHook>>,
}

impl Payload for Vec<u8> {
    fn size(&self) -> ByteCount {
        ByteCount::new(self.len() as u64)
    }

    fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self);
    }
}

/// Called before a packet that requests a connection is delivered to a host.
pub(super) type RequestHook = dyn FnMut(SocketAddrV4) + Send;

/// The number of packets that are read from one host before the next host's. Our own choice.
const BATCH: usize = 64;
/// The time before a deadline at which the thread stops sleeping, since waking up takes about as long. Our own choice; `lastmile
/// doctor` prints how late packets are with it.
const SPIN: Duration = Duration::from_micros(60);
/// The longest sleep. It only bounds how long a missed wake-up would last.
const SLEEP_MAX: Duration = Duration::from_secs(1);

impl Forwarder {
    /// Starts the thread, with no host attached. All randomness comes from `seed`; `watch` learns what the thread waits for a CPU.
    ///
    /// # Errors
    /// When the system has no thread or descriptor left.
    pub(super) fn start(clock: Clock, seed: Seed, watch: SharedWatch) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            network: Mutex::new(EmulatedNetwork::new(seed)),
            stop: AtomicBool::new(false),
            wake: EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?,
        });
        let (sender, priority) = std::sync::mpsc::channel();
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("forwarder".to_owned())
            .spawn(move || {
                // Timers may otherwise be 50 us late on purpose (prctl(2), PR_SET_TIMERSLACK).
                let _ = nix::sys::prctl::set_timerslack(1);
                let _ = sender.send(syscalls::run_before_others().is_ok());
                theirs.run(clock, ThreadWaits::of_this_thread(&watch));
            })?;
        Ok(Self {
            shared,
            thread: Some(thread),
            real_time: priority.recv().unwrap_or(false),
        })
    }

    /// Whether the thread has real-time priority.
    pub(super) const fn is_real_time(&self) -> bool {
        self.real_time
    }

    /// Reads or changes the network; the thread then checks it again.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut EmulatedNetwork) -> T) -> T {
        let result = act(&mut self.shared.lock());
        self.shared.wake();
        result
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, EmulatedNetwork> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // It fails when the counter is full, and then the thread wakes up anyway.
        let _ = self.wake.write(1);
    }

    fn run(&self, clock: Clock, mut waits: ThreadWaits) {
        let mut interfaces: Vec<Arc<Interface>> = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            waits.record();
            let next_at = {
                let mut network = self.lock();
                let known = interfaces.len();
                interfaces.extend(network.ports[known..].iter().map(|port| Arc::clone(&port.interface)));
                let more = network.read_from_hosts(clock);
                network.deliver_due(clock);
                if more { Some(Instant::START) } else { network.next_at() }
            };
            let sleep = next_at.map_or(SLEEP_MAX, |at| at.saturating_since(clock.now()).min(SLEEP_MAX));
            if sleep > SPIN {
                self.sleep(sleep - SPIN, &interfaces);
            }
        }
    }

    /// Sleeps until a host sends a packet or the network changes, for at most `time`.
    fn sleep(&self, time: Duration, interfaces: &[Arc<Interface>]) {
        let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut waited_for: Vec<_> = std::iter::once(self.wake.as_fd())
            .chain(interfaces.iter().map(|interface| interface.as_fd()))
            .map(readable)
            .collect();
        // A signal may interrupt it: then everything is checked, as after any sleep.
        let _ = ppoll(&mut waited_for, Some(TimeSpec::from(time)), None);
        let _ = self.wake.read();
    }
}

impl EmulatedNetwork {
    fn new(seed: Seed) -> Self {
        Self {
            core: NetworkCore::new(seed),
            ports: Vec::new(),
            gateways: BTreeMap::new(),
            lateness: Lateness::default(),
            unroutable: 0,
            refused: 0,
            spare: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Attaches a host: its packets are read from `interface`, and those for it are written there. The kernel of a router sends
    /// packets for others back by the same interface.
    pub(super) fn attach(&mut self, interface: Interface, is_router: bool) {
        self.core.add_host(is_router);
        self.ports.push(Port {
            interface: Arc::new(interface),
            on_request: None,
        });
    }

    /// Makes `to` receive the packets of `from` for addresses outside this world.
    pub(super) fn set_gateway(&mut self, from: usize, to: usize) {
        self.gateways.insert(from, to);
    }

    /// Where a host is attached.
    pub(super) fn interface(&self, host: usize) -> Arc<Interface> {
        Arc::clone(&self.ports[host].interface)
    }

    pub(super) fn on_request(&mut self, host: usize, hook: Box<RequestHook>) {
        self.ports[host].on_request = Some(hook);
    }

    fn media(&self) -> impl Iterator<Item = MediumId> + use<> {
        (0..self.core.media()).map(MediumId)
    }

    fn next_at(&self) -> Option<Instant> {
        self.media().filter_map(|medium| self.core.next_at(medium)).min()
    }

    /// Reads packets from hosts, and offers them to the links. True where there may be more.
    fn read_from_hosts(&mut self, clock: Clock) -> bool {
        let mut more = false;
        for from in 0..self.ports.len() {
            let mut read = 0;
            while read < BATCH {
                let mut packet = self.spare.pop().unwrap_or_default();
                packet.resize(MTU as usize, 0);
                let Ok(length) = self.ports[from].interface.read(&mut packet) else {
                    self.spare.push(packet);
                    break;
                };
                packet.truncate(length);
                self.offer(from, packet, clock.now());
                read += 1;
            }
            more |= read == BATCH;
        }
        more
    }

    /// Offers a packet that a host has sent or its kernel forwards to the network.
    fn offer(&mut self, from: usize, packet: Vec<u8>, now: Instant) {
        let Some(to) = packet::destination(&packet).and_then(|address| self.receiver(from, address)) else {
            self.unroutable += 1;
            self.spare.push(packet);
            return;
        };
        match self.core.send(from, to, packet, now) {
            SendOutcome::Carried(_) => {}
            SendOutcome::Dropped(_, packet) => self.spare.push(packet),
            SendOutcome::Unroutable(packet) => {
                self.unroutable += 1;
                self.spare.push(packet);
            }
        }
    }

    /// The host that receives packets from `from` to `address`.
    fn receiver(&self, from: usize, address: Ipv4Addr) -> Option<usize> {
        let host = host_number(address).filter(|&host| self.core.reaches(from, host));
        host.or_else(|| self.gateways.get(&from).copied())
    }

    /// Delivers the packets that are due.
    fn deliver_due(&mut self, clock: Clock) {
        for medium in self.media() {
            let mut events = std::mem::take(&mut self.events);
            self.core.poll(medium, clock.now(), &mut events);
            for event in events.drain(..) {
                match event {
                    Event::Delivered { at, frame } => self.deliver(usize::from(frame.to.0), at, frame.payload, clock),
                    Event::Dropped { frame, .. } => self.spare.push(frame.payload),
                }
            }
            self.events = events;
        }
    }

    /// Delivers a packet to a host, which may be a router on its path.
    fn deliver(&mut self, to: usize, due: Instant, packet: Vec<u8>, clock: Clock) {
        let port = &mut self.ports[to];
        if let Some(hook) = &mut port.on_request
            && let Some(address) = packet::requested_connection(&packet)
        {
            hook(address);
        }
        let taken = port.interface.write(&packet).is_ok();
        let now = clock.now();
        if taken {
            self.lateness.record(now.saturating_since(due));
            self.core.tap(to, now, &packet, None);
        } else {
            self.refused += 1;
        }
        self.spare.push(packet);
    }
}
