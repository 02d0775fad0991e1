//! Does a WebSocket server keep RFC 6455 and RFC 7692? A probe of a server that sends every message back.
//!
//! Each case is a connection of its own: what is sent is what some client may send, or what none may, and what comes back is held against
//! what the RFC says. `cases` are what is asked; `connection` is how. A server that breaks a rule in one case is asked the
//! others all the same.

mod cases;
mod connection;
mod target;
#[cfg(test)]
mod tests;

pub use target::{Target, TargetError};

use connection::{Connection, Trouble};
use lastmile_report::conform::{Conformance, Standing, Verdict};
use std::time::Duration;

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
    /// How long it may be silent.
    patience: Duration,
}

impl Probe<'_> {
    /// A connection that offers `extensions`, each a line of `Sec-WebSocket-Extensions`.
    fn open(&self, extensions: &[&str]) -> Result<Connection, Trouble> {
        Connection::open(self.target, self.patience, extensions)
    }
}

/// Asks the server at `target` everything, which may be silent for `patience` where an answer is due; `on_verdict` is told how many cases
/// there are, and each verdict as it falls.
///
/// # Errors
/// When nobody listens there, or what listens is no WebSocket server that sends messages back.
pub fn probe(
    target: &Target,
    patience: Duration,
    version: &str,
    on_verdict: &mut dyn FnMut(usize, &Verdict),
) -> Result<Conformance, NotProbed> {
    let probe = Probe { target, patience };
    let refused = |trouble: Trouble| NotProbed {
        target: target.clone(),
        problem: format!("{trouble}; the probe wants a server that sends every message back"),
    };
    let mut first = probe.open(&[]).map_err(refused)?;
    first.echoes("is anybody there?").map_err(refused)?;
    let server = first.server().map(str::to_owned);
    drop(first);
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
