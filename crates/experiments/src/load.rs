//! The delivery `load`: requests at a rate of their own from clients to one server, all of which are stations of one radio, in either world.

mod plan;
mod radio_use;
#[cfg(test)]
mod tests;

use crate::capture_name;
use crate::over_link::run_repeats;
use crate::server_under_test::{ServerJob, ServerUnderTest};
use lastmile_lab::failure::Failure;
use lastmile_lab::settings::World;
use lastmile_lab::testbed::{Testbed, TestbedWorld};
use lastmile_load::measurement::{Measurement, fairness};
use lastmile_load::on_testbed::{LEAD_TIME, RunningLoads};
use lastmile_load::over_host::HostLoad;
use lastmile_load::self_check::{self, Spoilt};
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_study::cell::{Cell, Seeds};
use lastmile_study::delivery::{Delivery, Refusal};
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::runner::RunContext;
use lastmile_study::settings::Settings;
use lastmile_units::{Seed, random};
use lastmile_world::Host;
use plan::{FILE, Plan, SERVER};
use radio_use::RadioUse;
use std::sync::Arc;
use std::time::Duration;

/// The delivery `load`.
pub(crate) struct Load;

/// The port of the server.
const PORT: u16 = 80;

/// The CPU time of a request in the simulated world, connection included: our own measurement.
const CPU_PER_REQUEST: Duration = Duration::from_micros(30);

impl Delivery for Load {
    fn name(&self) -> &'static str {
        "load"
    }

    fn carries(&self) -> &'static str {
        "requests at a rate"
    }

    fn check(&self, settings: &Settings) -> Result<(), Refusal> {
        Plan::read(settings).map(drop)
    }

    fn figures(&self, _: &Settings) -> &'static [&'static Figure] {
        &[
            figure::TRANSACTION_RATE,
            figure::RESPONSE_TIME,
            figure::GOODPUT,
            figure::ERROR_RATE,
            figure::CONNECTION_DURATION,
            figure::CLIENT_QUEUE_DROPS,
            figure::SERVER_QUEUE_DROPS,
            figure::MAC_RETRIES,
            figure::AIRTIME_SHARE,
            figure::FAIRNESS,
        ]
    }

    fn expected_time(&self, settings: &Settings) -> Duration {
        Plan::read(settings).map_or(Duration::ZERO, |plan| CPU_PER_REQUEST.mul_f64(plan.requests()))
    }

    fn real_time(&self, settings: &Settings) -> Option<Duration> {
        Plan::read(settings).ok().map(|plan| plan.load.duration)
    }

    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
        let plan = Plan::read(&cell.settings).map_err(|refusal| Failure::new(refusal.to_string()))?;
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
    let mut testbed = Box::new(Testbed::<W>::build(&plan.topology, seeds.link, |_| {
        plan.host_setup(seeds.link)
    })?);
    if let Some(folder) = context.captures {
        testbed.capture(folder, &capture_name::name(cell, &context.repeats))?;
    }
    let server = start_server(&testbed, plan, seeds.compute)?;
    Ok(run_repeats(&mut testbed, context, |testbed, repeat| {
        run(testbed, plan, &server, context.seeds(cell, repeat))
    }))
}

/// Starts the server, which runs until the world ends.
fn start_server<W: TestbedWorld>(testbed: &Testbed<W>, plan: &Plan, seed: Seed) -> Result<ServerUnderTest, Failure> {
    let host = testbed.host(SERVER);
    let service = || {
        Ok(ServerJob {
            operation: "get",
            file: (FILE, vec![b'x'; plan.model.body.get() as usize]),
            options: Vec::new(),
        })
    };
    let server = ServerUnderTest::start(testbed, host, &plan.server, service, |_| async { Ok(()) })?;
    if let ServerUnderTest::Ours = server {
        let started = plan.model.start(host, PORT, seed);
        started.map_err(|error| Failure::new(format!("the server cannot listen: {error}")))?;
    }
    Ok(server)
}

/// Runs one repeat.
fn run<W: TestbedWorld>(testbed: &Testbed<W>, plan: &Plan, served: &ServerUnderTest, seeds: Seeds) -> Outcome {
    let server = testbed.host(SERVER);
    let address = server.address(served.port().unwrap_or(PORT));
    let begin = server.now() + LEAD_TIME;
    let loads = plan.clients().zip(0..).map(|(name, index)| {
        let seed = seeds.workload.derive("client").derive_index(index);
        // The clocks of the clients do not agree: each begins somewhere within its own interval.
        let phase = random::up_to(&mut seed.derive("start phase").rng(), plan.interval.as_nanos() as u64);
        let load = HostLoad {
            server: address,
            plan: Arc::clone(&plan.load),
            start: begin + Duration::from_nanos(phase),
            seed,
            interrupt: Arc::default(),
        };
        (testbed.host(&name).clone(), load)
    });
    let running = RunningLoads::begin(loads);
    let end = running.sending_end();
    testbed.run_on(server, W::LIMIT, server.sleep_until(begin))?;
    let before = RadioUse::of(testbed);
    testbed.run_on(server, W::LIMIT, server.sleep_until(end))?;
    let used = RadioUse::of(testbed).since(&before);
    let measured = running.end(testbed)?;
    let mut observation = observe(&measured);
    observation.sample(figure::CLIENT_QUEUE_DROPS, used.client_drops as f64);
    observation.sample(figure::SERVER_QUEUE_DROPS, used.server_drops as f64);
    observation.sample(figure::MAC_RETRIES, used.retries as f64);
    let share = used.busy.as_secs_f64() / end.saturating_since(begin).as_secs_f64();
    observation.sample(figure::AIRTIME_SHARE, share);
    observation.vary("start-phase");
    Ok(observation)
}

/// The figures of the clients together, and whether each of them kept its schedule.
fn observe(clients: &[Measurement]) -> Observation {
    let mut observation = Observation::default();
    let mut all = Measurement::default();
    for client in clients {
        all.add(client);
        if let Err(why) = self_check::check(client) {
            let kind = match why {
                Spoilt::Late { .. } => DoubtKind::LateSender,
                Spoilt::RateNotHeld => DoubtKind::RateNotHeld,
                Spoilt::Interrupted => DoubtKind::Interrupted,
            };
            observation.doubts.push(Doubt::new(kind, why.to_string()));
        }
    }
    let rates: Vec<f64> = clients.iter().map(Measurement::transaction_rate).collect();
    observation.sample(figure::TRANSACTION_RATE, rates.iter().sum());
    observation.sample(figure::GOODPUT, clients.iter().map(Measurement::goodput).sum());
    if let Some(rate) = all.error_rate() {
        observation.sample(figure::ERROR_RATE, rate);
    }
    if let Some(fairness) = fairness(&rates) {
        observation.sample(figure::FAIRNESS, fairness);
    }
    for (figure, times) in [
        (figure::RESPONSE_TIME, &all.response),
        (figure::CONNECTION_DURATION, &all.connection_duration),
    ] {
        for (time, count) in times.counts() {
            (0..count).for_each(|_| observation.sample(figure, time.as_secs_f64()));
        }
    }
    observation
}
