//! Loads a server from hosts of a testbed of either world, and in virtual time a modelled server over a link.

use crate::measurement::Measurement;
use crate::over_host::HostLoad;
use crate::plan::Plan;
use crate::server_model::ServerModel;
use lastmile_lab::failure::Failure;
use lastmile_lab::testbed::{Testbed, TestbedWorld, TwoHostSpec, TwoHostTestbed};
use lastmile_link::LinkSpec;
use lastmile_units::Seed;
use lastmile_world::{Host, sim};
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::oneshot;

/// The port of the modelled server.
const PORT: u16 = 80;
/// From now to the first request, so that every client is ready. Our own choice.
const LEAD_TIME: Duration = Duration::from_millis(20);

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
    let Some(first) = clients.first() else {
        return Ok(Vec::new());
    };
    let plan = Arc::new(plan.clone());
    let start = first.now() + LEAD_TIME;
    let mut running = Vec::new();
    for (index, client) in (0..).zip(clients) {
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
        };
        let (tell, told) = oneshot::channel();
        let host = client.clone();
        client.spawn(async move {
            // The receiver is gone after the timeout.
            let _ = tell.send(load.run(host).await);
        });
        running.push(told);
    }
    let limit = LEAD_TIME + plan.duration + 2 * (plan.timeout + plan.connect_timeout) + Duration::from_secs(10);
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
        let started = self.model.start(&testbed.server, PORT, seed.derive("server"));
        started.map_err(|error| Failure::new(format!("the server cannot listen: {error}")))?;
        let server = testbed.server.address(PORT);
        let clients = [testbed.client.clone()];
        let mut measured = measure(&testbed, &clients, server, plan, seed, interrupt)?;
        measured.pop().ok_or_else(|| Failure::new("there is one client"))
    }
}

#[cfg(test)]
mod tests;
