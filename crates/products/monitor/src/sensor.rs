//! The sensor: takes events of the applications on its host, keeps them in a log of its own, and forwards them to a monitor.
//!
//! Applications connect to a socket and send chunks, each of which is answered, or lines; SDKs of OpenTelemetry send log records. All are kept before they are answered, so neither the
//! monitor's absence nor the sensor's end loses them. What a monitor has acknowledged is deleted here. A full log is back-pressure: chunks are
//! answered so, and lines are dropped, which a loss event states.

mod budget;
mod forwarder;
mod intake;
mod lines;
mod otlp;
mod own_source;
pub(crate) mod pace;
mod promises;
#[cfg(unix)]
mod socket;
mod spent;
mod spool;
mod thinning;

pub use budget::WINDOW;
pub use forwarder::ByteBudget;
pub use spool::Spool;

use crate::client::Client;
use crate::runtime::{Runtime, TokioRuntime, within};
use forwarder::{Forwarder, Progress};
use futures_util::future;
use lastmile_events::uplink::{Durability, SensorAddress};
use lastmile_events::{Source, Timestamp};
use own_source::OwnSource;
use pace::ANSWER_LIMIT;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;

/// What a sensor does.
#[derive(Debug)]
pub struct SensorSettings {
    /// Where applications find it.
    pub address: SensorAddress,
    /// The source of events that come as lines.
    pub line_source: Source,
    /// Where SDKs of OpenTelemetry find it, and the source of events that come from them.
    pub otlp: Option<(std::net::TcpListener, Source)>,
    pub forwarding: Forwarding,
}

/// A sensor without its sockets: it runs wherever its client does.
#[derive(Debug)]
pub struct Sensor<R = TokioRuntime> {
    spool: Arc<Spool>,
    lines: OwnSource,
    monitor: Client<R>,
    forwarding: Forwarding,
    progress: Arc<Progress>,
}

/// How a sensor passes events on.
#[derive(Debug, Clone)]
pub struct Forwarding {
    /// What the monitor must promise before events are deleted here.
    pub durability: Durability,
    /// The bytes that may be sent to the monitor; as many as it takes without one.
    pub budget: Option<ByteBudget>,
    /// The name by which the monitor knows this sensor.
    pub name: String,
    /// Is told what a person should know: where the sensor listens, and when the monitor refuses events and takes them again.
    pub note: fn(&str),
}

impl<R: Runtime> Sensor<R> {
    /// A sensor that keeps events in a spool, or in a log in memory. Those that come as lines have this source.
    pub fn new(spool: impl Into<Spool>, monitor: Client<R>, line_source: Source, forwarding: Forwarding) -> Self {
        let spool = Arc::new(spool.into());
        Self {
            lines: OwnSource::new(Arc::clone(&spool), line_source),
            spool,
            monitor,
            forwarding,
            progress: Arc::default(),
        }
    }

    /// Takes the chunks or lines of an application until it ends its connection.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn serve(&self, application: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
        intake::serve(self.monitor.runtime(), application, &self.spool, &self.lines).await
    }

    /// Forwards what the log holds, and tells the monitor that this sensor is alive, for ever.
    pub async fn forward(&self) {
        let forwarder = Forwarder::new(
            Arc::clone(&self.spool),
            self.monitor.again(),
            &self.forwarding,
            Arc::clone(&self.progress),
        );
        future::join(forwarder.run(), self.register()).await;
    }

    /// Tells the monitor every few seconds that this sensor is alive, and what waits. A budget is for events alone: a sensor that has one does not
    /// register.
    async fn register(&self) {
        if self.forwarding.budget.is_some() {
            return;
        }
        let mut monitor = self.monitor.again();
        loop {
            let end = self.spool.log().end();
            let waiting = end.saturating_sub(self.progress.position.load(Ordering::Relaxed));
            let state = serde_json::json!({
                "sensor": self.forwarding.name,
                "waiting": waiting,
                "dropped_for_budget": self.progress.dropped.load(Ordering::Relaxed),
                "sent_bytes": self.progress.sent_bytes.load(Ordering::Relaxed),
            });
            let answer = within(self.monitor.runtime(), ANSWER_LIMIT, monitor.register(&state)).await;
            if answer.is_none_or(|answer| answer.is_err()) {
                // A connection over which no answer comes may be dead.
                monitor = self.monitor.again();
            }
            monitor.runtime().sleep(REGISTRATION).await;
        }
    }
}

/// How often a sensor registers: our own choice.
const REGISTRATION: Duration = Duration::from_secs(3);

