//! Drives the client as a program on a host of a world: each connection is a task over one of its streams.
//!
//! The program is the same in both worlds; in the simulated one its own work takes no time.

use crate::client::{Action, Client, ConnectionId, Share};
use crate::error_cause::{ErrorCause, RequestFailure};
use crate::live::LiveFigures;
use crate::measurement::{Ending, Measurement};
use crate::plan::Plan;
use crate::tls_reason::tls_reason_of_io;
use futures_util::future::{Either, select};
use lastmile_testbed::http::tls::ClientTls;
use lastmile_units::{Instant, Seed};
use lastmile_world::Host;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddrV4;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

/// A load from one host.
#[derive(Debug, Clone)]
pub struct HostLoad {
    /// The server.
    pub server: SocketAddrV4,
    /// What is asked of it. Over TLS, the client trusts the servers of [`lastmile_testbed::http::tls::ServerTls`] alone.
    pub plan: Arc<Plan>,
    /// When the first request may start.
    pub start: Instant,
    /// The seed of the arrivals.
    pub seed: Seed,
    /// Stops the load when it is set.
    pub interrupt: Arc<AtomicBool>,
    /// Where recent figures go while it runs, if anybody looks.
    pub live: Option<Arc<LiveFigures>>,
}

/// What the connections' tasks share.
struct Shared {
    client: RefCell<Client>,
    tls: Option<ClientTls>,
    /// The buffer that every connection reads into: what it holds is handled at once.
    buffer: RefCell<Vec<u8>>,
    /// A task has told the client something.
    changed: Notify,
}

