//! The runtime that the monitor's sensor and client need, on a host of a world.

use super::application::timestamp;
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use lastmile_events::{Chunk, Timestamp};
use lastmile_monitor::runtime::Runtime;
use lastmile_units::Instant;
use lastmile_world::Host;
use std::io;
use std::net::SocketAddrV4;
use std::time::Duration;

/// A host of a world, and the CPU time of a sensor on it.
#[derive(Debug, Clone)]
pub(super) struct HostRuntime<H> {
    pub(super) host: H,
    pub(super) sensor_cpu: CpuTimes,
}

/// The CPU time of chunks or of pieces of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuTimes {
    pub(super) each: Duration,
    /// For each event in it.
    pub(super) event: Duration,
}

impl CpuTimes {
    pub(super) const ZERO: Self = Self {
        each: Duration::ZERO,
        event: Duration::ZERO,
    };

    pub(super) fn are_zero(self) -> bool {
        self.each.is_zero() && self.event.is_zero()
    }

    /// Of so many chunks or pieces with so many events.
    pub(super) fn total(self, count: u64, events: u64) -> Duration {
        let times = |time: Duration, count: u64| time.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        times(self.each, count) + times(self.event, events)
    }
}

impl<H: Host> HostRuntime<H> {
    /// For a client, whose CPU time is charged where it reads.
    pub(super) const fn of_client(host: H) -> Self {
        Self {
            host,
            sensor_cpu: CpuTimes::ZERO,
        }
    }
}

impl<H: Host> Runtime for HostRuntime<H> {
    async fn connect(&self, authority: &str) -> io::Result<SendRequest<Full<Bytes>>> {
        let address: SocketAddrV4 = authority.parse().map_err(io::Error::other)?;
        let stream = self.host.connect(address).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        self.host.spawn(async move {
            // Whoever waits for an answer learns that the connection broke.
            let _ = connection.await;
        });
        Ok(sender)
    }

    async fn sleep(&self, time: Duration) {
        self.host.sleep_until(self.host.now() + time).await;
    }

    fn uptime(&self) -> Duration {
        self.host.now().saturating_since(Instant::START)
    }

    fn now(&self) -> Timestamp {
        timestamp(self.host.now())
    }

    async fn compute_for(&self, chunk: &Chunk) {
        let time = self.sensor_cpu.total(1, u64::from(chunk.event_count()));
        self.host.compute(time).await;
    }
}
