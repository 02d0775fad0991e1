//! Runs the programs that pass events on: the sensor and the monitor that lastmile ships, on hosts of a world. Both keep chunks in logs of the crate
//! `monitor`: in the emulated world on a disk, in the simulated one in memory, where the plan says how long a commit takes.

use super::plan::{self, Plan};
use super::runtime::{CpuTimes, HostRuntime};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::Response;
use http_body::{Body, Frame};
use http_body_util::{BodyExt, StreamBody};
use hyper::service::service_fn;
use lastmile_events::Source;
use lastmile_events::uplink::Durability;
use lastmile_monitor::client::{Client, MonitorUrl};
use lastmile_monitor::log::Log;
use lastmile_monitor::sensor::{Forwarding, Sensor};
use lastmile_monitor::service::{AnswerBody, Monitor};
use lastmile_testbed::http::{Encryption, Version, serve};
use lastmile_world::{Host, Listener};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddrV4;
use std::pin::Pin;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// The ports of sensors and of the monitor.
pub(super) const SENSOR_PORT: u16 = 7879;
pub(super) const MONITOR_PORT: u16 = 7878;

/// Starts the monitor, which answers until the world ends.
pub(super) fn start_monitor<H: Host>(host: &H, log: &Arc<Log>, plan: &Plan) -> io::Result<()> {
    let cpu = CpuTimes {
        each: plan.settings.monitor_cpu_time().0,
        event: plan.settings.event_cpu_time().0,
    };
    commit(host, log, plan, cpu);
    let monitor = Arc::new(Monitor::new(Arc::clone(log), None));
    let host_of_monitor = host.clone();
    let answer = service_fn(move |request| {
        let (monitor, host) = (Arc::clone(&monitor), host_of_monitor.clone());
        async move {
            let (head, body) = monitor.answer(request).await.into_parts();
            let body: Pin<Box<dyn Body<Data = Bytes, Error = Infallible>>> = if cpu.are_zero() {
                Box::pin(body)
            } else {
                Box::pin(StreamBody::new(pieces(host, body, cpu)))
            };
            Ok::<_, Infallible>(Response::from_parts(head, body))
        }
    });
    serve(host, MONITOR_PORT, Version::Http11, Encryption::None, answer)
}

/// The pieces of an answer, and the time that each takes: an event is a line. What is compressed counts as one.
fn pieces<H: Host>(host: H, body: AnswerBody, cpu: CpuTimes) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
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
    number: u32,
    monitor: SocketAddrV4,
    plan: &Plan,
) -> io::Result<()> {
    // Its CPU time is charged before a chunk is kept.
    commit(host, log, plan, CpuTimes::ZERO);
    let mut listener = host.listen(SENSOR_PORT)?;
    let runtime = HostRuntime {
        host: host.clone(),
        sensor_cpu: CpuTimes {
            each: plan.settings.sensor_cpu_time().0,
            event: plan.settings.event_cpu_time().0,
        },
    };
    let url = MonitorUrl::from_str(&format!("http://{monitor}")).map_err(io::Error::other)?;
    let client = Client::with_runtime(runtime, url, None).with_codec(plan.codec);
    let name = plan::sensor(number);
    let line_source = Source::new(&name, 1).map_err(io::Error::other)?;
    let forwarding = Forwarding {
        durability: plan.durability,
        budget: None,
        name,
        note: |_| {},
    };
    let sensor = Rc::new(Sensor::new(Arc::clone(log), client, line_source, forwarding));
    let (accepting, serving) = (host.clone(), Rc::clone(&sensor));
    host.spawn(async move {
        while let Ok(stream) = listener.accept().await {
            let sensor = Rc::clone(&serving);
            accepting.spawn(async move {
                // An application that is gone says so itself.
                let _ = sensor.serve(stream).await;
            });
        }
    });
    host.spawn(async move { sensor.forward().await });
    Ok(())
}

/// Commits what a log in memory is given, after the CPU times of its chunks and the time of writing.
fn commit<H: Host>(host: &H, log: &Arc<Log>, plan: &Plan, cpu: CpuTimes) {
    let (host_of_log, log) = (host.clone(), Arc::clone(log));
    let (write, sync) = (plan.settings.write_time().0, plan.settings.sync_time().0);
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
