//! The description of a link in the records of products.

use crate::number::{percent, quantity};
#[cfg(feature = "testing")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link, described.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct LinkDescription {
    /// Towards the client; none where the link plays a recorded trace.
    pub rate_down_bit_per_second: Option<f64>,
    /// Towards the server; none where the link plays a recorded trace.
    pub rate_up_bit_per_second: Option<f64>,
    /// The sum of both one-way delays, without queueing and serialisation.
    pub round_trip_s: f64,
    /// The mean share of packets lost, from 0 to 1.
    pub loss: f64,
    /// The queue's discipline and length: `drop-tail, 50 packets`.
    pub queue: String,
    /// The source of the profile's figures.
    pub source: String,
}

impl LinkDescription {
    /// A link's figures, and their source.
    pub fn sentence(&self) -> String {
        let rate = |rate: Option<f64>| rate.map_or_else(|| "as traced".to_owned(), |rate| quantity(rate, "bit/s"));
        format!(
            "{} down, {} up, round trip {}, loss {}, {}. Source: {}.",
            rate(self.rate_down_bit_per_second),
            rate(self.rate_up_bit_per_second),
            quantity(self.round_trip_s, "s"),
            percent(self.loss),
            self.queue,
            self.source.trim_end_matches('.'),
        )
    }
}
