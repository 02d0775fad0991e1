//! A host of the emulated world: a network namespace with the kernel's TCP, whose programs of ours run on tokio.

use super::clock::Clock;
use super::closing_sockets;
use super::cpu_watch::SharedWatch;
use super::namespace::Namespace;
use super::syscalls;
use super::sysctl::HostSpec;
use super::task_cpu_time::Meter;
use crate::world::address_of;
use crate::{Host, Listener};
use lastmile_units::Instant;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Handle;
use tokio::task::LocalSet;

/// A host.
#[derive(Clone)]
pub struct EmuHost {
    pub(super) index: usize,
    pub(super) namespace: Namespace,
    pub(super) spec: Rc<HostSpec>,
    pub(super) clock: Clock,
    pub(super) runtime: Handle,
    pub(super) tasks: Rc<LocalSet>,
    pub(super) cpu: Meter,
    /// What watches over the programs of its world.
    pub(super) watch: SharedWatch,
}

/// The maximum number of connections that wait to be accepted: more than any program of ours has.
const BACKLOG: u32 = 1024;

impl EmuHost {
    /// The network namespace of this host: sockets opened and processes started inside belong to the host.
    pub const fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// The CPU time of the programs that were [spawned](Host::spawn) here, including the kernel's work for them.
    pub fn cpu_time(&self) -> Duration {
        self.cpu.total()
    }

    /// Whether its kernel is still closing connections that programs have closed.
    pub fn is_closing(&self) -> bool {
        self.namespace.enter(closing_sockets::is_closing).unwrap_or_default()
    }

    /// Whether its kernel still has data of such connections to deliver, not only their end.
    pub fn has_undelivered(&self) -> bool {
        self.namespace
            .enter(closing_sockets::has_undelivered)
            .unwrap_or_default()
    }

    fn socket(&self) -> io::Result<TcpSocket> {
        let socket = self.namespace.enter(TcpSocket::new_v4)??;
        socket.set_nodelay(self.spec.no_delay)?;
        Ok(socket)
    }
}

impl Host for EmuHost {
    type Stream = TcpStream;
    type Listener = EmuListener;

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn address(&self, port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(address_of(self.index), port)
    }

    async fn connect(&self, to: SocketAddrV4) -> io::Result<TcpStream> {
        self.socket()?.connect(to.into()).await
    }

    fn listen(&self, port: u16) -> io::Result<EmuListener> {
        self.listen_with_backlog(port, BACKLOG)
    }

    fn listen_with_backlog(&self, port: u16, backlog: u32) -> io::Result<EmuListener> {
        let _runtime = self.runtime.enter();
        // Accepted connections inherit these options.
        let socket = self.socket()?;
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port).into())?;
        Ok(EmuListener(socket.listen(backlog)?))
    }

    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + 'static {
        sleep_until(self.clock, at)
    }

    /// Only sleeps; no core is kept busy, since the real computing of programs takes time by itself.
    fn compute(&self, work: Duration) -> impl Future<Output = ()> + 'static {
        sleep_until(self.clock, self.clock.now() + work)
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.tasks.spawn_local(self.cpu.metering(task));
    }
}

/// Sleeps with an accuracy of microseconds, while that of tokio's timers is a millisecond.
async fn sleep_until(clock: Clock, at: Instant) {
    let left = at.saturating_since(clock.now());
    if left.is_zero() {
        return;
    }
    let timer = || -> io::Result<AsyncFd<OwnedFd>> {
        let timer = TimerFd::new(
            ClockId::CLOCK_MONOTONIC,
            TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC,
        )?;
        timer.set(Expiration::OneShot(TimeSpec::from(left)), TimerSetTimeFlags::empty())?;
        syscalls::watch_for_reading(timer.into())
    };
    match timer() {
        // It becomes readable at that time.
        Ok(timer) => drop(timer.readable().await),
        // Without a free descriptor, tokio's accuracy must suffice.
        Err(_) => tokio::time::sleep(left).await,
    }
}

/// A listening socket.
pub struct EmuListener(TcpListener);

impl Listener for EmuListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        Ok(self.0.accept().await?.0)
    }
}
