//! The emulated world: real kernels in network namespaces, joined by links whose packets pass the same model as in the
//! simulated world, in real time.
//!
//! A host is a network namespace with one interface. Its packets are read by one forwarding thread, offered to the link model,
//! and written to the receiver's interface when the model says so. Programs of ours run on tokio, in the thread that made the
//! world; unmodified ones are started inside a host's [`Namespace`], or run there as a [`ProcessTree`] that ends with this process. A [`Gateway`]
//! leads out of it, for what is to be reached from inside.
//!
//! Nothing outlives the process: namespaces and interfaces are held by its descriptors alone.
//!
//! A router is a host whose kernel forwards: a packet for another host is written to the router's interface, leaves by the same one
//! again, and goes on over the medium that leads farther. The kernel needs some microseconds of real time for that.
//!
//! Differences from a real network card: the interface accepts packets at once, so TCP sees no back-pressure from a driver's queue;
//! packets are never merged or split on their way (no offloads), so the link sees each one unchanged.
//!
//! ```no_run
//! use lastmile_link::DirectionSpec;
//! use lastmile_units::Seed;
//! use lastmile_world::emu::{HostSpec, World, acquire};
//! use lastmile_world::{Host, World as _};
//! use std::time::Duration;
//!
//! acquire()?; // Before any thread is started.
//! let world = World::new(Seed::new(1))?;
//! let (client, server) = (world.host(HostSpec::default())?, world.host(HostSpec::default())?);
//! world.link(&DirectionSpec::IDEAL, &DirectionSpec::IDEAL, &[&client], &[&server]);
//! let _listener = server.listen(80)?;
//! world.run_for(Duration::from_secs(5), async move { client.connect(server.address(80)).await })??;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod closing_sockets;
mod command;
mod cpu_wait;
mod cpu_watch;
mod forwarder;
mod gateway;
mod host;
mod interface;
mod lateness;
mod namespace;
mod netlink;
mod packet;
mod preflight;
mod privilege;
mod run_queue;
mod signals;
mod syscalls;
mod sysctl;
mod task_cpu_time;
mod tcp_info;
mod validity;
mod veth;

pub use command::{DescriptorLimit, HostsFiles, ProcessTree, become_init};
pub use cpu_wait::{CpuWaits, MOVED_SHARE, ProgramsWaited};
pub use gateway::{Gateway, GatewayReach};
pub use host::{EmuHost, EmuListener};
pub use interface::Attachment;
pub use lateness::{Lateness, LatenessBound, LatenessExceeded};
pub use namespace::Namespace;
pub use preflight::{Check, CheckStatus, examine};
pub use privilege::{Privilege, Unavailable, acquire};
pub use signals::{Signals, WakeReason};
pub use sysctl::HostSpec;
pub use tcp_info::TcpInfo;
pub use validity::{Disturbance, InvalidReason, UnmodelledLosses};

use crate::topology::{Assembly, HostName, LinkId, MediumId, RadioId, Topology};
use crate::world::address_of;
use crate::{Halt, Observer};
use clock::Clock;
use cpu_watch::{CpuWatch, ThreadWaits};
use forwarder::Forwarder;
use lastmile_link::radio::{Position, RadioCounters, RadioSpec};
use lastmile_link::{Counters, DirectionSpec, LinkSpec};
use lastmile_units::Seed;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::io::{self, Write};
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::time::Duration;
use task_cpu_time::Meter;
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

/// An emulated world. The thread that makes it is in one of the world's network namespaces until the world is dropped, and then returns
/// to its own, if permitted: an ordinary user's thread is not, and stays in a namespace without a network.
pub struct World {
    clock: Clock,
    forwarder: Forwarder,
    watch: CpuWatch,
    /// Of the thread that made the world.
    waits: Rc<RefCell<ThreadWaits>>,
    // Tasks are dropped before their runtime.
    tasks: Rc<LocalSet>,
    runtime: Runtime,
    came_from: Namespace,
    middle: Namespace,
    attachment: Attachment,
    /// Of every host, by its number.
    namespaces: RefCell<Vec<Namespace>>,
    /// Of every link so far.
    bound: Cell<Option<LatenessBound>>,
}

impl World {
    /// An empty world. This process must have [acquired](acquire) the right to make one.
    ///
    /// # Errors
    /// When namespaces cannot be made here.
    pub fn new(seed: Seed) -> Result<Self, Unavailable> {
        Self::with_attachment(Attachment::best_available(), seed)
    }

