//! How do packets cross the link in real time? One thread reads what hosts send, offers it to the link model, and hands over
//! what the model delivers, at the model's time.
//!
//! Deadlines are absolute: a packet that is late makes none after it late. How late each was is recorded.

use super::clock::Clock;
use super::interface::{Interface, MTU};
use super::kernel;
use super::lateness::Lateness;
use super::packet;
use crate::capture::{Capture, dropped_comment};
use crate::world::host_number;
use lastmile_link::{DropCause, Event, Frame, Link, Medium, Station};
use lastmile_units::{Bytes, Instant};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use std::collections::BTreeMap;
use std::io::{self, Write};
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
    network: Mutex<Network>,
    stop: AtomicBool,
    /// Written to when the thread has to look again.
    wake: EventFd,
}

/// Everything that packets pass.
#[derive(Default)]
pub(super) struct Network {
    ports: Vec<Port>,
    media: Vec<MediumState>,
    /// Which medium carries from one host to another.
    routes: BTreeMap<(usize, usize), usize>,
    /// Which host takes what another has for nobody in this world.
    gateways: BTreeMap<usize, usize>,
    lateness: Lateness,
    /// Packets that nobody could be found for.
    astray: u64,
    /// Packets that their receiver's interface would not take.
    refused: u64,
    capture_error: Option<io::Error>,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
    events: Vec<Event<Vec<u8>>>,
}

/// Where a host is attached.
struct Port {
    interface: Arc<Interface>,
    tap: Option<Tap>,
    on_request: Option<Box<RequestHook>>,
}

struct MediumState {
    link: Link<Vec<u8>>,
    drops: Option<Tap>,
}

/// Where packets are written; the two directions of a link may share one.
type Tap = Arc<Mutex<Capture<Box<dyn Write + Send>>>>;

/// Called before a packet that asks for a connection is handed to a host.
pub(super) type RequestHook = dyn FnMut(SocketAddrV4) + Send;

/// How many packets of one host are read before those of the next. Our own choice.
const BATCH: usize = 64;
/// How long before a deadline the thread stops sleeping, since waking up takes about as long. Our own choice; `lastmile doctor`
/// prints how late packets are with it.
const SPIN: Duration = Duration::from_micros(60);
/// The longest sleep. It bounds nothing but how long a fault of ours would go unnoticed.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

impl Forwarder {
    /// Starts the thread, with no host attached.
    ///
    /// # Errors
    /// When the system has no thread or descriptor left.
    pub(super) fn start(clock: Clock) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            network: Mutex::default(),
            stop: AtomicBool::new(false),
            wake: EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?,
        });
        let (told, priority) = std::sync::mpsc::channel();
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("forwarder".to_owned())
            .spawn(move || {
                // Timers may otherwise be 50 us late on purpose (prctl(2), PR_SET_TIMERSLACK).
                let _ = nix::sys::prctl::set_timerslack(1);
                let _ = told.send(kernel::run_before_others().is_ok());
                theirs.run(clock);
            })?;
        Ok(Self {
            shared,
            thread: Some(thread),
            real_time: priority.recv().unwrap_or(false),
        })
    }

    /// Whether the thread runs before every ordinary one.
    pub(super) const fn is_real_time(&self) -> bool {
        self.real_time
    }

    /// Looks at or changes the network; the thread then looks again.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Network) -> T) -> T {
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
            // Where it panicked, that has been told already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Network> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // It fails where it is full, and then the thread is going to wake up anyway.
        let _ = self.wake.write(1);
    }

    fn run(&self, clock: Clock) {
        let mut interfaces: Vec<Arc<Interface>> = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            let next_at = {
                let mut network = self.lock();
                let known = interfaces.len();
                interfaces.extend(network.ports[known..].iter().map(|port| Arc::clone(&port.interface)));
                let more = network.take_in(clock);
                network.hand_over(clock);
                if more { Some(Instant::START) } else { network.next_at() }
            };
            let sleep = next_at.map_or(LONGEST_SLEEP, |at| at.saturating_since(clock.now()).min(LONGEST_SLEEP));
            if sleep > SPIN {
                self.sleep(sleep - SPIN, &interfaces);
            }
        }
    }

    /// Sleeps for at most `time`: until a host sends something, or there is something to look at.
    fn sleep(&self, time: Duration, interfaces: &[Arc<Interface>]) {
        let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut waited_for: Vec<_> = std::iter::once(self.wake.as_fd())
            .chain(interfaces.iter().map(|interface| interface.as_fd()))
            .map(readable)
            .collect();
        // A signal may interrupt it: then everything is looked at, as after any sleep.
        let _ = ppoll(&mut waited_for, Some(TimeSpec::from(time)), None);
        let _ = self.wake.read();
    }
}

impl Network {
    /// Attaches a host: what it sends is read from `interface`, what it receives is written there.
    pub(super) fn attach(&mut self, interface: Interface) {
        self.ports.push(Port {
            interface: Arc::new(interface),
            tap: None,
            on_request: None,
        });
    }

    /// How many hosts are attached.
    pub(super) fn attached(&self) -> usize {
        self.ports.len()
    }

    /// Adds one direction of a link.
    pub(super) fn add_medium(&mut self, link: Link<Vec<u8>>) -> usize {
        self.media.push(MediumState { link, drops: None });
        self.media.len() - 1
    }

