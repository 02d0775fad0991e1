//! Reads the settings of a load: its stations, what the clients ask for, and the server.

use crate::over_link::{check_world, host_setup};
use lastmile_link::radio::Position;
use lastmile_load::plan::{self, Demand};
use lastmile_load::rate::RequestRate;
use lastmile_load::request::Request;
use lastmile_load::schedule::Arrivals;
use lastmile_load::server_model::{ServerModel, ServiceTime};
use lastmile_load::session::Session;
use lastmile_study::delivery::Refusal;
use lastmile_study::settings::{ArrivalPattern, Nagle, Persistent, Phases, RateOf, Settings, group};
use lastmile_testbed::settings::World;
use lastmile_testbed::testbed::HostSetup;
use lastmile_units::{Metres, Seed, random};
use lastmile_world::topology::Topology;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// The settings that a load has.
const SETTINGS: &[&[&str]] = &[&["world"], group::PROGRAMS, group::TCP, group::LOAD, group::RADIO];

/// The names of the server and of the radio.
pub(super) const SERVER: &str = "server";
pub(super) const RADIO: &str = "radio";
/// The file that is asked for.
pub(super) const FILE: &str = "object";

/// One server and its clients: the 100 users of a classroom, and some more. Our own choice.
const CLIENTS_MAX: u32 = 1_000;

/// A load.
#[derive(Debug)]
pub(super) struct Plan {
    /// The server and the clients, on one radio.
    pub(super) topology: Topology,
    /// What each client asks for.
    pub(super) load: Arc<plan::Plan>,
    /// The time between two requests of a client, or between two pages.
    pub(super) interval: Duration,
    /// The requests of a page, where there are pages.
    pub(super) requests_per_page: Option<NonZeroU32>,
    /// The server where it is ours.
    pub(super) model: ServerModel,
    pub(super) settings: Settings,
    host: HostSetup,
}

impl Plan {
    pub(super) fn read(settings: &Settings) -> Result<Self, Refusal> {
        settings.check_keys(SETTINGS, "a load")?;
        check_world(settings)?;
        let clients = settings.clients();
        if clients.get() > CLIENTS_MAX {
            return Err(format!("{clients} clients are more than a radio is for; use at most {CLIENTS_MAX}").into());
        }
        let rate = settings
            .rate
            .ok_or("no rate is set; add rate = 10 to [fixed] or [factors]")?;
        let rate = match settings.rate_of() {
            RateOf::All => rate.per_second() / f64::from(clients.get()),
            RateOf::Each => rate.per_second(),
        };
        let each = RequestRate::new(rate).ok_or("the rate is too low to be shared by the clients; use a higher one")?;
        let body = settings.transfer_size;
        let body = body.ok_or("no transfer_size is set; add transfer_size = \"1 KiB\" to [fixed] or [factors]")?;
        let (server, service_time) = (settings.server(), settings.service_time().0);
        if !server.is_ours() && !service_time.is_zero() {
            return Err(format!("server {server} takes its own time; remove the service_time from this part").into());
        }
        check_generator(settings)?;
        let requests_per_page = settings.page_objects.map(|objects| objects.saturating_add(1));
        Ok(Self {
            topology: topology(settings, clients)?,
            load: Arc::new(load(settings, each, requests_per_page)),
            interval: Duration::from_secs_f64(1.0 / rate),
            requests_per_page,
            model: ServerModel {
                service_time: ServiceTime::Constant(service_time),
                body,
                keep_alive: settings.persistent() == Persistent::On,
                ..ServerModel::default()
            },
            // As Apache does.
            host: host_setup(settings, Nagle::Off),
            settings: settings.clone(),
        })
    }

    /// The names of the clients.
    pub(super) fn clients(&self) -> impl Iterator<Item = String> {
        (1..=self.settings.clients().get()).map(client)
    }

    /// How much later than the load a client begins.
    pub(super) fn start(&self, client: u64, seed: Seed) -> Duration {
        let phase = match self.settings.phases() {
            Phases::Random => {
                let nanos = random::up_to(&mut seed.derive("start phase").rng(), self.interval.as_nanos() as u64);
                Duration::from_nanos(nanos)
            }
            Phases::Equal => Duration::ZERO,
            Phases::Even => self
                .interval
                .mul_f64(client as f64 / f64::from(self.settings.clients().get())),
        };
        phase + self.settings.stagger().0 * client as u32
    }

