//! The simulated world: hosts, links and programs on one virtual nanosecond clock, in one thread.
//!
//! A world is built (hosts, then links), given programs, and run. It reads no clock, and all its randomness comes from its seed, so two
//! runs of the same world are identical to the nanosecond.
//!
//! ```
//! use lastmile_link::{Capacity, DirectionSpec};
//! use lastmile_units::Seed;
//! use lastmile_world::sim::{HostSpec, World};
//! use lastmile_world::{Host, Listener, World as _};
//! use std::time::Duration;
//!
//! let world = World::new(Seed::new(1));
//! let (client, server) = (world.host(HostSpec::default()), world.host(HostSpec::default()));
//! let modem = DirectionSpec {
//!     capacity: Capacity::Rate("56 kbit/s".parse().unwrap()),
//!     one_way_delay: Duration::from_millis(75),
//!     ..DirectionSpec::IDEAL
//! };
//! world.link(&modem, &modem, &[&client], &[&server]);
//! let mut listener = server.listen(80).unwrap();
//! world.spawn(async move {
//!     listener.accept().await.unwrap();
//! });
//! let connected = world.run(async move {
//!     client.connect(server.address(80)).await.unwrap();
//!     client.now()
//! });
//! // A SYN and a SYN-ACK of 60 B each, serialised and carried.
//! assert_eq!(connected.unwrap().since_start(), 2 * (Duration::from_millis(75) + Duration::from_nanos(8_571_429)));
//! ```

mod address_table;
mod cpu;
mod event_queue;
mod executor;
mod host;
mod network;
mod packet;
mod socket;
mod stream;

pub use cpu::{CpuId, CpuSpec};
pub use host::{HostSettings, HostSpec, SimHost, SimListener};
pub use stream::SimStream;

use crate::topology::{Assembly, HostName, LinkId, MediumId, RadioId, Topology};
use crate::{Halt, Observer, World as _};
use cpu::Cpus;
use event_queue::Event;
use executor::Executor;
use lastmile_link::radio::{Position, RadioCounters, RadioSpec};
use lastmile_link::{Counters, DirectionSpec, LinkSpec};
use lastmile_units::{Instant, Seed};
use network::SimulatedNetwork;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

/// A simulated world.
pub struct World {
    inner: Rc<Inner>,
}

/// The state that hosts and streams share.
pub(crate) struct Inner {
    executor: Executor,
    state: RefCell<State>,
}

/// The state that changes as time passes.
struct State {
    network: SimulatedNetwork,
    cpus: Cpus,
}

impl World {
    /// An empty world.
    pub fn new(seed: Seed) -> Self {
        let state = State {
            network: SimulatedNetwork::new(seed.derive("network")),
            cpus: Cpus::default(),
        };
        Self {
            inner: Rc::new(Inner {
                executor: Executor::default(),
                state: RefCell::new(state),
            }),
        }
    }

    /// A world with the hosts and media of `topology`; `settings` gives the settings of each host.
    ///
    /// A router forwards at once: the forwarding time of a kernel is not modelled.
    ///
    /// # Panics
    /// If a host shares the CPU of a host that does not come before it in the topology.
    pub fn from_topology<S: Into<HostSettings>>(
        topology: &Topology,
        seed: Seed,
        mut settings: impl FnMut(&HostName) -> S,
    ) -> Assembly<Self> {
        let world = Self::new(seed);
        let mut hosts = BTreeMap::<HostName, SimHost>::new();
        for entry in topology.hosts() {
            let HostSettings { spec, cpu_of } = settings(&entry.name).into();
            let cpu = match cpu_of {
                Some(other) => hosts
                    .get(&other)
                    .expect("the host whose CPU is shared comes first")
                    .cpu(),
                None => world.cpu(spec.cpu),
            };
            hosts.insert(entry.name.clone(), world.add_host(cpu, spec, entry.is_router));
        }
        let wire = |world: &Self, link: &LinkSpec, near: &[&SimHost], far: &[&SimHost]| {
            world.link(&link.down, &link.up, near, far)
        };
        Assembly::of(topology, world, hosts, wire, Self::radio)
    }

    /// Adds a CPU that several hosts may share.
    pub fn cpu(&self, spec: CpuSpec) -> CpuId {
        self.inner.state.borrow_mut().cpus.add(spec)
    }

    /// Adds a host with a CPU of its own.
    pub fn host(&self, spec: HostSpec) -> SimHost {
        let cpu = self.cpu(spec.cpu);
        self.host_on(cpu, spec)
    }

    /// Adds a host that computes on `cpu`; the CPU of `spec` is ignored.
    pub fn host_on(&self, cpu: CpuId, spec: HostSpec) -> SimHost {
        self.add_host(cpu, spec, false)
    }

