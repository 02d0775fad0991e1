//! Renders a capture as CSV.

use crate::record::{Connection, Inspection, Sent};
use lastmile_report::csv::{Rows, doubt_kinds, number};

/// A capture: one row per direction of a connection or UDP flow; columns of TCP alone are empty for UDP.
pub(crate) fn inspection(inspection: &Inspection) -> Rows {
    let fixed = [
        "protocol",
        "number",
        "client",
        "server",
        "began_s",
        "duration_s",
        "handshake_s",
        "way",
    ];
    let counts = [
        "packets",
        "bytes",
        "header_bytes",
        "payload_bytes",
        "payload_once_bytes",
        "goodput_bit_per_second",
        "retransmissions",
        "spurious_retransmissions",
        "retransmitted_bytes",
        "out_of_order",
        "after_hole",
        "duplicate_acknowledgements",
        "keep_alives",
        "window_probes",
        "zero_windows",
        "zero_window_time_s",
        "in_flight_max_bytes",
    ];
    let round_trips = ["n", "mean_s", "p50_s", "p95_s"].map(|statistic| format!("round_trip_karn_{statistic}"));
    let mut rows = Rows::default();
    let heads = fixed.into_iter().chain(counts).map(ToOwned::to_owned);
    rows.row(heads.chain(round_trips).chain(["doubts".to_owned()]));
    for (at, flow) in inspection.connections.iter().enumerate() {
        for (way, sent) in [("up", &flow.up), ("down", &flow.down)] {
            rows.row(connection(at, flow, way, sent));
        }
    }
    for (at, flow) in inspection.udp.iter().enumerate() {
        for (way, sent) in [("up", &flow.up), ("down", &flow.down)] {
            let mut row = vec![
                "udp".to_owned(),
                (at + 1).to_string(),
                flow.client.clone(),
                flow.server.clone(),
            ];
            row.extend([
                flow.began_s.to_string(),
                flow.duration_s.to_string(),
                String::new(),
                way.to_owned(),
            ]);
            row.extend([sent.packets, sent.bytes, sent.header_bytes].map(|count| count.to_string()));
            row.resize(fixed.len() + counts.len() + 5, String::new());
            rows.row(row);
        }
    }
    rows
}

fn connection(at: usize, flow: &Connection, way: &str, sent: &Sent) -> Vec<String> {
    let handshake = flow.handshake.as_ref().map(|handshake| handshake.round_trip_s);
    let mut row = vec![
        "tcp".to_owned(),
        (at + 1).to_string(),
        flow.client.clone(),
        flow.server.clone(),
    ];
    row.extend([
        flow.began_s.to_string(),
        flow.duration_s.to_string(),
        number(handshake),
        way.to_owned(),
    ]);
    let volume = [
        sent.packets,
        sent.bytes,
        sent.header_bytes,
        sent.payload_bytes,
        sent.payload_once_bytes,
    ];
    row.extend(volume.map(|count| count.to_string()));
    row.push(number(sent.goodput_bit_per_second));
    let events = [
        sent.retransmissions,
        sent.spurious_retransmissions,
        sent.retransmitted_bytes,
        sent.out_of_order,
        sent.after_hole,
        sent.duplicate_acknowledgements,
        sent.keep_alives,
        sent.window_probes,
        sent.zero_windows,
    ];
    row.extend(events.map(|count| count.to_string()));
    row.push(sent.zero_window_time_s.to_string());
    row.push(
        sent.in_flight_max_bytes
            .map_or_else(String::new, |most| most.to_string()),
    );
    let karn = sent.round_trip_karn.as_ref();
    row.push(karn.map_or_else(String::new, |figure| figure.n.to_string()));
    row.push(number(karn.map(|figure| figure.mean)));
    row.extend(["0.5", "0.95"].map(|p| number(karn.and_then(|figure| figure.quantiles.get(p).copied()))));
    row.push(doubt_kinds(&flow.doubts));
    row
}
