//! Lines of an HTTP access log as structured documents, each value drawn independently.
//!
//! The fields and the ranges of their values are those of the data set `log` of rust_serialization_benchmark
//! (github.com/djkoloski/rust_serialization_benchmark, `src/datasets/log`), so that sizes can be set beside its own; names and paths are ours.

use crate::vocabulary::pick_of;
use lastmile_units::random::{below, between, pick};
use lastmile_units::{Rng, Seed};
use serde::{Deserialize, Serialize};

/// A request that a server answered, in the fields of the Common Log Format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// The client's IPv4 address.
    pub address: Address,
    /// The client's identity, which nobody knows: `-`.
    pub identity: String,
    /// The user's name, or `-`.
    pub userid: String,
    /// The time, with its zone.
    pub date: String,
    /// Method, path and protocol.
    pub request: String,
    /// The status code.
    pub code: u16,
    /// The size of the response, in bytes.
    pub size: u64,
}

/// The four bytes of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The first.
    pub x0: u8,
    /// The second.
    pub x1: u8,
    /// The third.
    pub x2: u8,
    /// The last.
    pub x3: u8,
}

/// The first `count` lines; the same for the same seed.
pub fn lines(count: usize, seed: Seed) -> Vec<LogLine> {
    let mut rng = seed.derive("access-log").rng();
    (0..count).map(|_| line(&mut rng)).collect()
}

fn line(rng: &mut Rng) -> LogLine {
    let mut byte = || below(rng, 256) as u8;
    let address = Address {
        x0: byte(),
        x1: byte(),
        x2: byte(),
        x3: byte(),
    };
    let zone = below(rng, 25);
    let (sign, hours) = if zone < 12 { ('-', 12 - zone) } else { ('+', zone - 12) };
    let date = format!(
        "{}/{}/{}:{}:{}:{} {sign}{hours:02}00",
        between(rng, 1, 28),
        pick(rng, &MONTHS),
        between(rng, 1970, 2021),
        below(rng, 24),
        below(rng, 60),
        below(rng, 60),
    );
    LogLine {
        address,
        identity: "-".to_owned(),
        userid: pick(rng, &USERS).to_owned(),
        date,
        request: format!(
            "{} {} {}",
            pick(rng, &METHODS),
            pick_of(rng, PATHS),
            pick(rng, &PROTOCOLS)
        ),
        code: pick(rng, &CODES),
        size: below(rng, 100_000_000) as u64,
    }
}

const USERS: [&str; 9] = [
    "-", "anouk", "bela", "chidi", "dora", "emil", "fatima", "goran", "helga",
];

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

const METHODS: [&str; 5] = ["GET", "HEAD", "POST", "PUT", "DELETE"];

const PATHS: &str = "/robots.txt; /styles/main.css; /styles/print-only.min.css; /img/harbour.svg; /img/team.jpg; /service/basket; \
     /service/search";

const PROTOCOLS: [&str; 4] = ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3"];

/// Those that the IANA registry of HTTP status codes assigns.
const CODES: [u16; 61] = [
    100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 307, 308, 400,
    401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424, 425, 426,
    428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_as_long_as_those_of_the_published_data_set() {
        // It has 10,000 lines, which take 1,827,461 bytes as one JSON document.
        let lines = lines(10_000, Seed::new(1));
        let json = serde_json::to_vec(&lines).unwrap().len() as f64;
        assert!((json / 1_827_461.0 - 1.0).abs() < 0.01, "{json}");
    }
}
