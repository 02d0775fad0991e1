//! Which tables and sentences show a capture?

use super::{Block, Grid, Tone};
use crate::inspect::{Comment, Connection, Handshake, Http, Inspection, Opening, Sent, Transaction};
use crate::number::{percent, plain, quantity};
use crate::record::Figure;

/// The capture in the order of a terminal: what it is, then the tables, as far as they fit on a few screens.
pub(crate) fn for_terminal(inspection: &Inspection) -> Vec<Block> {
    let mut blocks = vec![Block::Answer(answer(inspection))];
    blocks.extend(tables(inspection, ROWS_SHORT));
    blocks.extend(doubts(inspection));
    blocks
}

/// How many flows or transactions a terminal and a page are shown: our own choice. The other forms have all.
const ROWS_SHORT: usize = 20;
pub(crate) const ROWS_LONG: usize = 500;

/// What is in the capture, in two sentences.
pub(crate) fn answer(inspection: &Inspection) -> String {
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
    let mut text = format!(
        "{}: {} in {}, on {} and {}.",
        capture.source,
        counted(capture.packets, "packet"),
        quantity(capture.duration_s, "s"),
        counted(connections.len() as u64, "TCP connection"),
        counted(udp.len() as u64, "UDP flow"),
    );
    if payload > 0 {
        text += &format!(
            " TCP carried {}, with {} ({} of the payload sent again) and {} out of order.",
            quantity(once as f64, "B"),
            counted(sum(|sent| sent.retransmissions), "retransmission"),
            percent((payload - once.min(payload)) as f64 / payload as f64),
            counted(sum(|sent| sent.out_of_order), "segment"),
        );
    }
    if let Some(time) = &http.time_to_last_byte {
        text += &format!(
            " HTTP: {}, whole after {} on average.",
            counted(http.transactions, "transaction"),
            quantity(time.mean, &time.unit)
        );
    }
    text
}

/// Every table that has a row.
pub(crate) fn tables(inspection: &Inspection, rows: usize) -> Vec<Block> {
    let shown = &inspection.connections[..inspection.connections.len().min(rows)];
    let left_out = left_out(inspection.connections.len(), rows);
    let grids = [
        connections(shown, &left_out),
        sent(shown, &left_out),
        round_trips(shown, &left_out),
        udp(inspection, rows),
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

/// What makes the whole suspect; none where nothing is.
pub(crate) fn doubts(inspection: &Inspection) -> Option<Block> {
    (!inspection.doubts.is_empty()).then(|| Block::Doubts(inspection.doubts.clone()))
}

/// The file, and what it was captured at.
pub(crate) fn captured_how(inspection: &Inspection) -> String {
    let capture = &inspection.capture;
    let interface = |interface: &crate::inspect::Interface| match interface.snap_length_bytes {
        Some(length) => format!("{} ({length} octets of a packet at most)", interface.link_type),
        None => interface.link_type.clone(),
    };
    let interfaces: Vec<String> = capture.interfaces.iter().map(interface).collect();
    format!(
        "Read from {}, {} of {}: {}, captured at {}. Times are those of the place of capture. A retransmission holds an octet that \
         passed before; what fills a hole is out of order. lastmile {}.",
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
        "Each begins so long after the capture's first packet. A handshake is a whole round trip; up and down are goodput, each octet counted \
         once; idle is the time in gaps of a second or longer.{left_out}"
    );
    let mut grid = Grid::new("TCP connections", note)
        .figures(["no."])
        .words(["client", "server"])
        .figures(["begins", "duration", "handshake", "up", "down", "idle"])
        .words(["ended"]);
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
            opened(flow.opening, flow.handshake.as_ref()),
            goodput(&flow.up),
            goodput(&flow.down),
            some(flow.idle.gaps, || quantity(flow.idle.time_s, "s")),
            ended(flow).to_owned(),
        ];
        grid.row(cells, Tone::Plain, &flow.doubts);
    }
    grid
}

fn opened(opening: Opening, handshake: Option<&Handshake>) -> String {
    match (opening, handshake) {
        (_, Some(handshake)) => quantity(handshake.round_trip_s, "s"),
        (Opening::Unanswered, _) => "unanswered".to_owned(),
        _ => "not seen".to_owned(),
    }
}

fn ended(flow: &Connection) -> &'static str {
    match (flow.up.reset || flow.down.reset, flow.up.fin, flow.down.fin) {
        (true, ..) => "reset",
        (_, true, true) => "closed",
        (_, false, false) => "open",
        _ => "half closed",
    }
}

/// One row a direction.
fn sent(shown: &[Connection], left_out: &str) -> Grid {
    let note = format!(
        "Up is what the client sent. Headers are those of IP and TCP, as a share of all that was sent.{left_out}"
    );
    let mut grid = Grid::new("What each side sent", note)
        .figures(["no."])
        .words(["way"])
        .figures([
            "packets",
            "payload",
            "headers",
            "sent again",
            "spurious",
            "out of order",
            "duplicate ACKs",
            "zero windows",
        ]);
    for (at, way, sent) in directions(shown) {
        let cells = vec![
            (at + 1).to_string(),
            way.to_owned(),
            whole(sent.packets),
            quantity(sent.payload_once_bytes as f64, "B"),
            sent.header_share.map_or_else(String::new, percent),
            whole(sent.retransmissions),
            whole(sent.spurious_retransmissions),
            whole(sent.out_of_order),
            whole(sent.duplicate_acknowledgements),
            some(sent.zero_windows, || {
                format!(
                    "{}, {}",
                    whole(sent.zero_windows),
                    quantity(sent.zero_window_time_s, "s")
                )
            }),
        ];
        grid.row(cells, Tone::Plain, &[]);
    }
    grid
}

