//! The live view of a run: an emitter in this process, a log in the run's folder, and a page that follows it in a browser.
//!
//! Subjects: `run.begin`, `run.cell` (a cell begins), `run.world.NAME` (what a medium or the clients do in the cell on view), `run.repeat` (one
//! has ended, with the mean of each of its figures), `run.progress` and `run.end`. The CPU time of the threads that observe is counted apart from the run's.

mod observing_threads;
mod world_view;

use crate::cli::monitor::TokenArg;
use crate::output;
use crate::verbs::events::{allow_address, read_token};
use anyhow::Context as _;
use lastmile_events::{Emitter, EmitterSettings, Source, Subject, Timestamp, Value};
use lastmile_monitor::log::{Log, LogSettings, LogUplink};
use lastmile_monitor::service::Monitor;
use lastmile_monitor::{block_on, server};
use lastmile_report::number::{percent, quantity};
use lastmile_statistics::mean;
use lastmile_study::cell::Cell;
use lastmile_study::file::Study;
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::observer::Observer;
use lastmile_study::run_folder::RunFolder;
use lastmile_study::runner::Progress;
use lastmile_study::{doubt, figure};
use lastmile_testbed::settings::World;
use lastmile_testbed::testbed::TestbedObserver;
use observing_threads::ObservingThreads;
use std::cell::Cell as Slot;
use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use world_view::{ViewedWorld, WorldView};

/// The folder of the events in a run's folder.
const FOLDER: &str = "events";
/// How long a page may take to fetch the last events: our own choice.
const FAREWELL: Duration = Duration::from_millis(300);

/// A run's live view.
pub(crate) struct Live {
    emitter: Emitter,
    /// The figures whose units the page knows.
    units: Mutex<BTreeSet<String>>,
    observing: ObservingThreads,
    /// The world that is on view.
    viewed: Arc<ViewedWorld>,
    began: Moment,
    stop: Arc<AtomicBool>,
    server: JoinHandle<()>,
}

/// A moment, and the CPU time that observing had taken then.
#[derive(Debug, Clone, Copy)]
struct Moment {
    at: Instant,
    observing: Duration,
}

thread_local! {
    /// When this thread's repeats began.
    static REPEATS_BEGAN: Slot<Option<Moment>> = const { Slot::new(None) };
}

/// Refuses an address that other machines reach, where there is no token.
///
/// # Errors
/// When a token is missing or cannot be read.
pub(crate) fn check_address(address: &SocketAddr, token: &TokenArg) -> anyhow::Result<()> {
    allow_address("--live", address, read_token(token)?.as_deref())
}

impl Live {
    /// Opens the log, and serves the page.
    ///
    /// # Errors
    /// When the address, the folder or the token cannot be used.
    pub(crate) fn start(
        address: SocketAddr,
        token: &TokenArg,
        folder: &RunFolder,
        study: &Study,
    ) -> anyhow::Result<Self> {
        let token = read_token(token)?;
        let listener = TcpListener::bind(address).with_context(|| format!("--live {address}"))?;
        let address = listener.local_addr()?;
        let mut observing = ObservingThreads::of_others();
        let log = Arc::new(Log::open(&folder.path().join(FOLDER), LogSettings::default())?);
        let monitor = Arc::new(Monitor::new(Arc::clone(&log), token));
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let server = thread::Builder::new().name("live-page".to_owned()).spawn(move || {
            if let Ok(Err(error)) | Err(error) = block_on(server::serve(monitor, listener, &stopped)) {
                output::note(&format!("the live page has ended: {error}"));
            }
        })?;
        let source = Source::new("run", Timestamp::now().unix_nanoseconds() as u64)?;
        let emitter = Emitter::start(source, EmitterSettings::default(), Box::new(LogUplink::new(log)?))?;
        observing.find_new();
        let live = Self {
            emitter,
            units: Mutex::default(),
            began: observing.moment(),
            observing,
            viewed: Arc::default(),
            stop,
            server,
        };
        live.emit("run.begin", &[("study", Value::Text(&study.name))]);
        output::note(&format!("live page: http://{address}/"));
        Ok(live)
    }

