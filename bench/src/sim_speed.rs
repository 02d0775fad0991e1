//! How many packets does the simulated world carry in a second, on one core?
//!
//! Each transfer is a world of its own: a client asks, a server answers with bytes. Packets are those offered to the link, both
//! ways. The transfers take turns, so that a disturbance does not fall on one alone. A line a transfer for people, then one for
//! machines.

use lastmile_link::{Capacity, DirectionSpec, Loss, Queue};
use lastmile_units::{Probability, Seed};
use lastmile_world::sim::{HostSpec, World};
use lastmile_world::{Host, Listener};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

struct Transfer {
    name: &'static str,
    rate: &'static str,
    one_way_delay: Duration,
    queue: Queue,
    loss: f64,
    bytes: usize,
}

const TRANSFERS: [Transfer; 4] = [
    Transfer {
        name: "100 MB at 100 Mbit/s, 20 ms",
        rate: "100 Mbit/s",
        one_way_delay: Duration::from_millis(10),
        queue: Queue::Packets(500),
        loss: 0.0,
        bytes: 100_000_000,
    },
    Transfer {
        name: "25 MB at 56 kbit/s, 150 ms",
        rate: "56 kbit/s",
        one_way_delay: Duration::from_millis(75),
        queue: Queue::Packets(10),
        loss: 0.0,
        bytes: 25_000_000,
    },
    Transfer {
        name: "25 MB at 2 Mbit/s, 100 ms, 1 % lost",
        rate: "2 Mbit/s",
        one_way_delay: Duration::from_millis(50),
        queue: Queue::Packets(50),
        loss: 0.01,
        bytes: 25_000_000,
    },
    Transfer {
        name: "50 MB at 1 Gbit/s, 200 ms, queue of 1000",
        rate: "1 Gbit/s",
        one_way_delay: Duration::from_millis(100),
        queue: Queue::Packets(1000),
        loss: 0.0,
        bytes: 50_000_000,
    },
];

/// How often each runs; odd, so that there is a median.
const RUNS: usize = 7;

/// What one run took, and did.
struct Run {
    wall: Duration,
    packets: u64,
    virtual_time: Duration,
}

fn run(transfer: &Transfer) -> Run {
    let begun = Instant::now();
    let world = World::new(Seed::new(1));
    let (client, server) = (world.host(HostSpec::default()), world.host(HostSpec::default()));
    let direction = DirectionSpec {
        capacity: Capacity::Rate(transfer.rate.parse().expect("the rate is written as rates are")),
        one_way_delay: transfer.one_way_delay,
        queue: transfer.queue,
        loss: Loss::Bernoulli(Probability::new(transfer.loss).expect("a probability lies between 0 and 1")),
        ..DirectionSpec::IDEAL
    };
    let link = world.link(&direction, &direction, &[&client], &[&server]);
    let (bytes, address) = (transfer.bytes, server.address(80));
    let mut listener = server.listen(80).expect("nobody else listens");
    world.spawn(async move {
        let mut stream = listener.accept().await.expect("the client connects");
        let chunk = vec![7; 65_536];
        let mut left = bytes;
        while left > 0 {
            let written = stream
                .write(&chunk[..left.min(chunk.len())])
                .await
                .expect("the client reads");
            left -= written;
        }
    });
    let program = async move {
        let mut stream = client.connect(address).await.expect("the server listens");
        let (mut buffer, mut left) = (vec![0; 65_536], bytes);
        while left > 0 {
            left -= stream.read(&mut buffer).await.expect("the server writes");
        }
    };
    world.run(program).expect("the transfer ends");
    let (down, up) = world.link_counters(link);
    Run {
        wall: begun.elapsed(),
        packets: down.offered + up.offered,
        virtual_time: world.now().since_start(),
    }
}

fn main() {
    let mut runs = TRANSFERS.each_ref().map(|_| Vec::new());
    for _ in 0..RUNS {
        for (transfer, runs) in TRANSFERS.iter().zip(&mut runs) {
            runs.push(run(transfer));
        }
    }
    println!("simulated packets a second on one core: median of {RUNS} runs (least to most)");
    for (transfer, runs) in TRANSFERS.iter().zip(&mut runs) {
        runs.sort_by_key(|run| run.wall);
        let rate = |run: &Run| run.packets as f64 / run.wall.as_secs_f64();
        let (fastest, median, slowest) = (&runs[0], &runs[RUNS / 2], &runs[RUNS - 1]);
        println!(
            "{:<42} {:.2} M/s ({:.2} to {:.2}); {} packets and {:.0} s of virtual time in {:.3} s",
            transfer.name,
            rate(median) / 1e6,
            rate(slowest) / 1e6,
            rate(fastest) / 1e6,
            median.packets,
            median.virtual_time.as_secs_f64(),
            median.wall.as_secs_f64(),
        );
    }
    for (transfer, runs) in TRANSFERS.iter().zip(&runs) {
        let median = &runs[RUNS / 2];
        let packets_per_second = median.packets as f64 / median.wall.as_secs_f64();
        println!(
            r#"{{"bench": "sim_speed", "name": "{}", "packets": {}, "wall_seconds": {:.6}, "packets_per_second": {:.0}}}"#,
            transfer.name,
            median.packets,
            median.wall.as_secs_f64(),
            packets_per_second,
        );
    }
}
