//! `lastmile load`: loads a server, and reports what it carries.

mod hdr_log;
mod live_view;
mod stage;

use crate::cli::load::{ArrivalProcess, LoadArgs};
use crate::cli::without_duplicates;
use crate::exit::Exit;
use crate::report_file::{ReportFile, print_with_report};
use crate::{interrupt, links, output, privileges, progress, run_store};
use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use lastmile_link::{DirectionSpec, LinkSpec};
use lastmile_load::error_cause::ErrorCause;
use lastmile_load::live::LiveFigures;
use lastmile_load::measurement::Measurement;
use lastmile_load::plan::{Demand, HttpVersion, Plan};
use lastmile_load::rate::RequestRate;
use lastmile_load::record::{Load, LoadRun, RateLimit, RunPurpose};
use lastmile_load::request::Request;
use lastmile_load::schedule::Arrivals;
use lastmile_load::search::{HighestRate, REST, SearchOptions, highest_rate};
use lastmile_load::self_check;
use lastmile_load::server_model::ServerModel;
use lastmile_load::session::Session;
use lastmile_load::slo::Limit;
use lastmile_load::summary;
use lastmile_load::target::is_private;
use lastmile_testbed::settings::World;
use lastmile_units::{ByteCount, Seed};
use live_view::LiveView;
use stage::{LoadTarget, StageRun};
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What stands in a URL for the number of bytes.
const SIZE: &str = "{size}";
/// The rate where none is given, and the one that a search begins with: our own choice.
const RATE: f64 = 10.0;
/// The repeats of a search: our own choice.
const SEARCH_REPEATS: u32 = 3;

/// Loads a server, and prints the figures.
///
/// # Errors
/// When an option is not understood, the server may not be loaded or is unknown, or the report cannot be written.
pub(crate) fn load(args: &LoadArgs) -> anyhow::Result<Exit> {
    let link = args.link.as_deref().map(links::link).transpose()?;
    let worlds = if args.world.is_empty() {
        vec![World::Emulated]
    } else {
        without_duplicates(&args.world)
    };
    let is_emulated = worlds.contains(&World::Emulated);
    if is_emulated {
        check_target(args)?;
        if link.is_some() {
            // Before any thread is started.
            privileges::acquire("a load behind a link", "use --world sim, or leave --link out")?;
        }
    }
    let interrupt = interrupt::install_handler(
        "stopping, and keeping what was measured; press Ctrl-C again to stop at once",
        "stopped at once; nothing is kept".to_owned(),
    )?;
    let mut campaign = Campaign::new(args, interrupt)?;
    for world in worlds {
        let stage = match world {
            World::Simulated => LoadTarget::simulated(link.clone().map_or_else(ideal_link, Ok)?, model(args)),
            World::Emulated => LoadTarget::real(args, link.as_ref(), &campaign.interrupt, &campaign.live)?,
        };
        campaign.measure(&stage)?;
        if campaign.is_interrupted() {
            break;
        }
    }
    campaign.bar.finish_and_clear();
    let load = campaign.record(args, link.as_ref());
    // The files first: they survive a closed pipe on stdout. If one cannot be written, the figures are still printed.
    let log = args
        .hdr
        .as_deref()
        .map_or(Ok(()), |path| hdr_log::write(path, &campaign.runs));
    let report = args
        .report
        .as_deref()
        .map(|path| ReportFile::at(path, "--report"))
        .transpose();
    print_with_report(
        &load,
        report.as_ref().ok().and_then(Option::as_ref),
        args.format.format(),
        false,
    )?;
    log.and(report.map(|_| ()))?;
    Ok(exit(&load, campaign.is_interrupted()))
}

fn exit(load: &Load, is_interrupted: bool) -> Exit {
    let runs = load.answering_runs();
    if is_interrupted {
        Exit::Interrupted
    } else if runs.iter().any(|run| run.has_failed()) {
        Exit::CellsFailed
    } else if load.limits.iter().any(|limit| limit.rate.is_none()) || runs.iter().any(|run| !run.valid) {
        Exit::Broken
    } else {
        Exit::Done
    }
}

/// What is measured, and what was measured so far.
struct Campaign<'a> {
    args: &'a LoadArgs,
    interrupt: Arc<AtomicBool>,
    bar: ProgressBar,
    live: Arc<LiveFigures>,
    seed: Seed,
    plan: Plan,
    runs: Vec<(LoadRun, Measurement)>,
    /// How far a search has come, for the view.
    bracket: String,
    limits: Vec<RateLimit>,
}

