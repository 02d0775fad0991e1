//! The delivery `events`: applications emit events, sensors pass them on, a monitor keeps them, clients subscribe or query, each on a host of its
//! own, in either world.
//!
//! Hosts stand in a line: applications, their sensor, the monitor, clients; `plan` reads which wires have the link. Logs, the monitor's service
//! sensors and clients are those that lastmile ships, from the crate `monitor`, which `runtime` runs on hosts of a world; applications (`application`) gather events as an
//! emitter does (`session`). Connections and logs last for all repeats of a world, like the runs of one published test. Each repeat ends with an audit: what is
//! neither stored nor stated as lost is reported.
//!
//! In the emulated world `real_system` does the same with another system, such as Java RMI or a message broker.

mod application;
mod client;
mod observe;
mod plan;
#[cfg(target_os = "linux")]
mod real_system;
mod runtime;
mod sensor;
mod session;
#[cfg(test)]
mod tests;

use crate::capture_name;
use crate::over_link::{observer, run_repeats};
use lastmile_link::LinkSpec;
use lastmile_study::cell::Cell;
use lastmile_study::delivery::{Delivery, Refusal};
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::runner::RunContext;
use lastmile_study::settings::Settings;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::settings::World;
use lastmile_testbed::testbed::{Testbed, TestbedWorld};
use lastmile_units::ByteCount;
use plan::{Plan, Submission};
use session::Session;
use std::time::Duration;

/// The delivery `events`.
pub(crate) struct Events;

/// The figures of events. Those of clients, of queries and of control runs have samples where there are such.
const FIGURES: &[&Figure] = &[
    figure::CREATE_TIME,
    figure::SEND_TIME,
    figure::SUBMISSION_TIME,
    figure::APPLICATION_TIME,
    figure::CONTROL_TIME,
    figure::SLOWDOWN_RATIO,
    figure::EVENT_RATE,
    figure::SUBSCRIPTION_TIME,
    figure::TIMING_TIME,
    figure::DELIVERY_TIME,
    figure::QUERY_TIME,
    figure::EVENTS_LOST,
    figure::LOSSES_UNEXPLAINED,
    figure::LINK_BYTES_DOWN,
    figure::LINK_BYTES_UP,
];

/// The CPU times in the simulated world of an event that is sent by itself, of one among others, and of one that a client gets: our own
/// measurement.
const CPU_OF_SINGLE: Duration = Duration::from_micros(60);
const CPU_OF_GATHERED: Duration = Duration::from_micros(3);
const CPU_OF_CLIENT: Duration = Duration::from_micros(5);

/// About the bytes of an event in any form, besides its text.
const EVENT_BYTES: u64 = 400;

impl Delivery for Events {
    fn name(&self) -> &'static str {
        "events"
    }

    fn carries(&self) -> &'static str {
        "events of applications"
    }

    fn about(&self) -> &'static str {
        "Applications emit events; sensors, a monitor and its clients pass them on."
    }

    fn check(&self, settings: &Settings) -> Result<(), Refusal> {
        Plan::read(settings)?.topology().map(drop)
    }

    fn figures(&self, _: &Settings) -> &'static [&'static Figure] {
        FIGURES
    }

    fn expected_time(&self, settings: &Settings) -> Duration {
        Plan::read(settings).map_or(Duration::ZERO, |plan| {
            let of_each = match plan.submission {
                Submission::OneByOne => CPU_OF_SINGLE,
                Submission::Gathered(_) => CPU_OF_GATHERED,
            };
            (of_each + CPU_OF_CLIENT * plan.clients).mul_f64(plan.all_steps() as f64)
        })
    }

    fn real_time(&self, settings: &Settings) -> Option<Duration> {
        let plan = Plan::read(settings).ok()?;
        let round_trip = plan.link().map_or(Duration::ZERO, LinkSpec::round_trip);
        let in_turn = if plan.submission == Submission::OneByOne {
            plan.steps.count
        } else {
            0
        };
        // An exchange over ideal wires takes about 0.3 ms with real kernels: our own estimate.
        let exchanges = (round_trip + Duration::from_micros(300)).saturating_mul(in_turn);
        Some(plan.least_time() + exchanges + Duration::from_millis(100))
    }

    fn runs_alone(&self, settings: &Settings) -> bool {
        // Figures of real programs are mostly those of their computing.
        Plan::read(settings).is_ok_and(|plan| plan.settings.real_server().is_some())
    }

    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
        let plan = Plan::read(&cell.settings).map_err(Failure::from_error)?;
        match cell.world() {
            World::Simulated => repeats::<lastmile_world::sim::World>(&plan, cell, context),
            #[cfg(target_os = "linux")]
            World::Emulated => repeats::<lastmile_world::emu::World>(&plan, cell, context),
            #[cfg(not(target_os = "linux"))]
            World::Emulated => unreachable!("a plan for another world is refused"),
        }
    }
}

/// Runs the repeats of a cell in one new world, up to the first that fails.
fn repeats<W: TestbedWorld>(plan: &Plan, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
    let seeds = context.seeds(cell, context.repeats.start);
    let topology = plan.topology().map_err(Failure::from_error)?;
    let mut testbed = Box::new(Testbed::<W>::build(&topology, seeds.link, |name| {
        plan.host_setup(name, seeds.link)
    })?);
    if let Some(folder) = context.captures {
        testbed.capture(folder, &capture_name::name(cell, &context.repeats))?;
    }
    if let Some(observer) = observer(cell, context) {
        testbed.observe(observer, None);
    }
    #[cfg(target_os = "linux")]
    if let Some(real) = plan.settings.real_server() {
        let mut system = real_system::RealSystem::start(&testbed, plan, real)?;
        return Ok(run_repeats(&mut testbed, context, |testbed, _| system.repeat(testbed)));
    }
    let mut session = Session::open(&testbed, plan, seeds.workload)?;
    Ok(run_repeats(&mut testbed, context, |testbed, repeat| {
        session.repeat(testbed, context.seeds(cell, repeat).workload)
    }))
}

/// The bytes that the links of the plan have carried, towards the applications or clients and from them.
fn link_bytes<W: TestbedWorld>(testbed: &Testbed<W>, plan: &Plan) -> (u64, u64) {
    plan.links().iter().fold((0, 0), |sums, name| {
        let (down, up) = testbed.world.link_counters(testbed.link(name));
        (sums.0 + down.bytes_delivered.get(), sums.1 + up.bytes_delivered.get())
    })
}

/// Adds what the links of the plan have carried since they had carried `before`.
fn observe_links<W: TestbedWorld>(
    testbed: &Testbed<W>,
    plan: &Plan,
    before: (u64, u64),
    observation: &mut Observation,
) {
    let after = link_bytes(testbed, plan);
    observation.sample(figure::LINK_BYTES_DOWN, (after.0 - before.0) as f64);
    observation.sample(figure::LINK_BYTES_UP, (after.1 - before.1) as f64);
    observation.vary("content");
}

/// The timeout of a repeat.
fn limit<W: TestbedWorld>(plan: &Plan) -> Duration {
    let events = plan.all_steps() * u64::from(plan.clients.max(1));
    let bytes = ByteCount::new(events * (EVENT_BYTES + plan.steps.text as u64));
    let messages = usize::try_from(events).unwrap_or(usize::MAX);
    W::limit(plan.link().unwrap_or(&plan::ideal()), messages, bytes).saturating_add(plan.least_time())
}

fn halted(halt: impl std::fmt::Display) -> Failure {
    Failure::new(format!("events did not arrive: {halt}"))
}
