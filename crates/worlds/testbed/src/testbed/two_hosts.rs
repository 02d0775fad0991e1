//! The testbed of two hosts: a client and a server, joined by a link.

use super::{HostSetup, Testbed, TestbedWorld, random_sources};
use crate::failure::Failure;
use crate::settings::Hosts;
use lastmile_link::LinkSpec;
use lastmile_tcp as tcp;
use lastmile_units::{ByteCount, Seed};
use lastmile_world::LinkId;
use lastmile_world::sim::CpuSpec;
use lastmile_world::topology::{HostName, Topology};
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// IPv4's header without options, and TCP's with timestamps (RFC 7323 section 3.2, padded as in its appendix A).
const SEGMENT_HEADERS: ByteCount = ByteCount::new(20 + 32);

/// The settings of the hosts and the link.
#[derive(Debug, Clone)]
pub struct TwoHostSpec {
    /// The link.
    pub link: LinkSpec,
    /// The settings of our TCP, for the simulated world.
    pub tcp: tcp::Config,
    /// The settings of real kernels, for the emulated world.
    #[cfg(target_os = "linux")]
    pub kernel: lastmile_world::emu::HostSpec,
    /// The server's simulated CPU.
    pub server_cpu: CpuSpec,
    /// The client's simulated CPU.
    pub client_cpu: CpuSpec,
    /// Whether the hosts share the server's CPU.
    pub hosts: Hosts,
}

impl TwoHostSpec {
    /// Two hosts with default settings except that they send short segments at once (`TCP_NODELAY`), as implementations of WebSocket do.
    pub fn with_nodelay(link: LinkSpec) -> Self {
        Self {
            link,
            tcp: tcp::Config {
                nagle: tcp::Nagle::Off,
                ..tcp::Config::default()
            },
            #[cfg(target_os = "linux")]
            kernel: lastmile_world::emu::HostSpec {
                no_delay: true,
                ..lastmile_world::emu::HostSpec::default()
            },
            server_cpu: CpuSpec::default(),
            client_cpu: CpuSpec::default(),
            hosts: Hosts::Two,
        }
    }

    /// The random sources in either world: those of the link, and of TCP.
    pub fn random_sources(&self) -> impl Iterator<Item = &'static str> {
        random_sources([&self.link], [&self.tcp]).into_iter()
    }

    fn topology(&self) -> Topology {
        Topology::builder()
            .hosts([SERVER, CLIENT])
            .wire(LINK, self.link.clone(), [CLIENT], [SERVER])
            .build()
            .expect("two hosts and a wire between them are a topology")
    }

    fn setup(&self, name: &HostName, seed: Seed) -> HostSetup {
        let is_server = name.as_str() == SERVER;
        let shares_cpu = self.hosts == Hosts::One && !is_server;
        HostSetup {
            tcp: self.tcp.clone(),
            #[cfg(target_os = "linux")]
            kernel: self.kernel.clone(),
            cpu: if is_server { self.server_cpu } else { self.client_cpu },
            cpu_of: shares_cpu.then(|| HostName::new(SERVER).expect("it is a name")),
        }
        .seeded(seed)
    }
}

/// A testbed of a client and a server that one link joins.
pub struct TwoHostTestbed<W: TestbedWorld> {
    testbed: Testbed<W>,
    /// The host on the near side of the link.
    pub client: W::Host,
    /// The host on its far side.
    pub server: W::Host,
    /// The link between them.
    pub link: LinkId,
    spec: TwoHostSpec,
}

/// The names of the hosts and of the link.
/// The name of the host that downloads.
pub const CLIENT: &str = "client";
const SERVER: &str = "server";
const LINK: &str = "link";

