//! Times web clients and bulk transfers over a simulated radio, on one core: the radio, TCP, HTTP and their programs together.

use lastmile_link::radio::RadioSpec;
use lastmile_load::measurement::Measurement;
use lastmile_load::on_testbed::{LEAD_TIME, RunningLoads};
use lastmile_load::over_host::HostLoad;
use lastmile_load::plan::{Demand, Plan};
use lastmile_load::rate::RequestRate;
use lastmile_load::request::Request;
use lastmile_load::schedule::Arrivals;
use lastmile_load::server_model::ServerModel;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{HostSetup, Testbed};
use lastmile_units::Seed;
use lastmile_world::sim::World;
use lastmile_world::topology::Topology;
use lastmile_world::{Host, Listener};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What the clients ask for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OfferedLoad {
    /// 1,000 bytes, over a connection for each request, at this rate per second of each client.
    Requests(f64),
    /// 1,000 bytes, over a connection for each request, each after the last response.
    Saturating,
    /// Bytes without end, over one connection of the first client.
    Bulk,
}

/// One run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WirelessRun {
    /// The time that passed in the simulated world.
    pub virtual_time: Duration,
    /// The time that this took, without the making of the world.
    pub wall: Duration,
    /// Frames that were on the air, ACKs included.
    pub frames: u64,
    /// Requests with a whole response.
    pub completed: u64,
    /// Their mean response time.
    pub response_time: Duration,
    /// Bytes of the bulk transfer that have arrived.
    pub bulk_bytes: u64,
}

const PORT: u16 = 80;
const SERVER: &str = "server";
const RADIO: &str = "radio";

impl WirelessRun {
    const EMPTY: Self = Self {
        virtual_time: Duration::ZERO,
        wall: Duration::ZERO,
        frames: 0,
        completed: 0,
        response_time: Duration::ZERO,
        bulk_bytes: 0,
    };

    /// How many virtual seconds pass in a real one.
    pub fn times_real_time(&self) -> f64 {
        self.virtual_time.as_secs_f64() / self.wall.as_secs_f64()
    }

    /// Completed requests per virtual second.
    pub fn requests_per_second(&self) -> f64 {
        self.completed as f64 / self.virtual_time.as_secs_f64()
    }

    /// The rate of the bulk transfer.
    pub fn bulk_bits_per_second(&self) -> f64 {
        self.bulk_bytes as f64 * 8.0 / self.virtual_time.as_secs_f64()
    }
}

/// Runs `clients` clients around a server on 802.11b for `time`.
///
/// # Errors
/// When the simulated world does not carry it to its end, which is a defect.
pub fn run(work: OfferedLoad, clients: u32, time: Duration) -> Result<WirelessRun, Failure> {
    let name = |number| format!("client-{number}");
    let names = || std::iter::once(SERVER.to_owned()).chain((1..=clients).map(name));
    let topology = Topology::builder()
        .hosts(names())
        .radio(RADIO, RadioSpec::dot11b(), names())
        .build()
        .map_err(|error| Failure::new(error.to_string()))?;
    let seed = Seed::new(1);
    let testbed = Testbed::<World>::build(&topology, seed, |_| HostSetup::default())?;
    let started = Instant::now();
    let mut run = match work {
        OfferedLoad::Bulk => bulk(&testbed, time)?,
        OfferedLoad::Requests(_) | OfferedLoad::Saturating => {
            let demand = match work {
                OfferedLoad::Requests(rate) => {
                    let rate = RequestRate::new(rate).ok_or_else(|| Failure::new(format!("{rate} is no rate")))?;
                    Demand::open(Arrivals::Constant(rate))
                }
                _ => Demand::Closed {
                    users: NonZeroU32::MIN,
                    think_time: Duration::ZERO,
                },
            };
            let hosts: Vec<_> = (1..=clients)
                .map(|number| testbed.host(&name(number)).clone())
                .collect();
            // As in the program for ns-3, the clients begin one after the other, at equal intervals.
            let phase = match work {
                OfferedLoad::Requests(rate) => Duration::from_secs_f64(1.0 / rate / f64::from(clients)),
                _ => Duration::ZERO,
            };
            requests(&testbed, hosts, demand, time, phase)?
        }
    };
    run.wall = started.elapsed();
    let radios = testbed.radio_counters();
    run.frames = radios
        .map(|(_, counters)| counters.total(|of| of.data_sent + of.acks_sent))
        .sum::<u64>();
    run.virtual_time = testbed.host(SERVER).now().since_start();
    Ok(run)
}

fn requests<H: Host>(
    testbed: &Testbed<World>,
    clients: Vec<H>,
    demand: Demand,
    time: Duration,
    phase: Duration,
) -> Result<WirelessRun, Failure> {
    let server = testbed.host(SERVER);
    let model = ServerModel {
        keep_alive: false,
        ..ServerModel::default()
    };
    let listening = model.start(server, PORT, Seed::new(2));
    listening.map_err(|error| Failure::new(format!("the server cannot listen: {error}")))?;
    let plan = Arc::new(Plan {
        requests_per_connection: Some(NonZeroU32::MIN),
        ..Plan::new(demand, time, Request::get(SERVER, "/object"))
    });
    let begin = server.now() + LEAD_TIME;
    let loads = clients.into_iter().zip(0..).map(|(client, index)| {
        let load = HostLoad {
            server: server.address(PORT),
            plan: Arc::clone(&plan),
            start: begin + phase * index as u32,
            seed: Seed::new(3).derive_index(index),
            interrupt: Arc::default(),
            live: None,
        };
        (client, load)
    });
    let mut all = Measurement::default();
    for measured in RunningLoads::begin(loads).end(testbed)? {
        all.add(&measured);
    }
    let total: Duration = all.response.counts().map(|(time, count)| time * count as u32).sum();
    Ok(WirelessRun {
        completed: all.completed,
        response_time: total.checked_div(all.completed as u32).unwrap_or_default(),
        ..WirelessRun::EMPTY
    })
}

fn bulk(testbed: &Testbed<World>, time: Duration) -> Result<WirelessRun, Failure> {
    let (server, client) = (testbed.host(SERVER), testbed.host("client-1").clone());
    let listening = server.listen(PORT);
    let mut listener = listening.map_err(|error| Failure::new(format!("the server cannot listen: {error}")))?;
    server.spawn(async move {
        let Ok(mut stream) = listener.accept().await else {
            return;
        };
        let chunk = vec![7; 65_536];
        while stream.write_all(&chunk).await.is_ok() {}
    });
    let address = server.address(PORT);
    let end = server.now() + time;
    let program = async move {
        let mut received = 0;
        let Ok(mut stream) = client.connect(address).await else {
            return received;
        };
        let mut buffer = vec![0; 65_536];
        while client.now() < end {
            match stream.read(&mut buffer).await {
                Ok(read) if read > 0 => received += read as u64,
                _ => break,
            }
        }
        received
    };
    let received = testbed.run_on(server, time * 2 + Duration::from_secs(10), program)?;
    Ok(WirelessRun {
        bulk_bytes: received,
        ..WirelessRun::EMPTY
    })
}
