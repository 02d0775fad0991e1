//! The tables and sentences of a capture.

mod screen;
mod waterfall;

use crate::csv;
use crate::record::{
    Comment, Connection, FrameCounts, FramesOfKind, FramesOfStation, Handshake, Http, Inspection, Opening, Sent,
    Transaction, UdpFlow, Wireless,
};
use lastmile_report::csv::Rows;
use lastmile_report::document::{Block, Detail, Grid, Record, RowEmphasis};
use lastmile_report::number::{count, counted, percent, quantity, with_decimals};
use lastmile_report::page::{Page, PageRecord};
use lastmile_report::record::Figure;
use lastmile_report::screen::Screen;

impl Record for Inspection {
    /// The capture in the order of a terminal: a summary, then the tables, as far as they fit on a few screens.
    fn blocks(&self, _: Detail) -> Vec<Block> {
        let mut blocks = vec![Block::Answer(answer(self))];
        blocks.extend(tables(self, ROWS_SHORT));
        blocks.extend(doubts(self));
        blocks
    }

    fn rows(&self) -> Rows {
        csv::inspection(self)
    }

    fn screen(&self) -> Option<Screen> {
        Some(screen::screen(self))
    }
}

/// How many flows or transactions a terminal and a page show: our own choice. The other formats have all.
const ROWS_SHORT: usize = 20;
const ROWS_LONG: usize = 500;

/// What is in the capture, in a few sentences.
fn answer(inspection: &Inspection) -> String {
    let (capture, sentences) = answer_parts(inspection);
    std::iter::once(capture).chain(sentences).collect::<Vec<_>>().join(" ")
}

/// A sentence on the capture, and those on what TCP and HTTP carried.
fn answer_parts(inspection: &Inspection) -> (String, Vec<String>) {
    let Inspection {
        capture,
        connections,
        udp,
        http,
        ..
    } = inspection;
    let sum = |figure: fn(&Sent) -> u64| -> u64 {
        connections
            .iter()
            .map(|flow| figure(&flow.up) + figure(&flow.down))
            .sum()
    };
    let (payload, once) = (sum(|sent| sent.payload_bytes), sum(|sent| sent.payload_once_bytes));
    let about = format!(
        "{}: {} in {}, on {} and {}.",
        capture.source,
        counted(capture.packets, "packet"),
        quantity(capture.duration_s, "s"),
        counted(connections.len() as u64, "TCP connection"),
        counted(udp.len() as u64, "UDP flow"),
    );
    let mut sentences = Vec::new();
    if payload > 0 {
        sentences.push(format!(
            "TCP carried {}, with {} ({} of the payload retransmitted) and {} out of order.",
            quantity(once as f64, "B"),
            counted(sum(|sent| sent.retransmissions), "retransmission"),
            percent((payload - once.min(payload)) as f64 / payload as f64),
            counted(sum(|sent| sent.out_of_order), "segment"),
        ));
    }
    if let Some(time) = &http.time_to_last_byte {
        sentences.push(format!(
            "HTTP: {}, complete after {} on average.",
            counted(http.transactions, "transaction"),
            quantity(time.mean, &time.unit)
        ));
    }
    (about, sentences)
}

/// Every table that has a row.
fn tables(inspection: &Inspection, rows: usize) -> Vec<Block> {
    let shown = &inspection.connections[..inspection.connections.len().min(rows)];
    let left_out = left_out(inspection.connections.len(), rows);
    let grids = [
        connections(shown, &left_out),
        sent(shown, &left_out),
        round_trips(shown, &left_out),
        udp(inspection, rows),
        wireless_kinds(&inspection.wireless),
        wireless_stations(&inspection.wireless, rows),
        http(&inspection.http, rows),
        comments(&inspection.capture.comments),
        set_aside(inspection),
    ];
    grids
        .into_iter()
        .filter(|grid| !grid.rows.is_empty())
        .map(Block::Grid)
        .collect()
}

/// Doubts about the whole capture; none where there are none.
fn doubts(inspection: &Inspection) -> Option<Block> {
    Block::notes(&inspection.doubts, std::iter::empty())
}

