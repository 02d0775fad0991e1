//! A sensor and a monitor of this process, for programs that are measured.

use anyhow::Context as _;
use lastmile_events::uplink::{Durability, SensorAddress};
use lastmile_events::{Source, Timestamp};
use lastmile_monitor::client::Client;
use lastmile_monitor::log::{Log, LogSettings};
use lastmile_monitor::sensor::{self, Forwarding, SensorSettings};
use lastmile_monitor::service::Monitor;
use lastmile_monitor::{block_on, server};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Runs until it is dropped; its files go with it.
pub(super) struct OwnSensor {
    folder: PathBuf,
    otlp: String,
    log: Arc<Log>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// How long events may take from a program that has ended to the monitor: our own choice.
const SETTLING: Duration = Duration::from_millis(100);

impl OwnSensor {
    pub(super) fn start() -> anyhow::Result<Self> {
        let name = format!("lastmile-perturb-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let process = LogSettings {
            durability: Durability::Process,
            ..LogSettings::default()
        };
        let log = Arc::new(Log::open(&folder.join("monitor"), process)?);
        let spool = Arc::new(Log::open(&folder.join("sensor"), process)?);
        let (listener, otlp) = (TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?);
        let monitor_url = format!("http://{}", listener.local_addr()?);
        let otlp_url = format!("http://{}", otlp.local_addr()?);
        let source = |name: &str| Source::new(name, Timestamp::now().unix_nanoseconds() as u64);
        let settings = SensorSettings {
            address: SensorAddress::Path(folder.join("socket")),
            line_source: source("lines")?,
            otlp: Some((otlp, source("otlp")?)),
            forwarding: Forwarding {
                durability: Durability::Process,
                budget: None,
                name: "perturb".to_owned(),
                note: |_| (),
            },
        };
        let client = Client::new(monitor_url.parse()?, None);
        let stop = Arc::new(AtomicBool::new(false));
        let monitor = Arc::new(Monitor::new(Arc::clone(&log), None));
        let (monitor_stop, sensor_stop) = (Arc::clone(&stop), Arc::clone(&stop));
        let threads = vec![
            thread::spawn(move || drop(block_on(server::serve(monitor, listener, &monitor_stop)))),
            thread::spawn(move || drop(block_on(sensor::run(spool, client, settings, &sensor_stop)))),
        ];
        Ok(Self {
            folder,
            otlp: otlp_url,
            log,
            stop,
            threads,
        })
    }

    /// What a program finds it by.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("LASTMILE_SENSOR", self.folder.join("socket").display().to_string()),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", self.otlp.clone()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf".to_owned()),
            ("OTEL_LOGS_EXPORTER", "otlp".to_owned()),
        ]
    }

    /// How many events have reached the monitor.
    pub(super) fn event_count(&self) -> u64 {
        thread::sleep(SETTLING);
        self.log.end()
    }
}

impl Drop for OwnSensor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
