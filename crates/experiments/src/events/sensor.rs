//! The programs that pass events on: a sensor with its store, and the monitor. Both keep chunks in logs of the crate `monitor`: in the emulated
//! world on a disk, in the simulated one in memory, where the plan says how long a commit takes.

use super::plan::Plan;
use super::session::Faults;
use bytes::Bytes as Octets;
use futures_util::stream::{self, Stream};
use http::header::{CONTENT_ENCODING, HOST};
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::service::service_fn;
use lastmile_codec::content::encode;
use lastmile_events::Chunk;
use lastmile_events::uplink::Durability;
use lastmile_lab::failure::Failure;
use lastmile_lab::http::{Connection, Encryption, Version, connect, serve};
use lastmile_monitor::log::{Entry, Log};
use lastmile_monitor::service::{AnswerBody, Monitor};
use lastmile_world::{Host, Listener};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddrV4;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The ports of sensors and of the monitor.
pub(super) const SENSOR_PORT: u16 = 7879;
pub(super) const MONITOR_PORT: u16 = 7878;

/// Starts the monitor, which answers until the world ends.
pub(super) fn start_monitor<H: Host>(host: &H, log: &Arc<Log>, plan: &Plan) -> io::Result<()> {
    let cpu = CpuTimes {
        each: plan.monitor_cpu,
        event: plan.event_cpu,
    };
    commit(host, log, plan, cpu);
    let monitor = Arc::new(Monitor::new(Arc::clone(log), None));
    let host_of_monitor = host.clone();
    let answer = service_fn(move |request| {
        let (monitor, host) = (Arc::clone(&monitor), host_of_monitor.clone());
        async move {
            let (head, body) = monitor.answer(request).await.into_parts();
            let body: Pin<Box<dyn Body<Data = Octets, Error = Infallible>>> = if cpu.are_zero() {
                Box::pin(body)
            } else {
                Box::pin(StreamBody::new(pieces(host, body, cpu)))
            };
            Ok::<_, Infallible>(Response::from_parts(head, body))
        }
    });
    serve(host, MONITOR_PORT, Version::Http11, Encryption::None, answer)
}

/// What a chunk or a piece of an answer takes.
#[derive(Debug, Clone, Copy)]
struct CpuTimes {
    each: Duration,
    event: Duration,
}

impl CpuTimes {
    const ZERO: Self = Self {
        each: Duration::ZERO,
        event: Duration::ZERO,
    };

    fn are_zero(self) -> bool {
        self.each.is_zero() && self.event.is_zero()
    }

    /// Of so many chunks or pieces with so many events.
    fn total(self, count: u64, events: u64) -> Duration {
        let times = |time: Duration, count: u64| time.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        times(self.each, count) + times(self.event, events)
    }
}

/// The pieces of an answer, and the time that each takes: an event is a line. What is compressed counts as one.
fn pieces<H: Host>(host: H, body: AnswerBody, cpu: CpuTimes) -> impl Stream<Item = Result<Frame<Octets>, Infallible>> {
    stream::unfold((host, body), move |(host, mut body)| async move {
        let frame = body.frame().await?;
        let data = frame.as_ref().ok().and_then(Frame::data_ref);
        let lines = data.map_or(0, |data| data.iter().filter(|byte| **byte == b'\n').count());
        host.compute(cpu.total(1, lines as u64)).await;
        Some((frame, (host, body)))
    })
}

/// Starts a sensor, which takes chunks and forwards them until the world ends.
pub(super) fn start_sensor<H: Host>(
    host: &H,
    log: &Arc<Log>,
    monitor: SocketAddrV4,
    plan: &Plan,
    faults: &Faults,
) -> io::Result<()> {
    // Its CPU time is charged before a chunk is kept.
    commit(host, log, plan, CpuTimes::ZERO);
    let mut listener = host.listen(SENSOR_PORT)?;
    let (accepting, kept) = (host.clone(), Arc::clone(log));
    let cpu = CpuTimes {
        each: plan.sensor_cpu,
        event: plan.event_cpu,
    };
    host.spawn(async move {
        while let Ok(stream) = listener.accept().await {
            let (host, log) = (accepting.clone(), Arc::clone(&kept));
            accepting.spawn(async move {
                // An application that is gone says so itself.
                let _ = take_chunks(&host, stream, &log, cpu).await;
            });
        }
    });
    let forwarder = Forwarder {
        host: host.clone(),
        log: Arc::clone(log),
        monitor,
        plan: plan.clone(),
    };
    let faults = faults.clone();
    host.spawn(async move {
        if let Err(failure) = forwarder.run().await {
            faults.add(failure);
        }
    });
    Ok(())
}

