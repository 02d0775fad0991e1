//! Renders a load as CSV.

use crate::record::{CapturedSchedule, DirectionUse, Load, LoadRun, RunPurpose};
use lastmile_report::csv::{Rows, number};

/// The times of a run, in the order of their columns.
const TIMES: [&str; 10] = [
    "response",
    "service",
    "lateness",
    "local_queue",
    "connect",
    "tls",
    "first_byte",
    "transfer",
    "connection_duration",
    "round_trip",
];
const STATISTICS: [&str; 7] = ["n", "mean_s", "p50_s", "p90_s", "p95_s", "p99_s", "max_s"];

/// A load: one row per run.
pub(crate) fn load(load: &Load) -> Rows {
    let counts = [
        "world",
        "rate",
        "size",
        "purpose",
        "valid",
        "why_invalid",
        "offered_rate",
        "transaction_rate",
        "goodput_bit_per_s",
        "error_rate",
        "fairness",
        "intended",
        "sent",
        "completed",
        "failed",
        "errors",
        "error_reasons",
        "retries",
        "unfinished",
        "skipped",
        "queued",
        "connections",
        "connections_max",
        "retransmissions",
        "listen_drops",
        "link_down_utilisation",
        "link_up_utilisation",
        "link_drops",
        "link_losses",
        "in_flight_mean",
        "sent_per_ms_max",
        "due_per_ms_max",
        "cpu_share",
        "cpu_per_request_s",
        "captured_late_p50",
        "captured_late_p99",
        "captured_late_max",
    ];
    let mut rows = Rows::default();
    let times = TIMES
        .iter()
        .flat_map(|time| STATISTICS.map(|statistic| format!("{time}_{statistic}")));
    rows.row(counts.iter().map(|name| (*name).to_owned()).chain(times));
    for run in &load.runs {
        rows.row(fields(run));
    }
    rows
}

fn fields(run: &LoadRun) -> Vec<String> {
    let purpose = match run.purpose {
        RunPurpose::Measurement => "measurement",
        RunPurpose::Search => "search",
    };
    let errors: Vec<String> = run
        .errors
        .iter()
        .map(|(cause, count)| format!("{cause} {count}"))
        .collect();
    let reasons: Vec<String> = run
        .error_reasons
        .iter()
        .flat_map(|(cause, reasons)| {
            reasons
                .iter()
                .map(move |(reason, count)| format!("{cause}, {reason} {count}"))
        })
        .collect();
    let check = &run.self_check;
    let mut row = vec![
        run.world.clone(),
        number(run.rate),
        run.size.map_or_else(String::new, |size| size.to_string()),
        purpose.to_owned(),
        run.valid.to_string(),
        run.why_invalid.clone().unwrap_or_default(),
    ];
    row.extend([run.offered_rate, run.transaction_rate, run.goodput_bit_per_s].map(|rate| rate.to_string()));
    row.extend([run.error_rate, run.fairness].map(number));
    row.extend([run.intended, run.sent, run.completed, run.failed].map(|count| count.to_string()));
    row.extend([errors.join("; "), reasons.join("; ")]);
    let counts = [
        run.retries,
        run.unfinished,
        run.skipped,
        run.queued,
        run.connections,
        run.connections_max,
    ];
    row.extend(counts.map(|count| count.to_string()));
    row.push(run.retransmissions.map_or_else(String::new, |count| count.to_string()));
    row.push(run.listen_drops.map_or_else(String::new, |count| count.to_string()));
    row.extend(
        [run.link.map(|link| link.down), run.link.map(|link| link.up)]
            .map(|direction| number(direction.and_then(|direction| direction.utilisation))),
    );
    let of_link = |figure: fn(&DirectionUse) -> u64| {
        run.link
            .map_or_else(String::new, |link| (figure(&link.down) + figure(&link.up)).to_string())
    };
    row.extend([of_link(|link| link.dropped_by_queue), of_link(|link| link.lost)]);
    row.push(number(check.in_flight_mean));
    row.extend([check.sent_per_ms_max, check.due_per_ms_max].map(|count| count.to_string()));
    row.extend([check.cpu_share, check.cpu_per_request_s].map(number));
    let captured = |figure: fn(&CapturedSchedule) -> f64| number(check.capture.as_ref().map(figure));
    row.extend([
        captured(|late| late.late_p50),
        captured(|late| late.late_p99),
        captured(|late| late.late_max),
    ]);
    for name in TIMES {
        match run.times.get(name) {
            Some(times) => {
                row.push(times.n.to_string());
                let statistics = [times.mean, times.p50, times.p90, times.p95, times.p99, times.max];
                row.extend(statistics.map(|value| value.to_string()));
            }
            None => row.extend(STATISTICS.map(|_| String::new())),
        }
    }
    row
}
