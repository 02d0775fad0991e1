//! Times bulk transfers in the simulated world, on one core.
//!
//! Each transfer is a world of its own: a client connects, a server sends bytes. Packets are those offered to the link, in both directions.

use lastmile_link::{Capacity, DirectionSpec, Loss, Queue};
use lastmile_units::{Probability, Seed};
use lastmile_world::World as _;
use lastmile_world::sim::{HostSpec, World};
use lastmile_world::{Host, Listener};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A transfer, and its link, the same in both directions.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// Its name.
    pub name: &'static str,
    /// The link's rate.
    pub rate: &'static str,
    /// The link's delay, each way.
    pub one_way_delay: Duration,
    /// The link's queue.
    pub queue: Queue,
    /// The link's loss probability, from 0 to 1.
    pub loss: f64,
    /// How much the server sends.
    pub bytes: usize,
}

/// A fast link, where most packets are in flight at once.
pub const FAST: usize = 0;
/// A modem, where most of the virtual time passes.
pub const MODEM: usize = 1;

/// Transfers that exercise different parts of the model.
pub const TRANSFERS: [Transfer; 4] = [
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

/// The cost of one run, and its work.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// By the clock of this machine.
    pub wall: Duration,
    /// Offered to the link, in both directions.
    pub packets: u64,
    /// By the clock of the simulated world.
    pub virtual_time: Duration,
}

/// Runs the transfer on this thread.
///
/// # Panics
/// When the simulated world does not carry it to its end, which is a defect.
pub fn run(transfer: &Transfer) -> Run {
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
