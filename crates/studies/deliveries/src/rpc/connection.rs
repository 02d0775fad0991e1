//! The programs of a session: callers on the far side of the link, and the callee on the near side, over connections that stay open.

use super::plan::Plan;
use super::wire::{Callee, Caller, Heard, WireSpec};
use futures_util::future;
use lastmile_rpc::batch::Batch;
use lastmile_rpc::router::{AllowList, Router, Settings};
use lastmile_study::settings::{Call, Route};
use lastmile_testbed::failure::Failure;
use lastmile_units::{ByteCount, Instant};
use lastmile_world::{Host, Listener};
use std::net::SocketAddrV4;
use std::ops::Range;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const PORT: u16 = 4061;

/// A call that the callee received.
pub(super) struct Arrival {
    /// Of all connections, in the order in which they were accepted.
    pub(super) connection: usize,
    /// When all of it could be read.
    pub(super) at: Instant,
    pub(super) parameters: Vec<u8>,
}

/// What a transfer took.
pub(super) struct Transfer {
    pub(super) span: Range<Instant>,
    /// From each call being due to its being received.
    pub(super) deliveries: Vec<Range<Instant>>,
    /// The bytes that callers wrote for calls.
    pub(super) message_bytes: u64,
    /// Bytes that opened and closed connections, in both directions.
    pub(super) setup_bytes: u64,
}

/// Open connections from callers to the callee.
pub(super) struct Session<H: Host> {
    host: H,
    to: SocketAddrV4,
    spec: WireSpec,
    callers: Vec<CallerConnection<H>>,
    arrivals: UnboundedReceiver<Result<Arrival, Failure>>,
}

/// A call, and when it is due.
pub(super) struct DueCall {
    pub(super) due: Instant,
    pub(super) parameters: Vec<u8>,
}

impl<H: Host> Session<H> {
    /// Listens at the callee, and opens this number of connections from the caller's host, one after another.
    pub(super) async fn open(caller: H, callee: H, spec: WireSpec, connections: usize) -> Result<Self, Failure> {
        let (tell, arrivals) = unbounded_channel();
        listen(&callee, &spec, tell)?;
        let mut session = Self {
            to: callee.address(PORT),
            host: caller,
            spec,
            callers: Vec::new(),
            arrivals,
        };
        for _ in 0..connections {
            let caller = CallerConnection::open(&session.host, session.to, &session.spec).await?;
            session.callers.push(caller);
        }
        Ok(session)
    }

    /// Makes the calls of one transfer, and waits until all have been received, and answered where they are two-way.
    pub(super) async fn transfer(&mut self, plan: &Plan, calls: &[Vec<u8>]) -> Result<Transfer, Failure> {
        let start = self.host.now();
        let (sent_before, setup_before) = self.written();
        let due_at = |index: usize| start + plan.interval.saturating_mul(u32::try_from(index).unwrap_or(u32::MAX));
        let mut due: Vec<Vec<Instant>> = vec![Vec::new(); self.callers.len()];
        // Calls are dealt out to connections in turn.
        let connections = self.callers.len();
        let expected = |connection: usize, index: usize| calls.get(index * connections + connection);
        let mut setup = 0;
        if plan.route == Route::Router {
            due[0] = (0..calls.len()).map(due_at).collect();
            self.send_through_router(plan, &due[0], calls).await?;
        } else if plan.call == Call::OneWay {
            let mut shares: Vec<Vec<DueCall>> = self.callers.iter().map(|_| Vec::new()).collect();
            for (index, parameters) in calls.iter().enumerate() {
                let share = &mut shares[index % plan.back_ends];
                due[index % plan.back_ends].push(due_at(index));
                share.push(DueCall {
                    due: due_at(index),
                    parameters: parameters.clone(),
                });
            }
            let host = self.host.clone();
            match plan.reconnect_after {
                None => {
                    let senders = self.callers.iter_mut().zip(shares);
                    let senders = senders.map(|(caller, share)| caller.send(&host, plan, share));
                    future::try_join_all(senders).await?;
                }
                Some(after) => {
                    let mut rest = shares.swap_remove(0).into_iter().peekable();
                    while rest.peek().is_some() {
                        let piece = rest.by_ref().take(after).collect();
                        self.callers[0].send(&host, plan, piece).await?;
                        if rest.peek().is_some() {
                            setup += self.reconnect().await?;
                        }
                    }
                }
            }
        } else {
            for (index, parameters) in calls.iter().enumerate() {
                if plan
                    .reconnect_after
                    .is_some_and(|after| index > 0 && index % after == 0)
                {
                    setup += self.reconnect().await?;
                }
                self.host.sleep_until(due_at(index)).await;
                let is_closed_loop = plan.call == Call::TwoWay;
                due[0].push(if is_closed_loop { self.host.now() } else { due_at(index) });
                let caller = &mut self.callers[0];
                let message = caller.wire.two_way(parameters);
                caller.write(&message).await?;
                if is_closed_loop {
                    caller.wait_for(Heard::Reply).await?;
                }
            }
            if plan.call == Call::Pipelined {
                for _ in calls {
                    self.callers[0].wait_for(Heard::Reply).await?;
                }
            }
        }
        let answered = self.host.now();
        let mut deliveries = Vec::with_capacity(calls.len());
        let mut received = vec![0; self.callers.len()];
        let mut last = start;
        for _ in calls {
            let arrival = self
                .arrivals
                .recv()
                .await
                .ok_or_else(|| Failure::new("the callee has ended"))??;
            let connection = if self.callers.len() == 1 { 0 } else { arrival.connection };
            let index = received[connection];
            received[connection] += 1;
            if expected(connection, index) != Some(&arrival.parameters) {
                return Err(Failure::new(format!(
                    "call {} of connection {} was altered",
                    index + 1,
                    connection + 1
                )));
            }
            plan.values.check(&arrival.parameters)?;
            deliveries.push(due[connection][index]..arrival.at);
            last = last.max(arrival.at);
        }
        let end = if plan.call == Call::OneWay { last } else { answered };
        let (sent, setup_after) = self.written();
        Ok(Transfer {
            span: start..end,
            deliveries,
            message_bytes: sent - sent_before,
            setup_bytes: setup_after - setup_before + setup,
        })
    }

