//! Where does a program run? A client and a server, each on a host of a world, joined by a link.
//!
//! `laboratory` says what the two worlds differ in; `capture` keeps what passes, where that is asked for.

mod capture;
mod laboratory;

pub(crate) use laboratory::Laboratory;

use crate::observation::{Failure, Observation};
use crate::settings::Hosts;
use capture::Captures;
use lastmile_link::{DirectionSpec, Jitter, LinkSpec, Reordering};
use lastmile_report::record::Doubt;
use lastmile_units::{Bytes, Probability, Seed};
use lastmile_world::sim::CpuSpec;
use lastmile_world::tcp::{self, CongestionControl};
use lastmile_world::{Host, LinkId};
use std::future::Future;
use std::path::Path;
use std::time::Duration;
use tokio::sync::oneshot;

/// IPv4's header without options, and TCP's with timestamps (RFC 7323 section 3.2, padded as in its appendix A).
const SEGMENT_HEADERS: Bytes = Bytes::new(20 + 32);

/// What a site is made of.
#[derive(Debug, Clone)]
pub(crate) struct SiteSpec {
    pub(crate) link: LinkSpec,
    /// How hosts' TCP is set, where it is ours.
    pub(crate) tcp: tcp::Config,
    /// How real kernels are set, where they are.
    #[cfg(target_os = "linux")]
    pub(crate) kernel: lastmile_world::emu::HostSpec,
    /// How fast hosts compute, where that is simulated.
    pub(crate) server_cpu: CpuSpec,
    pub(crate) client_cpu: CpuSpec,
    pub(crate) hosts: Hosts,
}

impl SiteSpec {
    /// Two hosts of a usual kind that send what is short at once, as implementations of WebSocket do (`TCP_NODELAY`).
    pub(crate) fn sending_at_once(link: LinkSpec) -> Self {
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

    /// What chance there is in it, whichever world it is built in: of the link, and of TCP.
    pub(crate) fn chance(&self) -> impl Iterator<Item = &'static str> {
        let directions = [&self.link.down, &self.link.up];
        let any = |has: fn(&DirectionSpec) -> bool| directions.into_iter().any(has);
        let chances = [
            (any(|direction| direction.loss.rate() > Probability::NEVER), "loss"),
            (
                any(|direction| direction.jitter != Jitter::None || direction.reordering != Reordering::None),
                "jitter",
            ),
            (self.tcp.congestion_control == CongestionControl::Bbr, "gain-phase"),
        ];
        chances.into_iter().filter(|(there, _)| *there).map(|(_, name)| name)
    }
}

/// A world with two hosts and a link.
pub(crate) struct Site<W: Laboratory> {
    pub(crate) world: W,
    pub(crate) client: W::Host,
    pub(crate) server: W::Host,
    pub(crate) link: LinkId,
    spec: SiteSpec,
    captures: Option<Captures>,
    seen: W::Seen,
}

/// What links and hosts had done at some moment; the difference of two is what a run did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) bytes_down: u64,
    pub(crate) bytes_up: u64,
    pub(crate) queue_drops: u64,
    pub(crate) link_losses: u64,
    pub(crate) retransmissions: u64,
    pub(crate) server_cpu: Duration,
    pub(crate) client_cpu: Duration,
}

impl<W: Laboratory> Site<W> {
    pub(crate) fn build(spec: &SiteSpec, seed: Seed) -> Result<Self, Failure> {
        let (world, client, server) = W::with_hosts(spec, seed)?;
        let link = world.join(&spec.link, &client, &server);
        Ok(Self {
            world,
            client,
            server,
            link,
            spec: spec.clone(),
            captures: None,
            seen: W::Seen::default(),
        })
    }

    /// Captures what passes the client and the server from now on, and what the link drops, into files of `folder` that begin
    /// with `name`.
    pub(crate) fn capture(&mut self, folder: &Path, name: &str) -> Result<(), Failure> {
        let captures = Captures::begin(
            folder,
            name,
            &[
                ("client", &|file| self.world.capture_host(&self.client, file)),
                ("server", &|file| self.world.capture_host(&self.server, file)),
                ("drops", &|file| self.world.capture_drops_of(self.link, file)),
            ],
        )?;
        self.captures = Some(captures);
        Ok(())
    }

    /// Writes out what was captured, where anything is; a repeat whose packets could not be kept has failed.
    pub(crate) fn flush_captures(&mut self) -> Result<(), Failure> {
        self.captures
            .as_mut()
            .map_or(Ok(()), |captures| captures.flush(&self.world))
    }

    /// Runs a program of the client's to its end.
    pub(crate) fn run<T: 'static>(&self, program: impl Future<Output = T> + 'static) -> Result<T, Failure> {
        self.run_within(W::LIMIT, program)
    }

    /// The same, of a program that is given up after so long.
    pub(crate) fn run_within<T: 'static>(
        &self,
        limit: Duration,
        program: impl Future<Output = T> + 'static,
    ) -> Result<T, Failure> {
        let (tell, told) = oneshot::channel();
        self.client.spawn(async move {
            // Nobody listens any more where the time is over.
            let _ = tell.send(program.await);
        });
        let ended = self.world.run_for(limit, told);
        let ended = ended.map_err(|halt| Failure::new(halt.to_string()))?;
        ended.map_err(|_| Failure::new("the client's program was stopped"))
    }

    /// How long a program that has so many messages to move, of so many octets in all, may take.
    pub(crate) fn limit(&self, messages: usize, bytes: Bytes) -> Duration {
        W::limit(&self.spec.link, messages, bytes)
    }

    /// Lets time pass.
    pub(crate) fn idle(&self, time: Duration) {
        let client = self.client.clone();
        let until = client.now() + time;
        // A sleep always ends.
        let _ = self
            .world
            .run_for(W::LIMIT, async move { client.sleep_until(until).await });
    }

    pub(crate) fn tally(&self) -> Tally {
        let (down, up) = self.world.link_counters(self.link);
        Tally {
            bytes_down: down.bytes_delivered.get(),
            bytes_up: up.bytes_delivered.get(),
            queue_drops: down.dropped_by_full_queue + up.dropped_by_full_queue,
            link_losses: down.dropped_by_random_loss + up.dropped_by_random_loss,
            retransmissions: self.world.retransmissions(&self.server) + self.world.retransmissions(&self.client),
            server_cpu: self.world.cpu_time(&self.server),
            client_cpu: self.world.cpu_time(&self.client),
        }
    }

    /// How long a segment with `payload` takes to the client over a link that carries nothing else.
    pub(crate) fn transit_down(&self, payload: Bytes) -> Duration {
        let down = &self.spec.link.down;
        let serialisation = down.rate_mean().map_or(Duration::ZERO, |rate| {
            (payload + SEGMENT_HEADERS + down.framing_overhead) / rate
        });
        serialisation + down.one_way_delay_mean()
    }

    /// What makes the figures of what ran since the last call suspect, as far as the world can tell.
    pub(crate) fn doubts(&mut self) -> Vec<Doubt> {
        self.world.doubts_since(&mut self.seen)
    }

    /// Says what was drawn at random: by the link, by TCP, and by the machine where time is its.
    pub(crate) fn note_chance(&self, observation: &mut Observation) {
        if !W::IS_EXACT {
            observation.vary("machine");
        }
        self.spec.chance().for_each(|source| observation.vary(source));
    }
}

impl Tally {
    /// What happened since `earlier`.
    pub(crate) fn since(self, earlier: Tally) -> Tally {
        Tally {
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
