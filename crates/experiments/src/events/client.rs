//! The clients of a monitor: subscribers, to which events are pushed, and those that ask for them.

use super::application::instant;
use super::plan::Plan;
use bytes::Bytes as Octets;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HOST};
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use lastmile_codec::content::{Coding, Decoder};
use lastmile_lab::failure::Failure;
use lastmile_lab::http::{Connection, Version, connect};
use lastmile_units::{Bytes, Instant};
use lastmile_world::Host;
use serde::Deserialize;
use std::net::SocketAddrV4;
use std::ops::Range;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// What a subscriber received.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// The number of the client, from 0 on.
    pub(super) client: usize,
    /// The events that it stands for: one, or those that a loss event states as lost.
    pub(super) span: u64,
    pub(super) is_loss: bool,
    pub(super) created: Instant,
    pub(super) at: Instant,
    /// What noting the arrival took.
    pub(super) timing: Duration,
}

/// A line of an answer, as far as it matters here.
#[derive(Deserialize)]
struct Line<'a> {
    sequence: Option<u64>,
    #[serde(default = "one")]
    span: u64,
    #[serde(default)]
    subject: &'a str,
    #[serde(default)]
    time_ns: i64,
    end: Option<End>,
}

const fn one() -> u64 {
    1
}

#[derive(Deserialize)]
struct End {
    events: u64,
    complete: bool,
}

/// A client on its host.
pub(super) struct Client<H> {
    pub(super) host: H,
    pub(super) number: usize,
    monitor: SocketAddrV4,
    plan: Plan,
    connection: Option<Connection<Empty<Octets>>>,
}

impl<H: Host> Client<H> {
    pub(super) const fn new(host: H, number: usize, monitor: SocketAddrV4, plan: Plan) -> Self {
        Self {
            host,
            number,
            monitor,
            plan,
            connection: None,
        }
    }

    /// Begins a subscription to what comes.
    pub(super) async fn subscribe(&mut self) -> Result<Subscription, Failure> {
        let path = format!("/v1/subscribe?from=now&client=client-{}", self.number);
        let response = self.get(&path).await?;
        Subscription::of(response)
    }

    /// Asks for `events` events, and reads them; the time that it took, and how many there were.
    pub(super) async fn query(&mut self, events: u64) -> Result<(Range<Instant>, u64), Failure> {
        let begun = self.host.now();
        if !self.plan.persistent {
            self.connection = None;
        }
        let path = format!("/v1/events?limit={events}&client=client-{}", self.number);
        let response = self.get(&path).await?;
        let mut lines = Subscription::of(response)?;
        let mut received = 0;
        while let Some(text) = lines.next_lines().await? {
            let mut new = 0;
            for line in text.lines() {
                let line = parse(line)?;
                new += u64::from(line.sequence.is_some());
                if let Some(end) = line.end
                    && (!end.complete || end.events != received + new)
                {
                    return Err(Failure::new("the answer to a query is not whole"));
                }
            }
            self.host.compute(self.plan.client_cpu.saturating_mul(new as u32)).await;
            received += new;
        }
        Ok((begun..self.host.now(), received))
    }

    async fn get(&mut self, path: &str) -> Result<Response<Incoming>, Failure> {
        if self.connection.is_none() {
            let opened = connect(&self.host, self.monitor, Version::Http11, None).await;
            self.connection = Some(opened.map_err(failure)?);
        }
        let mut request = Request::get(path).header(HOST, self.monitor.to_string());
        if !self.plan.codec.is_identity() {
            request = request.header(ACCEPT_ENCODING, self.plan.codec.coding().token());
        }
        let request = request.body(Empty::new()).map_err(failure)?;
        let connection = self.connection.as_mut().expect("it was opened");
        let response = connection.send(request).await.map_err(failure)?;
        if !response.status().is_success() {
            return Err(Failure::new(format!(
                "the monitor refuses {path}: {}",
                response.status()
            )));
        }
        Ok(response)
    }

    /// Tells of every event that a subscription brings, for ever.
    pub(super) async fn receive(self, mut lines: Subscription, tell: UnboundedSender<Arrival>) -> Result<(), Failure> {
        while let Some(text) = lines.next_lines().await? {
            for line in text.lines() {
                let line = parse(line)?;
                if line.sequence.is_none() {
                    continue;
                }
                self.host.compute(self.plan.client_cpu).await;
                let at = self.host.now();
                let mut arrival = Arrival {
                    client: self.number,
                    span: line.span,
                    is_loss: line.subject == lastmile_events::loss::SUBJECT,
                    created: instant(line.time_ns),
                    at,
                    timing: Duration::ZERO,
                };
                arrival.timing = self.host.now().saturating_since(at);
                if tell.send(arrival).is_err() {
                    return Ok(());
                }
            }
        }
        Err(Failure::new("a subscription has ended"))
    }
}

/// An answer of lines, as they come.
pub(super) struct Subscription {
    body: Incoming,
    decoder: Decoder,
    rest: Vec<u8>,
}

impl Subscription {
    fn of(response: Response<Incoming>) -> Result<Self, Failure> {
        let coding = response.headers().get(CONTENT_ENCODING);
        let coding = match coding {
            None => Some(Coding::Identity),
            Some(coding) => coding.to_str().ok().and_then(Coding::from_token),
        };
        let coding = coding.ok_or_else(|| Failure::new("the answer has a coding that was not asked for"))?;
        Ok(Self {
            body: response.into_body(),
            decoder: Decoder::new(coding, Bytes::new(u64::MAX)),
            rest: Vec::new(),
        })
    }

    /// The next whole lines; none at the end.
    async fn next_lines(&mut self) -> Result<Option<String>, Failure> {
        loop {
            let whole = self.rest.iter().rposition(|byte| *byte == b'\n');
            if let Some(end) = whole {
                let rest = self.rest.split_off(end + 1);
                let lines = std::mem::replace(&mut self.rest, rest);
                return String::from_utf8(lines).map(Some).map_err(failure);
            }
            let Some(frame) = self.body.frame().await else {
                return Ok(None);
            };
            if let Ok(bytes) = frame.map_err(failure)?.into_data() {
                self.decoder.write(&bytes, &mut self.rest).map_err(failure)?;
            }
        }
    }
}

fn parse(line: &str) -> Result<Line<'_>, Failure> {
    serde_json::from_str(line).map_err(|error| Failure::new(format!("a line of the monitor: {error}: {line}")))
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("a client of the monitor: {error}"))
}
