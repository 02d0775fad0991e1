//! The sensors that have registered, and which of them are alive.

use super::Peer;
use lastmile_events::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The most bytes of a registration.
pub(super) const STATE_SIZE_MAX: usize = 4096;
/// A sensor that was silent for longer is not alive; it registers every 3 s.
const SILENCE: i64 = 10_000_000_000;
const SENSORS_MAX: usize = 10_000;
const NAME_LENGTH_MAX: usize = 128;

#[derive(Debug)]
struct Sensor {
    state: Value,
    address: Option<String>,
    heard: Timestamp,
}

/// Those since the monitor's start, by name.
#[derive(Debug, Default)]
pub(super) struct Sensors {
    known: Mutex<BTreeMap<String, Sensor>>,
}

impl Sensors {
    /// Notes that a sensor is alive.
    pub(super) fn register(&self, body: &[u8], peer: Option<Peer>, now: Timestamp) -> Result<(), String> {
        let state: Value =
            serde_json::from_slice(body).map_err(|error| format!("a registration is a JSON object: {error}"))?;
        let name = state.get("sensor").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() || name.len() > NAME_LENGTH_MAX {
            return Err(format!(
                "a registration has \"sensor\", a name of 1 to {NAME_LENGTH_MAX} bytes"
            ));
        }
        let number = |field: &str| state.get(field).and_then(Value::as_u64).unwrap_or(0);
        let sensor = Sensor {
            state: json!({
                "waiting": number("waiting"),
                "dropped_for_budget": number("dropped_for_budget"),
                "sent_bytes": number("sent_bytes"),
            }),
            address: peer.map(|Peer(address)| address.to_string()),
            heard: now,
        };
        let mut known = self.known.lock().expect("no thread panics with it");
        if known.len() >= SENSORS_MAX && !known.contains_key(name) {
            return Err(format!(
                "{SENSORS_MAX} sensors are registered; restart the monitor to forget those that are gone"
            ));
        }
        known.insert(name.to_owned(), sensor);
        Ok(())
    }

    /// How many are alive.
    pub(super) fn alive(&self, now: Timestamp) -> u64 {
        let known = self.known.lock().expect("no thread panics with it");
        known.values().filter(|sensor| sensor.is_alive(now)).count() as u64
    }

    pub(super) fn to_json(&self, now: Timestamp) -> Value {
        let known = self.known.lock().expect("no thread panics with it");
        let sensors = known.iter().map(|(name, sensor)| {
            let mut json = sensor.state.clone();
            json["sensor"] = name.as_str().into();
            json["address"] = sensor.address.clone().into();
            json["alive"] = sensor.is_alive(now).into();
            json["silent_seconds"] = (sensor.silence(now) / 1_000_000_000).into();
            json
        });
        sensors.collect()
    }
}

impl Sensor {
    fn silence(&self, now: Timestamp) -> i64 {
        now.unix_nanoseconds()
            .saturating_sub(self.heard.unix_nanoseconds())
            .max(0)
    }

    fn is_alive(&self, now: Timestamp) -> bool {
        self.silence(now) <= SILENCE
    }
}