/// The file, and where it was captured.
fn provenance_text(inspection: &Inspection) -> String {
    let capture = &inspection.capture;
    let interface = |interface: &crate::record::Interface| match interface.snap_length_bytes {
        Some(length) => format!("{} ({length} bytes of each packet at most)", interface.link_type),
        None => interface.link_type.clone(),
    };
    let interfaces: Vec<String> = capture.interfaces.iter().map(interface).collect();
    format!(
        "Read from {}, {} of {}: {}, captured at {}. Times are those at the capture point. A retransmission holds a byte that \
         passed before; a segment that fills a hole is out of order. lastmile {}.",
        capture.source,
        quantity(capture.file_bytes as f64, "B"),
        capture.format,
        counted(capture.packets, "packet"),
        interfaces.join(", "),
        inspection.version,
    )
}

fn connections(shown: &[Connection], left_out: &str) -> Grid {
    let note = format!(
        "Begins: time since the capture's first packet. Handshake: a whole round trip. Up and down: goodput, each byte counted \
         once. Idle: the time in gaps of a second or longer.{left_out}"
    );
    let mut grid = Grid::new("TCP connections", note)
        .figure_columns(["no."])
        .word_columns(["client", "server"])
        .figure_columns(["begins", "duration", "handshake", "up", "down", "idle"])
        .word_columns(["ended"]);
    for (at, flow) in shown.iter().enumerate() {
        let goodput = |sent: &Sent| match sent.goodput_bit_per_second {
            Some(rate) if sent.payload_once_bytes > 0 => quantity(rate, "bit/s"),
            _ => String::new(),
        };
        let cells = vec![
            (at + 1).to_string(),
            flow.client.clone(),
            flow.server.clone(),
            quantity(flow.began_s, "s"),
            quantity(flow.duration_s, "s"),
            handshake_text(flow.opening, flow.handshake.as_ref()),
            goodput(&flow.up),
            goodput(&flow.down),
            unless_zero(flow.idle.gaps, || quantity(flow.idle.time_s, "s")),
            end_text(flow).to_owned(),
        ];
        grid.row(cells, RowEmphasis::Plain, &flow.doubts);
    }
    grid
}

fn handshake_text(opening: Opening, handshake: Option<&Handshake>) -> String {
    match (opening, handshake) {
        (_, Some(handshake)) => quantity(handshake.round_trip_s, "s"),
        (Opening::Unanswered, _) => "unanswered".to_owned(),
        _ => "not seen".to_owned(),
    }
}

fn end_text(flow: &Connection) -> &'static str {
    match (flow.up.reset || flow.down.reset, flow.up.fin, flow.down.fin) {
        (true, ..) => "reset",
        (_, true, true) => "closed",
        (_, false, false) => "open",
        _ => "half closed",
    }
}

/// One row per direction.
fn sent(shown: &[Connection], left_out: &str) -> Grid {
    let note = format!(
        "Up is from the client to the server. Headers are those of IP and TCP, as a share of all bytes sent.{left_out}"
    );
    let row = |(at, way, sent): (usize, &str, &Sent)| {
        vec![
            (at + 1).to_string(),
            way.to_owned(),
            count(sent.packets),
            quantity(sent.payload_once_bytes as f64, "B"),
            sent.header_share.map_or_else(String::new, percent),
            count(sent.retransmissions),
            count(sent.spurious_retransmissions),
            count(sent.out_of_order),
            count(sent.duplicate_acknowledgements),
            unless_zero(sent.zero_windows, || {
                format!(
                    "{}, {}",
                    count(sent.zero_windows),
                    quantity(sent.zero_window_time_s, "s")
                )
            }),
        ]
    };
    Grid::new("What each side sent", note)
        .figure_columns(["no."])
        .word_columns(["way"])
        .figure_columns([
            "packets",
            "payload",
            "headers",
            "retransmitted",
            "spurious",
            "out of order",
            "duplicate ACKs",
            "zero windows",
        ])
        .plain_rows(directions(shown).map(row))
}