/// Serves applications at a socket, and forwards to the monitor, until `stop` is set.
///
/// # Errors
/// When the socket cannot be used.
pub async fn run(
    spool: impl Into<Spool>,
    monitor: Client,
    settings: SensorSettings,
    stop: &AtomicBool,
) -> io::Result<()> {
    let note = settings.forwarding.note;
    let sensor = Arc::new(Sensor::new(spool, monitor, settings.line_source, settings.forwarding));
    let otlp = match settings.otlp {
        None => None,
        Some((listener, source)) => {
            listener.set_nonblocking(true)?;
            let listener = TcpListener::from_std(listener)?;
            let records = Arc::new(OwnSource::new(Arc::clone(&sensor.spool), source));
            Some((tokio::spawn(otlp::serve(listener, Arc::clone(&records))), records))
        }
    };
    let records = otlp.as_ref().map(|(_, records)| Arc::clone(records));
    // It is not broken off: what it appends must be known here.
    tokio::spawn(state_losses(Arc::clone(&sensor), records));
    let forwarding = Arc::clone(&sensor);
    let forwarding = tokio::spawn(async move { forwarding.forward().await });
    match settings.address {
        SensorAddress::Path(path) => {
            let (listener, _file) = socket::listen(&path)?;
            note(&format!("the sensor listens at {}", path.display()));
            serve_until(stop, &sensor, async || Ok(listener.accept().await?.0)).await;
        }
        SensorAddress::Tcp(address) => {
            let listener = TcpListener::bind(&address).await?;
            note(&format!("the sensor listens at {address}"));
            let accept = async || {
                let (stream, _) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                Ok(stream)
            };
            serve_until(stop, &sensor, accept).await;
        }
    }
    sensor.lines.end(Timestamp::now()).await;
    if let Some((serving, records)) = otlp {
        serving.abort();
        records.end(Timestamp::now()).await;
    }
    forwarder::wait_until_empty(sensor.monitor.runtime(), sensor.spool.log(), PATIENCE).await;
    forwarding.abort();
    Ok(())
}

/// States what was dropped as soon as there is room, for ever.
async fn state_losses(sensor: Arc<Sensor>, records: Option<Arc<OwnSource>>) {
    loop {
        tokio::time::sleep(REGISTRATION).await;
        sensor.spool.state_losses().await;
        for own in records.as_deref().into_iter().chain([&sensor.lines]) {
            own.state_losses(Timestamp::now()).await;
        }
    }
}

/// How often the sensor looks whether it is to stop.
const STOP_POLL: Duration = Duration::from_millis(50);
/// How long a sensor that stops waits for its monitor; what is left is forwarded when it starts again.
const PATIENCE: Duration = Duration::from_secs(2);

/// Serves the applications that connect, until `stop` is set.
async fn serve_until<S>(stop: &AtomicBool, sensor: &Arc<Sensor>, accept: impl AsyncFn() -> io::Result<S>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    while !stop.load(Ordering::Relaxed) {
        if let Ok(Ok(application)) = tokio::time::timeout(STOP_POLL, accept()).await {
            let sensor = Arc::clone(sensor);
            tokio::spawn(async move {
                // The application's going away is its own affair.
                let _ = sensor.serve(application).await;
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::MemoryLog;
    use bytes::Bytes;
    use http_body_util::Full;
    use hyper::client::conn::http1::SendRequest;
    use lastmile_events::Chunk;
    use std::cell::Cell;
    use std::rc::Rc;
    use tokio::task::yield_now;

    /// A place where a connection is never made, and no time passes.
    #[derive(Clone)]
    struct DeadLink {
        attempts: Rc<Cell<u32>>,
    }

    impl Runtime for DeadLink {
        async fn connect(&self, _: &str) -> io::Result<SendRequest<Full<Bytes>>> {
            self.attempts.set(self.attempts.get() + 1);
            std::future::pending().await
        }

        async fn sleep(&self, _: Duration) {
            yield_now().await;
        }

        fn uptime(&self) -> Duration {
            Duration::ZERO
        }

        fn now(&self) -> Timestamp {
            Timestamp::default()
        }

        async fn compute_for(&self, _: &Chunk) {}
    }

    #[test]
    fn a_sensor_whose_registration_is_not_answered_connects_again() {
        let attempts = Rc::new(Cell::new(0));
        let runtime = DeadLink {
            attempts: Rc::clone(&attempts),
        };
        let monitor = Client::with_runtime(runtime, "http://nowhere:1".parse().unwrap(), None);
        let forwarding = Forwarding {
            durability: Durability::Process,
            budget: None,
            name: "sensor".to_owned(),
            note: |_| (),
        };
        let log = Arc::new(crate::log::Log::Memory(MemoryLog::new(1)));
        let sensor = Sensor::new(log, monitor, Source::new("lines", 1).unwrap(), forwarding);
        let while_it_registers = async {
            for _ in 0..100 {
                yield_now().await;
            }
        };
        let registering = std::pin::pin!(sensor.register());
        crate::block_on(future::select(registering, std::pin::pin!(while_it_registers))).unwrap();
        assert!(attempts.get() > 1);
    }
}