/// Commits what a log in memory is given, after the CPU times of its chunks and the time of writing.
fn commit<H: Host>(host: &H, log: &Arc<Log>, plan: &Plan, cpu: CpuTimes) {
    let (host_of_log, log) = (host.clone(), Arc::clone(log));
    let (write, sync) = (plan.write_time, plan.sync_time);
    host.spawn(async move {
        let Log::Memory(memory) = &*log else { return };
        let host = &host_of_log;
        let wait = |group: lastmile_monitor::log::CommitGroup| async move {
            host.compute(cpu.total(group.chunks as u64, group.events)).await;
            let time = match group.durability {
                Durability::Memory => Duration::ZERO,
                Durability::Process => write,
                Durability::Power => write + sync,
            };
            host.sleep_until(host.now() + time).await;
        };
        memory.run(wait).await;
    });
}

/// Answers each chunk of an application when it is kept.
async fn take_chunks<H: Host>(host: &H, mut stream: H::Stream, log: &Log, cpu: CpuTimes) -> io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let broken = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let length = Chunk::length(&bytes).map_err(broken)?;
        let Some(length) = length.filter(|length| *length <= bytes.len()) else {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
            continue;
        };
        let (chunk, _) = Chunk::read(&bytes[..length]).map_err(broken)?;
        bytes.drain(..length);
        host.compute(cpu.total(1, u64::from(chunk.event_count()))).await;
        let replies = log.append(vec![chunk], Durability::Process).await;
        stream.write_all(&replies[0].to_bytes()).await?;
        stream.flush().await?;
    }
}

/// Posts the chunks of a sensor's log to the monitor, and deletes those that it has acknowledged.
struct Forwarder<H> {
    host: H,
    log: Arc<Log>,
    monitor: SocketAddrV4,
    plan: Plan,
}

impl<H: Host> Forwarder<H> {
    async fn run(self) -> Result<(), Failure> {
        let mut committed = self.log.end();
        let mut position = self.log.start().await;
        let mut connection = None;
        loop {
            if position >= *committed.borrow_and_update() {
                if committed.changed().await.is_err() {
                    return Ok(());
                }
                continue;
            }
            let page = self.log.read(position).await.map_err(failure)?;
            let mut body = Vec::new();
            for entry in &page.entries {
                match entry {
                    Entry::Chunk { chunk, .. } => body.extend_from_slice(chunk.bytes()),
                    Entry::Damaged { what, .. } => return Err(Failure::new(format!("a sensor's log: {what}"))),
                }
            }
            self.post(&mut connection, body).await?;
            position = page.next;
            self.log.release(position).await;
        }
    }

    async fn post(&self, connection: &mut Option<Connection<Full<Octets>>>, body: Vec<u8>) -> Result<(), Failure> {
        if connection.is_none() {
            let opened = connect(&self.host, self.monitor, Version::Http11, None).await;
            *connection = Some(opened.map_err(failure)?);
        }
        let path = format!("/v1/chunks?durability={}", self.plan.durability);
        let mut request = Request::post(path).header(HOST, self.monitor.to_string());
        let mut body = body;
        if !self.plan.codec.is_identity() {
            request = request.header(CONTENT_ENCODING, self.plan.codec.coding().token());
            body = encode(self.plan.codec, &body);
        }
        let request = request.body(Full::new(Octets::from(body))).map_err(failure)?;
        let connection = connection.as_mut().expect("it was opened");
        let response = connection.send(request).await.map_err(failure)?;
        let status = response.status();
        let text = response.into_body().collect().await.map_err(failure)?.to_bytes();
        if !status.is_success() {
            let text = String::from_utf8_lossy(&text);
            return Err(Failure::new(format!(
                "the monitor did not take chunks: {status}: {text}"
            )));
        }
        Ok(())
    }
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("a sensor could not forward events: {error}"))
}
