//! Where does a cell's program run? A client and a server, each on a host of the simulated world, joined by the cell's link.

use super::capture::Captures;
use super::plan::Plan;
use crate::observation::{Failure, Observation};
use crate::settings::Hosts;
use lastmile_link::{DirectionSpec, Jitter, LinkSpec, Reordering};
use lastmile_units::{Probability, Seed};
use lastmile_world::Host;
use lastmile_world::LinkId;
use lastmile_world::sim::{HostSpec, SimHost, World};
use std::future::Future;
use std::path::Path;
use std::time::Duration;

/// A world with two hosts and a link.
pub(super) struct Site {
    world: World,
    pub(super) client: SimHost,
    pub(super) server: SimHost,
    link: LinkId,
    spec: LinkSpec,
    captures: Option<Captures>,
}

/// What links and hosts had done at some moment; the difference of two is what a run did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) bytes_down: u64,
    pub(super) queue_drops: u64,
    pub(super) link_losses: u64,
    pub(super) retransmissions: u64,
    pub(super) server_cpu: Duration,
    pub(super) client_cpu: Duration,
}

/// A program that has not ended after this much virtual time is given up. Our own choice: 25 MB at 56 kbit/s take an hour.
const LIMIT: Duration = Duration::from_secs(30 * 24 * 3600);

impl Site {
    pub(super) fn build(plan: &Plan, seed: Seed) -> Self {
        let world = World::new(seed);
        let server_spec = HostSpec {
            cpu: plan.server_cpu,
            tcp: plan.tcp.clone(),
        };
        let client_spec = HostSpec {
            cpu: plan.client_cpu,
            tcp: plan.tcp.clone(),
        };
        let cpu = world.cpu(plan.server_cpu);
        let server = world.host_on(cpu, server_spec);
        let client = match plan.hosts {
            Hosts::One => world.host_on(cpu, client_spec),
            Hosts::Two => world.host(client_spec),
        };
        let link = world.link(&plan.link.down, &plan.link.up, &[&client], &[&server]);
        Self {
            world,
            client,
            server,
            link,
            spec: plan.link.clone(),
            captures: None,
        }
    }

    /// Captures what passes the client and the server from now on, into files of `folder` that begin with `name`.
    pub(super) fn capture(&mut self, folder: &Path, name: &str) -> Result<(), Failure> {
        let hosts = [("client", &self.client), ("server", &self.server)];
        self.captures = Some(Captures::begin(&self.world, folder, name, &hosts)?);
        Ok(())
    }

    /// Writes out what was captured, where anything is; a repeat whose packets could not be kept has failed.
    pub(super) fn flush_captures(&mut self) -> Result<(), Failure> {
        self.captures
            .as_mut()
            .map_or(Ok(()), |captures| captures.flush(&self.world))
    }

    /// Runs a program to its end.
    pub(super) fn run<T: 'static>(&self, program: impl Future<Output = T> + 'static) -> Result<T, Failure> {
        self.world
            .run_for(LIMIT, program)
            .map_err(|halt| Failure::new(halt.to_string()))
    }

    /// Runs a program beside the others.
    pub(super) fn spawn(&self, program: impl Future<Output = ()> + 'static) {
        self.world.spawn(program);
    }

    /// Lets time pass.
    pub(super) fn idle(&self, time: Duration) {
        let client = self.client.clone();
        let until = client.now() + time;
        // A sleep always ends.
        let _ = self.world.run(async move { client.sleep_until(until).await });
    }

    pub(super) fn tally(&self) -> Tally {
        let (down, up) = self.world.link_counters(self.link);
        let (server, client) = (self.server.tcp_counters(), self.client.tcp_counters());
        Tally {
            bytes_down: down.bytes_delivered.get(),
            queue_drops: down.dropped_by_full_queue + up.dropped_by_full_queue,
            link_losses: down.dropped_by_random_loss + up.dropped_by_random_loss,
            retransmissions: server.retransmissions + client.retransmissions,
            server_cpu: self.server.cpu_time(),
            client_cpu: self.client.cpu_time(),
        }
    }

    /// Says which of the link's properties were drawn at random.
    pub(super) fn note_link_chance(&self, observation: &mut Observation) {
        let directions = [&self.spec.down, &self.spec.up];
        let any = |has: fn(&DirectionSpec) -> bool| directions.into_iter().any(has);
        if any(|direction| direction.loss.rate() > Probability::NEVER) {
            observation.vary("loss");
        }
        if any(|direction| direction.jitter != Jitter::None || direction.reordering != Reordering::None) {
            observation.vary("jitter");
        }
    }
}

impl Tally {
    /// What happened since `earlier`.
    pub(super) fn since(self, earlier: Tally) -> Tally {
        Tally {
            bytes_down: self.bytes_down - earlier.bytes_down,
            queue_drops: self.queue_drops - earlier.queue_drops,
            link_losses: self.link_losses - earlier.link_losses,
            retransmissions: self.retransmissions - earlier.retransmissions,
            server_cpu: self.server_cpu - earlier.server_cpu,
            client_cpu: self.client_cpu - earlier.client_cpu,
        }
    }
}
