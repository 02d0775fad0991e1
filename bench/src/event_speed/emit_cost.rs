//! What emitting an event costs the thread that emits: in bursts for the typical cost, and one by one for the rare ones.
//!
//! The event is the same for all: a subject, two whole numbers, a number and a text of 64 bytes. Each library passes events on to a thread of
//! its own, which throws them away; `tracing` writes them as text to a sink.

use anyhow::Result;
use lastmile_bench::spread::Spread;
use lastmile_events::uplink::{Durability, Reply, Uplink};
use lastmile_events::{Chunk, Emitter, EmitterSettings, Source, Subject, Value};
use opentelemetry::logs::{AnyValue, LogRecord as _, Logger as _, LoggerProvider as _};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{BatchConfigBuilder, BatchLogProcessor, LogBatch, LogExporter, SdkLoggerProvider};
use std::hint::black_box;
use std::io;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// Acknowledges whatever comes.
struct Nowhere;

impl Uplink for Nowhere {
    fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
        Ok(Reply::Acknowledged {
            next: chunk.end(),
            durability: Durability::Memory,
        })
    }
}

/// Exports to nowhere.
#[derive(Debug)]
struct NoExport;

impl LogExporter for NoExport {
    async fn export(&self, _batch: LogBatch<'_>) -> OTelSdkResult {
        Ok(())
    }
}

const BURSTS: usize = 100;
const BURST: u32 = 1000;
const SINGLE: usize = 100_000;
const TEXT: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
/// After each burst, so that what is measured is the emitting and not the passing on.
const PAUSE: Duration = Duration::from_millis(10);

/// In nanoseconds.
struct Cost {
    typical: f64,
    rare: f64,
}

fn measure(mut emit: impl FnMut(u32)) -> Cost {
    let mut bursts = Vec::new();
    for _ in 0..BURSTS {
        let start = Instant::now();
        (0..BURST).for_each(&mut emit);
        bursts.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(BURST));
        thread::sleep(PAUSE);
    }
    bursts.sort_by(f64::total_cmp);
    let mut single = Vec::with_capacity(SINGLE);
    for at in 0..SINGLE as u32 {
        let start = Instant::now();
        emit(at);
        single.push(start.elapsed().as_nanos() as f64);
        if at % BURST == 0 {
            thread::sleep(PAUSE / 4);
        }
    }
    single.sort_by(f64::total_cmp);
    Cost {
        typical: bursts[BURSTS / 2],
        rare: single[SINGLE * 999 / 1000] - clock_cost(),
    }
}

/// What reading the clock twice costs, which stands in every single measurement.
fn clock_cost() -> f64 {
    let start = Instant::now();
    for _ in 0..BURST {
        black_box(Instant::now());
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(BURST)
}

/// Ends an emitter, which has dropped nothing.
fn close(emitter: &Emitter) -> Result<()> {
    let dropped = emitter.close().dropped_full;
    anyhow::ensure!(dropped == 0, "{dropped} events were dropped");
    Ok(())
}

fn ours_by_kind() -> Result<Cost> {
    let emitter = Emitter::start(Source::new("cost", 2)?, EmitterSettings::default(), Box::new(Nowhere))?;
    let kind = emitter.register(&Subject::new("run.cell.done")?, &["cell", "i", "seconds", "text"])?;
    let cost = measure(|i| {
        let values = [
            Value::Integer(7),
            Value::Integer(i64::from(i)),
            Value::Float(12.5),
            Value::Text(TEXT),
        ];
        black_box(emitter.emit_kind(&kind, black_box(&values)));
    });
    close(&emitter)?;
    Ok(cost)
}

fn ours() -> Result<Cost> {
    let emitter = Emitter::start(Source::new("cost", 1)?, EmitterSettings::default(), Box::new(Nowhere))?;
    let subject = Subject::new("run.cell.done")?;
    let cost = measure(|i| {
        let fields = [
            ("cell", Value::Integer(7)),
            ("i", Value::Integer(i64::from(i))),
            ("seconds", Value::Float(12.5)),
            ("text", Value::Text(TEXT)),
        ];
        black_box(emitter.emit(&subject, black_box(&fields)));
    });
    close(&emitter)?;
    Ok(cost)
}

fn tracing_fmt() -> Result<Cost> {
    let subscriber = tracing_subscriber::fmt()
        .with_writer(io::sink)
        .with_ansi(false)
        .finish();
    Ok(tracing::subscriber::with_default(subscriber, || {
        measure(|i| tracing::info!(name: "run.cell.done", cell = 7, i, seconds = 12.5, text = TEXT))
    }))
}

fn opentelemetry_logs() -> Result<Cost> {
    let batch = BatchConfigBuilder::default().with_max_queue_size(1 << 16).build();
    let processor = BatchLogProcessor::builder(NoExport).with_batch_config(batch).build();
    let provider = SdkLoggerProvider::builder().with_log_processor(processor).build();
    let logger = provider.logger("cost");
    let cost = measure(|i| {
        let mut record = logger.create_log_record();
        record.set_timestamp(SystemTime::now());
        record.set_event_name("run.cell.done");
        record.add_attribute("cell", AnyValue::Int(7));
        record.add_attribute("i", AnyValue::Int(i64::from(i)));
        record.add_attribute("seconds", AnyValue::Double(12.5));
        record.add_attribute("text", AnyValue::from(TEXT));
        logger.emit(record);
    });
    provider.shutdown()?;
    Ok(cost)
}

fn clock() -> Result<Cost> {
    Ok(measure(|_| {
        black_box(SystemTime::now());
    }))
}

/// How a library's cost is measured.
type Measurement = fn() -> Result<Cost>;

pub(crate) fn print(turns: usize) -> Result<()> {
    let libraries: [(&str, Measurement); 5] = [
        ("lastmile-events, a registered kind", ours_by_kind),
        ("lastmile-events, names each time", ours),
        ("the clock alone", clock),
        ("tracing, fmt to a sink", tracing_fmt),
        ("OpenTelemetry SDK, logs, batch", opentelemetry_logs),
    ];
    let mut costs: Vec<Vec<Cost>> = libraries.iter().map(|_| Vec::new()).collect();
    for _ in 0..turns {
        for ((_, measure), costs) in libraries.iter().zip(&mut costs) {
            costs.push(measure()?);
        }
    }
    println!("emitting an event of 4 fields (ns; the aim is 60 typically, 1000 at p99.9):");
    for ((name, _), costs) in libraries.iter().zip(&costs) {
        let of = |figure: fn(&Cost) -> f64| Spread::of(costs.iter().map(figure).collect());
        if let (Some(typical), Some(rare)) = (of(|cost| cost.typical), of(|cost| cost.rare)) {
            println!(
                "  {name:<36} typical {:>6.1} ({:.1} to {:.1}), p99.9 {:>6.0} ({:.0} to {:.0})",
                typical.median, typical.min, typical.max, rare.median, rare.min, rare.max
            );
        }
    }
    Ok(())
}
