//! Our own applications, sensors, monitor and clients of a world, and one repeat of them.

use super::application::{Application, SubmissionFigures};
use super::client::{Arrival, Client};
use super::observe::{Activity, observe_applications, observe_arrivals};
use super::plan::{self, Gathering, MONITOR, Plan, Submission};
use super::sensor::{self, MONITOR_PORT, SENSOR_PORT};
use super::{halted, limit, link_bytes, observe_links};
use lastmile_events::uplink::Durability;
use lastmile_monitor::log::{Log, LogSettings, MemoryLog};
use lastmile_study::figure;
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::settings::{EventTest, Settings};
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{Testbed, TestbedWorld};
use lastmile_units::Seed;
use lastmile_world::Host;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;

/// The failures of programs that nobody waits for.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults(Rc<RefCell<Vec<Failure>>>);

impl Faults {
    pub(super) fn add(&self, failure: Failure) {
        self.0.borrow_mut().push(failure);
    }

    /// A failure, with those that may be its cause.
    fn explain(&self, failure: &Failure) -> Failure {
        let faults = self.0.borrow();
        let all = faults.iter().map(|fault| fault.reason.as_str());
        let reasons: Vec<&str> = all.chain([failure.reason.as_str()]).collect();
        Failure::new(reasons.join("; "))
    }
}

/// The programs of a world and their connections, which all its repeats share.
pub(super) struct Session<H: Host> {
    plan: Plan,
    log: Arc<Log>,
    applications: Vec<Application<H>>,
    /// Those that query. Subscribers run by themselves.
    clients: Vec<Client<H>>,
    arrivals: Option<UnboundedReceiver<Arrival>>,
    faults: Faults,
    limit: Duration,
    /// The numbers that applications have given out.
    numbered: u64,
    /// The logs' folders, in the emulated world.
    folders: Vec<TempDir>,
}

impl<H: Host> Session<H> {
    /// Starts the monitor, the sensors, the applications and the clients, one after another; where clients will query, events are stored.
    pub(super) fn open<W: TestbedWorld<Host = H>>(
        testbed: &Testbed<W>,
        plan: &Plan,
        seed: Seed,
    ) -> Result<Self, Failure> {
        let faults = Faults::default();
        let mut folders = Vec::new();
        let cannot_listen = |error: std::io::Error| Failure::new(format!("a program cannot listen: {error}"));
        let monitor = testbed.host(MONITOR);
        let log = open_log::<W>(1, plan.durability, &mut folders)?;
        sensor::start_monitor(monitor, &log, plan).map_err(cannot_listen)?;
        let at = monitor.address(MONITOR_PORT);
        let (sender, arrivals) = unbounded_channel();
        let mut session = Self {
            plan: plan.clone(),
            log,
            applications: Vec::new(),
            clients: Vec::new(),
            arrivals: Some(arrivals),
            faults: faults.clone(),
            limit: limit::<W>(plan),
            numbered: 0,
            folders,
        };
        for number in 1..=plan.sensors {
            let host = testbed.host(&plan::sensor(number));
            let log = open_log::<W>(1 + u64::from(number), Durability::Process, &mut session.folders)?;
            sensor::start_sensor(host, &log, number, at, plan).map_err(cannot_listen)?;
            let to = host.address(SENSOR_PORT);
            let host = testbed.host(&plan::applications(number));
            for index in 1..=plan.applications {
                let name = format!("application-{number}-{index}");
                let opening = Application::open(host.clone(), to, name);
                session
                    .applications
                    .push(testbed.world.run_for(W::LIMIT, opening).map_err(halted)??);
            }
        }
        for number in 1..=plan.clients {
            let host = testbed.host(&plan::client(number)).clone();
            let mut client = Client::new(host.clone(), number as usize - 1, at, plan.clone())?;
            if plan.test == EventTest::Query {
                session.clients.push(client);
                continue;
            }
            let subscribing = async move {
                let lines = client.subscribe().await;
                (client, lines)
            };
            let (client, lines) = testbed.world.run_for(W::LIMIT, subscribing).map_err(halted)?;
            let lines = lines?;
            let (sender, faults) = (sender.clone(), faults.clone());
            host.spawn(async move {
                if let Err(failure) = client.receive(lines, sender).await {
                    faults.add(failure);
                }
            });
        }
        if plan.test == EventTest::Query {
            session.plan.submission = Submission::Gathered(Gathering::read(&Settings::default()));
            session.submit(testbed, seed.derive("stored"))?;
        }
        Ok(session)
    }