    /// How many directions of links there are.
    pub(super) fn media(&self) -> usize {
        self.media.len()
    }

    pub(super) fn add_route(&mut self, from: usize, to: usize, medium: usize) {
        self.routes.insert((from, to), medium);
    }

    /// Lets `to` take what `from` has for nobody in this world.
    pub(super) fn set_gateway(&mut self, from: usize, to: usize) {
        self.gateways.insert(from, to);
    }

    pub(super) fn link(&self, medium: usize) -> &Link<Vec<u8>> {
        &self.media[medium].link
    }

    pub(super) fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    pub(super) const fn astray(&self) -> u64 {
        self.astray
    }

    pub(super) const fn refused(&self) -> u64 {
        self.refused
    }

    /// Where a host is attached.
    pub(super) fn interface(&self, host: usize) -> Arc<Interface> {
        Arc::clone(&self.ports[host].interface)
    }

    pub(super) fn tap(&mut self, host: usize, tap: Tap) {
        self.ports[host].tap = Some(tap);
    }

    pub(super) fn tap_drops(&mut self, medium: usize, tap: Tap) {
        self.media[medium].drops = Some(tap);
    }

    pub(super) fn take_capture_error(&mut self) -> Option<io::Error> {
        self.capture_error.take()
    }

    /// Ends every capture; the first error of all that was written.
    pub(super) fn end_captures(&mut self) -> io::Result<()> {
        let taps = self.ports.iter_mut().map(|port| port.tap.take());
        let drops = self.media.iter_mut().map(|medium| medium.drops.take());
        for tap in taps.chain(drops).flatten() {
            if let Err(error) = tap.lock().unwrap_or_else(PoisonError::into_inner).flush() {
                self.capture_error.get_or_insert(error);
            }
        }
        self.take_capture_error().map_or(Ok(()), Err)
    }

    pub(super) fn on_request(&mut self, host: usize, hook: Box<RequestHook>) {
        self.ports[host].on_request = Some(hook);
    }

    fn next_at(&self) -> Option<Instant> {
        self.media.iter().filter_map(|medium| medium.link.next_at()).min()
    }

    /// Reads what hosts have sent, and offers it to the links. True where there may be more.
    fn take_in(&mut self, clock: Clock) -> bool {
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

    fn offer(&mut self, from: usize, packet: Vec<u8>, now: Instant) {
        let route = packet::destination(&packet).and_then(|address| self.route(from, address));
        let Some((to, medium)) = route else {
            self.astray += 1;
            self.spare.push(packet);
            return;
        };
        let frame = Frame {
            from: Station(from as u16),
            to: Station(to as u16),
            size: Bytes::new(packet.len() as u64),
            payload: packet,
        };
        let tapped = self.ports[from].tap.is_some().then(|| frame.payload.clone());
        let rejected = self.media[medium].link.offer(now, frame).err();
        if let Some(packet) = tapped {
            let comment = rejected.as_ref().map(|rejected| dropped_comment(rejected.cause));
            let tap = &mut self.ports[from].tap;
            write_to(tap, &mut self.capture_error, now, &packet, comment.as_deref());
        }
        if let Some(rejected) = rejected {
            self.dropped(medium, now, rejected.frame.payload, rejected.cause);
        }
    }

    /// Which host a packet goes to, and by which medium.
    fn route(&self, from: usize, address: Ipv4Addr) -> Option<(usize, usize)> {
        let by = |to: usize| Some((to, *self.routes.get(&(from, to))?));
        let gateway = || by(*self.gateways.get(&from)?);
        host_number(address).and_then(by).or_else(gateway)
    }

    /// Hands over what the links deliver.
    fn hand_over(&mut self, clock: Clock) {
        for medium in 0..self.media.len() {
            let mut events = std::mem::take(&mut self.events);
            self.media[medium]
                .link
                .poll(clock.now(), &mut |event| events.push(event));
            for event in events.drain(..) {
                match event {
                    Event::Delivered { at, frame } => self.deliver(usize::from(frame.to.0), at, frame.payload, clock),
                    Event::Dropped { at, frame, cause } => self.dropped(medium, at, frame.payload, cause),
                }
            }
            self.events = events;
        }
    }

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
            write_to(&mut port.tap, &mut self.capture_error, now, &packet, None);
        } else {
            self.refused += 1;
        }
        self.spare.push(packet);
    }

    fn dropped(&mut self, medium: usize, at: Instant, packet: Vec<u8>, cause: DropCause) {
        let tap = &mut self.media[medium].drops;
        if tap.is_some() {
            write_to(tap, &mut self.capture_error, at, &packet, Some(&dropped_comment(cause)));
        }
        self.spare.push(packet);
    }
}

/// Writes a packet, where it is captured; what cannot be written ends the capture.
fn write_to(
    tap: &mut Option<Tap>,
    capture_error: &mut Option<io::Error>,
    at: Instant,
    packet: &[u8],
    comment: Option<&str>,
) {
    let Some(capture) = tap else { return };
    let written = capture
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .packet(at, packet, comment);
    if let Err(error) = written {
        *tap = None;
        capture_error.get_or_insert(error);
    }
}
