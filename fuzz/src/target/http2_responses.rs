//! The fuzz target of the load generator's client over HTTP/2: what a server, or something else behind its port, may send.
//!
//! The crate `h2` reads the frames. What its events mean for requests, retries and connections is the client's own.

use super::portions;
use lastmile_load::client::{Action, Client, ConnectionId, Share};
use lastmile_load::error_cause::ErrorCause;
use lastmile_load::plan::{Demand, HttpVersion, Plan};
use lastmile_load::rate::RequestRate;
use lastmile_load::request::Request;
use lastmile_load::schedule::Arrivals;
use lastmile_units::{Instant, Seed};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// Four requests over connections with three streams each.
const REQUESTS: u64 = 4;
const STREAMS: NonZeroU32 = NonZeroU32::new(3).expect("it is above 0");

/// A client, and the connections that are open: one that the server leaves may still be while the next one is opened.
struct Run {
    client: Client,
    open: Vec<ConnectionId>,
    opened: u64,
    now: Instant,
}

/// Answers four requests with `input`, in portions, over the connection that was opened last, and closes them all at its end. Every request
/// ends, as completed or as failed; no body is longer than what was received; requests are sent again once at most.
pub fn http2_responses(input: &[u8]) {
    let mut run = Run::begin();
    for portion in portions::of(input) {
        let Some(id) = run.open.last().copied() else { break };
        run.client.on_received(id, portion, run.now);
        run.act();
    }
    while let Some(id) = run.open.pop() {
        run.client.on_end(id, run.now);
        run.act();
    }
    assert!(run.client.is_done(), "nothing is left to wait for");
    let measured = run.client.measurement();
    assert_eq!(measured.intended, REQUESTS);
    assert_eq!(measured.completed + measured.failed(), REQUESTS, "every request ends");
    assert!(measured.retries <= REQUESTS && run.opened <= 2 * REQUESTS);
    assert!(measured.body_bytes <= measured.bytes_received && measured.bytes_received <= input.len() as u64);
    let late = [ErrorCause::NoResponse, ErrorCause::SlowHead, ErrorCause::SlowBody];
    assert!(
        late.iter().all(|cause| !measured.errors.contains_key(cause)),
        "no time has passed"
    );
}

impl Run {
    fn begin() -> Self {
        let duration = Duration::from_millis(REQUESTS);
        let rate = RequestRate::new(1000.0).expect("it is a rate");
        let plan = Plan {
            http: HttpVersion::Http2 { streams: STREAMS },
            connections_per_client: NonZeroU32::MIN,
            ..Plan::new(
                Demand::open(Arrivals::Constant(rate)),
                duration,
                Request::get("localhost", "/"),
            )
        };
        let now = Instant::START + duration;
        let mut run = Self {
            client: Client::new(Arc::new(plan), Share::WHOLE, Instant::START, Seed::new(1)),
            open: Vec::new(),
            opened: 0,
            now,
        };
        run.client.advance(now);
        run.act();
        run
    }

    /// Does what the client asks for: every connection can be opened, and everything can be written.
    fn act(&mut self) {
        self.client.advance(self.now);
        while let Some(action) = self.client.next_action() {
            match action {
                Action::Connect(id) => {
                    self.client.on_connecting(id, self.now);
                    self.client.on_connected(id, self.now);
                    self.opened += 1;
                    self.open.push(id);
                }
                Action::Write(id) => {
                    let unsent = self.client.unsent(id).len();
                    if unsent > 0 {
                        self.client.on_written(id, unsent, self.now);
                    }
                }
                Action::Close(id) => self.open.retain(|open| *open != id),
            }
            self.client.advance(self.now);
        }
    }
}