    /// Runs one repeat.
    pub(super) fn repeat<W: TestbedWorld<Host = H>>(&mut self, testbed: &Testbed<W>, seed: Seed) -> Outcome {
        let outcome = match self.plan.test {
            EventTest::Query => self.query(testbed),
            EventTest::Sustained | EventTest::Delayed | EventTest::Subscription => self.emit(testbed, seed),
        };
        outcome.map_err(|failure| self.faults.explain(&failure))
    }

    /// Lets the applications submit their events, and the subscribers receive them.
    fn emit<W: TestbedWorld<Host = H>>(&mut self, testbed: &Testbed<W>, seed: Seed) -> Outcome {
        let before = link_bytes(testbed, &self.plan);
        let activity = self.submit(testbed, seed)?;
        let mut observation = Observation::default();
        let tried: u64 = activity.submitted.iter().map(|submitted| submitted.tried).sum();
        observe_applications(&activity, &mut observation);
        let (mut lost, mut explained) = (tried - activity.stored, activity.stated);
        if self.plan.clients > 0 {
            let received = self.receive(testbed, tried)?;
            let stated: u64 = received
                .iter()
                .filter(|arrival| arrival.is_loss)
                .map(|arrival| arrival.span)
                .sum();
            let events = received.iter().filter(|arrival| !arrival.is_loss).count() as u64;
            (lost, explained) = (tried * u64::from(self.plan.clients) - events, stated);
            observe_arrivals(&received, &mut observation);
        }
        observation.sample(figure::EVENTS_LOST, lost as f64);
        observation.sample(figure::LOSSES_UNEXPLAINED, lost.saturating_sub(explained) as f64);
        self.finish(testbed, before, observation)
    }

    /// Lets every client query once, all at the same time.
    fn query<W: TestbedWorld<Host = H>>(&mut self, testbed: &Testbed<W>) -> Outcome {
        let before = link_bytes(testbed, &self.plan);
        let expected = self.plan.all_steps();
        let querying = self.clients.drain(..).map(|mut client| {
            let host = client.host.clone();
            on_host(&host, async move {
                let answer = client.query(expected).await;
                (client, answer)
            })
        });
        let querying = querying.collect();
        let mut observation = Observation::default();
        let mut lost = 0;
        for (client, answer) in self.run_all(testbed, querying)? {
            let (span, received) = answer?;
            observation.sample_time(figure::QUERY_TIME, span);
            lost += expected - received;
            self.clients.push(client);
        }
        observation.sample(figure::EVENTS_LOST, lost as f64);
        observation.sample(figure::LOSSES_UNEXPLAINED, lost as f64);
        self.finish(testbed, before, observation)
    }

    /// Adds what the links carried, and holds the log against its accounts.
    fn finish<W: TestbedWorld<Host = H>>(
        &self,
        testbed: &Testbed<W>,
        before: (u64, u64),
        mut observation: Observation,
    ) -> Outcome {
        observe_links(testbed, &self.plan, before, &mut observation);
        let log = Arc::clone(&self.log);
        let audit = testbed.world.run_for(self.limit, async move { log.audit().await });
        let audit = audit.map_err(halted)?.map_err(Failure::from_error)?;
        let adds_up = audit.sources.iter().all(|source| source.account.adds_up());
        if !adds_up || !audit.problems.is_empty() {
            let problems = audit.problems.join("; ");
            return Err(Failure::new(format!("the monitor's log does not add up: {problems}")));
        }
        Ok(observation)
    }

    /// Lets all applications run, without events first where the plan has a control run, and awaits the last event being stored.
    fn submit<W: TestbedWorld<Host = H>>(&mut self, testbed: &Testbed<W>, seed: Seed) -> Result<Activity, Failure> {
        let control = if self.plan.has_control_run() {
            self.run_applications(testbed, seed, false)?
        } else {
            Vec::new()
        };
        let before = self.accounts();
        let submitted = self.run_applications(testbed, seed, true)?;
        self.numbered += submitted.iter().map(|submitted| submitted.tried).sum::<u64>();
        let (log, numbered, host) = (Arc::clone(&self.log), self.numbered, testbed.host(MONITOR).clone());
        let all_stored = async move {
            loop {
                let end = log.end();
                let known: u64 = log.accounts().iter().map(|(_, account)| account.next - 1).sum();
                if known >= numbered {
                    return host.now();
                }
                log.wait_past(end).await;
            }
        };
        let stored_at = testbed.world.run_for(self.limit, all_stored).map_err(halted)?;
        let after = self.accounts();
        Ok(Activity {
            submitted,
            control,
            stored_at,
            stored: after.0 - before.0,
            stated: after.1 - before.1,
        })
    }

