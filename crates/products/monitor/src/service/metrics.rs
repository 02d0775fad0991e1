//! The monitor's counters in Prometheus' text format.

use super::Monitor;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::Ordering;

pub(super) fn write(monitor: &Monitor) -> String {
    let accounts = monitor.log.accounts();
    let stored: u64 = accounts.iter().map(|(_, account)| account.stored).sum();
    let mut lost: BTreeMap<&(String, String), u64> = BTreeMap::new();
    for (cause, count) in accounts.iter().flat_map(|(_, account)| &account.lost) {
        *lost.entry(cause).or_default() += count;
    }
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, samples: &[(String, u64)]| {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let one = |value| [(String::new(), value)];
    metric(
        "lastmile_events_stored_total",
        "counter",
        "Events that were committed.",
        &one(stored),
    );
    let lost: Vec<_> = lost
        .into_iter()
        .map(|((place, cause), count)| {
            let labels = format!("{{place=\"{}\",cause=\"{}\"}}", escape(place), escape(cause));
            (labels, count)
        })
        .collect();
    metric(
        "lastmile_events_lost_total",
        "counter",
        "Events that were dropped, as their senders state.",
        &lost,
    );
    metric(
        "lastmile_sources",
        "gauge",
        "Sources that are known.",
        &one(accounts.len() as u64),
    );
    let of = |counter: &std::sync::atomic::AtomicU64| one(counter.load(Ordering::Relaxed));
    metric(
        "lastmile_events_delivered_total",
        "counter",
        "Events sent to clients.",
        &of(&monitor.delivered),
    );
    metric(
        "lastmile_subscribers",
        "gauge",
        "Subscriptions that are open.",
        &of(&monitor.subscribers),
    );
    metric(
        "lastmile_sensors_alive",
        "gauge",
        "Sensors that registered in the last seconds.",
        &one(monitor.sensors.alive(monitor.now())),
    );
    metric(
        "lastmile_requests_total",
        "counter",
        "Requests.",
        &of(&monitor.requests),
    );
    text
}

fn escape(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