impl<'a> Campaign<'a> {
    fn new(args: &'a LoadArgs, interrupt: Arc<AtomicBool>) -> anyhow::Result<Self> {
        if args.warm_up() >= args.duration {
            bail!(
                "--warm-up {:?}: it must be shorter than --duration {:?}",
                args.warm_up(),
                args.duration
            );
        }
        Ok(Self {
            interrupt,
            bar: progress::bar("runs"),
            live: Arc::default(),
            seed: Seed::new(args.seed),
            plan: plan(args)?,
            runs: Vec::new(),
            bracket: String::new(),
            limits: Vec::new(),
            args,
        })
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// All runs in one world.
    fn measure(&mut self, stage: &LoadTarget) -> anyhow::Result<()> {
        if let Some(limit) = &self.args.slo {
            return self.search(stage, limit);
        }
        let variants = self.variants(stage)?;
        let repeats = self.args.repeats.map_or(1, NonZeroU32::get);
        self.bar.inc_length(variants.len() as u64 * u64::from(repeats));
        for repeat in 0..repeats {
            // All variants of a repeat have the same seed.
            let seed = self.seed.derive_index(u64::from(repeat));
            for (plan, size) in &variants {
                if self.is_interrupted() {
                    return Ok(());
                }
                self.run(stage, plan, *size, seed, RunPurpose::Measurement)?;
            }
        }
        Ok(())
    }

    /// The plan at each rate of a sweep or for each size, or the one plan.
    fn variants(&self, stage: &LoadTarget) -> anyhow::Result<Vec<(Plan, Option<ByteCount>)>> {
        if let Some(sweep) = &self.args.sweep {
            return Ok(sweep.0.iter().map(|rate| (self.plan_at(*rate), None)).collect());
        }
        let Some(sizes) = &self.args.sizes else {
            return Ok(vec![(self.plan.clone(), None)]);
        };
        let path = self.args.target.path();
        if stage.name() != stage::SIM && !path.contains(SIZE) {
            bail!("--sizes needs {SIZE} in the URL, where the number of bytes goes: http://127.0.0.1:8000/{SIZE}.bin");
        }
        let sized = |size: &ByteCount| {
            let request = request(self.args, &path.replace(SIZE, &size.get().to_string()));
            let plan = Plan {
                request,
                ..self.plan.clone()
            };
            (plan, Some(*size))
        };
        Ok(sizes.0.iter().map(sized).collect())
    }

    fn search(&mut self, stage: &LoadTarget, limit: &Limit) -> anyhow::Result<()> {
        let options = SearchOptions {
            start: rate(self.args)?,
            highest: self.args.highest,
            resolution: self.args.resolution,
            votes: self.args.runs_per_rate,
            repeats: self.args.repeats.map_or(SEARCH_REPEATS, NonZeroU32::get),
        };
        if stage.is_real() {
            let run = self.args.duration + REST;
            output::note(&live_view::expectation(limit, options.expected_runs(), run));
        }
        self.bar.inc_length(u64::from(options.expected_runs()));
        let (mut shown, mut is_first) = (live_view::Bracket::default(), true);
        let mut faults_of_others = BTreeSet::new();
        let found = highest_rate::<EarlyEnd>(&options, self.seed, &mut |rate, seed| {
            let plan = self.plan_at(rate);
            let (run, measured) = self
                .run(stage, &plan, None, seed, RunPurpose::Search)
                .map_err(EarlyEnd::Failed)?;
            if summary::is_interrupted(measured) {
                return Err(EarlyEnd::Interrupted);
            }
            if let Some(cause) = measured.hopeless_cause().filter(|_| is_first) {
                return Err(EarlyEnd::Hopeless(cause));
            }
            is_first = false;
            // What the world disturbed shows nothing to be within the limit.
            let disturbed = run.why_invalid.clone().filter(|_| self_check::check(measured).is_ok());
            let judged = disturbed.map_or_else(|| limit.judge(measured), Err);
            let rule = limit.broken_rule(measured);
            faults_of_others.extend(
                judged
                    .as_ref()
                    .err()
                    .filter(|cause| Some(*cause) != rule.as_ref())
                    .cloned(),
            );
            shown.add(rate, judged.is_ok());
            self.bracket = shown.text();
            if stage.is_real() && self.bar.is_hidden() {
                output::note(&live_view::verdict(rate, &judged));
            }
            if judged.is_err() && stage.is_real() {
                thread::sleep(REST);
            }
            Ok(judged)
        });
        self.bracket.clear();
        let found = match found {
            Ok(found) => found,
            Err(EarlyEnd::Interrupted) => return Ok(()),
            Err(EarlyEnd::Hopeless(cause)) => HighestRate {
                repeats: Vec::new(),
                broken_by: Some(format!("every request failed ({cause})")),
                unsettled: 0,
            },
            Err(EarlyEnd::Failed(error)) => return Err(error),
        };
        let is_lower_bound = found.median().is_some()
            && found
                .broken_by
                .as_ref()
                .is_some_and(|cause| faults_of_others.contains(cause));
        self.limits.push(RateLimit {
            world: stage.name().to_owned(),
            limit: limit.to_string(),
            rate: found.median(),
            ci95: found.interval(self.seed.derive("interval")),
            repeats: found.repeats,
            resolution: options.resolution,
            is_lower_bound,
            broken_by: found.broken_by,
            unsettled: u64::from(found.unsettled),
        });
        Ok(())
    }

    /// One run, kept.
    fn run(
        &mut self,
        stage: &LoadTarget,
        plan: &Plan,
        size: Option<ByteCount>,
        seed: Seed,
        purpose: RunPurpose,
    ) -> anyhow::Result<&(LoadRun, Measurement)> {
        let label = match &plan.demand {
            Demand::Open { arrivals, .. } => format!("{}: {:.1}/s", stage.name(), arrivals.mean_rate(plan.duration)),
            Demand::Closed { users, .. } => format!("{}: {users} users", stage.name()),
        };
        let view = LiveView::start(&self.bar, format!("{label}{}", self.bracket), Arc::clone(&self.live));
        let ran = stage.run(plan, size, seed, &self.interrupt);
        drop(view);
        let StageRun {
            measured,
            cost,
            disturbance,
            captured,
        } = ran?;
        let mut run = summary::run(stage.name(), plan, seed, purpose, &measured, cost);
        run.size = size.map(ByteCount::get);
        match captured {
            Some(Ok(schedule)) => run.self_check.capture = Some(schedule),
            Some(Err(why)) => output::note(&why),
            None => {}
        }
        if let Some(why) = disturbance.filter(|_| run.valid) {
            run.valid = false;
            run.why_invalid = Some(why);
        }
        self.bar.inc(1);
        // A search may take more runs than expected: it is not done before it says so.
        if purpose == RunPurpose::Search && self.bar.length() == Some(self.bar.position()) {
            self.bar.inc_length(1);
        }
        self.runs.push((run, measured));
        self.runs.last().context("a run was pushed")
    }

    fn plan_at(&self, rate: RequestRate) -> Plan {
        let arrivals = arrivals(self.args, rate);
        let demand = match &self.plan.demand {
            Demand::Open { session, .. } => Demand::Open {
                arrivals,
                session: *session,
            },
            closed @ Demand::Closed { .. } => closed.clone(),
        };
        Plan {
            demand,
            ..self.plan.clone()
        }
    }

    fn record(&self, args: &LoadArgs, link: Option<&LinkSpec>) -> Load {
        let runs: Vec<LoadRun> = self.runs.iter().map(|(run, _)| run.clone()).collect();
        // A search goes to where the generator ends: that is no doubt about what it found below.
        let counts = |(run, measured): &&(LoadRun, Measurement)| {
            run.purpose == RunPurpose::Measurement || summary::is_interrupted(measured)
        };
        let pairs: Vec<_> = self
            .runs
            .iter()
            .filter(counts)
            .map(|(run, measured)| (run, measured))
            .collect();
        let knees: Vec<_> = [stage::SIM, stage::EMU, stage::MACHINE]
            .iter()
            .filter_map(|world| summary::knee(world, &runs))
            .collect();
        Load {
            schema: Load::SCHEMA.to_owned(),
            version: run_store::VERSION.to_owned(),
            seed: args.seed,
            target: args.target.to_string(),
            link: link.map(LinkSpec::name),
            model: runs
                .iter()
                .any(|run| run.world == stage::SIM)
                .then(|| model(args).to_string()),
            plan: summary::plan(&self.plan),
            charts: summary::charts(&runs, &knees, &self.limits),
            doubts: summary::doubts(&pairs)
                .into_iter()
                .chain(summary::limit_doubts(&self.limits))
                .collect(),
            runs,
            knees,
            limits: self.limits.clone(),
        }
    }
}

/// Why a search ended early.
enum EarlyEnd {
    Interrupted,
    /// Every request of the first run failed, as it would at any rate.
    Hopeless(ErrorCause),
    Failed(anyhow::Error),
}

/// The plan of the command line; a sweep or a search changes its rate.
fn plan(args: &LoadArgs) -> anyhow::Result<Plan> {
    let http = args.http_version();
    let demand = if let Some(users) = args.closed {
        Demand::Closed {
            users,
            think_time: args.think_time,
        }
    } else {
        Demand::Open {
            arrivals: match &args.schedule {
                Some(path) => Arrivals::Recorded(read_schedule(path)?),
                None => arrivals(args, rate(args)?),
            },
            session: args.session.map_or(Session::SINGLE, |requests| Session {
                requests,
                think_time: args.think_time,
                expected_response_time: args.expected_response.unwrap_or_default(),
            }),
        }
    };
    let request = request(args, args.target.path());
    Ok(Plan {
        warm_up: args.warm_up(),
        // As many users share a connection as it has streams.
        clients: args.closed.map_or(args.clients, |users| clients_of(users, http)),
        http,
        connections_per_client: args.connections,
        tls: args.target.is_secure(),
        requests_per_connection: args.requests_per_connection,
        timeout: args.timeout,
        connect_timeout: args.connect_timeout,
        ..Plan::new(demand, args.duration, request)
    })
}

fn rate(args: &LoadArgs) -> anyhow::Result<RequestRate> {
    args.rate.or(RequestRate::new(RATE)).context("the default is a rate")
}

/// The clients that users of a closed loop make up: those who share a connection.
fn clients_of(users: NonZeroU32, http: HttpVersion) -> NonZeroU32 {
    let clients = users.get().div_ceil(http.streams().get());
    NonZeroU32::new(clients).unwrap_or(NonZeroU32::MIN)
}

fn request(args: &LoadArgs, path: &str) -> Request {
    let mut headers: http::HeaderMap = args.header.iter().cloned().collect();
    headers
        .entry(http::header::USER_AGENT)
        .or_insert(http::HeaderValue::from_static("lastmile"));
    Request::new(http::Method::GET, args.target.authority(), path, &headers)
}

fn arrivals(args: &LoadArgs, rate: RequestRate) -> Arrivals {
    match (args.to_rate, args.arrivals) {
        (Some(to), _) => Arrivals::Ramp { from: rate, to },
        (None, ArrivalProcess::Constant) => Arrivals::Constant(rate),
        (None, ArrivalProcess::Poisson) => Arrivals::Poisson(rate),
    }
}

/// A start time in seconds per line; empty lines and those that begin with # are skipped.
fn read_schedule(path: &Path) -> anyhow::Result<Arc<[Duration]>> {
    let name = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("--schedule {name}: it cannot be read"))?;
    let mut times: Vec<Duration> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let time = line
            .parse::<f64>()
            .ok()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let time = time.with_context(|| {
            format!("--schedule {name}, line {number}: {line:?} is no time; write seconds from the start, like 1.25")
        })?;
        if times.last().is_some_and(|last| *last > time) {
            bail!("--schedule {name}, line {number}: {line} is earlier than the line before; sort the file");
        }
        times.push(time);
    }
    if times.is_empty() {
        bail!("--schedule {name}: it holds no time; write a start time in seconds per line");
    }
    Ok(times.into())
}

/// Refuses a server of somebody else, unless the user has permission.
fn check_target(args: &LoadArgs) -> anyhow::Result<()> {
    let address = args.target.resolve()?;
    if !args.i_may_load_this && !is_private(address.ip()) {
        bail!(
            "{}: {} is neither on this machine nor in a private network; if you have its owner's permission, add --i-may-load-this",
            args.target,
            address.ip()
        );
    }
    if args.link.is_some() && !address.ip().is_loopback() {
        bail!(
            "{}: --link reaches servers on this machine's loopback address alone, and {} is another",
            args.target,
            address.ip()
        );
    }
    Ok(())
}

fn model(args: &LoadArgs) -> ServerModel {
    ServerModel {
        workers: args.workers,
        backlog: args.backlog,
        service_time: args.service_time,
        body: args.body,
        version: args.http_version().version(),
        ..ServerModel::default()
    }
}

fn ideal_link() -> anyhow::Result<LinkSpec> {
    Ok(LinkSpec::new("ideal", DirectionSpec::IDEAL, DirectionSpec::IDEAL)?)
}
