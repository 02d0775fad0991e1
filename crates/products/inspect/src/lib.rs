//! Makes the record that `lastmile inspect` prints from an analysis, with the doubts about its figures.
//!
//! Samples within one connection are not independent of each other (a full queue stays full), so no figure has an interval.

mod as_run;
mod charts;
mod csv;
mod document;
mod doubts;
pub mod record;
#[cfg(test)]
mod tests;

use lastmile_capture::{
    Analysis, Format, FrameCounts, Interface, Opening, SentStatistics, SkipReason, StreamingSummary, TcpFlow,
    Transaction, Transactions, UdpFlow, UdpSent, Wireless, address_text, link_type_name,
};
use lastmile_report::figure::Moments;
use lastmile_report::record::{DoubtKind, Figure};
use lastmile_units::Instant;
use std::collections::BTreeMap;
use std::time::Duration;

/// The kinds of doubts that an analysis raises.
pub const DOUBTS: &[DoubtKind] = &[
    DoubtKind::CutOff,
    DoubtKind::Snapped,
    DoubtKind::OutOfTime,
    DoubtKind::UnknownLink,
    DoubtKind::Fragments,
    DoubtKind::BrokenHeaders,
    DoubtKind::TransactionsLeftOut,
    DoubtKind::BeforeCapture,
    DoubtKind::MissingPackets,
    DoubtKind::HttpLost,
];

/// The record of an analysis. `source` is the file's name, `version` that of the program that publishes it.
pub fn inspection(analysis: &Analysis, source: &str, version: &str) -> record::Inspection {
    record::Inspection {
        schema: record::Inspection::SCHEMA.to_owned(),
        version: version.to_owned(),
        capture: capture(analysis, source),
        connections: analysis
            .tcp
            .iter()
            .map(|flow| connection(flow, analysis.first))
            .collect(),
        udp: analysis.udp.iter().map(|flow| udp(flow, analysis.first)).collect(),
        http: http(&analysis.http, analysis.first),
        wireless: wireless(&analysis.wireless, analysis.duration()),
        charts: charts::time_sequences(&analysis.tcp),
        doubts: doubts::of_capture(analysis),
    }
}

fn capture(analysis: &Analysis, source: &str) -> record::Capture {
    record::Capture {
        source: source.to_owned(),
        format: match analysis.format {
            Format::Pcap => "pcap",
            Format::Pcapng => "pcapng",
        }
        .to_owned(),
        file_bytes: analysis.file.get(),
        packets: analysis.packets,
        bytes: analysis.bytes.get(),
        began_s: analysis.first.since_start().as_secs_f64(),
        duration_s: analysis.duration().as_secs_f64(),
        interfaces: interfaces(&analysis.interfaces),
        snapped: analysis.snapped,
        set_aside: analysis
            .set_aside
            .iter()
            .map(|(why, count)| (reason(*why).to_owned(), *count))
            .collect(),
        comments: comments(&analysis.comments),
    }
}

