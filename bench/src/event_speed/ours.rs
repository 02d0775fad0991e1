//! The monitor: events through an emitter, one chunk at a time, by subscription and by query.

use super::server::Server;
use super::wire::{Connection, Deliveries, mark, payload, publish_and_read};
use anyhow::{Context as _, Result, ensure};
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, ChunkBuilder, Emitter, EmitterSettings, FullRing, Source, Subject, Timestamp, Value};
use lastmile_monitor::client::{Client, MonitorUplink, MonitorUrl};
use lastmile_monitor::log::{Log, LogSettings};
use lastmile_monitor::service::Monitor;
use lastmile_monitor::{block_on, server};
use std::cell::RefCell;
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub(crate) struct Ours {
    server: Server,
    url: MonitorUrl,
    durability: Durability,
}

/// The monitor's process.
pub(crate) fn serve(folder: &Path, durability: &str) -> Result<()> {
    let settings = LogSettings {
        durability: Durability::of_name(durability).context("no durability")?,
        ..LogSettings::default()
    };
    let port = std::fs::read_to_string(folder.join("port"))?;
    let log = Log::open(&folder.join("log"), settings)?;
    let monitor = Arc::new(Monitor::new(Arc::new(log), None));
    let listener = TcpListener::bind(format!("127.0.0.1:{port}"))?;
    block_on(server::serve(monitor, listener, &AtomicBool::new(false)))??;
    Ok(())
}

impl Ours {
    pub(crate) fn start(durability: Durability) -> Result<Self> {
        let server = Server::start(|folder, port| {
            std::fs::write(folder.join("port"), port.to_string())?;
            let mut command = Command::new(std::env::current_exe()?);
            command
                .arg("--serve")
                .arg(folder)
                .args(["--durability", durability.name()]);
            Ok(command)
        })?;
        Ok(Self {
            url: format!("http://{}", server.address).parse()?,
            server,
            durability,
        })
    }

    pub(crate) const fn server(&self) -> &Server {
        &self.server
    }

    fn client(&self) -> Client {
        Client::new(self.url.clone(), None)
    }

    pub(crate) async fn fill(&mut self, bursts: u64) -> Result<()> {
        let mut client = self.client();
        let source = Source::new("fill", 1)?;
        for burst in 0..bursts {
            let mut builder = ChunkBuilder::new(source.clone(), burst * 1000 + 1);
            for number in 0..1000 {
                let payload = payload(number);
                let fields = [("e", Value::Text(payload.as_str()))];
                builder.push(Timestamp::now(), &format!("bench.burst.{burst}"), fields)?;
            }
            let chunk = builder.finish().context("the chunk is empty")?;
            submit(&mut client, &chunk, self.durability).await?;
        }
        Ok(())
    }

    /// From the first event that an application emits to the acknowledgement of the last.
    pub(crate) async fn pipelined(&mut self, events: u64) -> Result<Duration> {
        let (client, durability) = (self.client(), self.durability);
        let emitting = move || {
            let settings = EmitterSettings {
                full_ring: FullRing::Block,
                ..EmitterSettings::default()
            };
            let uplink = MonitorUplink::new(client, durability)?;
            let emitter = Emitter::start(Source::new("pipelined", 1)?, settings, Box::new(uplink))?;
            let subject = Subject::new("bench.pipelined")?;
            let start = Instant::now();
            let payload = payload(0);
            for _ in 0..events {
                emitter.emit(&subject, &[("e", Value::Text(&payload))]);
            }
            let account = emitter.close();
            ensure!(
                account.acknowledged == events + 1,
                "not all are acknowledged: {account:?}"
            );
            Ok(start.elapsed())
        };
        tokio::task::spawn_blocking(emitting).await?
    }

    pub(crate) async fn one_at_a_time(&mut self, events: u64) -> Result<Vec<Duration>> {
        let mut client = self.client();
        let source = Source::new("single", 1)?;
        let mut times = Vec::new();
        for number in 0..events {
            let chunk = chunk(&source, number + 1, "bench.single", number)?;
            let start = Instant::now();
            submit(&mut client, &chunk, self.durability).await?;
            times.push(start.elapsed());
        }
        Ok(times)
    }

    pub(crate) async fn query(&mut self, queries: usize) -> Result<(Duration, Vec<Duration>)> {
        let mut client = self.client();
        let mut times = Vec::new();
        for _ in 0..=queries {
            let start = Instant::now();
            let mut found = 0;
            client
                .lines("/v1/events?subject=bench.burst.7&limit=1000", |line| {
                    found += u64::from(mark(line.as_bytes()).is_some());
                    ControlFlow::Continue(())
                })
                .await?;
            ensure!(found == 1000, "a query found {found} events");
            times.push(start.elapsed());
        }
        Ok((times.remove(0), times))
    }

    pub(crate) async fn deliver(&mut self, subscribers: usize, events: u64, pause: Duration) -> Result<Vec<Duration>> {
        let first = 1_000_000_000;
        let deliveries = RefCell::new(Deliveries::new(first));
        let subject = format!("bench.live.{subscribers}");
        let mut publisher = self.client();
        let mut reading = Vec::new();
        for _ in 0..subscribers {
            // As with the peers, no client library is measured.
            let mut reader = Connection::open(self.server.address).await?;
            let deliveries = &deliveries;
            let request = format!("GET /v1/subscribe?from=now&subject={subject} HTTP/1.1\r\nhost: monitor\r\n\r\n");
            reader.write(request.as_bytes()).await?;
            reading.push(async move {
                for _ in 0..events {
                    let number = reader.read_mark().await?;
                    deliveries.borrow_mut().deliver(number);
                }
                anyhow::Ok(())
            });
        }
        let publishing = async {
            // Subscriptions begin with what comes after them.
            tokio::time::sleep(Duration::from_millis(300)).await;
            let source = Source::new("live", subscribers as u64)?;
            for number in first..first + events {
                tokio::time::sleep(pause).await;
                let chunk = chunk(&source, number - first + 1, &subject, number)?;
                deliveries.borrow_mut().publish();
                submit(&mut publisher, &chunk, self.durability).await?;
            }
            anyhow::Ok(())
        };
        publish_and_read(publishing, reading).await?;
        Ok(deliveries.into_inner().into_times())
    }
}

fn chunk(source: &Source, first: u64, subject: &str, number: u64) -> Result<Chunk> {
    let mut builder = ChunkBuilder::new(source.clone(), first);
    let payload = payload(number);
    builder.push(Timestamp::now(), subject, [("e", Value::Text(payload.as_str()))])?;
    builder.finish().context("the chunk is empty")
}

async fn submit(client: &mut Client, chunk: &Chunk, durability: Durability) -> Result<()> {
    let replies = client.submit(std::slice::from_ref(chunk), durability).await?;
    ensure!(
        matches!(replies[..], [Reply::Acknowledged { .. }]),
        "not acknowledged: {replies:?}"
    );
    Ok(())
}
