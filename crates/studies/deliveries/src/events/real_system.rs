//! Another system that carries events, such as Java RMI, Ice, or a broker: its server, an application that submits, and a client.
//!
//! The three are programs of a peer, each on a host of its own. The server takes the place of our sensor and monitor. The clients read commands: a
//! line of their input is a run, after which they say what it was. So all runs are of one start, as in the published tests, and each
//! repeat has its own figures and doubts. All hosts have the clock of one machine, by which an event's time of creation and of arrival are compared.

use super::plan::{self, MONITOR, Plan};
use super::{limit, link_bytes, observe_links};
use lastmile_study::figure;
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::settings::{EventTest, ServerName};
use lastmile_testbed::failure::Failure;
use lastmile_testbed::peer::{Conversation, Inputs, PeerError, PeerSpec, Server};
use lastmile_testbed::testbed::{Testbed, TestbedWorld};
use lastmile_world::Host as _;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::time::Duration;
use tempfile::TempDir;

/// The port of peers: ports below 1024 need a privilege.
const PORT: u16 = 8080;
/// How long a client may take to start and to connect: a Java program on a busy machine takes a few seconds. Our own choice.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A system that runs in a world.
pub(super) struct RealSystem {
    // Declared first, so that the programs are stopped before their folders are removed.
    programs: Option<Programs>,
    _server: Server,
    _folders: TempDir,
    plan: Plan,
    limit: Duration,
}

/// The programs that are told to run.
struct Programs {
    application: Conversation,
    /// The client that subscribes, or asks.
    client: Option<Conversation>,
}

/// What an application did in a run.
#[derive(Debug, Clone, Copy, Deserialize)]
struct SubmissionFigures {
    events: u64,
    create_ns: f64,
    send_ns: f64,
    span_ns: f64,
}

/// What a subscriber received in a run.
#[derive(Debug, Clone, Deserialize)]
struct ReceiverFigures {
    created_ns: Vec<i64>,
    arrived_ns: Vec<i64>,
    timing_ns: f64,
}

/// What a client that asked got in a run.
#[derive(Debug, Clone, Copy, Deserialize)]
struct QueryFigures {
    events: u64,
    span_ns: f64,
}

impl RealSystem {
    /// Starts the server, the application, and the client where the test has one. Where it asks, events are stored.
    pub(super) fn start<W: TestbedWorld>(
        testbed: &Testbed<W>,
        plan: &Plan,
        system: &ServerName,
    ) -> Result<Self, Failure> {
        let folders = TempDir::with_prefix("lastmile-").map_err(Failure::from_error)?;
        let peer = PeerSpec::named(system.as_str()).map_err(Failure::from_error)?;
        let monitor = testbed.host(MONITOR);
        let address = monitor.address(PORT);
        let inputs = |program: &str, operation: &str| -> Result<Inputs, Failure> {
            let state = folders.path().join(program);
            fs::create_dir(&state).map_err(Failure::from_error)?;
            let mut inputs = Inputs::new(operation, folders.path(), state);
            (inputs.host, inputs.port) = (*address.ip(), PORT);
            Ok(inputs.with("durability", &plan.settings.durability()))
        };
        let of_client = |program: &str, operation: &str| -> Result<Inputs, Failure> {
            Ok(inputs(program, operation)?
                .with("events", &plan.steps.count)
                .with("text_bytes", &plan.steps.text)
                .with("interval_us", &plan.steps.interval.as_micros())
                .with("persistent", &plan.settings.persistent()))
        };
        let of_server = inputs("server", "events")?;
        let server = testbed
            .world
            .in_namespace_of(monitor, || peer.start(&of_server, &|_command| Ok(())))?
            .map_err(Failure::from_error)?;
        let begin = |host: &W::Host, inputs: &Inputs| -> Result<Conversation, Failure> {
            // The program ends with the thread that starts it: this one.
            let begun = testbed
                .world
                .in_namespace_of(host, || peer.converse(inputs, &|_command| Ok(())))?;
            let mut begun = begun.map_err(Failure::from_error)?;
            testbed
                .world
                .run_in_namespace_of(host, START_LIMIT * 2, move || {
                    begun.await_event("ready", START_LIMIT).map(|_| begun)
                })?
                .map_err(Failure::from_error)
        };
        let application = begin(
            testbed.host(&plan::applications(1)),
            &of_client("application", "submit")?,
        )?;
        let operation = match plan.test {
            EventTest::Query => Some("query"),
            EventTest::Subscription => Some("subscribe"),
            EventTest::Sustained | EventTest::Delayed => None,
        };
        let client = match operation {
            Some(operation) => Some(begin(testbed.host(&plan::client(1)), &of_client("client", operation)?)?),
            None => None,
        };
        let mut system = Self {
            programs: Some(Programs { application, client }),
            _server: server,
            _folders: folders,
            plan: plan.clone(),
            limit: limit::<W>(plan),
        };
        if plan.test == EventTest::Query {
            system.run_programs::<W, SubmissionFigures>(testbed, Programs::submit)?;
        }
        Ok(system)
    }

