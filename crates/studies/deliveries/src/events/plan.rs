//! Reads the settings of event monitoring: its hosts, what applications do, and what clients ask for.

use crate::over_link::{check_world, host_setup};
use lastmile_codec::content::{CodecSpec, Coding};
use lastmile_events::uplink;
use lastmile_link::{DirectionSpec, LinkSpec};
use lastmile_study::delivery::Refusal;
use lastmile_study::settings::{
    Call, Durability, EventChannel, EventTest, FullBuffer, Link, Nagle, ServerName, Settings, group,
};
use lastmile_testbed::settings::{Hosts, World};
use lastmile_testbed::testbed::HostSetup;
use lastmile_units::{Probability, Seed};
use lastmile_world::topology::{HostName, Topology};
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

/// The settings that event monitoring has.
const SETTINGS: &[&[&str]] = &[
    group::TCP,
    group::EVENTS,
    group::CODING,
    &[
        "world",
        "link",
        "delivery",
        "server",
        "experiment",
        "clients",
        "persistent",
    ],
    &["hosts", "cpu_slowdown", "background_load"],
    &["message_interval", "call", "batch", "batch_time"],
];

/// The name of the monitor's host. Sensors, the hosts of their applications, and clients are numbered from 1.
pub(super) const MONITOR: &str = "monitor";

/// The linger of an emitter of ours.
const LINGER: Duration = Duration::from_millis(5);

/// The bytes of an emitter's chunk, after which it is sent.
pub(super) const CHUNK_BYTES: usize = 64 << 10;

/// The most clients, sensors, and applications of a sensor: the 100 that were planned. Our own choice.
const COUNT_MAX: u32 = 100;

/// Applications, sensors, a monitor and clients, and what they do.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// What it was read from. Their server, where it is not ours, takes the place of our sensor, monitor and clients.
    pub(super) settings: Settings,
    pub(super) test: EventTest,
    channel: EventChannel,
    pub(super) steps: Steps,
    pub(super) submission: Submission,
    pub(super) sensors: u32,
    pub(super) applications: u32,
    pub(super) clients: u32,
    /// How answers, and what sensors post, are compressed.
    pub(super) codec: CodecSpec,
    pub(super) durability: uplink::Durability,
    host: HostSetup,
}

/// What an application does in a repeat.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    pub(super) count: u32,
    /// From one step being due to the next.
    pub(super) interval: Duration,
    /// The pause after each step but every fourth, as in the published test.
    pub(super) pause: Duration,
    /// The probability that a step submits an event.
    pub(super) event_ratio: Probability,
    /// The CPU time of a step that does not.
    pub(super) work: Duration,
    /// The bytes of an event's text.
    pub(super) text: usize,
}

/// How events get to the sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Submission {
    /// Each event waits for the acknowledgement of the one before.
    OneByOne,
    /// Events are gathered, and the application goes on.
    Gathered(Gathering),
}

/// How events are gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gathering {
    /// The most events of a chunk.
    pub(super) batch: usize,
    /// How long an event waits for others.
    pub(super) linger: Duration,
    /// The events that are kept while the sensor has not acknowledged them.
    pub(super) buffer: usize,
    pub(super) drops: bool,
}

impl Gathering {
    /// As the settings say, and by default as an emitter of ours does.
    pub(super) fn read(settings: &Settings) -> Self {
        let number = |number: NonZeroU32| NonZeroUsize::try_from(number).unwrap_or(NonZeroUsize::MAX);
        Self {
            batch: settings.batch.map_or(NonZeroUsize::MAX, number).get(),
            linger: settings.batch_time.map_or(LINGER, |time| time.0),
            buffer: number(settings.event_buffer()).get(),
            drops: settings.full_buffer() == FullBuffer::Drop,
        }
    }
}

