//! Probes whether a WebSocket echo server, one that sends every message back, conforms to RFC 6455 and RFC 7692.
//!
//! Each case opens connections of its own, sends what a client may send or what no client may send, and compares the server's reaction
//! with the RFC. `cases` holds the cases, `connection` the session they use, `timed_socket` the TCP connection with its deadlines, `case_error` the
//! ways in which a case fails. All cases run, even on a server that breaks a rule in one of them.

mod as_run;
mod case_error;
mod cases;
mod connection;
mod document;
pub mod record;
mod server_url;
#[cfg(test)]
mod tests;
mod timed_socket;

pub use server_url::{Target, TargetError};

use crate::record::{Conformance, RuleStatus, Verdict};
use case_error::CaseError;
use connection::Connection;
use lastmile_units::Seed;
use lastmile_websocket::Key;
use std::cell::Cell;
use std::time::Duration;
use timed_socket::TimedSocket;

/// Why a server could not be probed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{target}: {problem}")]
pub struct ProbeError {
    target: Target,
    problem: String,
}

/// One rule and the connections, one or a few, that test it.
struct Case {
    /// A short name without spaces, for `--only` and for records.
    name: &'static str,
    /// The rule.
    asks: &'static str,
    /// The section of the RFC that states it.
    source: &'static str,
    run: fn(&Prober<'_>) -> Result<String, CaseError>,
}

/// The server under test.
struct Prober<'a> {
    target: &'a Target,
    /// How long an answer may take.
    timeout: Duration,
    /// How many connections were opened to it.
    connections: Cell<u64>,
}

impl<'a> Prober<'a> {
    fn new(target: &'a Target, timeout: Duration) -> Self {
        Self {
            target,
            timeout,
            connections: Cell::new(0),
        }
    }

    /// Opens a connection that offers `extensions`, each on its own line of `Sec-WebSocket-Extensions`.
    fn open(&self, extensions: &[&str]) -> Result<Connection, CaseError> {
        Connection::open(self.target, self.timeout, self.seed(), extensions)
    }

    /// Sends a handshake request that `change` has altered, and returns the head of the answer; none where the server ends the
    /// connection instead.
    fn ask(&self, extensions: &[&str], change: impl Fn(&str) -> String) -> Result<Option<String>, CaseError> {
        let request = connection::request(self.target, extensions).write(&Key::from_seed(self.seed()));
        let mut wire = TimedSocket::connect(self.target, self.timeout)?;
        wire.write(change(&String::from_utf8_lossy(&request)).as_bytes())?;
        let answer = wire.read_head()?;
        Ok(answer.map(|answer| String::from_utf8_lossy(&answer.head).into_owned()))
    }

    /// The seed of a connection's nonce and masks. It differs between connections, so that a server cannot pass by repeating an earlier
    /// answer, and is the same in every run.
    fn seed(&self) -> Seed {
        let number = self.connections.get();
        self.connections.set(number + 1);
        Seed::new(1).derive_index(number)
    }
}

/// Runs every case against the server at `target`. An answer may take `timeout`, and one connection ten times as long in all;
/// `on_verdict` receives the number of cases and each verdict as it is reached.
///
/// # Errors
/// When nothing listens there, or the server does not switch to WebSocket. Rules broken after that are in the verdicts.
pub fn probe(
    target: &Target,
    timeout: Duration,
    version: &str,
    on_verdict: &mut dyn FnMut(usize, &Verdict),
) -> Result<Conformance, ProbeError> {
    let probe = Prober::new(target, timeout);
    let server = match probe.open(&[]) {
        Ok(first) => first.server().map(str::to_owned),
        Err(CaseError::NotOpened(problem)) => {
            return Err(ProbeError {
                target: target.clone(),
                problem: format!("{problem}; the probe needs a WebSocket server that sends every message back"),
            });
        }
        // It is a WebSocket server, but a broken one: the cases show how.
        Err(_) => None,
    };
    let all: Vec<_> = cases::all().collect();
    let mut verdicts = Vec::new();
    for case in &all {
        let verdict = judged(case, (case.run)(&probe));
        on_verdict(all.len(), &verdict);
        verdicts.push(verdict);
    }
    Ok(Conformance::new(version, &target.to_string(), server, verdicts))
}

fn judged(case: &Case, ended: Result<String, CaseError>) -> Verdict {
    let (standing, found) = match ended {
        Ok(found) => (RuleStatus::Held, found),
        Err(CaseError::NotApplicable(why)) => (RuleStatus::NotApplicable, why),
        Err(trouble) => (RuleStatus::Broken, trouble.to_string()),
    };
    Verdict {
        name: case.name.to_owned(),
        asks: case.asks.to_owned(),
        source: case.source.to_owned(),
        standing,
        found,
    }
}
