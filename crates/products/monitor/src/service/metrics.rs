//! The monitor's counters in Prometheus' text format.

use super::Monitor;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn write(monitor: &Monitor) -> String {
    let accounts = monitor.log.accounts();
    let stored: u64 = accounts.iter().map(|(_, account)| account.stored).sum();
    let mut lost: BTreeMap<&(String, String), u64> = BTreeMap::new();
    for (cause, count) in accounts.iter().flat_map(|(_, account)| &account.lost) {
        *lost.entry(cause).or_default() += count;
    }
    let mut lost_lines = String::new();
    for ((place, cause), count) in lost {
        let (place, cause) = (escape(place), escape(cause));
        let _ = writeln!(
            lost_lines,
            "lastmile_events_lost_total{{place=\"{place}\",cause=\"{cause}\"}} {count}"
        );
    }
    let sources = accounts.len();
    let alive = monitor.sensors.alive(monitor.now());
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (delivered, subscribers) = (of(&monitor.delivered), of(&monitor.subscribers));
    let requests = of(&monitor.requests);
    format!(
        "\
# HELP lastmile_events_stored_total Events that were committed.
# TYPE lastmile_events_stored_total counter
lastmile_events_stored_total {stored}
# HELP lastmile_events_lost_total Events that were dropped, as their senders state.
# TYPE lastmile_events_lost_total counter
{lost_lines}\
# HELP lastmile_sources Sources that are known.
# TYPE lastmile_sources gauge
lastmile_sources {sources}
# HELP lastmile_events_delivered_total Events sent to clients.
# TYPE lastmile_events_delivered_total counter
lastmile_events_delivered_total {delivered}
# HELP lastmile_subscribers Subscriptions that are open.
# TYPE lastmile_subscribers gauge
lastmile_subscribers {subscribers}
# HELP lastmile_sensors_alive Sensors that registered in the last seconds.
# TYPE lastmile_sensors_alive gauge
lastmile_sensors_alive {alive}
# HELP lastmile_requests_total Requests.
# TYPE lastmile_requests_total counter
lastmile_requests_total {requests}
"
    )
}

fn escape(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