impl Plan {
    pub(super) fn read(settings: &Settings) -> Result<Self, Refusal> {
        settings.check_keys(SETTINGS, "events")?;
        check_world(settings)?;
        if settings.world() == World::Emulated {
            check_emulated(settings)?;
        }
        let test = settings
            .test
            .ok_or("no test is set; add test = \"sustained\" to [fixed] or [factors]")?;
        let steps = Steps::read(settings, test)?;
        let has_clients = matches!(test, EventTest::Subscription | EventTest::Query);
        if !has_clients && settings.clients().get() > 1 {
            return Err(format!("test {test} has no clients; remove clients from this part").into());
        }
        if let Some(server) = settings.real_server() {
            check_real(server, test, settings)?;
        }
        let count = |key: &str, number: NonZeroU32| match number.get() {
            number if number <= COUNT_MAX => Ok(number),
            number => Err(format!("{number} {key} are too many; use at most {COUNT_MAX}")),
        };
        Ok(Self {
            test,
            channel: settings.channel.unwrap_or(match test {
                EventTest::Sustained | EventTest::Delayed => EventChannel::ApplicationSensor,
                EventTest::Subscription => EventChannel::SensorClient,
                EventTest::Query => EventChannel::ClientMonitor,
            }),
            steps,
            submission: submission(settings)?,
            sensors: count("sensors", settings.sensors())?,
            applications: count("applications", settings.applications())?,
            clients: if has_clients {
                count("clients", settings.clients())?
            } else {
                0
            },
            codec: codec(settings)?,
            durability: match settings.durability() {
                Durability::Memory => uplink::Durability::Memory,
                Durability::Process => uplink::Durability::Process,
                Durability::Power => uplink::Durability::Power,
            },
            host: host_setup(settings, Nagle::Off),
            settings: settings.clone(),
        })
    }

    /// The hosts in a line: applications, their sensor, the monitor, clients. Each has a wire of its own to the next; those of the channel have
    /// the link. Another system is on the monitor's host, and has no sensor between.
    pub(super) fn topology(&self) -> Result<Topology, Refusal> {
        let link = |is_here: bool| self.link().filter(|_| is_here).cloned().unwrap_or_else(ideal);
        let near = self.channel == EventChannel::ApplicationSensor;
        let mut builder = Topology::builder().host(MONITOR);
        if self.settings.real_server().is_some() {
            let applications = applications(1);
            builder = builder.host(&applications);
            builder = builder.wire(format!("of-{applications}"), link(near), [&applications], [MONITOR]);
        } else {
            for number in 1..=self.sensors {
                let (sensor, applications) = (sensor(number), applications(number));
                builder = builder.host(&sensor).host(&applications);
                builder = builder.wire(format!("of-{applications}"), link(near), [&applications], [&sensor]);
                let far = self.channel == EventChannel::SensorMonitor;
                builder = builder.wire(format!("of-{sensor}"), link(far), [&sensor], [MONITOR]);
            }
        }
        for number in 1..=self.clients {
            let client = client(number);
            let here = matches!(self.channel, EventChannel::SensorClient | EventChannel::ClientMonitor);
            builder = builder.host(&client);
            builder = builder.wire(format!("of-{client}"), link(here), [&client], [MONITOR]);
        }
        let built = builder.allow_unreachable().build();
        built.map_err(|error| Refusal::Settings(error.to_string()))
    }

    /// The names of the wires that have the link.
    pub(super) fn links(&self) -> Vec<String> {
        let (host, count): (fn(u32) -> String, u32) = match self.channel {
            EventChannel::ApplicationSensor => (applications, self.sensors),
            EventChannel::SensorMonitor => (sensor, self.sensors),
            EventChannel::SensorClient | EventChannel::ClientMonitor => (client, self.clients),
        };
        (1..=count).map(|number| format!("of-{}", host(number))).collect()
    }

    pub(super) fn host_setup(&self, name: &HostName, seed: Seed) -> HostSetup {
        let shares_cpu = self.settings.hosts() == Hosts::One && name.as_str() != MONITOR;
        HostSetup {
            cpu_of: shares_cpu.then(|| HostName::new(MONITOR).expect("it is a name")),
            ..self.host.clone().seeded(seed)
        }
    }

    /// Whether applications also run without events, for comparison.
    pub(super) fn has_control_run(&self) -> bool {
        self.test == EventTest::Delayed || !self.steps.work.is_zero()
    }

    /// The steps of all applications.
    pub(super) fn all_steps(&self) -> u64 {
        u64::from(self.steps.count) * u64::from(self.sensors) * u64::from(self.applications)
    }

    /// How long the steps of an application take at least.
    pub(super) fn least_time(&self) -> Duration {
        let Steps {
            count, interval, pause, ..
        } = self.steps;
        let once = interval.saturating_mul(count) + pause.saturating_mul(count - count / GROUP);
        once * if self.has_control_run() { 2 } else { 1 }
    }

    pub(super) fn link(&self) -> Option<&LinkSpec> {
        self.settings.link.as_ref().map(|Link(link)| link)
    }
}

