//! The emulated world: real kernels in network namespaces, joined by links whose packets pass the same model as in the
//! simulated world, in real time.
//!
//! A host is a network namespace with one interface. Its packets are read by one forwarding thread, offered to the link model,
//! and written to the receiver's interface when the model says so. Programs of ours run on tokio, in the thread that made the
//! world; unmodified ones are started inside a host's [`Namespace`], or run there as a [`Tree`] that ends with this process. A [`Gateway`]
//! leads out of it, for what is to be reached from inside.
//!
//! Nothing outlives the process: namespaces and interfaces are held by its descriptors alone.
//!
//! What a real network card does and this does not: the interface takes packets at once, so TCP sees no back-pressure from a
//! driver's queue; packets are never merged or split on their way (no offloads), so the link sees each as it is.
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

mod abilities;
mod clock;
mod command;
mod disturbance;
mod forwarder;
mod gateway;
mod host;
mod interface;
mod kernel;
mod lateness;
mod metered;
mod namespace;
mod netlink;
mod packet;
mod privilege;
mod settings;
mod signals;
mod unfinished;
mod veth;

pub use abilities::{Ability, Standing, examine};
pub use command::{DescriptorLimit, Names, Tree, become_init};
pub use disturbance::{Disturbance, Invalid, Losses};
pub use gateway::{Gateway, Reach};
pub use host::{EmuHost, EmuListener};
pub use interface::Attachment;
pub use lateness::{Lateness, LatenessBound, TooLate};
pub use namespace::Namespace;
pub use privilege::{Privilege, Unavailable, acquire};
pub use settings::HostSpec;
pub use signals::{Signals, Woken};

use crate::capture::Capture;
use crate::world::address_of;
use crate::{Halt, LinkId};
use clock::Clock;
use forwarder::Forwarder;
use lastmile_link::{Counters, DirectionSpec, Link};
use lastmile_units::Seed;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io::{self, Write};
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

