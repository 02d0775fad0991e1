//! Runs of the generator against one server.

use anyhow::Result;
use http::header::ACCEPT_ENCODING;
use http::{HeaderMap, HeaderValue, Method};
use lastmile_load::epoll::{Generator, GeneratorRun};
use lastmile_load::plan::{Demand, Plan};
use lastmile_load::rate::RequestRate;
use lastmile_load::request::Request;
use lastmile_load::schedule::Arrivals;
use lastmile_units::Seed;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// A request for the page that nginx compresses.
pub(crate) fn page_request(server: SocketAddr) -> Request {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    Request::new(Method::GET, &server.to_string(), "/page.html", &headers)
}

pub(crate) fn plan(arrivals: Arrivals, duration: Duration, server: SocketAddr) -> Plan {
    let request = Request::get(&server.to_string(), "/1k.html");
    Plan::new(Demand::open(arrivals), duration, request)
}

pub(crate) fn run(server: SocketAddr, plan: &Plan, threads: NonZeroU32, seed: Seed) -> io::Result<GeneratorRun> {
    Generator::new(server, threads, Arc::default()).run(plan, seed)
}

pub(crate) fn rate(per_second: f64) -> Result<RequestRate> {
    RequestRate::new(per_second).ok_or_else(|| anyhow::anyhow!("{per_second} is no rate"))
}
