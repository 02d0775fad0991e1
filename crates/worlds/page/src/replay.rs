//! One replay of a page: a world with the link, a browser on one side of it and the page's servers on the other.
//!
//! Every server is directly behind the one link, the client's access link: the network between link and servers is not modelled.

use crate::browser::{Browser, Server};
use crate::load_options::{LoadOptions, ServerSpec};
use crate::origin_server;
use crate::page::Page;
use crate::page_host::ServedHost;
use crate::request_timing::RequestTiming;
use crate::scripted_response::{EncodedResponse, PageScript, scripted_responses};
use hyper::service::service_fn;
use lastmile_link::LinkSpec;
use lastmile_report::connections::Connections;
use lastmile_tcp::{Config, Nagle};
use lastmile_testbed::cpu_cost_model::{CostTable, Operation};
use lastmile_testbed::failure::Failure;
use lastmile_testbed::http::tls::{ClientTls, ServerTls};
use lastmile_testbed::http::{Encryption, HttpError, Version, serve};
use lastmile_testbed::testbed::{HostSetup, Testbed};
use lastmile_units::{BitRate, ByteCount, Seed};
use lastmile_world::Halt;
use lastmile_world::Host;
use lastmile_world::World as _;
use lastmile_world::sim::{CpuSpec, World};
use lastmile_world::topology::Topology;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

/// The context that all replays of a page share.
pub struct ReplayContext<'a> {
    /// The page.
    pub page: &'a Page,
    /// How it is loaded.
    pub options: &'a LoadOptions,
    /// The CPU times of a reference core.
    pub costs: &'a CostTable,
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct PageLoad {
    /// The times of each item.
    pub requests: Vec<RequestTiming>,
    /// From the first request to the last response decompressed.
    pub page_time: Duration,
    /// The bytes that the link carried towards the client.
    pub bytes_down: ByteCount,
}

