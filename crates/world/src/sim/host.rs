//! What is a machine in the simulated world?

use super::agenda::Due;
use super::cpu::{CpuId, CpuSpec};
use super::socket::SocketId;
use super::stream::SimStream;
use super::{Inner, State};
use crate::tcp::{Config, Counters};
use crate::world::address_of;
use crate::{Host, Listener};
use lastmile_units::Instant;
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

/// What a machine is like.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostSpec {
    /// Its CPU.
    pub cpu: CpuSpec,
    /// How its TCP is set.
    pub tcp: Config,
}

/// A machine.
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

    /// How long cores have worked for this machine's programs.
    pub fn cpu_time(&self) -> Duration {
        self.busy.get()
    }

    /// What this machine's TCP has done, over all of its connections.
    pub fn tcp_counters(&self) -> Counters {
        self.inner.state.borrow().network.tcp_counters(self.index)
    }
}

impl Host for SimHost {
    type Stream = SimStream;
    type Listener = SimListener;

    fn now(&self) -> Instant {
        self.inner.state.borrow().now
    }

    fn address(&self, port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(address_of(self.index), port)
    }

    async fn connect(&self, to: SocketAddrV4) -> io::Result<SimStream> {
        let id = self
            .inner
            .with(|state| state.network.connect(self.index, to, state.now, &mut state.agenda))?;
        let stream = SimStream::new(Rc::clone(&self.inner), id);
        stream.connected().await?;
        Ok(stream)
    }

    fn listen(&self, port: u16) -> io::Result<SimListener> {
        self.inner.with(|state| state.network.listen(self.index, port))?;
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
            let placed = inner.with(|state| state.cpus.place(cpu, state.now, work));
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
            if at <= state.now {
                return Poll::Ready(());
            }
            // One entry is enough, unless another task has come to wait.
            if !noted.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                noted = Some(context.waker().clone());
                state.agenda.put(at, Due::Wake(context.waker().clone()));
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
            state
                .network
                .unlisten(self.host, self.port, state.now, &mut state.agenda);
        });
    }
}

impl Inner {
    /// Looks at or changes the world's state. Not to be nested: nothing that runs inside may call back.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.borrow_mut())
    }
}