    /// Runs one repeat.
    pub(super) fn repeat<W: TestbedWorld>(&mut self, testbed: &Testbed<W>) -> Outcome {
        let before = link_bytes(testbed, &self.plan);
        let begun = testbed.host(MONITOR).now();
        let mut observation = Observation::default();
        let lost = match self.plan.test {
            EventTest::Query => {
                let answered: QueryFigures = self.run_programs(testbed, Programs::query)?;
                observation.sample(figure::QUERY_TIME, seconds(answered.span_ns));
                u64::from(self.plan.steps.count).saturating_sub(answered.events)
            }
            EventTest::Subscription => {
                let (submitted, received): (SubmissionFigures, ReceiverFigures) =
                    self.run_programs(testbed, Programs::deliver)?;
                submitted.observe(&mut observation);
                received.observe(&mut observation);
                submitted.events.saturating_sub(received.arrived_ns.len() as u64)
            }
            EventTest::Sustained | EventTest::Delayed => {
                let submitted: SubmissionFigures = self.run_programs(testbed, Programs::submit)?;
                submitted.observe(&mut observation);
                0
            }
        };
        // Other systems state no losses.
        observation.sample(figure::EVENTS_LOST, lost as f64);
        observation.sample(figure::LOSSES_UNEXPLAINED, lost as f64);
        observe_links(testbed, &self.plan, before, &mut observation);
        // The programs told of no instants: waits for a CPU are judged by all of the run.
        let run = begun..testbed.host(MONITOR).now();
        for figure in [figure::SEND_TIME, figure::SUBSCRIPTION_TIME, figure::QUERY_TIME] {
            if observation.figures.contains_key(figure.name) {
                observation.times.insert(figure.name.to_owned(), vec![run.clone()]);
            }
        }
        Ok(observation)
    }

    /// Sends the programs a command, runs the world until they answer, and parses the answer.
    fn run_programs<W: TestbedWorld, T: serde::de::DeserializeOwned>(
        &mut self,
        testbed: &Testbed<W>,
        act: fn(&mut Programs, Duration) -> Result<Value, PeerError>,
    ) -> Result<T, Failure> {
        let mut programs = self
            .programs
            .take()
            .ok_or_else(|| Failure::new("an earlier repeat failed"))?;
        let limit = self.limit;
        let acting = testbed
            .world
            .run_in_namespace_of(testbed.host(MONITOR), limit * 4, move || {
                let answer = act(&mut programs, limit);
                (programs, answer)
            });
        let (programs, answer) = acting?;
        let answer = answer.map_err(Failure::from_error)?;
        self.programs = Some(programs);
        serde_json::from_value(answer).map_err(|error| Failure::new(format!("a program told of its run: {error}")))
    }
}

/// What the programs do in a run, each within a time.
impl Programs {
    fn submit(&mut self, limit: Duration) -> Result<Value, PeerError> {
        self.application.tell("run")?;
        self.application.await_event("run", limit)
    }

    fn query(&mut self, limit: Duration) -> Result<Value, PeerError> {
        let client = self.client.as_mut().expect("the test has a client");
        client.tell("run")?;
        client.await_event("run", limit)
    }

    fn deliver(&mut self, limit: Duration) -> Result<Value, PeerError> {
        let client = self.client.as_mut().expect("the test has a client");
        client.tell("run")?;
        client.await_event("receiving", limit)?;
        self.application.tell("run")?;
        let submitted = self.application.await_event("run", limit)?;
        let received = client.await_event("run", limit)?;
        Ok(Value::Array(vec![submitted, received]))
    }
}

impl SubmissionFigures {
    fn observe(self, observation: &mut Observation) {
        observation.sample(figure::CREATE_TIME, seconds(self.create_ns));
        observation.sample(figure::SEND_TIME, seconds(self.send_ns));
        observation.sample(figure::SUBMISSION_TIME, seconds(self.create_ns + self.send_ns));
        observation.sample(figure::APPLICATION_TIME, seconds(self.span_ns));
        if self.span_ns > 0.0 {
            observation.sample(figure::EVENT_RATE, self.events as f64 / seconds(self.span_ns));
        }
    }
}

impl ReceiverFigures {
    fn observe(&self, observation: &mut Observation) {
        for (created, arrived) in self.created_ns.iter().zip(&self.arrived_ns) {
            observation.sample(figure::DELIVERY_TIME, seconds((arrived - created) as f64));
        }
        if let (Some(first), Some(last)) = (self.arrived_ns.first(), self.arrived_ns.last()) {
            observation.sample(figure::SUBSCRIPTION_TIME, seconds((last - first) as f64));
            observation.sample(figure::TIMING_TIME, seconds(self.timing_ns));
        }
    }
}

fn seconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1e9
}
