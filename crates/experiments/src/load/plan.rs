//! Reads the settings of a load: its stations, what the clients ask for, and the server.

#[cfg(target_os = "linux")]
use crate::over_link::kernel;
use crate::over_link::{check_world, tcp_config};
use lastmile_lab::testbed::HostSetup;
use lastmile_load::http1::Request;
use lastmile_load::plan::{self, Demand};
use lastmile_load::rate::RequestRate;
use lastmile_load::schedule::Arrivals;
use lastmile_load::server_model::{ServerModel, ServiceTime};
use lastmile_study::delivery::Refusal;
use lastmile_study::settings::{Nagle, Persistent, ServerName, Settings};
use lastmile_tcp as tcp;
use lastmile_units::Seed;
use lastmile_world::topology::Topology;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// The settings that a load has.
const SETTINGS: [&str; 21] = [
    "world",
    "delivery",
    "server",
    "congestion_control",
    "syn_timeout",
    "initial_window",
    "nagle",
    "receive_window",
    "delayed_acknowledgement",
    "experiment",
    "rate",
    "clients",
    "persistent",
    "connections",
    "transfer_size",
    "load_time",
    "timeout",
    "service_time",
    "radio",
    "transmit_power",
    "distance",
];

/// The names of the server and of the radio.
pub(super) const SERVER: &str = "server";
pub(super) const RADIO: &str = "radio";
/// The file that is asked for.
pub(super) const FILE: &str = "object";

/// Our own choice: 300 requests at the lowest rate of most sweeps.
const LOAD_TIME: Duration = Duration::from_secs(30);
/// The timeout in the examples of httperf's manual page; without one, httperf waits for ever.
const TIMEOUT: Duration = Duration::from_secs(5);
/// One server and its clients: the 100 users of a classroom, and some more. Our own choice.
const CLIENTS_MAX: u32 = 1_000;

/// A load.
#[derive(Debug)]
pub(super) struct Plan {
    /// The server and the clients, on one radio.
    pub(super) topology: Topology,
    /// What each client asks for.
    pub(super) load: Arc<plan::Plan>,
    /// The time between two requests of a client.
    pub(super) interval: Duration,
    /// The server program.
    pub(super) server: ServerName,
    /// The server where it is ours.
    pub(super) model: ServerModel,
    clients: NonZeroU32,
    tcp: tcp::Config,
    #[cfg(target_os = "linux")]
    kernel: lastmile_world::emu::HostSpec,
}

impl Plan {
    pub(super) fn read(settings: &Settings) -> Result<Self, Refusal> {
        if let Some(key) = settings.levels().keys().find(|key| !SETTINGS.contains(&key.as_str())) {
            return Err(format!("{key} has no effect on a load; remove it from this part").into());
        }
        check_world(settings)?;
        let clients = settings.clients.unwrap_or(NonZeroU32::MIN);
        if clients.get() > CLIENTS_MAX {
            return Err(format!("{clients} clients are more than a radio is for; use at most {CLIENTS_MAX}").into());
        }
        let rate = settings
            .rate
            .ok_or("no rate is set; add rate = 10 to [fixed] or [factors]")?;
        let rate = rate.per_second() / f64::from(clients.get());
        let each = RequestRate::new(rate).ok_or("the rate is too low to be shared by the clients; use a higher one")?;
        let body = settings.transfer_size;
        let body = body.ok_or("no transfer_size is set; add transfer_size = \"1 KiB\" to [fixed] or [factors]")?;
        let server = settings.server.clone().unwrap_or_default();
        let service_time = settings.service_time.map_or(Duration::ZERO, |time| time.0);
        if !server.is_ours() && !service_time.is_zero() {
            return Err(format!("server {server} takes its own time; remove the service_time from this part").into());
        }
        let is_persistent = settings.persistent == Some(Persistent::On);
        let timeout = settings.timeout.map_or(TIMEOUT, |timeout| timeout.0);
        let load_time = settings.load_time.map_or(LOAD_TIME, |time| time.0);
        let load = plan::Plan {
            connections_per_client: settings.connections.unwrap_or(plan::CONNECTIONS),
            requests_per_connection: (!is_persistent).then_some(NonZeroU32::MIN),
            timeout,
            connect_timeout: timeout,
            ..plan::Plan::new(
                Demand::open(Arrivals::Constant(each)),
                load_time,
                Request::get(SERVER, &format!("/{FILE}")),
            )
        };
        // As Apache does.
        let nagle = settings.nagle.unwrap_or(Nagle::Off);
        Ok(Self {
            topology: topology(settings, clients)?,
            load: Arc::new(load),
            interval: Duration::from_secs_f64(1.0 / rate),
            server,
            model: ServerModel {
                service_time: ServiceTime::Constant(service_time),
                body,
                keep_alive: is_persistent,
                ..ServerModel::default()
            },
            clients,
            tcp: tcp_config(settings, nagle),
            #[cfg(target_os = "linux")]
            kernel: kernel(settings, nagle),
        })
    }

    /// The names of the clients.
    pub(super) fn clients(&self) -> impl Iterator<Item = String> {
        (1..=self.clients.get()).map(client)
    }

    /// The requests of all clients.
    pub(super) fn requests(&self) -> f64 {
        f64::from(self.clients.get()) * self.load.duration.as_secs_f64() / self.interval.as_secs_f64()
    }

    pub(super) fn host_setup(&self, seed: Seed) -> HostSetup {
        HostSetup {
            tcp: tcp::Config {
                seed: seed.derive("tcp"),
                ..self.tcp.clone()
            },
            #[cfg(target_os = "linux")]
            kernel: self.kernel.clone(),
            ..HostSetup::default()
        }
    }
}

fn client(number: u32) -> String {
    format!("client-{number}")
}

/// The server at the centre, and the clients around it.
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
    let names = || std::iter::once(SERVER.to_owned()).chain((1..=clients.get()).map(client));
    let built = Topology::builder().hosts(names()).radio(RADIO, radio, names()).build();
    built.map_err(|error| Refusal::Settings(error.to_string()))
}