    /// How long requests are sent: from the load's begin to the time at which the last client ends that has no phase.
    pub(super) fn sending_time(&self) -> Duration {
        self.load.duration + self.settings.stagger().0 * (self.settings.clients().get() - 1)
    }

    /// The requests of all clients.
    pub(super) fn requests(&self) -> f64 {
        f64::from(self.settings.clients().get())
            * self.requests_per_page.map_or(1.0, |requests| f64::from(requests.get()))
            * self.load.duration.as_secs_f64()
            / self.interval.as_secs_f64()
    }

    pub(super) fn host_setup(&self, seed: Seed) -> HostSetup {
        self.host.clone().seeded(seed)
    }
}

/// What each client asks for.
fn load(settings: &Settings, rate: RequestRate, requests_per_page: Option<NonZeroU32>) -> plan::Plan {
    let arrivals = match settings.arrivals() {
        ArrivalPattern::Constant => Arrivals::Constant(rate),
        ArrivalPattern::Poisson => Arrivals::Poisson(rate),
    };
    // A page takes as long as it takes: all of its requests count from its start.
    let session = Session {
        requests: requests_per_page.unwrap_or(NonZeroU32::MIN),
        ..Session::SINGLE
    };
    let is_persistent = settings.persistent() == Persistent::On;
    let timeout = settings.timeout().0;
    plan::Plan {
        keeps_times: true,
        connections_per_client: settings.connections.unwrap_or(plan::CONNECTIONS),
        requests_per_connection: (!is_persistent).then_some(NonZeroU32::MIN),
        timeout,
        connect_timeout: timeout,
        ..plan::Plan::new(
            Demand::Open { arrivals, session },
            settings.load_time().0,
            Request::get(SERVER, &format!("/{FILE}")),
        )
    }
}

/// A real generator asks at constant intervals, over a connection for each request, in the emulated world.
fn check_generator(settings: &Settings) -> Result<(), Refusal> {
    let generator = settings.generator();
    if generator.is_ours() {
        return Ok(());
    }
    if settings.world() != World::Emulated {
        return Err(
            format!("generator {generator} runs over real kernels only; set world = \"emu\" in this part").into(),
        );
    }
    let without = [
        ("arrivals", settings.arrivals() == ArrivalPattern::Poisson),
        ("persistent", settings.persistent() == Persistent::On),
        ("page_objects", settings.page_objects.is_some()),
        ("stagger", settings.stagger.is_some()),
        ("phases", settings.phases.is_some()),
    ];
    match without.iter().find(|(_, is_set)| *is_set) {
        Some((key, _)) => Err(format!("generator {generator} has no {key}; remove it from this part").into()),
        None => Ok(()),
    }
}

fn client(number: u32) -> String {
    format!("client-{number}")
}

/// The server at the centre, and the clients around it, of which the first may be nearer or farther than the others.
fn topology(settings: &Settings, clients: NonZeroU32) -> Result<Topology, Refusal> {
    let radio = settings.radio.as_ref();
    let mut radio = radio
        .ok_or("no radio is set; add radio = \"802.11b\" to [fixed] or [factors]")?
        .clone();
    if let Some(power) = settings.transmit_power {
        radio.transmit_power = power.0;
    }
    if let Some(distance) = settings.distance {
        radio.distance = distance;
    }
    if let Some(environment) = &settings.environment {
        let changed = environment.content().apply(&mut radio);
        changed.map_err(|error| Refusal::Settings(error.to_string()))?;
    }
    let names = || std::iter::once(SERVER.to_owned()).chain((1..=clients.get()).map(client));
    let mut positions = radio.default_positions(clients.get() as usize + 1);
    if let (Some(distance), Some(first)) = (settings.first_distance, positions.get_mut(1)) {
        *first = at_distance(*first, distance);
    }
    let stations = names().zip(positions);
    let built = Topology::builder()
        .hosts(names())
        .radio_at(RADIO, radio, stations)
        .build();
    built.map_err(|error| Refusal::Settings(error.to_string()))
}

/// The place in the same direction from the centre, at another distance.
fn at_distance(position: Position, distance: Metres) -> Position {
    let present = position.distance_to(Position::default()).get();
    if present == 0.0 {
        return Position {
            x: distance.get(),
            y: 0.0,
        };
    }
    let scale = distance.get() / present;
    Position {
        x: position.x * scale,
        y: position.y * scale,
    }
}
