//! What is a machine in the emulated world? A network namespace with a kernel's TCP, and programs of ours on tokio.

use super::clock::Clock;
use super::kernel;
use super::metered::Meter;
use super::namespace::Namespace;
use super::settings::HostSpec;
use super::unfinished;
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

/// A machine.
#[derive(Clone)]
pub struct EmuHost {
    index: usize,
    namespace: Namespace,
    spec: Rc<HostSpec>,
    clock: Clock,
    runtime: Handle,
    tasks: Rc<LocalSet>,
    cpu: Meter,
}

/// How many connections wait to be accepted; more than any program of ours has.
const BACKLOG: u32 = 1024;

impl EmuHost {
    pub(super) fn new(
        index: usize,
        namespace: Namespace,
        spec: HostSpec,
        clock: Clock,
        runtime: Handle,
        tasks: Rc<LocalSet>,
    ) -> Self {
        Self {
            index,
            namespace,
            spec: Rc::new(spec),
            clock,
            runtime,
            tasks,
            cpu: Meter::default(),
        }
    }

    pub(super) const fn index(&self) -> usize {
        self.index
    }

    /// The network namespace that this machine is: sockets that are opened and processes that are started inside are its own.
    pub const fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// How long cores have worked for the programs that were [spawned](Host::spawn) here, the kernel's work in their name included.
    pub fn cpu_time(&self) -> Duration {
        self.cpu.total()
    }

    /// Whether its kernel is closing connections for programs that are done with them.
    pub fn is_closing(&self) -> bool {
        self.namespace.enter(unfinished::is_closing).unwrap_or_default()
    }

    /// Whether its kernel has more to deliver for them than the connections' end.
    pub fn has_undelivered(&self) -> bool {
        self.namespace.enter(unfinished::has_undelivered).unwrap_or_default()
    }

    pub(super) fn spec(&self) -> &HostSpec {
        &self.spec
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
        let _runtime = self.runtime.enter();
        // Connections that are accepted take over what is set here.
        let socket = self.socket()?;
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port).into())?;
        Ok(EmuListener(socket.listen(BACKLOG)?))
    }

    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + 'static {
        sleep_until(self.clock, at)
    }

    /// The time passes; no core is kept busy, since what programs really compute takes time by itself.
    fn compute(&self, work: Duration) -> impl Future<Output = ()> + 'static {
        sleep_until(self.clock, self.clock.now() + work)
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.tasks.spawn_local(self.cpu.metering(task));
    }
}

/// Sleeps to within microseconds, where tokio's timers are good to a millisecond.
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
        kernel::watch_for_reading(timer.into())
    };
    match timer() {
        // It is readable once, when its time has come.
        Ok(timer) => drop(timer.readable().await),
        // Without a descriptor to spare, a millisecond has to do.
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