/// How the program reaches the task of a connection.
#[derive(Default)]
struct Control {
    is_closed: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// What happened to a connection.
enum Event {
    Closed,
    /// Bytes came, of which the client was told.
    Received,
    /// The server has closed its side.
    Ended,
    Failed(io::Error),
}

/// What is read at once: our own choice.
const BUFFER: usize = 16 * 1024;
/// How often recent figures are handed over: short beside the intervals of whoever looks. Our own choice.
const LIVE_INTERVAL: Duration = Duration::from_millis(10);

impl HostLoad {
    /// Carries out the plan from `host`. Returns when every request has ended.
    pub async fn run<H: Host>(self, host: H) -> Measurement {
        let client = Client::new(Arc::clone(&self.plan), Share::WHOLE, self.start, self.seed);
        let shared = Rc::new(Shared {
            client: RefCell::new(client),
            tls: self.plan.tls.then(|| ClientTls::new(self.plan.http.version())),
            buffer: RefCell::new(vec![0; BUFFER]),
            changed: Notify::new(),
        });
        let mut controls: BTreeMap<ConnectionId, Rc<Control>> = BTreeMap::new();
        // One sleep for each deadline: another one would be another event.
        let mut sleep = None;
        let mut live_at = self.start;
        loop {
            if self.interrupt.load(Ordering::Relaxed) {
                shared.client.borrow_mut().stop(Ending::Interrupted, host.now());
            }
            shared.client.borrow_mut().advance(host.now());
            loop {
                let action = shared.client.borrow_mut().next_action();
                match action {
                    None => break,
                    Some(Action::Connect(id)) => {
                        shared.client.borrow_mut().on_connecting(id, host.now());
                        let control = Rc::new(Control::default());
                        controls.insert(id, Rc::clone(&control));
                        let task = carry(host.clone(), self.server, Rc::clone(&shared), control, id);
                        host.spawn(task);
                    }
                    Some(Action::Write(id)) => {
                        if let Some(control) = controls.get(&id) {
                            control.wake();
                        }
                    }
                    Some(Action::Close(id)) => {
                        if let Some(control) = controls.remove(&id) {
                            control.is_closed.set(true);
                            control.wake();
                        }
                    }
                }
            }
            let (is_done, deadline) = {
                let mut client = shared.client.borrow_mut();
                if let Some(live) = &self.live
                    && host.now() >= live_at
                {
                    live.add(&client.take_recent());
                    live_at = host.now() + LIVE_INTERVAL;
                }
                (client.is_done(), client.next_deadline())
            };
            if is_done {
                break;
            }
            let changed = pin!(shared.changed.notified());
            let Some(deadline) = deadline else {
                changed.await;
                continue;
            };
            let sleeping = match sleep.take() {
                Some((until, sleeping)) if until == deadline => sleeping,
                _ => Box::pin(host.sleep_until(deadline)),
            };
            if let Either::Left(((), sleeping)) = select(changed, sleeping).await {
                sleep = Some((deadline, sleeping));
            }
        }
        shared.client.borrow().measurement().clone()
    }
}

/// Carries the requests of one connection.
async fn carry<H: Host>(host: H, server: SocketAddrV4, shared: Rc<Shared>, control: Rc<Control>, id: ConnectionId) {
    let mut connecting = pin!(host.connect(server));
    let connected = poll_fn(|context| {
        if control.watch(context) {
            return Poll::Ready(None);
        }
        connecting.as_mut().poll(context).map(Some)
    });
    let mut stream = match connected.await {
        None => return,
        Some(Ok(stream)) => stream,
        Some(Err(error)) => {
            shared.tell(|client| client.on_failed(id, ErrorCause::of_io(&error), host.now()));
            return;
        }
    };
    shared.tell(|client| client.on_connected(id, host.now()));
    let Some(tls) = shared.tls.clone() else {
        carry_requests(&mut stream, &host, &shared, &control, id).await;
        return;
    };
    // Boxed: its state is large, and would be part of every connection without TLS.
    let mut securing = Box::pin(tls.open(stream));
    let secured = poll_fn(|context| {
        if control.watch(context) {
            return Poll::Ready(None);
        }
        securing.as_mut().poll(context).map(Some)
    });
    match secured.await {
        None => {}
        Some(Ok(stream)) => {
            shared.tell(|client| client.on_secured(id, host.now()));
            carry_requests(&mut Box::new(stream), &host, &shared, &control, id).await;
        }
        Some(Err(error)) => {
            let why = RequestFailure::new(ErrorCause::Tls, tls_reason_of_io(&error));
            shared.tell(|client| client.on_failed(id, why, host.now()));
        }
    }
}

/// Carries the requests of a connection that is open.
async fn carry_requests<H: Host>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    host: &H,
    shared: &Shared,
    control: &Control,
    id: ConnectionId,
) {
    loop {
        let event = poll_fn(|context| {
            if control.watch(context) {
                return Poll::Ready(Event::Closed);
            }
            if let Err(error) = write(stream, context, host, shared, id) {
                return Poll::Ready(Event::Failed(error));
            }
            let mut buffer = shared.buffer.borrow_mut();
            let mut read = ReadBuf::new(&mut buffer);
            Poll::Ready(match ready!(Pin::new(&mut *stream).poll_read(context, &mut read)) {
                Ok(()) if read.filled().is_empty() => Event::Ended,
                Ok(()) => {
                    shared.tell(|client| client.on_received(id, read.filled(), host.now()));
                    Event::Received
                }
                Err(error) => Event::Failed(error),
            })
        });
        match event.await {
            Event::Closed => return,
            Event::Received => {}
            Event::Ended => {
                shared.tell(|client| client.on_end(id, host.now()));
                return;
            }
            Event::Failed(error) => {
                shared.tell(|client| client.on_failed(id, ErrorCause::of_io(&error), host.now()));
                return;
            }
        }
    }
}

/// Writes what the client wants written, as far as there is room.
fn write<H: Host>(
    stream: &mut (impl AsyncWrite + Unpin),
    context: &mut Context<'_>,
    host: &H,
    shared: &Shared,
    id: ConnectionId,
) -> io::Result<()> {
    loop {
        let mut client = shared.client.borrow_mut();
        let unsent = client.unsent(id);
        if unsent.is_empty() {
            drop(client);
            // TLS keeps what it has encrypted until it is told to send it; the task is woken when there is room again.
            return match Pin::new(&mut *stream).poll_flush(context) {
                Poll::Ready(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
                _ => Ok(()),
            };
        }
        match Pin::new(&mut *stream).poll_write(context, unsent) {
            Poll::Ready(Ok(written)) => client.on_written(id, written, host.now()),
            // What the server said before it closed may still be there.
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Poll::Ready(Err(error)) => return Err(error),
            Poll::Pending => return Ok(()),
        }
    }
}

impl Shared {
    fn tell(&self, event: impl FnOnce(&mut Client)) {
        event(&mut self.client.borrow_mut());
        self.changed.notify_one();
    }
}

impl Control {
    fn wake(&self) {
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Wakes the task at the next change; returns whether the connection is to be closed.
    fn watch(&self, context: &Context<'_>) -> bool {
        *self.waker.borrow_mut() = Some(context.waker().clone());
        self.is_closed.get()
    }
}
