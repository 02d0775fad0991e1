//! A host of the simulated world: its settings, and what its programs can do.

use super::cpu::{CpuId, CpuSpec};
use super::event_queue::Event;
use super::socket::SocketId;
use super::stream::SimStream;
use super::{Inner, State};
use crate::topology::HostName;
use crate::world::address_of;
use crate::{Host, Listener};
use lastmile_tcp::{Config, Counters};
use lastmile_units::Instant;
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

/// The settings of a host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostSpec {
    /// Its CPU.
    pub cpu: CpuSpec,
    /// The settings of its TCP.
    pub tcp: Config,
}

/// The settings of a host of a topology.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostSettings {
    /// Its CPU and TCP.
    pub spec: HostSpec,
    /// The host whose CPU it shares, in which case the CPU of `spec` is ignored; none if it has a CPU of its own.
    pub cpu_of: Option<HostName>,
}

impl From<HostSpec> for HostSettings {
    fn from(spec: HostSpec) -> Self {
        Self { spec, cpu_of: None }
    }
}

/// A host.
#[derive(Clone)]
pub struct SimHost {
    inner: Rc<Inner>,
    index: usize,
    cpu: CpuId,
    busy: Rc<Cell<Duration>>,
}

impl SimHost {
    pub(super) fn new(inner: Rc<Inner>, index: usize, cpu: CpuId) -> Self {
        Self {
            inner,
            index,
            cpu,
            busy: Rc::default(),
        }
    }

    pub(super) const fn index(&self) -> usize {
        self.index
    }

    pub(super) const fn cpu(&self) -> CpuId {
        self.cpu
    }

    /// The CPU time of this host's programs.
    pub fn cpu_time(&self) -> Duration {
        self.busy.get()
    }

    /// The SYNs, and the ends of handshakes, that this host dropped because connections enough waited to be accepted.
    pub fn listen_drops(&self) -> u64 {
        self.inner.state.borrow().network.listen_drops(self.index)
    }

    /// The counters of this host's TCP, over all of its connections.
    pub fn tcp_counters(&self) -> Counters {
        self.inner.state.borrow().network.tcp_counters(self.index)
    }
}

impl Host for SimHost {
    type Stream = SimStream;
    type Listener = SimListener;

    fn now(&self) -> Instant {
        self.inner.state.borrow().network.now
    }

    fn address(&self, port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(address_of(self.index), port)
    }

    async fn connect(&self, to: SocketAddrV4) -> io::Result<SimStream> {
        let id = self.inner.with(|state| state.network.connect(self.index, to))?;
        let stream = SimStream::new(Rc::clone(&self.inner), id);
        stream.connected().await?;
        Ok(stream)
    }

    fn listen(&self, port: u16) -> io::Result<SimListener> {
        self.listen_with_backlog(port, u32::MAX)
    }

    fn listen_with_backlog(&self, port: u16, backlog: u32) -> io::Result<SimListener> {
        self.inner
            .with(|state| state.network.listen(self.index, port, backlog))?;
        Ok(SimListener {
            inner: Rc::clone(&self.inner),
            host: self.index,
            port,
        })
    }

    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + 'static {
        sleep_until(Rc::clone(&self.inner), at)
    }

    fn compute(&self, work: Duration) -> impl Future<Output = ()> + 'static {
        let (inner, cpu, busy) = (Rc::clone(&self.inner), self.cpu, Rc::clone(&self.busy));
        async move {
            if work.is_zero() {
                return;
            }
            let placed = inner.with(|state| state.cpus.schedule(cpu, state.network.now, work));
            busy.set(busy.get() + placed.busy);
            sleep_until(inner, placed.ends).await;
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.inner.executor.spawn(task);
    }
}

async fn sleep_until(inner: Rc<Inner>, at: Instant) {
    let mut noted: Option<Waker> = None;
    poll_fn(move |context| {
        inner.with(|state| {
            if at <= state.network.now {
                return Poll::Ready(());
            }
            // One event is enough, unless another task waits now.
            if !noted.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                noted = Some(context.waker().clone());
                state.network.event_queue.put(at, Event::Wake(context.waker().clone()));
            }
            Poll::Pending
        })
    })
    .await;
}

/// A listening socket.
pub struct SimListener {
    inner: Rc<Inner>,
    host: usize,
    port: u16,
}

impl Listener for SimListener {
    type Stream = SimStream;

    async fn accept(&mut self) -> io::Result<SimStream> {
        let id: SocketId = poll_fn(|context| {
            let accepted = self
                .inner
                .with(|state| state.network.accept(self.host, self.port, context.waker()));
            accepted.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        Ok(SimStream::new(Rc::clone(&self.inner), id))
    }
}

impl Drop for SimListener {
    fn drop(&mut self) {
        self.inner.with(|state| {
            state.network.unlisten(self.host, self.port);
        });
    }
}

impl Inner {
    /// Reads or changes the world's state. Calls must not be nested.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.borrow_mut())
    }
}
