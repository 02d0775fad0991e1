//! How long does a page take? One replay: a world with the link, a browser on one side of it and the page's servers on the other.
//!
//! Every server stands right behind the one link, which is the client's access: what lies between it and them is not modelled.

use super::browser::{Browser, Loaded};
use super::order::{Delivery, Order, orders};
use super::page::Page;
use super::site;
use super::{Options, ServerSpec};
use crate::cost::{CostTable, Operation};
use crate::http::tls::{ClientTls, ServerTls};
use crate::http::{Encryption, HttpError, serve};
use hyper::service::service_fn;
use lastmile_link::LinkSpec;
use lastmile_report::advise::Connections;
use lastmile_units::{BitRate, Bytes, Seed};
use lastmile_world::Halt;
use lastmile_world::Host;
use lastmile_world::sim::{CpuSpec, HostSpec, World};
use lastmile_world::tcp::{Config, Nagle};
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

/// What every replay of a page has in common.
pub(super) struct Scene<'a> {
    pub(super) page: &'a Page,
    pub(super) options: &'a Options,
    pub(super) costs: &'a CostTable,
}

/// What a replay showed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Replayed {
    /// Of each item: from its request sent to its last octet decoded.
    pub(super) transfer_times: Vec<Duration>,
    /// From the first request to the last response decoded.
    pub(super) page_time: Duration,
    /// What the link carried towards the client.
    pub(super) bytes_down: Bytes,
}

/// A page that did not load.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplayError {
    #[error(transparent)]
    Http(Rc<HttpError>),
    #[error(transparent)]
    Halt(#[from] Halt),
}

/// A page that has not loaded after this much virtual time never will: our own choice, a month.
const PATIENCE: Duration = Duration::from_secs(30 * 24 * 3600);

/// The port of every server.
const PORT: u16 = 443;

/// A warmed connection has fetched twice what the link holds in a round trip (so that its window is above that), within these bounds.
const WARMED_LEAST: u64 = 30_000;
const WARMED_MOST: u64 = 500_000;

/// Replays the page over `link`. All that is random comes from `seed`: equal seeds give pairs.
pub(super) fn replay(
    scene: &Scene<'_>,
    link: &LinkSpec,
    deliveries: &[Delivery],
    seed: Seed,
) -> Result<Replayed, ReplayError> {
    let tls = scene.options.tls;
    let orders = orders(scene.page, deliveries, scene.costs, tls, seed.derive("costs"));
    let handshakes = Handshakes::draw(scene.costs, seed.derive("handshakes"));
    run(
        scene.options,
        link,
        scene.page.hosts,
        orders.into(),
        handshakes,
        seed.derive("world"),
    )
}

/// What a TLS handshake costs each side, on a reference core.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Handshakes {
    accept: Duration,
    connect: Duration,
}

impl Handshakes {
    fn draw(costs: &CostTable, seed: Seed) -> Self {
        let draw = |name: &str, operation| costs.draw(&mut seed.derive(name).rng(), operation, Bytes::ZERO);
        Self {
            accept: draw("accept", Operation::AcceptTls),
            connect: draw("connect", Operation::ConnectTls),
        }
    }
}

/// Replays orders of so many hosts.
pub(super) fn run(
    options: &Options,
    link: &LinkSpec,
    hosts: usize,
    orders: Rc<[Order]>,
    handshakes: Handshakes,
    seed: Seed,
) -> Result<Replayed, ReplayError> {
    let world = World::new(seed);
    let client = world.host(HostSpec {
        cpu: client_cpu(options.slow_client),
        tcp: tcp(),
    });
    let servers: Vec<_> = (0..hosts)
        .map(|_| {
            world.host(HostSpec {
                cpu: options.server.cpu(),
                tcp: tcp(),
            })
        })
        .collect();
    let wire = world.link(&link.down, &link.up, &[&client], &servers.iter().collect::<Vec<_>>());
    let server_tls = options
        .tls
        .then(|| ServerTls::new(options.protocol).costing(handshakes.accept));
    for server in &servers {
        let (host, orders) = (Rc::new(server.clone()), Rc::clone(&orders));
        let service = service_fn(move |request| {
            let (host, orders) = (Rc::clone(&host), Rc::clone(&orders));
            async move { Ok::<_, Infallible>(site::answer(host, orders, request).await) }
        });
        let encryption = server_tls.clone().map_or(Encryption::None, Encryption::Tls);
        serve(server, PORT, options.protocol, encryption, service).expect("nothing else listens in a new world");
    }
    let addresses: Vec<_> = servers.iter().map(|server| server.address(PORT)).collect();
    let client_tls = options
        .tls
        .then(|| ClientTls::new(options.protocol).costing(handshakes.connect));
    let browser = Browser::new(client, options.protocol, client_tls, orders, &addresses);
    if options.connections == Connections::Warm {
        let (browser, size) = (browser.clone(), warming_size(link));
        world
            .run_for(PATIENCE, async move { browser.warm(size).await })?
            .map_err(ReplayError::Http)?;
    }
    let (started, carried) = (world.now(), world.link_counters(wire).0.bytes_delivered);
    let loaded = world
        .run_for(PATIENCE, async move { browser.load().await })?
        .map_err(ReplayError::Http)?;
    let mut transfer_times = vec![Duration::ZERO; loaded.len()];
    for Loaded { place, asked, decoded } in &loaded {
        transfer_times[*place] = *decoded - *asked;
    }
    let ended = loaded.iter().map(|loaded| loaded.decoded).max().unwrap_or(started);
    Ok(Replayed {
        transfer_times,
        page_time: ended - started,
        bytes_down: world.link_counters(wire).0.bytes_delivered - carried,
    })
}

fn client_cpu(slow_down: f64) -> CpuSpec {
    CpuSpec {
        slow_down,
        ..CpuSpec::default()
    }
}

impl ServerSpec {
    fn cpu(&self) -> CpuSpec {
        CpuSpec {
            cores: self.cores,
            slow_down: self.slow_down,
            background_load: self.load,
        }
    }
}

/// Browsers and servers of HTTP send short segments at once (`TCP_NODELAY`).
fn tcp() -> Config {
    Config {
        nagle: Nagle::Off,
        ..Config::default()
    }
}

fn warming_size(link: &LinkSpec) -> Bytes {
    let rate = link.down.rate_mean().map_or(u64::MAX, BitRate::bits_per_second);
    let held = u128::from(rate) * link.round_trip().as_nanos() / 8_000_000_000;
    Bytes::new(
        u64::try_from(2 * held)
            .unwrap_or(u64::MAX)
            .clamp(WARMED_LEAST, WARMED_MOST),
    )
}

#[cfg(test)]
mod tests;