/// An emulated world. The thread that makes one is in a network namespace of the world's until it is dropped, and then back where
/// it was, if it may: an ordinary user's thread may not, and stays in one without a network.
pub struct World {
    seed: Seed,
    clock: Clock,
    forwarder: Forwarder,
    // Tasks are dropped before the runtime they run on.
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
        Self::attached_by(Attachment::here(), seed)
    }

    /// An empty world whose hosts are attached by `attachment`, even where this machine has better.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn attached_by(attachment: Attachment, seed: Seed) -> Result<Self, Unavailable> {
        let failed = |error: io::Error| {
            Unavailable::new(
                "making a network namespace",
                &error,
                "run as root, or where user namespaces are allowed; `lastmile doctor` says what is missing",
            )
        };
        let came_from = Namespace::of_this_thread().map_err(failed)?;
        let middle = Namespace::move_into_new().map_err(failed)?;
        let clock = Clock::start();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        Ok(Self {
            seed: seed.derive("network"),
            clock,
            forwarder: Forwarder::start(clock).map_err(failed)?,
            tasks: Rc::new(LocalSet::new()),
            runtime,
            came_from,
            middle,
            attachment,
            namespaces: RefCell::default(),
            bound: Cell::default(),
        })
    }

    /// Adds a host.
    ///
    /// # Errors
    /// When it can have no namespace or interface, or its kernel does not know what `spec` asks for.
    pub fn host(&self, spec: HostSpec) -> Result<EmuHost, Unavailable> {
        let failed = |error: io::Error| {
            Unavailable::new(
                "setting up a host",
                &error,
                "`lastmile doctor` says what this machine can do",
            )
        };
        let namespace = Namespace::new().map_err(failed)?;
        let index = self.forwarder.with(|network| network.attached());
        let interface =
            interface::set_up(self.attachment, &self.middle, &namespace, address_of(index), &spec).map_err(failed)?;
        self.forwarder.with(|network| network.attach(interface));
        self.namespaces.borrow_mut().push(namespace.clone());
        Ok(EmuHost::new(
            index,
            namespace,
            spec,
            self.clock,
            self.runtime.handle().clone(),
            Rc::clone(&self.tasks),
        ))
    }

    /// Joins every host of `near` with every host of `far` by one wire: `down` is towards `near`, `up` towards `far`. Hosts
    /// of one side share the wire.
    pub fn link(&self, down: &DirectionSpec, up: &DirectionSpec, near: &[&EmuHost], far: &[&EmuHost]) -> LinkId {
        let bound = LatenessBound::of([down, up]);
        self.bound
            .set(Some(self.bound.get().map_or(bound, |least| least.min(bound))));
        self.forwarder.with(|network| {
            // The same chance as in a simulated world of the same seed: what is lost there is lost here.
            let seed = self.seed.derive("link").derive_index(network.media() as u64);
            let down = network.add_medium(Link::new(down, seed.derive("down")));
            let up = network.add_medium(Link::new(up, seed.derive("up")));
            for near in near {
                for far in far {
                    network.add_route(far.index(), near.index(), down);
                    network.add_route(near.index(), far.index(), up);
                }
            }
            LinkId { down, up }
        })
    }

    /// Writes every packet that `host` sends or receives to `to`, as pcapng, from now on; a packet that finds the queue full
    /// says so in a comment.
    ///
    /// # Errors
    /// Those of `to`. Later ones stop the capture and are told by [`World::capture_error`].
    pub fn capture(&self, host: &EmuHost, to: Box<dyn Write + Send>) -> io::Result<()> {
        let tap = Arc::new(Mutex::new(Capture::new(to)?));
        self.forwarder.with(|network| network.tap(host.index(), tap));
        Ok(())
    }

    /// Writes every packet that `link` drops to `to`, as pcapng with the cause as a comment, from now on.
    ///
    /// # Errors
    /// As [`World::capture`].
    pub fn capture_drops(&self, link: LinkId, to: Box<dyn Write + Send>) -> io::Result<()> {
        let tap = Arc::new(Mutex::new(Capture::new(to)?));
        self.forwarder.with(|network| {
            network.tap_drops(link.down, Arc::clone(&tap));
            network.tap_drops(link.up, tap);
        });
        Ok(())
    }

    /// The first error of writing a capture.
    pub fn capture_error(&self) -> Option<io::Error> {
        self.forwarder.with(forwarder::Network::take_capture_error)
    }

    /// Ends every capture, with all of it written.
    ///
    /// # Errors
    /// The first of writing any.
    pub fn end_captures(&self) -> io::Result<()> {
        self.forwarder.with(forwarder::Network::end_captures)
    }

    /// Calls `hook` before a packet that asks `host` for a connection is handed to it, with where the connection leads: time
    /// for someone to listen there. Packets wait meanwhile, so it must be quick.
    pub fn on_connection_request(&self, host: &EmuHost, hook: impl FnMut(SocketAddrV4) + Send + 'static) {
        self.forwarder
            .with(|network| network.on_request(host.index(), Box::new(hook)));
    }

    /// How late packets have been delivered so far.
    pub fn lateness(&self) -> Lateness {
        self.forwarder.with(|network| network.lateness().clone())
    }

    /// What has happened to packets so far that no link did, and whether figures count all the same. Figures taken between two
    /// points in time are judged by the [difference](Disturbance::since).
    pub fn disturbance(&self) -> Disturbance {
        let of = |(host, namespace): (usize, &Namespace)| {
            Losses::of(namespace, &self.forwarder.with(|network| network.interface(host)))
        };
        let losses: Losses = self.namespaces.borrow().iter().enumerate().map(of).sum();
        let (lateness, refused) = self
            .forwarder
            .with(|network| (network.lateness().clone(), network.refused()));
        Disturbance {
            lateness,
            bound: self.bound.get().unwrap_or_default(),
            losses: losses
                + Losses {
                    before_link: 0,
                    after_link: refused,
                },
        }
    }

    /// The most packets that have waited at once in each direction of a link, besides the one in service: down and up.
    pub fn longest_queues(&self, link: LinkId) -> (u64, u64) {
        self.forwarder.with(|network| {
            (
                network.link(link.down).longest_queue(),
                network.link(link.up).longest_queue(),
            )
        })
    }

    /// Packets for no host of this world.
    pub fn packets_astray(&self) -> u64 {
        self.forwarder.with(|network| network.astray())
    }

    /// By what hosts are attached.
    pub const fn attachment(&self) -> Attachment {
        self.attachment
    }

    /// Whether the forwarding thread runs before every ordinary one, which ordinary users may not ask for.
    pub const fn is_real_time(&self) -> bool {
        self.forwarder.is_real_time()
    }
}

/// Lets the calling thread run before every ordinary one, for programs that must be on time. False where this user may not.
pub fn run_before_others() -> bool {
    kernel::run_before_others().is_ok()
}

impl crate::World for World {
    type Host = EmuHost;

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.tasks.spawn_local(task);
    }

    fn run_for<T: 'static>(&self, limit: Duration, program: impl Future<Output = T> + 'static) -> Result<T, Halt> {
        let timed = async move { tokio::time::timeout(limit, program).await };
        let done = self.runtime.block_on(self.tasks.run_until(timed));
        done.map_err(|_| Halt::OutOfTime { limit })
    }

    fn link_counters(&self, link: LinkId) -> (Counters, Counters) {
        self.forwarder
            .with(|network| (network.link(link.down).counters(), network.link(link.up).counters()))
    }

    fn retransmissions(&self, host: &EmuHost) -> u64 {
        host.namespace().enter(settings::retransmissions).unwrap_or_default()
    }

    fn cpu_time(&self, host: &EmuHost) -> Duration {
        host.cpu_time()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // An ordinary user has no way back: see the type.
        let _ = self.came_from.move_into();
    }
}