    /// Offers the calls of all back ends to a router when they are due, and sends its batches over the only connection. The back ends and the
    /// router are on one host: what is between them is left out.
    async fn send_through_router(&mut self, plan: &Plan, due: &[Instant], calls: &[Vec<u8>]) -> Result<(), Failure> {
        let mut router = Router::new(Settings {
            allowed: AllowList::everything(),
            batch: plan.batch,
            // No call of a study is to be lost.
            queue: ByteCount::new(u64::MAX >> 1),
        });
        let session = router.begin_session("");
        let mut rest = due.iter().zip(calls).enumerate().peekable();
        loop {
            let now = self.host.now();
            while let Some((index, (_, parameters))) = rest.next_if(|(_, (due, _))| **due <= now) {
                let back_end = format!("back end {}", index % plan.back_ends);
                let offered = router.offer(&back_end, self.spec.invocation(parameters), now);
                offered.map_err(Failure::from_error)?;
            }
            // What no further call can complete is due.
            let is_last = rest.peek().is_none();
            let taken = router.take_batch(session, if is_last { Instant::from_nanos(u64::MAX) } else { now });
            if let Some(batch) = taken {
                let batch: Vec<Vec<u8>> = batch.into_iter().map(|call| call.parameters.content).collect();
                self.callers[0].send_batch(Some(batch)).await?;
                router.written(session);
                continue;
            }
            let next = rest.peek().map(|(_, (due, _))| **due);
            match next.into_iter().chain(router.due(session)).min() {
                Some(next) => self.host.sleep_until(next).await,
                None => return Ok(()),
            }
        }
    }

    /// The bytes of calls, and those to open and close connections.
    fn written(&self) -> (u64, u64) {
        self.callers.iter().fold((0, 0), |(sent, setup), caller| {
            (sent + caller.sent, setup + caller.setup)
        })
    }

    /// Closes the only connection and opens it again, and returns the bytes of closing it. Compressors begin anew.
    async fn reconnect(&mut self) -> Result<u64, Failure> {
        let mut new = CallerConnection::open(&self.host, self.to, &self.spec).await?;
        std::mem::swap(&mut new, &mut self.callers[0]);
        let mut old = new;
        self.callers[0].sent += old.sent;
        self.callers[0].setup += old.setup;
        let close = old.wire.close();
        old.stream.write_all(&close).await.map_err(broken)?;
        old.stream.shutdown().await.map_err(broken)?;
        Ok(close.len() as u64)
    }
}

fn broken(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("a connection of calls is broken: {error}"))
}