/// A page that did not load.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A connection or an exchange failed.
    #[error(transparent)]
    Http(Rc<HttpError>),
    /// The world stopped, or ran out of time.
    #[error(transparent)]
    Halt(#[from] Halt),
    /// The testbed could not be made.
    #[error(transparent)]
    Testbed(#[from] Failure),
}

/// The timeout of a page in virtual time: our own choice, a month.
const TIMEOUT: Duration = Duration::from_secs(30 * 24 * 3600);

/// The port of every server.
const PORT: u16 = 443;

/// A warm connection has fetched twice the bandwidth-delay product (so that its window exceeds it), within these bounds.
const WARM_BYTES_MIN: u64 = 30_000;
const WARM_BYTES_MAX: u64 = 500_000;

/// Replays the page over `link`. All randomness comes from `seed`: equal seeds give pairs.
pub fn replay(
    scene: &ReplayContext<'_>,
    link: &LinkSpec,
    deliveries: &[EncodedResponse],
    seed: Seed,
) -> Result<PageLoad, ReplayError> {
    let script = scripted_responses(scene.page, deliveries, scene.costs, scene.options, seed.derive("costs"));
    let handshakes = HandshakeCost::draw(scene.costs, seed.derive("handshakes"));
    run(
        scene.options,
        link,
        &scene.page.served_hosts(scene.options),
        script,
        handshakes,
        seed.derive("world"),
    )
}

/// The CPU time of a TLS handshake on each side, on a reference core.
#[derive(Debug, Clone, Copy, Default)]
pub struct HandshakeCost {
    accept: Duration,
    connect: Duration,
}

impl HandshakeCost {
    fn draw(costs: &CostTable, seed: Seed) -> Self {
        let draw = |name: &str, operation| costs.draw(&mut seed.derive(name).rng(), operation, ByteCount::ZERO);
        Self {
            accept: draw("accept", Operation::AcceptTls),
            connect: draw("connect", Operation::ConnectTls),
        }
    }
}

/// Replays the responses of `hosts`.
pub fn run(
    options: &LoadOptions,
    link: &LinkSpec,
    hosts: &[ServedHost],
    script: PageScript,
    handshakes: HandshakeCost,
    seed: Seed,
) -> Result<PageLoad, ReplayError> {
    let script = Rc::new(script);
    let testbed = testbed(options, link, hosts.len(), seed)?;
    let world = &testbed.world;
    let client = testbed.host(CLIENT).clone();
    let wire = testbed.link(ACCESS);
    let tls = [Version::Http11, Version::H2].map(|version| {
        let is_encrypted = true;
        hosts.contains(&ServedHost { version, is_encrypted }).then(|| {
            let server = ServerTls::new(version).costing(handshakes.accept);
            (server, ClientTls::new(version).costing(handshakes.connect))
        })
    });
    let mut servers = Vec::new();
    for (number, ServedHost { version, is_encrypted }) in hosts.iter().copied().enumerate() {
        let server = testbed.host(&server_name(number));
        let of_version = &tls[usize::from(version == Version::H2)];
        let (server_tls, client_tls) = of_version.clone().filter(|_| is_encrypted).unzip();
        let (host, script) = (Rc::new(server.clone()), Rc::clone(&script));
        let service = service_fn(move |request| {
            let (host, script) = (Rc::clone(&host), Rc::clone(&script));
            async move { Ok::<_, Infallible>(origin_server::answer(host, script, request).await) }
        });
        let encryption = server_tls.map_or(Encryption::None, Encryption::Tls);
        serve(server, PORT, version, encryption, service).expect("nothing else listens in a new world");
        servers.push(Server {
            address: server.address(PORT),
            version,
            tls: client_tls,
        });
    }
    let browser = Browser::new(client, script, servers);
    if options.connections == Connections::Warm {
        let (browser, size) = (browser.clone(), warming_size(link));
        world
            .run_for(TIMEOUT, async move { browser.warm(size).await })?
            .map_err(ReplayError::Http)?;
    }
    let carried = world.link_counters(wire).0.bytes_delivered;
    let requests = world
        .run_for(TIMEOUT, async move { browser.load().await })?
        .map_err(ReplayError::Http)?;
    let page_time = requests.iter().map(|request| request.decoded).max();
    Ok(PageLoad {
        requests,
        page_time: page_time.unwrap_or_default(),
        bytes_down: world.link_counters(wire).0.bytes_delivered - carried,
    })
}

/// A client, and `hosts` servers at the far end of its access.
pub(crate) fn topology(link: &LinkSpec, hosts: usize) -> Result<Topology, Failure> {
    let servers: Vec<String> = (0..hosts).map(server_name).collect();
    Topology::builder()
        .host(CLIENT)
        .hosts(servers.iter().map(String::as_str))
        .wire(ACCESS, link.clone(), [CLIENT], servers.iter().map(String::as_str))
        .build()
        .map_err(|error| Failure::new(error.to_string()))
}

/// A testbed of that topology.
fn testbed(options: &LoadOptions, link: &LinkSpec, hosts: usize, seed: Seed) -> Result<Testbed<World>, Failure> {
    Testbed::build(&topology(link, hosts)?, seed, |name| HostSetup {
        tcp: tcp(),
        cpu: match name.as_str() {
            CLIENT => client_cpu(options.slow_client),
            _ => server_cpu(&options.server),
        },
        ..HostSetup::default()
    })
}

/// The names of the client and of its link.
pub(crate) const CLIENT: &str = "client";
const ACCESS: &str = "access";

/// The name of a server.
pub(crate) fn server_name(host: usize) -> String {
    format!("server-{}", host + 1)
}

fn client_cpu(slow_down: f64) -> CpuSpec {
    CpuSpec {
        slow_down,
        ..CpuSpec::default()
    }
}

const fn server_cpu(server: &ServerSpec) -> CpuSpec {
    CpuSpec {
        cores: server.cores,
        slow_down: server.slow_down,
        background_load: server.load,
    }
}

/// HTTP browsers and servers send short segments at once (`TCP_NODELAY`).
fn tcp() -> Config {
    Config {
        nagle: Nagle::Off,
        ..Config::default()
    }
}

fn warming_size(link: &LinkSpec) -> ByteCount {
    let rate = link.down.rate_mean().map_or(u64::MAX, BitRate::bits_per_second);
    let held = u128::from(rate) * link.round_trip().as_nanos() / 8_000_000_000;
    ByteCount::new(
        u64::try_from(2 * held)
            .unwrap_or(u64::MAX)
            .clamp(WARM_BYTES_MIN, WARM_BYTES_MAX),
    )
}

#[cfg(test)]
mod tests;