    /// An empty world whose hosts are attached by `attachment`, even if this machine has a better one.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn with_attachment(attachment: Attachment, seed: Seed) -> Result<Self, Unavailable> {
        let failed = |error: io::Error| {
            Unavailable::new(
                "making a network namespace",
                &error,
                "run as root, or on a machine that allows user namespaces; `lastmile doctor` reports what is missing",
            )
        };
        let came_from = Namespace::of_this_thread().map_err(failed)?;
        let middle = Namespace::move_into_new().map_err(failed)?;
        let clock = Clock::start();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let watch = CpuWatch::start(clock).map_err(failed)?;
        let network = seed.derive("network");
        Ok(Self {
            clock,
            forwarder: Forwarder::start(clock, network, watch.shared.clone()).map_err(failed)?,
            waits: Rc::new(RefCell::new(ThreadWaits::of_this_thread(&watch.shared))),
            watch,
            tasks: Rc::new(LocalSet::new()),
            runtime,
            came_from,
            middle,
            attachment,
            namespaces: RefCell::default(),
            bound: Cell::default(),
        })
    }

    /// A world with the hosts and media of `topology`; `settings` gives the settings of each host. The kernel of a router forwards.
    ///
    /// # Errors
    /// Those of [`World::new`] and [`World::host`].
    pub fn from_topology(
        topology: &Topology,
        seed: Seed,
        settings: impl FnMut(&HostName) -> HostSpec,
    ) -> Result<Assembly<Self>, Unavailable> {
        Self::new(seed)?.with_topology(topology, settings)
    }

    /// This empty world with the hosts and media of `topology`, as [`World::from_topology`] makes one.
    ///
    /// # Errors
    /// Those of [`World::host`].
    ///
    /// # Panics
    /// Where the world has hosts already.
    pub fn with_topology(
        self,
        topology: &Topology,
        mut settings: impl FnMut(&HostName) -> HostSpec,
    ) -> Result<Assembly<Self>, Unavailable> {
        assert!(
            self.namespaces.borrow().is_empty(),
            "the world has no other hosts than those of the topology"
        );
        let mut hosts = BTreeMap::new();
        for entry in topology.hosts() {
            let host = self.add_host(settings(&entry.name), entry.is_router)?;
            hosts.insert(entry.name.clone(), host);
        }
        let wire = |world: &Self, link: &LinkSpec, near: &[&EmuHost], far: &[&EmuHost]| {
            world.link(&link.down, &link.up, near, far)
        };
        Ok(Assembly::of(topology, self, hosts, wire, Self::radio))
    }

    /// Adds a host.
    ///
    /// # Errors
    /// When its namespace or interface cannot be made, or its kernel does not support the settings of `spec`.
    pub fn host(&self, spec: HostSpec) -> Result<EmuHost, Unavailable> {
        self.add_host(spec, false)
    }

    fn add_host(&self, spec: HostSpec, is_router: bool) -> Result<EmuHost, Unavailable> {
        let failed = |error: io::Error| Unavailable::unexplained("setting up a host", &error);
        let namespace = Namespace::new().map_err(failed)?;
        let index = self.forwarder.with(|network| network.core.hosts());
        let address = address_of(index);
        let interface =
            interface::set_up(self.attachment, &self.middle, &namespace, address, &spec, is_router).map_err(failed)?;
        self.forwarder.with(|network| network.attach(interface, is_router));
        self.namespaces.borrow_mut().push(namespace.clone());
        Ok(EmuHost {
            index,
            namespace,
            spec: Rc::new(spec),
            clock: self.clock,
            runtime: self.runtime.handle().clone(),
            tasks: Rc::clone(&self.tasks),
            cpu: Meter::new(Rc::clone(&self.waits)),
            watch: self.watch.shared.clone(),
        })
    }

    /// Joins every host of `near` with every host of `far` by one wire: `down` is towards `near`, `up` towards `far`. Hosts
    /// of one side share the wire.
    pub fn link(&self, down: &DirectionSpec, up: &DirectionSpec, near: &[&EmuHost], far: &[&EmuHost]) -> LinkId {
        self.tighten_bound(LatenessBound::for_directions([down, up]));
        let indices = |hosts: &[&EmuHost]| hosts.iter().map(|host| host.index).collect::<Vec<_>>();
        self.forwarder
            .with(|network| network.core.add_link([down, up], &indices(near), &indices(far)))
    }

    /// Joins `stations` with each other by one radio. Its packets may be as late as those of a link without delay: a full frame at
    /// 11 Mbit/s takes 1.3 ms, of which a twentieth is less than the least bound.
    pub fn radio(&self, spec: &RadioSpec, stations: &[(&EmuHost, Position)]) -> RadioId {
        self.tighten_bound(LatenessBound::default());
        let stations: Vec<_> = stations.iter().map(|(host, at)| (host.index, *at)).collect();
        self.forwarder.with(|network| network.core.add_radio(spec, &stations))
    }

    fn tighten_bound(&self, bound: LatenessBound) {
        self.bound
            .set(Some(self.bound.get().map_or(bound, |least| least.min(bound))));
    }

    /// Flushes and ends every capture.
    ///
    /// # Errors
    /// The first error of writing any of them.
    pub fn end_captures(&self) -> io::Result<()> {
        self.forwarder
            .with(|network| network.core.end_captures(self.clock.now()))
    }

    /// Calls `hook` with the destination of each connection request, before the packet is delivered to `host`, so that a listener can be
    /// opened in time. Packets wait meanwhile, so it must be quick.
    pub fn on_connection_request(&self, host: &EmuHost, hook: impl FnMut(SocketAddrV4) + Send + 'static) {
        self.forwarder
            .with(|network| network.on_request(host.index, Box::new(hook)));
    }

    /// The lateness of all packets so far.
    pub fn lateness(&self) -> Lateness {
        self.forwarder.with(|network| network.lateness.clone())
    }

    /// What has happened to packets and programs outside the link model so far, which decides whether figures count. Figures of a span
    /// of time are judged by the [difference](Disturbance::since).
    pub fn disturbance(&self) -> Disturbance {
        self.waits.borrow_mut().record();
        let mut losses = UnmodelledLosses::default();
        for (host, namespace) in self.namespaces.borrow().iter().enumerate() {
            losses.add_counters(namespace, &self.forwarder.with(|network| network.interface(host)));
        }
        let lateness = self.forwarder.with(|network| {
            losses.after_link += network.refused;
            network.lateness.clone()
        });
        Disturbance {
            lateness,
            bound: self.bound.get().unwrap_or_default(),
            losses,
            waits: self.watch.shared.waits(),
        }
    }

    /// The longest queue so far in each direction of a link, in packets without the one in service: down and up.
    pub fn longest_queues(&self, link: LinkId) -> (u64, u64) {
        let longest = |medium| self.forwarder.with(|network| network.core.longest_queue(medium));
        (longest(link.down), longest(link.up))
    }

    /// The number of packets for addresses outside this world.
    pub fn unroutable_packets(&self) -> u64 {
        self.forwarder.with(|network| network.unroutable)
    }

    /// The way in which hosts are attached.
    pub const fn attachment(&self) -> Attachment {
        self.attachment
    }

    /// Whether the forwarding thread has real-time priority, which ordinary users may not request.
    pub const fn is_real_time(&self) -> bool {
        self.forwarder.is_real_time()
    }
}

