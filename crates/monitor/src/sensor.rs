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
mod thinning;

pub use budget::WINDOW;
pub use forwarder::ByteBudget;

use crate::client::Client;
use crate::log::Log;
use forwarder::{Forwarder, Progress};
use lastmile_events::uplink::{Durability, SensorAddress};
use lastmile_events::{Source, Timestamp};
use lines::LineSource;
use otlp::RecordSource;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

/// What a sensor does.
#[derive(Debug)]
pub struct SensorSettings {
    /// Where applications find it.
    pub address: SensorAddress,
    /// The source of events that come as lines.
    pub line_source: Source,
    /// Where SDKs of OpenTelemetry find it, and the source of events that come from them.
    pub otlp: Option<(std::net::TcpListener, Source)>,
    /// What the monitor must promise before events are deleted here.
    pub durability: Durability,
    /// The bytes that may be sent to the monitor; as many as it takes without one.
    pub budget: Option<ByteBudget>,
    /// The name by which the monitor knows this sensor.
    pub name: String,
}

/// Serves applications, and forwards to the monitor, until `stop` is set.
///
/// # Errors
/// When the socket cannot be used.
pub async fn run(log: Arc<Log>, monitor: Client, settings: SensorSettings, stop: &AtomicBool) -> io::Result<()> {
    let lines = Arc::new(LineSource::new(Arc::clone(&log), settings.line_source));
    let otlp = match settings.otlp {
        None => None,
        Some((listener, source)) => {
            listener.set_nonblocking(true)?;
            let listener = TcpListener::from_std(listener)?;
            let records = Arc::new(RecordSource::new(Arc::clone(&log), source));
            Some((tokio::spawn(otlp::serve(listener, Arc::clone(&records))), records))
        }
    };
    let progress = Arc::new(Progress::default());
    let registering = tokio::spawn(register(
        Arc::clone(&log),
        monitor.again(),
        settings.name,
        Arc::clone(&progress),
        settings.budget,
    ));
    let forwarder = Forwarder::new(
        Arc::clone(&log),
        monitor,
        settings.durability,
        settings.budget,
        progress,
    );
    let forwarding = tokio::spawn(forwarder.run());
    match settings.address {
        SensorAddress::Path(path) => {
            // A socket that a killed sensor left is in the way; the log's lock says that no other sensor lives here.
            let _ = std::fs::remove_file(&path);
            let listener = UnixListener::bind(&path)?;
            while !stop.load(Ordering::Relaxed) {
                if let Ok(Ok((stream, _))) = tokio::time::timeout(STOP_POLL, listener.accept()).await {
                    spawn(stream, &log, &lines);
                }
            }
            let _ = std::fs::remove_file(&path);
        }
        SensorAddress::Tcp(address) => {
            let listener = TcpListener::bind(&address).await?;
            while !stop.load(Ordering::Relaxed) {
                if let Ok(Ok((stream, _))) = tokio::time::timeout(STOP_POLL, listener.accept()).await {
                    let _ = stream.set_nodelay(true);
                    spawn(stream, &log, &lines);
                }
            }
        }
    }
    lines.end(Timestamp::now()).await;
    if let Some((serving, records)) = otlp {
        serving.abort();
        records.end(Timestamp::now()).await;
    }
    forwarder::wait_until_empty(&log, PATIENCE).await;
    forwarding.abort();
    registering.abort();
    Ok(())
}

/// How often the sensor looks whether it is to stop.
const STOP_POLL: Duration = Duration::from_millis(50);
/// How long a sensor that stops waits for its monitor; what is left is forwarded when it starts again.
const PATIENCE: Duration = Duration::from_secs(2);

/// Tells the monitor every few seconds that this sensor is alive, and what waits. A budget is for events alone: a sensor that has one does not
/// register.
async fn register(
    log: Arc<Log>,
    mut monitor: Client,
    name: String,
    progress: Arc<Progress>,
    budget: Option<ByteBudget>,
) {
    if budget.is_some() {
        return;
    }
    loop {
        let end = *log.end().borrow();
        let waiting = end.saturating_sub(progress.position.load(Ordering::Relaxed));
        let state = serde_json::json!({
            "sensor": name,
            "waiting": waiting,
            "dropped_for_budget": progress.dropped.load(Ordering::Relaxed),
            "sent_bytes": progress.sent_bytes.load(Ordering::Relaxed),
        });
        let _ = monitor.register(&state).await;
        tokio::time::sleep(REGISTRATION).await;
    }
}

/// How often a sensor registers: our own choice.
const REGISTRATION: Duration = Duration::from_secs(3);

fn spawn(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, log: &Arc<Log>, lines: &Arc<LineSource>) {
    let (log, lines) = (Arc::clone(log), Arc::clone(lines));
    tokio::spawn(async move {
        // The application's going away is its own affair.
        let _ = intake::serve(stream, &log, &lines).await;
    });
}
