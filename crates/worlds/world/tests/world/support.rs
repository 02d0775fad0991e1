//! Shared by these tests: a client and a server joined by a link, content in which each byte tells its position, and a capture in
//! memory.

use lastmile_link::{Capacity, Counters, DirectionSpec};
use lastmile_units::Seed;
use lastmile_world::LinkId;
use lastmile_world::World as _;
use lastmile_world::sim::{HostSpec, SimHost, World};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A client and a server with one link between them.
pub(crate) struct Pair {
    pub(crate) world: World,
    pub(crate) client: SimHost,
    pub(crate) server: SimHost,
    link: LinkId,
}

impl Pair {
    /// Both ends alike, both directions alike.
    pub(crate) fn new(seed: u64, direction: &DirectionSpec) -> Self {
        Self::with_hosts(seed, direction, HostSpec::default(), HostSpec::default())
    }

    pub(crate) fn with_hosts(seed: u64, direction: &DirectionSpec, client: HostSpec, server: HostSpec) -> Self {
        Self::with_directions(seed, [direction, direction], client, server)
    }

    /// With a direction towards the client, and one towards the server.
    pub(crate) fn with_directions(
        seed: u64,
        [down, up]: [&DirectionSpec; 2],
        client: HostSpec,
        server: HostSpec,
    ) -> Self {
        let world = World::new(Seed::new(seed));
        let (client, server) = (world.host(client), world.host(server));
        let link = world.link(down, up, &[&client], &[&server]);
        Self {
            world,
            client,
            server,
            link,
        }
    }

    /// What became of the packets, towards the client and towards the server.
    pub(crate) fn counters(&self) -> [Counters; 2] {
        let (down, up) = self.world.link_counters(self.link);
        [down, up]
    }
}

/// A direction of that rate and delay, with nothing else to it.
pub(crate) fn direction(rate: &str, one_way_delay: Duration) -> DirectionSpec {
    DirectionSpec {
        capacity: Capacity::Rate(rate.parse().unwrap()),
        one_way_delay,
        ..DirectionSpec::IDEAL
    }
}

/// Bytes that depend on their position and on `salt`, so that lost, duplicated, swapped or foreign bytes are detected.
pub(crate) fn content(salt: u64, length: usize) -> Vec<u8> {
    (0..length as u64)
        .map(|index| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 ^ salt as u8)
        .collect()
}

/// A file in memory that can be read while it is written.
#[derive(Clone, Default)]
pub(crate) struct Recording(Arc<Mutex<Vec<u8>>>);

impl Recording {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Recording {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(from);
        Ok(from.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
