//! Adds a delivery of its own to the engine, and runs a small study with it in the simulated world.
//!
//! The client of the delivery `echo` sends a number of bytes over TCP, and the server sends them back. One type that implements
//! [`LinkDelivery`] and one line of registration are all that a new delivery needs: the study language, the runner and the record take
//! the rest from there. `cargo run -p lastmile-deliveries --example echo_delivery` prints the record.

use lastmile_deliveries::over_link::{LinkDelivery, OverLink, Program, Setup, cpu_time_of_bulk, workload};
use lastmile_report::Detail;
use lastmile_report::terminal::{self, TerminalStyle};
use lastmile_study::cell::expand;
use lastmile_study::delivery::{Deliveries, Refusal};
use lastmile_study::figure;
use lastmile_study::file::Study;
use lastmile_study::journal::Journal;
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::run_folder::Meta;
use lastmile_study::runner::{self, StudyRunner};
use lastmile_study::settings::Settings;
use lastmile_study::summary::summarise;
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{TestbedWorld, TwoHostTestbed};
use lastmile_units::ByteCount;
use lastmile_workload::WorkloadSpec;
use lastmile_world::{Host, Listener};
use std::error::Error;
use std::io;
use std::net::SocketAddrV4;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The deliveries of this program: those of lastmile, and `echo`.
const DELIVERIES: Deliveries = Deliveries::new(&[lastmile_deliveries::DELIVERIES, &[&OverLink(Echo)]]);

const STUDY: &str = r#"
name = "echo"
question = "How long do bytes take to a server and back?"
repeats = 3
[fixed]
delivery = "echo"
[factors]
link = ["wpt/3g", "wpt/cable"]
workload = [{ kind = "bulk", bytes = "1 kB" }, { kind = "bulk", bytes = "100 kB" }]
"#;

/// The delivery `echo`.
struct Echo;

impl LinkDelivery for Echo {
    const NAME: &'static str = "echo";
    const CARRIES: &'static str = "echoes of bulk";
    const ABOUT: &'static str = "The client gets back what it sent.";
    type Plan = ByteCount;

    fn plan(&self, settings: &Settings) -> Result<ByteCount, Refusal> {
        match workload(settings)? {
            WorkloadSpec::Bulk(bulk) => Ok(bulk.bytes),
            _ => Err(Refusal::Workload),
        }
    }

    fn expected_time(&self, bytes: &ByteCount) -> Duration {
        cpu_time_of_bulk(*bytes + *bytes)
    }

    fn prepare<'a, W: TestbedWorld>(
        &'a self,
        bytes: &'a ByteCount,
        _testbed: &TwoHostTestbed<W>,
        _setup: &Setup,
    ) -> Result<Program<'a, W>, Failure> {
        Ok(Box::new(|testbed, _| run(testbed, *bytes)))
    }
}

const PORT: u16 = 7;

/// Runs one repeat.
fn run<W: TestbedWorld>(testbed: &TwoHostTestbed<W>, bytes: ByteCount) -> Outcome {
    let failed = |error: io::Error| Failure::new(format!("the echo failed: {error}"));
    let before = testbed.counters();
    let mut listener = testbed.server.listen(PORT).map_err(failed)?;
    testbed.server.spawn(async move {
        // The client sees an error here as a stream that ends too soon.
        if let Ok(mut stream) = listener.accept().await {
            let _ = serve(&mut stream, bytes).await;
        }
    });
    let client = exchange(testbed.client.clone(), testbed.server.address(PORT), bytes);
    let time = testbed.run(client)?.map_err(failed)?;
    let counted = testbed.counters().since(before);
    let mut observation = Observation::default();
    observation.sample(figure::TRANSFER_TIME, time.as_secs_f64());
    observation.sample(figure::LINK_BYTES, counted.bytes_down as f64);
    observation.sample(figure::LINK_BYTES_UP, counted.bytes_up as f64);
    Ok(observation)
}

/// Reads all bytes, and sends them back.
async fn serve(stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin), bytes: ByteCount) -> io::Result<()> {
    let mut content = vec![0; bytes.get() as usize];
    stream.read_exact(&mut content).await?;
    stream.write_all(&content).await?;
    stream.shutdown().await
}

/// Sends all bytes and reads them back; the time from `connect` to the last byte.
async fn exchange(host: impl Host, server: SocketAddrV4, bytes: ByteCount) -> io::Result<Duration> {
    let start = host.now();
    let mut stream = host.connect(server).await?;
    let sent: Vec<u8> = (0..bytes.get()).map(|index| index as u8).collect();
    stream.write_all(&sent).await?;
    let mut received = vec![0; sent.len()];
    stream.read_exact(&mut received).await?;
    if received != sent {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(host.now() - start)
}

fn main() -> Result<(), Box<dyn Error>> {
    let study = Study::parse("echo.toml", STUDY)?;
    let expanded = expand(&study)?;
    DELIVERIES.check(&expanded)?;
    print!("{}", runner::dry_run(&expanded, &DELIVERIES, NonZeroUsize::MIN, true));

    let folder = tempfile::tempdir()?;
    let (mut journal, mut outcomes) = Journal::open(&folder.path().join("journal.jsonl"))?;
    let costs = CostTable::free();
    let run = StudyRunner {
        expanded: &expanded,
        experiment: &DELIVERIES,
        costs: &costs,
        captures: None,
        observer: None,
        threads: NonZeroUsize::MIN,
        interrupt: &AtomicBool::new(false),
    };
    run.execute(&mut journal, &mut outcomes, &mut |_| ())?;
    let meta = Meta::new(&study, &costs, env!("CARGO_PKG_VERSION"));
    let record = summarise(&expanded, &outcomes, &meta, "not kept");
    let style = TerminalStyle {
        width: 120,
        colour: false,
    };
    print!("\n{}", terminal::render(&record, Detail::Short, style));
    Ok(())
}