/// Gives the calling thread real-time priority, for programs that must be on time. False if this user may not.
pub fn run_before_others() -> bool {
    syscalls::run_before_others().is_ok()
}

impl crate::World for World {
    type Host = EmuHost;

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.tasks.spawn_local(task);
    }

    fn run_for<T: 'static>(&self, limit: Duration, program: impl Future<Output = T> + 'static) -> Result<T, Halt> {
        let mut timed = Box::pin(async move { tokio::time::timeout(limit, program).await });
        let waits = Rc::clone(&self.waits);
        let timed = std::future::poll_fn(move |context| {
            waits.borrow_mut().record();
            timed.as_mut().poll(context)
        });
        let done = self.runtime.block_on(self.tasks.run_until(timed));
        done.map_err(|_| Halt::OutOfTime { limit })
    }

    fn capture(&self, host: &EmuHost, to: Box<dyn Write + Send>) -> io::Result<()> {
        self.forwarder.with(|network| network.core.capture(host.index, to))
    }

    fn capture_drops_of(&self, media: &[MediumId], to: Box<dyn Write + Send>) -> io::Result<()> {
        self.forwarder.with(|network| network.core.capture_drops(media, to))
    }

    fn capture_air(&self, radio: RadioId, to: Box<dyn Write + Send>) -> io::Result<()> {
        self.forwarder.with(|network| network.core.capture_air(radio, to))
    }

    fn capture_error(&self) -> Option<io::Error> {
        self.forwarder
            .with(|network| network.core.take_capture_error(self.clock.now()))
    }

    fn observe(&self, observer: Box<dyn Observer>, period: Duration) {
        self.forwarder.with(|network| network.core.observe(observer, period));
    }

    fn counters(&self, medium: MediumId) -> Counters {
        self.forwarder.with(|network| network.core.counters(medium))
    }

    fn radio_counters(&self, radio: RadioId) -> RadioCounters {
        self.forwarder
            .with(|network| network.core.radio_counters(radio, self.clock.now()))
    }

    fn retransmissions(&self, host: &EmuHost) -> u64 {
        host.namespace.enter(sysctl::retransmissions).unwrap_or_default()
    }

    fn cpu_time(&self, host: &EmuHost) -> Duration {
        host.cpu_time()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // An ordinary user cannot return: see the type.
        let _ = self.came_from.move_into();
    }
}
