//! Loads a server from hosts of a testbed of either world, and in virtual time a modelled server over a link.

use crate::link_use::link_use;
use crate::measurement::Measurement;
use crate::over_host::HostLoad;
use crate::plan::Plan;
use crate::server_model::ServerModel;
use lastmile_link::LinkSpec;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{Testbed, TestbedWorld, TwoHostSpec, TwoHostTestbed};
use lastmile_units::{Instant, Seed};
use lastmile_world::World as _;
use lastmile_world::{Host, sim};
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::oneshot;

/// The port of the modelled server.
const PORT: u16 = 80;
/// From now to the first request, so that every client is ready. Our own choice.
pub const LEAD_TIME: Duration = Duration::from_millis(20);

/// Lets each of `clients` carry out `plan` against `server`, all at once. Returns the measurement of each, in their order.
///
/// The arrivals of each client have a seed of their own. Ask the testbed for the world's doubts afterwards.
///
/// # Errors
/// When the world cannot go on.
pub fn measure<W: TestbedWorld>(
    testbed: &Testbed<W>,
    clients: &[W::Host],
    server: SocketAddrV4,
    plan: &Plan,
    seed: Seed,
    interrupt: &Arc<AtomicBool>,
) -> Result<Vec<Measurement>, Failure> {
    if clients.is_empty() {
        return Ok(Vec::new());
    }
    begin(clients, server, plan, seed, interrupt).end(testbed)
}

/// Begins the load of each of `clients`.
fn begin<H: Host>(
    clients: &[H],
    server: SocketAddrV4,
    plan: &Plan,
    seed: Seed,
    interrupt: &Arc<AtomicBool>,
) -> RunningLoads {
    let start = clients[0].now() + LEAD_TIME;
    let plan = Arc::new(plan.clone());
    let loads = (0..).zip(clients).map(|(index, client)| {
        let load = HostLoad {
            server,
            plan: Arc::clone(&plan),
            start,
            seed: if clients.len() == 1 {
                seed
            } else {
                seed.derive_index(index)
            },
            interrupt: Arc::clone(interrupt),
            live: None,
        };
        (client.clone(), load)
    });
    RunningLoads::begin(loads)
}

/// Loads that are under way, each on a host of its own.
#[derive(Debug)]
pub struct RunningLoads {
    running: Vec<oneshot::Receiver<Measurement>>,
    sending_end: Instant,
    /// From now to the end of the last load, at most.
    limit: Duration,
}

impl RunningLoads {
    /// Begins loads on hosts of one world.
    pub fn begin<H: Host>(loads: impl IntoIterator<Item = (H, HostLoad)>) -> Self {
        let mut begun = Self {
            running: Vec::new(),
            sending_end: Instant::START,
            limit: Duration::ZERO,
        };
        for (host, load) in loads {
            let plan = &load.plan;
            let sending_end = load.start + plan.duration;
            let until_then = sending_end.saturating_since(host.now());
            let limit = until_then + 2 * (plan.timeout + plan.connect_timeout) + Duration::from_secs(10);
            begun.sending_end = begun.sending_end.max(sending_end);
            begun.limit = begun.limit.max(limit);
            let (sender, receiver) = oneshot::channel();
            let client = host.clone();
            host.spawn(async move {
                // The receiver is gone after the timeout.
                let _ = sender.send(load.run(client).await);
            });
            begun.running.push(receiver);
        }
        begun
    }

    /// When the last of them sends its last request.
    pub const fn sending_end(&self) -> Instant {
        self.sending_end
    }

    /// Awaits the end of every request. Returns the measurement of each load, in their order.
    ///
    /// # Errors
    /// When the world cannot go on.
    pub fn end<W: TestbedWorld>(self, testbed: &Testbed<W>) -> Result<Vec<Measurement>, Failure> {
        let Self { running, limit, .. } = self;
        let all = async move {
            let mut measured = Vec::new();
            for client in running {
                measured.push(client.await.ok()?);
            }
            Some(measured)
        };
        let ended = testbed.world.run_for(limit, all);
        let ended = ended.map_err(|halt| Failure::new(format!("the load did not end: {halt}")))?;
        ended.ok_or_else(|| Failure::new("a client of the load was stopped"))
    }
}

/// A modelled server behind a link, in the simulated world.
#[derive(Debug, Clone)]
pub struct SimulatedServer {
    /// The link; down is towards the client.
    pub link: LinkSpec,
    /// The server.
    pub model: ServerModel,
}

impl SimulatedServer {
    /// Carries out a plan, in a world of its own. Equal seeds give equal measurements.
    ///
    /// # Errors
    /// When the world stalls, which would be a fault of a model.
    pub fn run(&self, plan: &Plan, seed: Seed, interrupt: &Arc<AtomicBool>) -> Result<Measurement, Failure> {
        let spec = TwoHostSpec::with_nodelay(self.link.clone());
        let testbed = TwoHostTestbed::<sim::World>::build(&spec, seed.derive("world"))?;
        let model = ServerModel {
            tls: plan.tls,
            version: plan.http.version(),
            ..self.model.clone()
        };
        let started = model.start(&testbed.server, PORT, seed.derive("server"));
        started.map_err(|error| Failure::new(format!("the server cannot listen: {error}")))?;
        let server = testbed.server.address(PORT);
        let before = testbed.world.link_counters(testbed.link);
        let client = &testbed.client;
        let running = begin(std::slice::from_ref(client), server, plan, seed, interrupt);
        let sending = client.sleep_until(running.sending_end());
        let sent = testbed.world.run_for(plan.duration + 2 * LEAD_TIME, sending);
        sent.map_err(|halt| Failure::new(format!("the requests cannot be sent: {halt}")))?;
        let after = testbed.world.link_counters(testbed.link);
        let mut measured = running.end(&testbed)?;
        let mut measured = measured.pop().ok_or_else(|| Failure::new("there is one client"))?;
        measured.listen_drops = Some(testbed.server.listen_drops());
        measured.link = link_use(&self.link, &before, &after, plan.duration);
        Ok(measured)
    }
}

#[cfg(test)]
mod tests;