/// One row a direction that carried data which was acknowledged.
fn round_trips(shown: &[Connection], left_out: &str) -> Grid {
    let note = format!(
        "From a side's segments to their acknowledgements, at the place of capture: under Karn's rule, and with every acknowledgement. In \
         flight is what was sent and not acknowledged.{left_out}"
    );
    let mut grid = Grid::new("Round trips", note).figures(["no."]).words(["way"]).figures([
        "samples",
        "median",
        "p95",
        "all samples",
        "all median",
        "all p95",
        "in flight",
        "most in flight",
    ]);
    let quantile = |figure: Option<&Figure>, p: &str| {
        let found = figure.and_then(|figure| Some((figure.quantiles.get(p)?, &figure.unit)));
        found.map_or_else(String::new, |(value, unit)| quantity(*value, unit))
    };
    let count = |figure: Option<&Figure>| figure.map_or_else(String::new, |figure| whole(figure.n));
    for (at, way, sent) in directions(shown).filter(|(.., sent)| sent.round_trip.is_some()) {
        let (karn, all) = (sent.round_trip_karn.as_ref(), sent.round_trip.as_ref());
        let in_flight = sent.in_flight.as_ref();
        let cells = vec![
            (at + 1).to_string(),
            way.to_owned(),
            count(karn),
            quantile(karn, "0.5"),
            quantile(karn, "0.95"),
            count(all),
            quantile(all, "0.5"),
            quantile(all, "0.95"),
            in_flight.map_or_else(String::new, |figure| quantity(figure.mean, &figure.unit)),
            sent.in_flight_max_bytes
                .map_or_else(String::new, |most| quantity(most as f64, "B")),
        ];
        grid.row(cells, Tone::Plain, &[]);
    }
    grid
}

fn directions(shown: &[Connection]) -> impl Iterator<Item = (usize, &'static str, &Sent)> {
    let numbered = shown.iter().enumerate();
    numbered.flat_map(|(at, flow)| [(at, "up", &flow.up), (at, "down", &flow.down)])
}

fn udp(inspection: &Inspection, rows: usize) -> Grid {
    let note = format!("Bytes are those of IP packets.{}", left_out(inspection.udp.len(), rows));
    let mut grid = Grid::new("UDP flows", note)
        .figures(["no."])
        .words(["client", "server"])
        .figures([
            "first packet",
            "duration",
            "packets up",
            "bytes up",
            "packets down",
            "bytes down",
        ]);
    for (at, flow) in inspection.udp.iter().take(rows).enumerate() {
        let cells = vec![
            (at + 1).to_string(),
            flow.client.clone(),
            flow.server.clone(),
            quantity(flow.began_s, "s"),
            quantity(flow.duration_s, "s"),
            whole(flow.up.packets),
            quantity(flow.up.bytes as f64, "B"),
            whole(flow.down.packets),
            quantity(flow.down.bytes as f64, "B"),
        ];
        grid.row(cells, Tone::Plain, &[]);
    }
    grid
}

fn http(http: &Http, rows: usize) -> Grid {
    let mut note = "HTTP/1.1 in clear, in the order of requests. Times are from the request's first octet to the response's first and last."
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
    let mut grid = Grid::new("HTTP transactions", note)
        .figures(["TCP no."])
        .words(["method", "target", "status"])
        .figures(["request", "response", "first byte", "last byte"]);
    for transaction in http.listed.iter().take(rows) {
        grid.row(transaction_cells(transaction), Tone::Plain, &[]);
    }
    grid
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

/// Long targets are queries that nobody reads in a table.
fn shortened(target: &str) -> String {
    const LENGTH: usize = 60;
    match target.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &target[..end]),
        None => target.to_owned(),
    }
}

fn comments(all: &[Comment]) -> Grid {
    let mut grid = Grid::new("Comments", "What the writer of the capture remarks on packets.")
        .words(["comment"])
        .figures(["packets"]);
    for Comment { text, packets } in all {
        grid.row(vec![text.clone(), whole(*packets)], Tone::Plain, &[]);
    }
    grid
}

fn set_aside(inspection: &Inspection) -> Grid {
    let mut grid = Grid::new("Packets in no flow", "").words(["why"]).figures(["packets"]);
    for (why, packets) in &inspection.capture.set_aside {
        grid.row(vec![why.clone(), whole(*packets)], Tone::Plain, &[]);
    }
    grid
}

fn left_out(there: usize, rows: usize) -> String {
    match there.saturating_sub(rows) {
        0 => String::new(),
        more => format!(" {} more are in the forms json and csv.", whole(more as u64)),
    }
}

fn whole(count: u64) -> String {
    plain(count as f64, 0)
}

fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", whole(count), if count == 1 { "" } else { "s" })
}

/// What there is to say where the count is not 0.
fn some(count: u64, text: impl FnOnce() -> String) -> String {
    if count == 0 { String::new() } else { text() }
}