/// One row per direction that carried acknowledged data.
fn round_trips(shown: &[Connection], left_out: &str) -> Grid {
    let note = format!(
        "From a side's segments to their acknowledgements, at the capture point: under Karn's rule, and with every acknowledgement. In \
         flight: sent and not yet acknowledged.{left_out}"
    );
    let quantile = |figure: Option<&Figure>, p: &str| {
        let found = figure.and_then(|figure| Some((figure.quantiles.get(p)?, &figure.unit)));
        found.map_or_else(String::new, |(value, unit)| quantity(*value, unit))
    };
    let samples = |figure: Option<&Figure>| figure.map_or_else(String::new, |figure| count(figure.n));
    let row = |(at, way, sent): (usize, &str, &Sent)| {
        let (karn, all) = (sent.round_trip_karn.as_ref(), sent.round_trip.as_ref());
        let in_flight = sent.in_flight.as_ref();
        vec![
            (at + 1).to_string(),
            way.to_owned(),
            samples(karn),
            quantile(karn, "0.5"),
            quantile(karn, "0.95"),
            samples(all),
            quantile(all, "0.5"),
            quantile(all, "0.95"),
            in_flight.map_or_else(String::new, |figure| quantity(figure.mean, &figure.unit)),
            sent.in_flight_max_bytes
                .map_or_else(String::new, |most| quantity(most as f64, "B")),
        ]
    };
    Grid::new("Round trips", note)
        .figure_columns(["no."])
        .word_columns(["way"])
        .figure_columns([
            "samples",
            "median",
            "p95",
            "all samples",
            "all median",
            "all p95",
            "in flight",
            "most in flight",
        ])
        .plain_rows(
            directions(shown)
                .filter(|(.., sent)| sent.round_trip.is_some())
                .map(row),
        )
}

fn directions(shown: &[Connection]) -> impl Iterator<Item = (usize, &'static str, &Sent)> {
    let numbered = shown.iter().enumerate();
    numbered.flat_map(|(at, flow)| [(at, "up", &flow.up), (at, "down", &flow.down)])
}

fn udp(inspection: &Inspection, rows: usize) -> Grid {
    let note = format!("Bytes are those of IP packets.{}", left_out(inspection.udp.len(), rows));
    let row = |(at, flow): (usize, &UdpFlow)| {
        vec![
            (at + 1).to_string(),
            flow.client.clone(),
            flow.server.clone(),
            quantity(flow.began_s, "s"),
            quantity(flow.duration_s, "s"),
            count(flow.up.packets),
            quantity(flow.up.bytes as f64, "B"),
            count(flow.down.packets),
            quantity(flow.down.bytes as f64, "B"),
        ]
    };
    Grid::new("UDP flows", note)
        .figure_columns(["no."])
        .word_columns(["client", "server"])
        .figure_columns([
            "first packet",
            "duration",
            "packets up",
            "bytes up",
            "packets down",
            "bytes down",
        ])
        .plain_rows(inspection.udp.iter().take(rows).enumerate().map(row))
}

/// Frames of 802.11 by kind and rate.
fn wireless_kinds(wireless: &Wireless) -> Grid {
    let mut note =
        "802.11 frames by kind and rate. Airtime includes preambles. A retry is a frame that the MAC sends again."
            .to_owned();
    note += &format!(" In all: {}", counted(wireless.total.frames, "frame"));
    if let Some(share) = wireless.airtime_share {
        note += &format!(", on the air for {} of the time", percent(share));
    }
    note += ".";
    let row = |of: &FramesOfKind| {
        let rate = of
            .rate_bit_per_second
            .map_or_else(String::new, |rate| quantity(rate as f64, "bit/s"));
        let mut cells = vec![of.kind.clone(), rate];
        cells.extend(frame_counts(&of.counts));
        cells
    };
    Grid::new("Frames on the air", note)
        .word_columns(["kind"])
        .figure_columns(["rate", "frames", "retries", "bytes", "airtime"])
        .plain_rows(wireless.kinds.iter().map(row))
}

/// Frames of 802.11 by their sender.
fn wireless_stations(wireless: &Wireless, rows: usize) -> Grid {
    let stations = &wireless.stations;
    let note = format!(
        "802.11 frames by their sender, where it is stated: ACKs and CTSs state none.{}",
        left_out(stations.len(), rows)
    );
    let row = |of: &FramesOfStation| {
        let mut cells = vec![of.address.clone()];
        cells.extend(frame_counts(&of.counts));
        cells.push(
            of.signal_mean_dbm
                .map_or_else(String::new, |signal| format!("{} dBm", with_decimals(signal, 1))),
        );
        cells
    };
    Grid::new("Stations on the air", note)
        .word_columns(["station"])
        .figure_columns(["frames", "retries", "bytes", "airtime", "signal"])
        .plain_rows(stations.iter().take(rows).map(row))
}

fn frame_counts(counts: &FrameCounts) -> [String; 4] {
    [
        count(counts.frames),
        count(counts.retries),
        quantity(counts.bytes as f64, "B"),
        quantity(counts.airtime_s, "s"),
    ]
}

