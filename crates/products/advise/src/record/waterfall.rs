//! Two simulated loads of a page, request by request, in columns: an entry per request, so that thousands of them stay small.

use lastmile_page::dependencies;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One load of the page as it is, and one as recommended. Both are of the same repeat, so that they share their random choices.
///
/// Requests are in the order in which they began when they were recorded; every list but `critical_path` has an entry for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Waterfall {
    /// The index of the repeat: the one whose page time as recommended is the median.
    pub repeat: u64,
    /// The index of the entry in the traffic's file.
    pub entry: Vec<u64>,
    /// The index of the host in `options.hosts`.
    pub host: Vec<u64>,
    /// The path of the URL, cut in the middle where it is long. Of a query there is only the question mark: it may hold what is secret.
    pub path: Vec<String>,
    /// The priority of the request.
    pub priority: Vec<Priority>,
    /// The body without content coding.
    pub identity_bytes: Vec<u64>,
    /// The page as it is.
    pub today: SimulatedLoad,
    /// The page as recommended.
    pub recommended: SimulatedLoad,
}

/// A load of the page in simulation. Times are whole microseconds of virtual time; the phases of a request follow each other without a gap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SimulatedLoad {
    /// `today`, `identity` where the traffic does not say how it was sent, or `recommended`.
    pub setting: String,
    /// From the start of the load to the end of the last request.
    pub page_time_us: u64,
    /// From the start of the load to the end of the last request that the document's event `DOMContentLoaded` waits for; none without a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dom_content_loaded_us: Option<u64>,
    /// The same of its event `load`; none where the traffic does not say when that was fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_event_us: Option<u64>,
    /// The requests that the page's end waited for, the first one first: each waited for the one before it.
    pub critical_path: Vec<u64>,
    /// From the start of the load to the moment when the browser decided to make the request.
    pub start_us: Vec<u64>,
    /// Waiting for a connection, or for requests of higher priority.
    pub blocked_us: Vec<u64>,
    /// The TCP handshake; 0 with an open connection.
    pub connect_us: Vec<u64>,
    /// The TLS handshake, likewise.
    pub tls_us: Vec<u64>,
    /// Writing the request.
    pub send_us: Vec<u64>,
    /// Waiting for the response's head.
    pub wait_us: Vec<u64>,
    /// Receiving and decompressing the body.
    pub receive_us: Vec<u64>,
    /// Decompressing what was left after the last byte.
    pub decode_us: Vec<u64>,
    /// The number of the connection, of all hosts together.
    pub connection: Vec<u64>,
    /// Whether the request is the first on its connection, which was opened in this load.
    pub opens_connection: Vec<bool>,
    /// The index of the request whose response, or a part of it, arrived last of all that this one waited for.
    pub waited_for: Vec<Option<u64>>,
    /// The content coding: `identity`, `gzip`, `br`, `zstd`.
    pub coding: Vec<String>,
    /// The body as carried.
    pub body_bytes: Vec<u64>,
}

impl SimulatedLoad {
    /// The phases of a request in their order, in microseconds; none where the record has no such request.
    pub fn phases_us(&self, request: usize) -> Option<[u64; 7]> {
        let columns = [
            &self.blocked_us,
            &self.connect_us,
            &self.tls_us,
            &self.send_us,
            &self.wait_us,
            &self.receive_us,
            &self.decode_us,
        ];
        let mut phases = [0; 7];
        for (phase, column) in phases.iter_mut().zip(columns) {
            *phase = *column.get(request)?;
        }
        Some(phases)
    }
}

/// The load of the page that was recorded, as far as the traffic states its times: whole microseconds since the first request. The lists have an
/// entry for each request, in the order of those of a [`Waterfall`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct RecordedLoad {
    /// When the last request had ended.
    pub page_time_us: u64,
    /// When the document's event `DOMContentLoaded` was fired.
    pub dom_content_loaded_us: Option<u64>,
    /// When its event `load` was fired.
    pub load_event_us: Option<u64>,
    /// When the request began; none where the traffic states no phase of it.
    pub start_us: Vec<Option<u64>>,
    /// The lengths of its phases: waiting for a connection, name lookup, TCP handshake, TLS handshake, sending, waiting for the first byte,
    /// receiving.
    pub phases_us: Vec<[u64; 7]>,
    /// The number of its connection, from 0, of all hosts together; none where it is not stated.
    pub connection: Vec<Option<u64>>,
}

/// The priority of a request, in Chromium's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Priority {
    /// What the next page or no page needs.
    VeryLow,
    /// Images, `async` and deferred scripts.
    Low,
    /// The first images, and scripts and styles behind them.
    Medium,
    /// Scripts, data.
    High,
    /// Documents, style sheets, fonts.
    VeryHigh,
}

impl Priority {
    /// As in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::VeryLow => "VeryLow",
            Self::Low => "Low",
            Self::Medium => "Medium",
            Self::High => "High",
            Self::VeryHigh => "VeryHigh",
        }
    }
}

impl From<dependencies::Priority> for Priority {
    fn from(priority: dependencies::Priority) -> Self {
        match priority {
            dependencies::Priority::VeryLow => Self::VeryLow,
            dependencies::Priority::Low => Self::Low,
            dependencies::Priority::Medium => Self::Medium,
            dependencies::Priority::High => Self::High,
            dependencies::Priority::VeryHigh => Self::VeryHigh,
        }
    }
}
