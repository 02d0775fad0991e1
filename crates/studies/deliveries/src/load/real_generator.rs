//! A real generator in the place of ours: a peer on each client's host, which reports totals and means.
//!
//! It has no intended start, so its response time counts from the opening of the connection.

use super::plan::{FILE, Plan, SERVER};
use lastmile_load::measurement::fairness;
use lastmile_study::figure;
use lastmile_study::observation::Observation;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::peer::{Inputs, PeerSpec, RunningClient};
use lastmile_testbed::testbed::{Testbed, TestbedWorld};
use lastmile_units::Instant;
use lastmile_world::Host as _;
use serde::Deserialize;
use serde_json::Value;
use std::net::SocketAddrV4;
use std::ops::Range;
use std::time::Duration;
use tempfile::TempDir;

/// Generators that run, one on each client's host.
pub(super) struct RealGenerators {
    // Declared first, so that they are ended before their folders are removed.
    running: Vec<RunningClient>,
    _folders: TempDir,
}

/// What one of them reports.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) struct Report {
    connections: u64,
    replies: u64,
    /// Replies with another status than 200 to 299.
    bad_replies: u64,
    errors: u64,
    /// From the first connection to the end of the last.
    seconds: f64,
    /// Means.
    connect_ms: f64,
    reply_ms: f64,
    connection_ms: f64,
}

/// How often it is looked whether they have ended, and how long after the last timeout they must have.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const GRACE: Duration = Duration::from_secs(10);

impl RealGenerators {
    /// Starts them.
    pub(super) fn begin<W: TestbedWorld>(
        testbed: &Testbed<W>,
        plan: &Plan,
        server: SocketAddrV4,
    ) -> Result<Self, Failure> {
        let peer = PeerSpec::named(plan.settings.generator().as_str()).map_err(Failure::from_error)?;
        let folders = TempDir::with_prefix("lastmile-").map_err(Failure::from_error)?;
        let (rate, duration) = (1.0 / plan.interval.as_secs_f64(), plan.load.duration);
        let requests = (duration.as_secs_f64() * rate).round().max(1.0);
        let begin = |name: String| {
            let state = folders.path().join(&name);
            std::fs::create_dir(&state).map_err(Failure::from_error)?;
            let inputs = Inputs {
                host: *server.ip(),
                port: server.port(),
                ..Inputs::new("get", folders.path(), &state)
            };
            let inputs = inputs
                .with("file", FILE)
                .with("rate", &rate)
                .with("requests", &requests)
                .with("timeout_seconds", &plan.load.timeout.as_secs_f64());
            // A process inherits the network namespace of the thread that starts it.
            let begun = testbed
                .world
                .in_namespace_of(testbed.host(&name), || peer.begin(&inputs, &|_command| Ok(())))?;
            begun.map_err(Failure::from_error)
        };
        let running = plan.clients().map(begin).collect::<Result<_, Failure>>()?;
        Ok(Self {
            running,
            _folders: folders,
        })
    }

    /// Awaits their end while the world goes on. Returns the report of each.
    pub(super) fn end<W: TestbedWorld>(
        mut self,
        testbed: &Testbed<W>,
        plan: &Plan,
        sending_end: Instant,
    ) -> Result<Vec<Report>, Failure> {
        let server = testbed.host(SERVER);
        let deadline = sending_end + plan.load.timeout + GRACE;
        while !self.running.iter_mut().all(RunningClient::has_ended) {
            if server.now() > deadline {
                return Err(Failure::new(format!(
                    "{} did not end within {GRACE:?} after its timeout",
                    plan.settings.generator()
                )));
            }
            testbed.run_on(server, W::LIMIT, server.sleep_until(server.now() + POLL_INTERVAL))?;
        }
        let report = |client: RunningClient| {
            let output = client.end_within(Duration::ZERO).map_err(Failure::from_error)?;
            read(output)
        };
        self.running.drain(..).map(report).collect()
    }
}

fn read(output: Vec<Value>) -> Result<Report, Failure> {
    let last = output.into_iter().next_back().unwrap_or_default();
    serde_json::from_value(last).map_err(|error| Failure::new(format!("a generator's report cannot be read: {error}")))
}

/// Adds the figures of the generators: rates added up, and means over all of their replies.
pub(super) fn observe(reports: &[Report], body: u64, span: &Range<Instant>, observation: &mut Observation) {
    let rates: Vec<f64> = reports.iter().map(Report::transaction_rate).collect();
    let rate: f64 = rates.iter().sum();
    observation.sample(figure::TRANSACTION_RATE, rate);
    observation.sample(figure::GOODPUT, rate * body as f64 * 8.0);
    if let Some(fairness) = fairness(&rates) {
        observation.sample(figure::FAIRNESS, fairness);
    }
    let total = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>() as f64;
    let (requests, replies) = (total(|of| of.connections), total(|of| of.replies));
    if requests > 0.0 {
        let failed = total(|of| of.errors + of.bad_replies);
        observation.sample(figure::ERROR_RATE, failed / requests);
    }
    if replies > 0.0 {
        let mean = |of: fn(&Report) -> f64| {
            let sum: f64 = reports.iter().map(|report| report.replies as f64 * of(report)).sum();
            sum / replies / 1e3
        };
        observation.sample(figure::RESPONSE_TIME, mean(|of| of.connect_ms + of.reply_ms));
        observation.sample(figure::CONNECTION_DURATION, mean(|of| of.connection_ms));
    }
    // Its single times are not known: the world judges the whole span.
    for figure in [figure::RESPONSE_TIME, figure::CONNECTION_DURATION] {
        observation.times.insert(figure.name.to_owned(), vec![span.clone()]);
    }
}

impl Report {
    /// Good replies per second.
    fn transaction_rate(&self) -> f64 {
        if self.seconds > 0.0 {
            self.replies.saturating_sub(self.bad_replies) as f64 / self.seconds
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(connections: u64, replies: u64, errors: u64) -> Value {
        json!({
            "event": "end", "connections": connections, "replies": replies, "bad_replies": 0, "errors": errors, "seconds": 10.0,
            "connect_ms": 1.0, "reply_ms": 4.0, "connection_ms": 6.5,
        })
    }

    #[test]
    fn reports_become_figures_of_all_clients() {
        let reports: Vec<Report> = [report(100, 100, 0), report(100, 50, 50)]
            .into_iter()
            .map(|report| read(vec![report]).unwrap())
            .collect();
        let mut observation = Observation::default();
        let span = Instant::START..Instant::from_nanos(10_000_000_000);
        observe(&reports, 1_000, &span, &mut observation);
        for (figure, expected) in [
            (figure::TRANSACTION_RATE, 15.0),
            (figure::GOODPUT, 120_000.0),
            (figure::ERROR_RATE, 0.25),
            (figure::RESPONSE_TIME, 0.005),
            (figure::CONNECTION_DURATION, 0.0065),
            (figure::FAIRNESS, 0.9),
        ] {
            let found = observation.figures[figure.name][0];
            assert!((found - expected).abs() < 1e-9, "{}: {found}", figure.name);
        }
        assert!(read(vec![json!({"event": "end"})]).is_err());
    }
}