/// The caller's end of a connection.
struct CallerConnection<H: Host> {
    stream: H::Stream,
    wire: Caller,
    /// What was heard and not waited for yet.
    heard: Vec<Heard>,
    received: Vec<u8>,
    sent: u64,
    setup: u64,
}

impl<H: Host> CallerConnection<H> {
    async fn open(host: &H, to: SocketAddrV4, spec: &WireSpec) -> Result<Self, Failure> {
        let stream = host.connect(to).await.map_err(broken)?;
        let mut wire = Caller::new(spec)?;
        let (opening, waits) = wire.open();
        let mut connection = Self {
            stream,
            wire,
            heard: Vec::new(),
            received: Vec::new(),
            sent: 0,
            setup: opening.len() as u64,
        };
        connection.stream.write_all(&opening).await.map_err(broken)?;
        if waits {
            connection.setup += connection.wait_for(Heard::Opened).await?;
        }
        Ok(connection)
    }

    async fn write(&mut self, message: &[u8]) -> Result<(), Failure> {
        self.sent += message.len() as u64;
        self.stream.write_all(message).await.map_err(broken)?;
        self.stream.flush().await.map_err(broken)
    }

    /// Reads until this is heard, and returns the bytes that were read for it.
    async fn wait_for(&mut self, wanted: Heard) -> Result<u64, Failure> {
        let mut length = 0;
        loop {
            if let Some(index) = self.heard.iter().position(|heard| *heard == wanted) {
                self.heard.swap_remove(index);
                return Ok(length);
            }
            self.received.clear();
            let read = self.stream.read_buf(&mut self.received).await.map_err(broken)?;
            if read == 0 {
                return Err(Failure::new("the callee closed a connection of calls"));
            }
            length += read as u64;
            self.heard.extend(self.wire.read(&self.received)?);
        }
    }

    /// Sends one-way calls when they are due, in batches.
    async fn send(&mut self, host: &H, plan: &Plan, calls: Vec<DueCall>) -> Result<(), Failure> {
        let mut batch = Batch::new(plan.batch);
        for call in calls {
            while let Some(due) = batch.due().filter(|due| *due < call.due) {
                host.sleep_until(due).await;
                self.send_batch(batch.take()).await?;
            }
            host.sleep_until(call.due).await;
            let length = ByteCount::from(call.parameters.len());
            for complete in batch.push(call.parameters, length, host.now()) {
                self.send_batch(Some(complete)).await?;
            }
        }
        self.send_batch(batch.take()).await
    }

    async fn send_batch(&mut self, batch: Option<Vec<Vec<u8>>>) -> Result<(), Failure> {
        let Some(calls) = batch else { return Ok(()) };
        let message = self.wire.one_ways(&calls);
        self.write(&message).await
    }
}

/// Accepts connections at the callee, and reports every call that they bring.
fn listen<H: Host>(host: &H, spec: &WireSpec, tell: UnboundedSender<Result<Arrival, Failure>>) -> Result<(), Failure> {
    let mut listener = host
        .listen(PORT)
        .map_err(|error| Failure::new(format!("the callee cannot listen: {error}")))?;
    let (host, spec) = (host.clone(), spec.clone());
    host.clone().spawn(async move {
        let mut connection = 0;
        while let Ok(stream) = listener.accept().await {
            let (spec, tell, of) = (spec.clone(), tell.clone(), host.clone());
            let number = connection;
            connection += 1;
            host.spawn(async move {
                if let Err(failure) = answer(&of, stream, &spec, number, &tell).await {
                    // The session is gone where nobody listens.
                    let _ = tell.send(Err(failure));
                }
            });
        }
    });
    Ok(())
}

async fn answer<H: Host>(
    host: &H,
    mut stream: H::Stream,
    spec: &WireSpec,
    connection: usize,
    tell: &UnboundedSender<Result<Arrival, Failure>>,
) -> Result<(), Failure> {
    let mut wire = Callee::new(spec)?;
    stream.write_all(&wire.open()).await.map_err(broken)?;
    let mut received = Vec::new();
    loop {
        received.clear();
        // A caller that is gone does not matter here: its session reports it.
        if !matches!(stream.read_buf(&mut received).await, Ok(1..)) {
            return Ok(());
        }
        for message in wire.read(&received)? {
            for parameters in message.calls {
                let at = host.now();
                let _ = tell.send(Ok(Arrival {
                    connection,
                    at,
                    parameters,
                }));
            }
            if !message.answer.is_empty() {
                stream.write_all(&message.answer).await.map_err(broken)?;
            }
        }
    }
}