impl Steps {
    fn read(settings: &Settings, test: EventTest) -> Result<Self, Refusal> {
        let interval = settings.interval("events")?;
        let is_delayed = test == EventTest::Delayed;
        if is_delayed && interval.is_zero() {
            return Err("delayed submission has no pauses; add message_interval = \"500 ms\"".into());
        }
        Ok(Self {
            count: settings.events().get(),
            interval: if is_delayed { Duration::ZERO } else { interval },
            pause: if is_delayed { interval } else { Duration::ZERO },
            event_ratio: settings.event_ratio(),
            work: settings.work_time().0,
            text: settings.event_size().get() as usize,
        })
    }
}

/// The link of a wire that takes no time.
pub(super) fn ideal() -> LinkSpec {
    LinkSpec::new("ideal", DirectionSpec::IDEAL, DirectionSpec::IDEAL).expect("it is a name")
}

/// The events of a group of delayed submission, as published.
pub(super) const GROUP: u32 = 4;

/// The name of a sensor's host.
pub(super) fn sensor(number: u32) -> String {
    format!("sensor-{number}")
}

/// The name of the host of a sensor's applications.
pub(super) fn applications(number: u32) -> String {
    format!("applications-{number}")
}

/// The name of a client's host.
pub(super) fn client(number: u32) -> String {
    format!("client-{number}")
}

/// Checks that no time is stated of what takes its own time where programs and disks are real.
fn check_emulated(settings: &Settings) -> Result<(), Refusal> {
    let only_simulated = [
        ("write_time", settings.write_time()),
        ("sync_time", settings.sync_time()),
        ("create_cpu_time", settings.create_cpu_time()),
        ("sensor_cpu_time", settings.sensor_cpu_time()),
        ("monitor_cpu_time", settings.monitor_cpu_time()),
        ("event_cpu_time", settings.event_cpu_time()),
        ("client_cpu_time", settings.client_cpu_time()),
    ];
    match only_simulated.iter().find(|(_, time)| !time.0.is_zero()) {
        None => Ok(()),
        Some((key, _)) => Err(format!(
            "{key} is possible only in the simulated world: real programs compute, and write to a real disk; set it to \"0 s\", or set world = \"sim\" for this part"
        )
        .into()),
    }
}

/// Checks that nothing is asked of another system that only ours has.
fn check_real(server: &ServerName, test: EventTest, settings: &Settings) -> Result<(), Refusal> {
    if settings.world() != World::Emulated {
        return Err(
            format!("server {server} runs only in the emulated world: set world = \"emu\" for this part").into(),
        );
    }
    if test == EventTest::Delayed {
        return Err(format!("server {server} has no test {test}; use sustained, subscription or query").into());
    }
    let several = |number: NonZeroU32| number.get() > 1;
    let only_ours = [
        (
            "codec",
            settings
                .codec
                .is_some_and(|codec| codec.content().is_ok_and(|codec| !codec.is_identity())),
        ),
        ("call", settings.call() != Call::TwoWay),
        ("sensors", several(settings.sensors())),
        ("applications", several(settings.applications())),
        ("clients", several(settings.clients())),
        ("event_ratio", settings.event_ratio() != Probability::ALWAYS),
        ("work_time", !settings.work_time().0.is_zero()),
        ("channel", settings.channel == Some(EventChannel::SensorMonitor)),
    ];
    match only_ours.iter().find(|(_, is_set)| *is_set) {
        None => Ok(()),
        Some((key, _)) => {
            Err(format!("server {server} has one application, one client, and no such {key}; leave {key} out").into())
        }
    }
}

fn submission(settings: &Settings) -> Result<Submission, Refusal> {
    match settings.call() {
        Call::TwoWay => match settings.first_set(&["batch", "batch_time", "event_buffer", "full_buffer"]) {
            Some(key) => Err(format!(
                "{key} has no effect where each event waits; add call = \"pipelined\", or remove it"
            )
            .into()),
            None => Ok(Submission::OneByOne),
        },
        Call::Pipelined => Ok(Submission::Gathered(Gathering::read(settings))),
        Call::OneWay => Err("every event is acknowledged; use call = \"two-way\" or \"pipelined\"".into()),
    }
}

/// The content codings that a monitor has.
fn codec(settings: &Settings) -> Result<CodecSpec, Refusal> {
    let Some(codec) = settings.codec else {
        return Ok(CodecSpec::IDENTITY);
    };
    let codec = codec.content()?;
    if codec.is_identity() || matches!(codec.to_string().as_str(), "zstd:1" | "gzip:1") {
        return Ok(codec);
    }
    let coding: Coding = codec.coding();
    Err(format!("a monitor does not compress by {coding} at this level; use identity, gzip:1 or zstd:1").into())
}
