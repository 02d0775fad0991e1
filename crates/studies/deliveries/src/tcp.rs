//! The delivery `tcp`: bulk data, or requests and responses, over one bare TCP connection.

mod bulk;
mod request_response;

use crate::over_link::{LinkDelivery, Program, Setup, cpu_time_of_bulk, workload};
use lastmile_study::delivery::Refusal;
use lastmile_study::figure::Figure;
use lastmile_study::settings::Settings;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{Counters, TestbedWorld, TwoHostTestbed};
use lastmile_units::ByteCount;
use lastmile_workload::{RequestResponse, WorkloadSpec};
use lastmile_world::{Host, Listener};
use std::io;
use std::time::Duration;

/// The delivery `tcp`.
pub(crate) struct Tcp;

/// What is delivered.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    /// This number of bytes.
    Bulk(ByteCount),
    /// Requests and responses, one after another.
    Exchanges(RequestResponse),
}

impl LinkDelivery for Tcp {
    const NAME: &'static str = "tcp";
    const CARRIES: &'static str = "bulk and request-response";
    const ABOUT: &'static str = "One bare TCP connection.";
    type Plan = Plan;

    fn plan(&self, settings: &Settings) -> Result<Plan, Refusal> {
        match workload(settings)? {
            WorkloadSpec::Bulk(bulk) => Ok(Plan::Bulk(bulk.bytes)),
            WorkloadSpec::RequestResponse(exchanges) => Ok(Plan::Exchanges(exchanges.clone())),
            _ => Err(Refusal::Workload),
        }
    }

    fn expected_time(&self, plan: &Plan) -> Duration {
        cpu_time_of_bulk(match plan {
            Plan::Bulk(bytes) => *bytes,
            Plan::Exchanges(exchanges) => exchanges.total(),
        })
    }

    fn figures(&self, plan: &Plan) -> &'static [&'static Figure] {
        match plan {
            Plan::Bulk(_) => bulk::FIGURES,
            Plan::Exchanges(_) => request_response::FIGURES,
        }
    }

    fn prepare<'a, W: TestbedWorld>(
        &'a self,
        plan: &'a Plan,
        _testbed: &TwoHostTestbed<W>,
        _setup: &Setup,
    ) -> Result<Program<'a, W>, Failure> {
        Ok(match plan {
            Plan::Bulk(bytes) => Box::new(|testbed, _| bulk::run(testbed, *bytes)),
            Plan::Exchanges(exchanges) => Box::new(|testbed, _| request_response::run(testbed, exchanges)),
        })
    }
}

const PORT: u16 = 80;

/// Runs a client and the server of its only connection to the client's end. Returns what the client saw, and what was counted.
fn run_pair<W: TestbedWorld, T: 'static, F: Future<Output = io::Result<()>> + 'static>(
    testbed: &TwoHostTestbed<W>,
    what: &str,
    serve: impl FnOnce(<W::Host as Host>::Stream) -> F + 'static,
    client: impl Future<Output = io::Result<T>> + 'static,
) -> Result<(T, Counters), Failure> {
    let failed = |error: io::Error| Failure::new(format!("the {what} failed: {error}"));
    let before = testbed.counters();
    let mut listener = testbed.server.listen(PORT).map_err(failed)?;
    testbed.server.spawn(async move {
        // The client sees an error here as a stream that ends too soon.
        if let Ok(stream) = listener.accept().await {
            let _ = serve(stream).await;
        }
    });
    let seen = testbed.run(client)?.map_err(failed)?;
    Ok((seen, testbed.counters().since(before)))
}
