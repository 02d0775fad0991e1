//! The lossy captures that are compared.
//!
//! Downloads and uploads over several links, with random and bursty loss, captured at both ends, one connection after another.

use lastmile_link::{Capacity, DirectionSpec, Loss, Queue};
use lastmile_units::{Probability, Seed};
use lastmile_world::World as _;
use lastmile_world::sim::{HostSpec, SimHost, World};
use lastmile_world::{Host, Listener};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Where a capture was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CapturePoint {
    Client,
    Server,
}

/// A capture, and the traffic that went into it.
pub(crate) struct CapturedTraffic {
    pub(crate) name: String,
    pub(crate) point: CapturePoint,
    pub(crate) pcapng: Vec<u8>,
    /// The bytes that each connection carried.
    pub(crate) down_bytes: u64,
    pub(crate) up_bytes: u64,
}

/// A link, the same in both directions.
struct Link {
    name: &'static str,
    rate: &'static str,
    one_way_delay: Duration,
    queue: u64,
    loss: fn() -> Loss,
    /// How long the client waits before it reads, so that its window closes.
    pause: Duration,
}

fn random(rate: f64) -> Loss {
    Loss::Bernoulli(Probability::new(rate).unwrap())
}

fn bursty(rate: f64, burst: f64) -> Loss {
    Loss::Bursty {
        rate: Probability::new(rate).unwrap(),
        burst,
    }
}

const LINKS: [Link; 6] = [
    Link {
        name: "2 Mbit/s, random",
        rate: "2 Mbit/s",
        one_way_delay: Duration::from_millis(30),
        queue: 20,
        loss: || random(0.02),
        pause: Duration::ZERO,
    },
    Link {
        name: "2 Mbit/s, bursty",
        rate: "2 Mbit/s",
        one_way_delay: Duration::from_millis(30),
        queue: 20,
        loss: || bursty(0.03, 4.0),
        pause: Duration::ZERO,
    },
    Link {
        name: "modem, bursty",
        rate: "56 kbit/s",
        one_way_delay: Duration::from_millis(75),
        queue: 8,
        loss: || bursty(0.02, 2.0),
        pause: Duration::ZERO,
    },
    Link {
        name: "20 Mbit/s, short queue",
        rate: "20 Mbit/s",
        one_way_delay: Duration::from_millis(5),
        queue: 6,
        loss: || Loss::NONE,
        pause: Duration::ZERO,
    },
    Link {
        name: "satellite, random",
        rate: "5 Mbit/s",
        one_way_delay: Duration::from_millis(300),
        queue: 100,
        loss: || random(0.05),
        pause: Duration::ZERO,
    },
    Link {
        name: "4 Mbit/s, a slow reader",
        rate: "4 Mbit/s",
        one_way_delay: Duration::from_millis(20),
        queue: 50,
        loss: || random(0.01),
        pause: Duration::from_secs(4),
    },
];
const SEEDS: [u64; 3] = [1, 2, 3];
const CONNECTIONS: usize = 2;

/// Every capture.
pub(crate) fn all() -> impl Iterator<Item = CapturedTraffic> {
    LINKS.iter().flat_map(|link| {
        SEEDS.iter().flat_map(move |seed| {
            [false, true]
                .into_iter()
                .flat_map(move |up| capture_both_ends(link, *seed, up))
        })
    })
}

/// One world, captured at both ends.
fn capture_both_ends(link: &Link, seed: u64, up: bool) -> [CapturedTraffic; 2] {
    let bytes: u64 = if link.rate == "56 kbit/s" { 120_000 } else { 400_000 };
    let (up_bytes, down_bytes) = if up { (bytes, 20) } else { (300, bytes) };
    let world = World::new(Seed::new(seed));
    let (client, server) = (world.host(HostSpec::default()), world.host(HostSpec::default()));
    let direction = DirectionSpec {
        capacity: Capacity::Rate(link.rate.parse().unwrap()),
        one_way_delay: link.one_way_delay,
        queue: Queue::Packets(link.queue),
        loss: (link.loss)(),
        ..DirectionSpec::IDEAL
    };
    world.link(&direction, &direction, &[&client], &[&server]);
    let files = [&client, &server].map(|host| {
        let file = Recording::default();
        world.capture(host, Box::new(file.clone())).unwrap();
        file
    });
    carry(&world, client, &server, [up_bytes, down_bytes], link.pause);
    let way = if up { "upload" } else { "download" };
    let captured = |point, file: &Recording| CapturedTraffic {
        name: format!("{way} over {}, seed {seed}, seen by the {point:?}", link.name),
        point,
        pcapng: file.0.lock().unwrap().clone(),
        down_bytes,
        up_bytes,
    };
    [
        captured(CapturePoint::Client, &files[0]),
        captured(CapturePoint::Server, &files[1]),
    ]
}

/// Runs connections one after another; each sends a request and reads a response, and is closed by the server.
fn carry(world: &World, client: SimHost, server: &SimHost, bytes: [u64; 2], pause: Duration) {
    let [up, down] = bytes.map(|bytes| bytes as usize);
    let mut listener = server.listen(80).unwrap();
    let address = server.address(80);
    world.spawn(async move {
        for _ in 0..CONNECTIONS {
            let mut stream = listener.accept().await.unwrap();
            let mut request = vec![0; up];
            stream.read_exact(&mut request).await.unwrap();
            stream.write_all(&vec![b'x'; down]).await.unwrap();
        }
    });
    let program = async move {
        for _ in 0..CONNECTIONS {
            let mut stream = client.connect(address).await.unwrap();
            stream.write_all(&vec![b'y'; up]).await.unwrap();
            client.sleep_until(client.now() + pause).await;
            let mut response = Vec::new();
            stream.read_to_end(&mut response).await.unwrap();
            assert_eq!(response.len(), down);
            drop(stream);
        }
        client.sleep_until(client.now() + Duration::from_secs(30)).await;
    };
    world.run(program).unwrap();
}

/// A file in memory that can be read while it is written.
#[derive(Clone, Default)]
struct Recording(Arc<Mutex<Vec<u8>>>);

impl Write for Recording {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(from);
        Ok(from.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