/// Counters of the link and the hosts at a moment; the difference of two belongs to a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counters {
    /// IP bytes that the link delivered to the client.
    pub bytes_down: u64,
    /// IP bytes that the link delivered to the server.
    pub bytes_up: u64,
    /// Packets that found the queue of a direction full.
    pub queue_drops: u64,
    /// Packets that the link lost at random.
    pub link_losses: u64,
    /// Segments that either host sent again.
    pub retransmissions: u64,
    /// CPU time of the server's programs.
    pub server_cpu: Duration,
    /// CPU time of the client's programs.
    pub client_cpu: Duration,
}

impl<W: TestbedWorld> TwoHostTestbed<W> {
    /// A new world with the client, the server and the link of `spec`.
    ///
    /// # Errors
    /// Where this machine cannot make such a world.
    pub fn build(spec: &TwoHostSpec, seed: Seed) -> Result<Self, Failure> {
        let testbed = Testbed::<W>::build(&spec.topology(), seed, |name| spec.setup(name, seed))?;
        Ok(Self {
            client: testbed.host(CLIENT).clone(),
            server: testbed.host(SERVER).clone(),
            link: testbed.link(LINK),
            testbed,
            spec: spec.clone(),
        })
    }

    /// Runs a program on the client to its end.
    ///
    /// # Errors
    /// Where it does not end, or the world cannot go on.
    pub fn run<T: 'static>(&self, program: impl Future<Output = T> + 'static) -> Result<T, Failure> {
        self.run_within(W::LIMIT, program)
    }

    /// Like [`Self::run`], with a timeout.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_within<T: 'static>(
        &self,
        limit: Duration,
        program: impl Future<Output = T> + 'static,
    ) -> Result<T, Failure> {
        self.testbed.run_on(&self.client, limit, program)
    }

    /// The timeout of a program that delivers this number of messages with this total size.
    pub fn limit(&self, messages: usize, bytes: ByteCount) -> Duration {
        W::limit(&self.spec.link, messages, bytes)
    }

    /// The counters of the link and the hosts so far.
    pub fn counters(&self) -> Counters {
        let (down, up) = self.world.link_counters(self.link);
        Counters {
            bytes_down: down.bytes_delivered.get(),
            bytes_up: up.bytes_delivered.get(),
            queue_drops: down.dropped_by_full_queue + up.dropped_by_full_queue,
            link_losses: down.dropped_by_random_loss + up.dropped_by_random_loss,
            retransmissions: self.world.retransmissions(&self.server) + self.world.retransmissions(&self.client),
            server_cpu: self.world.cpu_time(&self.server),
            client_cpu: self.world.cpu_time(&self.client),
        }
    }

    /// The time that a segment with `payload` takes to the client over an idle link.
    pub fn idle_transit_time_down(&self, payload: ByteCount) -> Duration {
        let down = &self.spec.link.down;
        let serialisation = down.rate_mean().map_or(Duration::ZERO, |rate| {
            (payload + SEGMENT_HEADERS + down.framing_overhead) / rate
        });
        serialisation + down.one_way_delay_mean()
    }
}

/// The methods of every testbed.
impl<W: TestbedWorld> Deref for TwoHostTestbed<W> {
    type Target = Testbed<W>;
    fn deref(&self) -> &Testbed<W> {
        &self.testbed
    }
}

impl<W: TestbedWorld> DerefMut for TwoHostTestbed<W> {
    fn deref_mut(&mut self) -> &mut Testbed<W> {
        &mut self.testbed
    }
}

impl Counters {
    /// The difference from `earlier`.
    pub fn since(self, earlier: Counters) -> Counters {
        Counters {
            bytes_down: self.bytes_down - earlier.bytes_down,
            bytes_up: self.bytes_up - earlier.bytes_up,
            queue_drops: self.queue_drops - earlier.queue_drops,
            link_losses: self.link_losses - earlier.link_losses,
            retransmissions: self.retransmissions - earlier.retransmissions,
            server_cpu: self.server_cpu - earlier.server_cpu,
            client_cpu: self.client_cpu - earlier.client_cpu,
        }
    }
}