/// Each kind once, in file order.
fn interfaces(all: &[Interface]) -> Vec<record::Interface> {
    let mut kinds: Vec<record::Interface> = Vec::new();
    for interface in all {
        let kind = record::Interface {
            link_type: link_type_name(interface.link_type),
            snap_length_bytes: (interface.snap_length > 0).then_some(interface.snap_length.into()),
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

fn reason(why: SkipReason) -> &'static str {
    match why {
        SkipReason::UnknownLink => "unknown link",
        SkipReason::NotIp => "not IP",
        SkipReason::MacRetry => "MAC retry",
        SkipReason::Fragment => "fragment",
        SkipReason::OtherProtocol => "other protocol",
        SkipReason::BrokenHeader => "broken header",
    }
}

/// The most frequent first.
fn comments(all: &BTreeMap<String, u64>) -> Vec<record::Comment> {
    let mut comments: Vec<record::Comment> = all
        .iter()
        .map(|(text, packets)| record::Comment {
            text: text.clone(),
            packets: *packets,
        })
        .collect();
    comments.sort_by_key(|comment| std::cmp::Reverse(comment.packets));
    comments
}

fn connection(flow: &TcpFlow, began: Instant) -> record::Connection {
    let (opening, handshake) = match flow.opening {
        Opening::BeforeCapture => (record::Opening::BeforeCapture, None),
        Opening::Unanswered => (record::Opening::Unanswered, None),
        Opening::Handshake {
            round_trip,
            server_side,
            resent,
        } => {
            let handshake = record::Handshake {
                round_trip_s: round_trip.as_secs_f64(),
                server_side_s: server_side.as_secs_f64(),
                resent,
            };
            (record::Opening::Handshake, Some(handshake))
        }
    };
    record::Connection {
        client: flow.client.to_string(),
        server: flow.server.to_string(),
        began_s: since(began, flow.first),
        duration_s: flow.duration().as_secs_f64(),
        opening,
        handshake,
        up: sent(&flow.up, flow.duration()),
        down: sent(&flow.down, flow.duration()),
        idle: record::Idle {
            gaps: flow.idle.gaps,
            time_s: flow.idle.time.as_secs_f64(),
            longest_s: flow.idle.longest.as_secs_f64(),
        },
        comments: comments(&flow.comments),
        doubts: doubts::of_connection(flow),
    }
}

fn sent(sent: &SentStatistics, duration: Duration) -> record::Sent {
    let bits = sent.payload_once.as_f64() * 8.0;
    record::Sent {
        packets: sent.packets,
        bytes: sent.bytes.get(),
        header_bytes: sent.headers.get(),
        header_share: (sent.packets > 0).then(|| sent.headers.as_f64() / sent.bytes.as_f64()),
        payload_bytes: sent.payload.get(),
        payload_once_bytes: sent.payload_once.get(),
        goodput_bit_per_second: (!duration.is_zero()).then(|| bits / duration.as_secs_f64()),
        retransmissions: sent.retransmissions,
        spurious_retransmissions: sent.spurious_retransmissions,
        retransmitted_bytes: sent.retransmitted.get(),
        out_of_order: sent.out_of_order,
        after_hole: sent.after_hole,
        duplicate_acknowledgements: sent.duplicate_acknowledgements,
        keep_alives: sent.keep_alives,
        window_probes: sent.window_probes,
        zero_windows: sent.zero_windows,
        zero_window_time_s: sent.zero_window_time.as_secs_f64(),
        maximum_segment_size_bytes: sent.maximum_segment_size.map(u64::from),
        fin: sent.fin,
        reset: sent.reset,
        round_trip_karn: figure(&sent.round_trips.karn, "s", "acknowledgement"),
        round_trip: figure(&sent.round_trips.all, "s", "acknowledgement"),
        in_flight: figure(&sent.in_flight, "B", "segment"),
        in_flight_max_bytes: sent.in_flight.max().map(|most| most as u64),
    }
}

fn udp(flow: &UdpFlow, began: Instant) -> record::UdpFlow {
    let sent = |sent: &UdpSent| record::UdpSent {
        packets: sent.packets,
        bytes: sent.bytes.get(),
        header_bytes: sent.headers.get(),
    };
    record::UdpFlow {
        client: flow.client.to_string(),
        server: flow.server.to_string(),
        began_s: since(began, flow.first),
        duration_s: flow.duration().as_secs_f64(),
        up: sent(&flow.up),
        down: sent(&flow.down),
    }
}

fn http(http: &Transactions, began: Instant) -> record::Http {
    let transaction = |(connection, transaction): &(usize, Transaction)| {
        let after = |at: Option<Instant>| at.map(|at| since(transaction.began, at));
        record::Transaction {
            connection: *connection as u64,
            method: transaction.method.clone(),
            target: transaction.target.clone(),
            status: transaction.status,
            request_bytes: transaction.request_bytes.get(),
            response_bytes: transaction.response_bytes.get(),
            began_s: since(began, transaction.began),
            time_to_first_byte_s: after(transaction.first_byte),
            time_to_last_byte_s: after(transaction.ended),
        }
    };
    record::Http {
        transactions: http.count,
        whole: http.whole,
        time_to_first_byte: figure(&http.time_to_first_byte, "s", "transaction"),
        time_to_last_byte: figure(&http.time_to_last_byte, "s", "transaction"),
        listed: http.listed.iter().map(transaction).collect(),
    }
}

fn wireless(wireless: &Wireless, duration: Duration) -> record::Wireless {
    let counts = |counts: &FrameCounts| record::FrameCounts {
        frames: counts.frames,
        retries: counts.retries,
        bytes: counts.bytes.get(),
        airtime_s: counts.airtime.as_secs_f64(),
    };
    let total = wireless.total();
    record::Wireless {
        total: counts(&total),
        airtime_share: (total.frames > 0 && !duration.is_zero())
            .then(|| total.airtime.as_secs_f64() / duration.as_secs_f64()),
        kinds: wireless
            .kinds
            .iter()
            .map(|((kind, rate), of)| record::FramesOfKind {
                kind: kind.name().to_owned(),
                rate_bit_per_second: rate.map(|rate| 500_000 * u64::from(rate)),
                counts: counts(of),
            })
            .collect(),
        stations: wireless
            .stations
            .iter()
            .map(|(address, of)| record::FramesOfStation {
                address: address_text(*address),
                counts: counts(&of.all),
                signal_mean_dbm: (of.signal.1 > 0).then(|| of.signal.0 as f64 / of.signal.1 as f64),
            })
            .collect(),
    }
}

fn since(began: Instant, at: Instant) -> f64 {
    at.saturating_since(began).as_secs_f64()
}

/// The samples as a figure; none where there are none.
fn figure(samples: &StreamingSummary, unit: &str, per: &str) -> Option<Figure> {
    let moments = Moments {
        n: samples.count(),
        mean: samples.mean()?,
        population_sd: samples.population_sd()?,
        sd: samples.sd(),
    };
    Some(Figure::of_moments(unit, per, moments, |probability| {
        samples.quantile(probability)
    }))
}