    fn run_applications<W: TestbedWorld<Host = H>>(
        &mut self,
        testbed: &Testbed<W>,
        seed: Seed,
        submits: bool,
    ) -> Result<Vec<SubmissionFigures>, Failure> {
        let plan = Rc::new(self.plan.clone());
        let running = (0..).zip(self.applications.drain(..)).map(|(index, mut application)| {
            let (plan, host) = (Rc::clone(&plan), application.host.clone());
            let seed = seed.derive("application").derive_index(index);
            on_host(&host, async move {
                let submitted = application.run(&plan, seed, submits).await;
                (application, submitted)
            })
        });
        let running = running.collect();
        let mut all = Vec::new();
        for (application, submitted) in self.run_all(testbed, running)? {
            self.applications.push(application);
            all.push(submitted?);
        }
        Ok(all)
    }

    /// Awaits the events of a repeat at every subscriber.
    fn receive<W: TestbedWorld<Host = H>>(
        &mut self,
        testbed: &Testbed<W>,
        tried: u64,
    ) -> Result<Vec<Arrival>, Failure> {
        let expected = tried * u64::from(self.plan.clients);
        let mut arrivals = self
            .arrivals
            .take()
            .ok_or_else(|| Failure::new("an earlier repeat failed"))?;
        let receiving = async move {
            let (mut received, mut spans) = (Vec::new(), 0);
            while spans < expected {
                let Some(arrival) = arrivals.recv().await else { break };
                spans += arrival.span;
                received.push(arrival);
            }
            (arrivals, received)
        };
        let (arrivals, received) = testbed.world.run_for(self.limit, receiving).map_err(halted)?;
        self.arrivals = Some(arrivals);
        Ok(received)
    }

    fn run_all<W: TestbedWorld<Host = H>, T: 'static>(
        &self,
        testbed: &Testbed<W>,
        running: Vec<oneshot::Receiver<T>>,
    ) -> Result<Vec<T>, Failure> {
        let all = async move {
            let mut ended = Vec::new();
            for program in running {
                ended.push(program.await.ok()?);
            }
            Some(ended)
        };
        let ended = testbed.world.run_for(self.limit, all).map_err(halted)?;
        ended.ok_or_else(|| Failure::new("a program was stopped"))
    }

    /// The events that are stored, and those that are stated as lost.
    fn accounts(&self) -> (u64, u64) {
        let accounts = self.log.accounts();
        let lost = accounts.iter().flat_map(|(_, account)| account.lost.values());
        (accounts.iter().map(|(_, account)| account.stored).sum(), lost.sum())
    }
}

/// Runs a program on a host.
fn on_host<H: Host, T: 'static>(host: &H, program: impl Future<Output = T> + 'static) -> oneshot::Receiver<T> {
    let (sender, receiver) = oneshot::channel();
    host.spawn(async move {
        // The receiver is gone after the timeout.
        let _ = sender.send(program.await);
    });
    receiver
}

/// A log: in a new folder on a disk where the world's time is real, else in memory, where `epoch` tells it from others.
fn open_log<W: TestbedWorld>(
    epoch: u64,
    durability: Durability,
    folders: &mut Vec<TempDir>,
) -> Result<Arc<Log>, Failure> {
    if W::IS_EXACT {
        return Ok(Arc::new(Log::Memory(MemoryLog::new(epoch))));
    }
    let failure = |error: String| Failure::new(format!("a log on the disk: {error}"));
    let folder = tempfile::tempdir().map_err(|error| failure(error.to_string()))?;
    let settings = LogSettings {
        durability,
        ..LogSettings::default()
    };
    let log = Log::open(folder.path(), settings).map_err(|error| failure(error.to_string()))?;
    folders.push(folder);
    Ok(Arc::new(log))
}