    /// Shows how far the run is.
    pub(crate) fn show_progress(&self, progress: Progress<'_>) {
        let cell = progress.finished.describe();
        let fields = [
            ("done", whole(progress.done)),
            ("total", whole(progress.total)),
            ("cell", Value::Text(cell.as_str())),
        ];
        self.emit("run.progress", &fields);
    }

    /// Says what observing cost, and ends the page.
    pub(crate) fn end(self) {
        let (time, share) = self.cost_since(self.began);
        let fields = [
            ("observing_time", Value::Float(time.as_secs_f64())),
            ("observing_share", Value::Float(share)),
            ("unit.observing_time", Value::Text("s")),
        ];
        self.emit("run.end", &fields);
        self.emitter.close();
        // A page fetches what is new as soon as it is committed.
        thread::sleep(FAREWELL);
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.server.join();
        output::note(&format!(
            "observing the run took {} of CPU time, {} of the machine's",
            quantity(time.as_secs_f64(), "s"),
            percent(share)
        ));
    }

    fn emit(&self, subject: &str, fields: &[(&str, Value<&str>)]) {
        let subject = Subject::new(subject).expect("the subjects of runs are words joined by dots");
        self.emitter.emit(&subject, fields);
    }

    fn moment(&self) -> Moment {
        let mut moment = self.observing.moment();
        moment.observing += self.viewed.reporting_time();
        moment
    }

    /// The CPU time that observing has taken since then, and its share of what the machine's cores had.
    fn cost_since(&self, moment: Moment) -> (Duration, f64) {
        let now = self.moment();
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let time = now.observing.saturating_sub(moment.observing);
        let had = now.at.duration_since(moment.at).as_secs_f64() * cores as f64;
        (time, if had > 0.0 { time.as_secs_f64() / had } else { 0.0 })
    }

    fn emit_repeat(&self, cell: &Cell, repeat: u64, outcome: &Outcome) {
        let mut fields = vec![
            ("cell".to_owned(), Value::Text(cell.describe())),
            ("repeat".to_owned(), whole(repeat)),
        ];
        match outcome {
            Ok(observation) => fields.extend(self.figures(observation)),
            Err(failure) => fields.push(("failure".to_owned(), Value::Text(failure.to_string()))),
        }
        let fields: Vec<(&str, Value<&str>)> = fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.borrowed()))
            .collect();
        // What an event cannot hold is left out, so that the rest is seen.
        let most = fields.len().min(lastmile_events::event::FIELDS_MAX);
        self.emit("run.repeat", &fields[..most]);
    }

    /// The mean of each figure, and the units that were not shown yet.
    fn figures(&self, observation: &Observation) -> Vec<(String, Value)> {
        let mut fields = Vec::new();
        let sampled = observation
            .figures
            .iter()
            .filter_map(|(name, samples)| Some((name, mean(samples)?)));
        let distributed = observation
            .distributions
            .iter()
            .map(|(name, samples)| (name, samples.mean()));
        let mut units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, value) in sampled.chain(distributed) {
            if let (true, Ok(figure)) = (units.insert(name.clone()), figure::find(name)) {
                fields.push((format!("unit.{name}"), Value::Text(figure.unit_of_axis().to_owned())));
            }
            fields.push((name.clone(), Value::Float(value)));
        }
        fields
    }
}

fn whole<T>(number: u64) -> Value<T> {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

impl Observer for Live {
    fn begin(&self, cell: &Cell) {
        REPEATS_BEGAN.set(Some(self.moment()));
        self.emit("run.cell", &[("cell", Value::Text(cell.describe().as_str()))]);
    }

    fn observer_of_world(&self, cell: &Cell) -> Option<Box<dyn TestbedObserver>> {
        let view = WorldView::of(&self.viewed, self.emitter.clone(), cell)?;
        Some(Box::new(view))
    }

    fn end(&self, cell: &Cell, first: u64, outcomes: &mut [Outcome]) {
        let share = REPEATS_BEGAN.take().map_or(0.0, |moment| self.cost_since(moment).1);
        for (repeat, outcome) in (first..).zip(outcomes) {
            // Virtual time does not pass while this machine observes.
            if let (World::Emulated, Ok(observation)) = (cell.world(), outcome.as_mut()) {
                observation.doubts.extend(doubt::observed(share));
            }
            self.emit_repeat(cell, repeat, outcome);
        }
    }
}