fn http(http: &Http, rows: usize) -> Grid {
    let mut note = "HTTP/1.1 in clear text, in the order of requests. Times are from the request's first byte to the response's first and last."
        .to_owned();
    let times = [
        ("first byte", &http.time_to_first_byte),
        ("last byte", &http.time_to_last_byte),
    ];
    for (name, figure) in times {
        let median_and_p95 = |figure: &Figure| Some((*figure.quantiles.get("0.5")?, *figure.quantiles.get("0.95")?));
        if let Some((median, p95)) = figure.as_ref().and_then(median_and_p95) {
            note += &format!(
                " Time to {name}: median {}, p95 {}.",
                quantity(median, "s"),
                quantity(p95, "s")
            );
        }
    }
    note += &left_out(http.transactions as usize, rows);
    Grid::new("HTTP transactions", note)
        .figure_columns(["TCP no."])
        .word_columns(["method", "target", "status"])
        .figure_columns(["request", "response", "first byte", "last byte"])
        .plain_rows(http.listed.iter().take(rows).map(transaction_cells))
}

fn transaction_cells(transaction: &Transaction) -> Vec<String> {
    let time = |time: Option<f64>| time.map_or_else(String::new, |time| quantity(time, "s"));
    vec![
        (transaction.connection + 1).to_string(),
        transaction.method.clone(),
        shortened(&transaction.target),
        transaction.status.map_or_else(String::new, |status| status.to_string()),
        quantity(transaction.request_bytes as f64, "B"),
        quantity(transaction.response_bytes as f64, "B"),
        time(transaction.time_to_first_byte_s),
        time(transaction.time_to_last_byte_s),
    ]
}

/// Cuts long targets: they are queries that nobody reads in a table.
fn shortened(target: &str) -> String {
    const LENGTH: usize = 60;
    match target.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &target[..end]),
        None => target.to_owned(),
    }
}

fn comments(all: &[Comment]) -> Grid {
    let row = |Comment { text, packets }: &Comment| vec![text.clone(), count(*packets)];
    Grid::new("Comments", "Comments that the capture's writer attached to packets.")
        .word_columns(["comment"])
        .figure_columns(["packets"])
        .plain_rows(all.iter().map(row))
}

fn set_aside(inspection: &Inspection) -> Grid {
    let row = |(why, packets): (&String, &u64)| vec![why.clone(), count(*packets)];
    Grid::new("Packets in no flow", "")
        .word_columns(["reason"])
        .figure_columns(["packets"])
        .plain_rows(inspection.capture.set_aside.iter().map(row))
}

fn left_out(there: usize, rows: usize) -> String {
    match there.saturating_sub(rows) {
        0 => String::new(),
        more => format!(" {} more are in the formats json and csv.", count(more as u64)),
    }
}

/// The text where the count is not 0, or else nothing.
fn unless_zero(count: u64, text: impl FnOnce() -> String) -> String {
    if count == 0 { String::new() } else { text() }
}

impl PageRecord for Inspection {
    fn page(&self) -> Page<'_> {
        let Inspection { capture, charts, .. } = self;
        let mut summary = vec![Block::Answer(answer(self))];
        summary.extend(doubts(self));
        let requests = waterfall::drawing(self, ROWS_LONG).map(Block::Waterfall);
        Page {
            title: &capture.source,
            kind: "capture",
            question: "What is in this capture?",
            facts: vec![
                capture.source.clone(),
                capture.format.clone(),
                format!("lastmile {}", self.version),
            ],
            sections: vec![
                ("In short".to_owned(), summary),
                (
                    "Time and sequence".to_owned(),
                    charts.iter().cloned().map(Block::Chart).collect(),
                ),
                ("Requests".to_owned(), requests.into_iter().collect()),
                ("Figures".to_owned(), tables(self, ROWS_LONG)),
            ],
            how: provenance_text(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixtures::inspection;
    use lastmile_report::terminal::{self, TerminalStyle};
    use lastmile_report::testing::{check_page, check_record, check_schema};

    #[test]
    fn the_record_keeps_what_every_record_must() {
        check_schema("inspect", &inspection());
        check_record(&inspection(), &["handshake", "before-capture"]);
        check_page(&inspection(), &["handshake", "before-capture"], &[]);
    }

    #[test]
    fn a_capture_is_shown_like_this() {
        let style = TerminalStyle {
            width: 120,
            colour: false,
        };
        insta::assert_snapshot!(terminal::render(&inspection(), Detail::Short, style));
    }
}
