//! Numbered events: all that one says follows from its number, so that any answer can be checked.

use serde_json::{Value, json};

/// The events of a case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Events {
    pub(crate) seed: u64,
    /// The bytes of each event's text.
    pub(crate) text_bytes: usize,
    /// The time of event 0, in nanoseconds of Unix time.
    pub(crate) begin: i64,
}

pub(crate) const SUBJECTS: [&str; 3] = ["fault.a", "fault.b", "fault.c.d"];
/// The values of the field `k`.
pub(crate) const KINDS: u64 = 4;

impl Events {
    pub(crate) fn subject(self, number: u64) -> &'static str {
        SUBJECTS[(mix(self.seed ^ number) % 3) as usize]
    }

    fn text(self, number: u64) -> String {
        let words = (0..).map(|at| format!("{:016x}", mix(self.seed ^ (number << 16) ^ at)));
        let mut text: String = words.take(self.text_bytes.div_ceil(16)).collect();
        text.truncate(self.text_bytes);
        text
    }

    fn time(self, number: u64) -> i64 {
        self.begin + number as i64 * 1000
    }

    /// The event as a line of text, with its end.
    pub(crate) fn line(self, number: u64) -> String {
        let (time, subject, text) = (self.time(number), self.subject(number), self.text(number));
        format!("@{time} {subject} n={number} k={} t=\"{text}\"\n", number % KINDS)
    }

    /// The event as a log record of OTLP.
    pub(crate) fn record(self, number: u64) -> Value {
        let integer = |value: u64| json!({"intValue": value.to_string()});
        json!({
            "timeUnixNano": self.time(number).to_string(),
            "eventName": self.subject(number),
            "attributes": [
                {"key": "n", "value": integer(number)},
                {"key": "k", "value": integer(number % KINDS)},
                {"key": "t", "value": {"stringValue": self.text(number)}},
            ],
        })
    }

    /// The number of an event in an answer, which must say what was submitted.
    ///
    /// # Errors
    /// When it says something else.
    pub(crate) fn number_of(self, event: &Value) -> Result<u64, String> {
        let fields = &event["fields"];
        let number = fields["n"].as_u64().ok_or_else(|| format!("no number: {event}"))?;
        let agrees = event["subject"] == self.subject(number)
            && event["time_ns"] == self.time(number)
            && fields["k"] == number % KINDS
            && fields["t"] == self.text(number);
        agrees
            .then_some(number)
            .ok_or_else(|| format!("not as it was submitted: {event}"))
    }
}

/// The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
const fn mix(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
