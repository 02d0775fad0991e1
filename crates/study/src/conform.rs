//! Does a WebSocket server keep RFC 6455 and RFC 7692? A probe of a server that sends every message back.
//!
//! Each case is a connection of its own: what is sent is what some client may send, or what none may, and what comes back is held against
//! what the RFC says. `cases` are what is asked; `connection` is how, over a `wire` that waits so long and no longer; `trouble` is what
//! may come of it. A server that breaks a rule in one case is asked the others all the same.

mod cases;
mod connection;
mod target;
#[cfg(test)]
mod tests;
mod trouble;
mod wire;

pub use target::{Target, TargetError};

use connection::Connection;
use lastmile_payload::websocket::Key;
use lastmile_report::conform::{Conformance, Standing, Verdict};
use lastmile_units::Seed;
use std::cell::Cell;
use std::time::Duration;
use trouble::Trouble;
use wire::Wire;

/// Why a server could not be asked anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{target}: {problem}")]
pub struct NotProbed {
    target: Target,
    problem: String,
}

/// What is asked in one connection, or in a few.
struct Case {
    /// In a few words, without blanks, for `--only` and for records.
    name: &'static str,
    /// What must hold.
    asks: &'static str,
    /// Where that is said.
    source: &'static str,
    run: fn(&Probe<'_>) -> Result<String, Trouble>,
}

/// Who is asked.
struct Probe<'a> {
    target: &'a Target,
    /// How long an answer may take.
    patience: Duration,
    /// How many connections it has been asked for.
    connections: Cell<u64>,
}

impl<'a> Probe<'a> {
    fn new(target: &'a Target, patience: Duration) -> Self {
        Self {
            target,
            patience,
            connections: Cell::new(0),
        }
    }

    /// A connection that offers `extensions`, each a line of `Sec-WebSocket-Extensions`.
    fn open(&self, extensions: &[&str]) -> Result<Connection, Trouble> {
        Connection::open(self.target, self.patience, self.seed(), extensions)
    }

    /// The head that the server answers a handshake's request with, which `change` has had in its hands; none where it ends the connection
    /// instead.
    fn ask(&self, extensions: &[&str], change: impl Fn(&str) -> String) -> Result<Option<String>, Trouble> {
        let request = connection::request(self.target, extensions).write(&Key::from_seed(self.seed()));
        let mut wire = Wire::connect(self.target, self.patience)?;
        wire.write(change(&String::from_utf8_lossy(&request)).as_bytes())?;
        let answer = wire.read_head()?;
        Ok(answer.map(|answer| String::from_utf8_lossy(&answer.head).into_owned()))
    }

    /// Of a connection's nonce and masks. Each has its own, so that a server cannot pass with what it said on another; and the same in
    /// every run.
    fn seed(&self) -> Seed {
        let number = self.connections.get();
        self.connections.set(number + 1);
        Seed::new(1).derive_index(number)
    }
}

/// Asks the server at `target` everything. An answer may take as long as `patience`, and all that happens on one connection ten times as
/// long; `on_verdict` is told how many cases there are, and each verdict as it falls.
///
/// # Errors
/// When nobody listens there, or what listens does not switch to WebSocket. How it breaks the rules after that is in the verdicts.
pub fn probe(
    target: &Target,
    patience: Duration,
    version: &str,
    on_verdict: &mut dyn FnMut(usize, &Verdict),
) -> Result<Conformance, NotProbed> {
    let probe = Probe::new(target, patience);
    let server = match probe.open(&[]) {
        Ok(first) => first.server().map(str::to_owned),
        Err(Trouble::NotOpened(problem)) => {
            return Err(NotProbed {
                target: target.clone(),
                problem: format!("{problem}; the probe wants a WebSocket server that sends every message back"),
            });
        }
        // It is a WebSocket server, and a broken one: the cases say how.
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

fn judged(case: &Case, ended: Result<String, Trouble>) -> Verdict {
    let (standing, found) = match ended {
        Ok(found) => (Standing::Held, found),
        Err(Trouble::NotAsked(why)) => (Standing::NotAsked, why),
        Err(trouble) => (Standing::Broken, trouble.to_string()),
    };
    Verdict {
        name: case.name.to_owned(),
        asks: case.asks.to_owned(),
        source: case.source.to_owned(),
        standing,
        found,
    }
}