    fn add_host(&self, cpu: CpuId, spec: HostSpec, is_router: bool) -> SimHost {
        let index = self.inner.state.borrow_mut().network.add_host(spec.tcp, is_router);
        SimHost::new(Rc::clone(&self.inner), index, cpu)
    }

    /// Joins every host of `near` with every host of `far` by one wire: `down` is towards `near`, `up` towards `far`. Hosts
    /// of one side share the wire.
    pub fn link(&self, down: &DirectionSpec, up: &DirectionSpec, near: &[&SimHost], far: &[&SimHost]) -> LinkId {
        let indices = |hosts: &[&SimHost]| hosts.iter().map(|host| host.index()).collect::<Vec<_>>();
        self.inner
            .state
            .borrow_mut()
            .network
            .add_link([down, up], &indices(near), &indices(far))
    }

    /// Joins `stations` with each other by one radio.
    pub fn radio(&self, spec: &RadioSpec, stations: &[(&SimHost, Position)]) -> RadioId {
        let stations: Vec<_> = stations.iter().map(|(host, at)| (host.index(), *at)).collect();
        self.inner.state.borrow_mut().network.add_radio(spec, &stations)
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.inner.state.borrow().network.now
    }

    /// Runs the world until `program` is done. Other programs stop where they are, and go on with the next call.
    ///
    /// # Errors
    /// [`Halt::Stalled`] if the program waits for an event that cannot happen.
    pub fn run<T: 'static>(&self, program: impl Future<Output = T> + 'static) -> Result<T, Halt> {
        self.run_for(Duration::from_nanos(u64::MAX), program)
    }
}

impl crate::World for World {
    type Host = SimHost;

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.inner.executor.spawn(task);
    }

    fn run_for<T: 'static>(&self, limit: Duration, program: impl Future<Output = T> + 'static) -> Result<T, Halt> {
        let limit_nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let ends = Instant::from_nanos(self.now().as_nanos().saturating_add(limit_nanos));
        let outcome = Rc::new(RefCell::new(None));
        let slot = Rc::clone(&outcome);
        self.spawn(async move {
            let value = program.await;
            *slot.borrow_mut() = Some(value);
        });
        loop {
            self.inner.executor.run_ready();
            if let Some(value) = outcome.borrow_mut().take() {
                return Ok(value);
            }
            let mut state = self.inner.state.borrow_mut();
            match state.network.event_queue.next_at() {
                None => return Err(Halt::Stalled { at: state.network.now }),
                Some(at) if at > ends => {
                    state.network.now = ends;
                    return Err(Halt::OutOfTime { limit });
                }
                Some(_) => state.step(),
            }
        }
    }

    fn capture(&self, host: &SimHost, to: Box<dyn Write + Send>) -> io::Result<()> {
        self.inner.with(|state| state.network.core.capture(host.index(), to))
    }

    fn capture_drops_of(&self, media: &[MediumId], to: Box<dyn Write + Send>) -> io::Result<()> {
        self.inner.with(|state| state.network.core.capture_drops(media, to))
    }

    fn capture_air(&self, radio: RadioId, to: Box<dyn Write + Send>) -> io::Result<()> {
        self.inner.with(|state| state.network.core.capture_air(radio, to))
    }

    fn capture_error(&self) -> Option<io::Error> {
        self.inner
            .with(|state| state.network.core.take_capture_error(state.network.now))
    }

    fn observe(&self, observer: Box<dyn Observer>, period: Duration) {
        self.inner.state.borrow_mut().network.core.observe(observer, period);
    }

    fn counters(&self, medium: MediumId) -> Counters {
        self.inner.state.borrow().network.core.counters(medium)
    }

    fn radio_counters(&self, radio: RadioId) -> RadioCounters {
        self.inner
            .with(|state| state.network.core.radio_counters(radio, state.network.now))
    }

    fn retransmissions(&self, host: &SimHost) -> u64 {
        host.tcp_counters().retransmissions
    }

    fn cpu_time(&self, host: &SimHost) -> Duration {
        host.cpu_time()
    }
}

impl Drop for World {
    /// Programs and the world refer to each other: dropping the programs breaks the cycle.
    fn drop(&mut self) {
        self.inner.executor.clear();
    }
}

impl State {
    /// Handles the next event.
    fn step(&mut self) {
        let network = &mut self.network;
        let Some((at, due)) = network.event_queue.pop() else {
            return;
        };
        assert!(network.now <= at, "time never goes back");
        network.now = at;
        match due {
            Event::Wake(waker) => waker.wake(),
            Event::Medium(medium) => network.on_medium(medium),
            Event::Socket(id) => network.on_socket_deadline(id),
        }
    }
}
