//! The delivery `load`: requests at a rate of their own from clients to one server, all of which are stations of one radio, in either world.

mod plan;
mod radio_use;
#[cfg(target_os = "linux")]
mod real_generator;
#[cfg(test)]
mod tests;
mod times;

use crate::capture_name;
use crate::over_link::{observer, run_repeats};
use crate::server_under_test::{ServerJob, ServerUnderTest};
use lastmile_load::live::LiveFigures;
use lastmile_load::measurement::{Measurement, fairness};
use lastmile_load::on_testbed::{LEAD_TIME, RunningLoads};
use lastmile_load::over_host::HostLoad;
use lastmile_load::record::FEW_COMPLETIONS;
use lastmile_load::self_check;
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_statistics::Distribution;
use lastmile_study::cell::{Cell, Seeds};
use lastmile_study::delivery::{Delivery, Refusal};
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::runner::RunContext;
use lastmile_study::settings::Settings;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::settings::World;
use lastmile_testbed::testbed::{Gauge, Reading, Testbed, TestbedWorld};
use lastmile_units::{Instant, Seed};
use lastmile_world::Host;
use plan::{FILE, Plan, SERVER};
use radio_use::RadioUse;
#[cfg(target_os = "linux")]
use real_generator::RealGenerators;
#[cfg(target_os = "linux")]
use std::net::SocketAddrV4;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// The delivery `load`.
pub(crate) struct Load;

/// The port of the server.
const PORT: u16 = 80;

/// The parts of a timeline of the radio's use: our own choice.
const PARTS: u32 = 100;

/// The CPU time of a request in the simulated world, connection included: our own measurement.
const CPU_PER_REQUEST: Duration = Duration::from_micros(30);

/// The figures of a load. The last has samples where there are pages; a study with and without them may ask for it.
const FIGURES: &[&Figure] = &[
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
    figure::PERIODICITY,
    figure::PERIODICITY_CHANCE,
    figure::PERIOD,
    figure::PHASE_CHANCE,
    figure::PHASE_PERIOD,
    figure::DATA_AIRTIME_SHARE,
    figure::ACK_AIRTIME_SHARE,
    figure::RESERVATION_AIRTIME_SHARE,
    figure::BEACON_AIRTIME_SHARE,
    figure::COLLISION_AIRTIME_SHARE,
    figure::IDLE_AIRTIME_SHARE,
    figure::CLIENT_QUEUE,
    figure::SERVER_QUEUE,
    figure::PAGE_TIME,
];

impl Delivery for Load {
    fn name(&self) -> &'static str {
        "load"
    }

    fn carries(&self) -> &'static str {
        "requests at a rate"
    }

    fn about(&self) -> &'static str {
        "Requests at times of their own, from clients to a server that share a radio."
    }

    fn check(&self, settings: &Settings) -> Result<(), Refusal> {
        Plan::read(settings).map(drop)
    }

    fn figures(&self, _: &Settings) -> &'static [&'static Figure] {
        FIGURES
    }

    /// A real generator may use all of a CPU.
    fn runs_alone(&self, settings: &Settings) -> bool {
        !settings.generator().is_ours()
    }

    fn expected_time(&self, settings: &Settings) -> Duration {
        Plan::read(settings).map_or(Duration::ZERO, |plan| CPU_PER_REQUEST.mul_f64(plan.requests()))
    }

    fn real_time(&self, settings: &Settings) -> Option<Duration> {
        Plan::read(settings).ok().map(|plan| plan.load.duration)
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
    let mut testbed = Box::new(Testbed::<W>::build(&plan.topology, seeds.link, |_| {
        plan.host_setup(seeds.link)
    })?);
    if let Some(folder) = context.captures {
        testbed.capture(folder, &capture_name::name(cell, &context.repeats))?;
    }
    let live = observer(cell, context).map(|observer| {
        let live = Arc::new(LiveFigures::default());
        testbed.observe(observer, Some(("clients", gauge(Arc::clone(&live)))));
        live
    });
    let server = start_server(&testbed, plan, seeds.compute)?;
    Ok(run_repeats(&mut testbed, context, |testbed, repeat| {
        let watched = Watched {
            live: live.clone(),
            with_timelines: repeat == 0,
        };
        run(testbed, plan, &server, context.seeds(cell, repeat), &watched)
    }))
}

/// What is watched of a repeat.
struct Watched {
    /// Where the clients' recent figures go, if anybody looks.
    live: Option<Arc<LiveFigures>>,
    with_timelines: bool,
}

/// What the clients of our generator did in an interval.
fn gauge(live: Arc<LiveFigures>) -> Gauge {
    Box::new(move |interval| {
        let recent = live.take();
        let per_second = |count: u64| count as f64 / interval.as_secs_f64();
        let reading = |name, unit, value| Reading { name, unit, value };
        let mut readings = vec![
            reading("requests", "1/s", per_second(recent.due)),
            reading("responses", "1/s", per_second(recent.response.count())),
            reading("errors", "1/s", per_second(recent.failed)),
        ];
        let response = recent.response.mean();
        readings.extend(response.map(|mean| reading("response_time", "s", mean.as_secs_f64())));
        readings
    })
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
    let server = ServerUnderTest::start(testbed, host, &plan.settings.server(), service, |_| async { Ok(()) })?;
    if let ServerUnderTest::Ours = server {
        let started = plan.model.start(host, PORT, seed);
        started.map_err(|error| Failure::new(format!("the server cannot listen: {error}")))?;
    }
    Ok(server)
}

/// Runs one repeat.
fn run<W: TestbedWorld>(
    testbed: &Testbed<W>,
    plan: &Plan,
    served: &ServerUnderTest,
    seeds: Seeds,
    watched: &Watched,
) -> Outcome {
    let server = testbed.host(SERVER);
    let address = server.address(served.port().unwrap_or(PORT));
    #[cfg(target_os = "linux")]
    if !plan.settings.generator().is_ours() {
        return run_real(testbed, plan, address, watched.with_timelines);
    }
    let begin = server.now() + LEAD_TIME;
    let loads = plan.clients().zip(0..).map(|(name, index)| {
        let seed = seeds.workload.derive("client").derive_index(index);
        let load = HostLoad {
            server: address,
            plan: Arc::clone(&plan.load),
            start: begin + plan.start(index, seed),
            seed,
            interrupt: Arc::default(),
            live: watched.live.clone(),
        };
        (testbed.host(&name).clone(), load)
    });
    let running = RunningLoads::begin(loads);
    let mut observation = Observation::default();
    watch(
        testbed,
        &(begin..running.sending_end()),
        watched.with_timelines,
        &mut observation,
    )?;
    let measured = running.end(testbed)?;
    observe(&measured, plan, begin, &mut observation);
    times::note_times(&measured, &mut observation);
    times::observe_periodicity(&measured, &mut observation);
    if let Some(requests) = plan.requests_per_page {
        times::observe_pages(&measured, requests.get(), &mut observation);
    }
    observation.vary("start-phase");
    Ok(observation)
}

/// Runs one repeat with a real generator.
#[cfg(target_os = "linux")]
fn run_real<W: TestbedWorld>(testbed: &Testbed<W>, plan: &Plan, server: SocketAddrV4, with_timelines: bool) -> Outcome {
    let begin = testbed.host(SERVER).now();
    let running = RealGenerators::begin(testbed, plan, server)?;
    let span = begin..begin + plan.load.duration;
    let mut observation = Observation::default();
    watch(testbed, &span, with_timelines, &mut observation)?;
    let reports = running.end(testbed, plan, span.end)?;
    real_generator::observe(&reports, plan.model.body.get(), &span, &mut observation);
    observation.vary("start-phase");
    Ok(observation)
}

/// Runs the world through a span of time, and adds what happens on the radio in it.
fn watch<W: TestbedWorld>(
    testbed: &Testbed<W>,
    span: &Range<Instant>,
    with_timelines: bool,
    observation: &mut Observation,
) -> Result<(), Failure> {
    let server = testbed.host(SERVER);
    testbed.run_on(server, W::LIMIT, server.sleep_until(span.start))?;
    let time = span.end.saturating_since(span.start);
    let parts = if with_timelines { PARTS } else { 1 };
    let step = time / parts;
    let mut uses = vec![RadioUse::of(testbed)];
    for part in 1..=parts {
        let until = if part == parts {
            span.end
        } else {
            span.start + step * part
        };
        testbed.run_on(server, W::LIMIT, server.sleep_until(until))?;
        uses.push(RadioUse::of(testbed));
    }
    radio_use::observe_queues(testbed, span, with_timelines, observation);
    if let [first, .., last] = &uses[..] {
        last.observe_since(first, time, observation);
    }
    if with_timelines {
        observation.timeline(figure::AIRTIME_SHARE, step, &RadioUse::airtime_shares(&uses, step));
    }
    Ok(())
}

/// Adds the figures of the clients together, and whether each of them kept its schedule.
fn observe(clients: &[Measurement], plan: &Plan, begin: Instant, observation: &mut Observation) {
    let mut all = Measurement::default();
    for client in clients {
        all.add(client);
        if let Err(why) = self_check::check(client) {
            observation.doubts.push(Doubt::new(why.doubt_kind(), why.to_string()));
        }
    }
    // One time for all: rates over times of their own would add up to more than the radio carries.
    let time = plan.sending_time();
    let is_in_time = |response: &&Range<Instant>| response.end <= begin + time;
    let completed = all.response_times.iter().filter(is_in_time).count();
    let rate = completed as f64 / time.as_secs_f64();
    observation.sample(figure::TRANSACTION_RATE, rate);
    observation.sample(figure::GOODPUT, rate * 8.0 * plan.model.body.as_f64());
    if completed < FEW_COMPLETIONS as usize {
        let text = format!(
            "fewer than {FEW_COMPLETIONS} requests were completed while requests were sent, too few for a rate; a longer load_time gives more"
        );
        observation.doubts.push(Doubt::new(DoubtKind::FewCompletions, text));
    }
    let rates: Vec<f64> = clients.iter().map(Measurement::transaction_rate).collect();
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
        let counts = times.counts().map(|(time, count)| (time.as_secs_f64(), count));
        let mean = times.mean().unwrap_or_default().as_secs_f64();
        if let Some(kept) = Distribution::of_counts(counts, mean) {
            observation.distribution(figure, kept);
        }
    }
}
