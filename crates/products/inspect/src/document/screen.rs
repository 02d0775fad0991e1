//! What a capture says on one screen: the connections that carried most, what was dropped, and the sentence.

use super::{answer_parts, end_text, handshake_text};
use crate::record::{Connection, Inspection};
use lastmile_report::document::{Grid, Row};
use lastmile_report::number::{count, counted, quantity};
use lastmile_report::screen::{STANDARD_INPUT, Screen, Tile, shell_word};
use std::cmp::Reverse;

pub(super) fn screen(inspection: &Inspection) -> Screen {
    let capture = &inspection.capture;
    let (question, mut answer) = answer_parts(inspection);
    let comments: Vec<String> = capture
        .comments
        .iter()
        .map(|comment| format!("{} ({})", comment.text, counted(comment.packets, "packet")))
        .collect();
    if !comments.is_empty() {
        answer.push(format!("Its writer noted: {}.", comments.join("; ")));
    }
    if answer.is_empty() {
        answer.push("No TCP connection carried data.".to_owned());
    }
    let table = [
        connections(&inspection.connections),
        udp(inspection),
        super::wireless_kinds(&inspection.wireless),
    ];
    Screen {
        question,
        table: table.into_iter().find(|grid| !grid.rows.is_empty()).map(untitled),
        spare_columns: vec!["no.", "begins", "ended", "round trip"],
        doubts: Screen::doubt_texts(
            inspection
                .doubts
                .iter()
                .chain(inspection.connections.iter().flat_map(|flow| &flow.doubts)),
        ),
        answer: answer.join(" "),
        tiles: tiles(inspection),
        next: if capture.source == STANDARD_INPUT {
            String::new()
        } else {
            format!("lastmile inspect {} --details", shell_word(&capture.source))
        },
        ..Screen::default()
    }
}

/// What was captured, what TCP carried, and how long HTTP took.
fn tiles(inspection: &Inspection) -> Vec<Tile> {
    let capture = &inspection.capture;
    let over = format!("in {}", quantity(capture.duration_s, "s"));
    let mut tiles = vec![Tile::new("captured", counted(capture.packets, "packet"), over)];
    let directions = inspection.connections.iter().flat_map(|flow| [&flow.up, &flow.down]);
    let bytes: u64 = directions.clone().map(|sent| sent.payload_once_bytes).sum();
    let retransmissions = directions.map(|sent| sent.retransmissions).sum();
    if bytes > 0 {
        let again = counted(retransmissions, "retransmission");
        tiles.push(Tile::new(
            "carried by TCP",
            quantity(bytes as f64, "B"),
            format!("with {again}"),
        ));
    }
    if let Some(time) = &inspection.http.time_to_last_byte {
        let of = format!(
            "to the last byte, the mean of {}",
            counted(inspection.http.transactions, "transaction")
        );
        tiles.push(Tile::new("HTTP", quantity(time.mean, &time.unit), of));
    }
    tiles
}

/// The connections by their bytes, the largest first.
fn connections(flows: &[Connection]) -> Grid {
    let mut flows: Vec<(usize, &Connection)> = flows.iter().enumerate().collect();
    let payload = |flow: &Connection| flow.up.payload_once_bytes + flow.down.payload_once_bytes;
    flows.sort_by_key(|(_, flow)| Reverse(payload(flow)));
    let row = |(at, flow): &(usize, &Connection)| {
        let carried = if flow.down.payload_once_bytes < flow.up.payload_once_bytes {
            &flow.up
        } else {
            &flow.down
        };
        vec![
            (at + 1).to_string(),
            flow.server.clone(),
            quantity(flow.up.payload_once_bytes as f64, "B"),
            quantity(flow.down.payload_once_bytes as f64, "B"),
            quantity(flow.began_s, "s"),
            quantity(flow.duration_s, "s"),
            carried
                .goodput_bit_per_second
                .map_or_else(String::new, |rate| quantity(rate, "bit/s")),
            handshake_text(flow.opening, flow.handshake.as_ref()),
            count(flow.up.retransmissions + flow.down.retransmissions),
            end_text(flow).to_owned(),
        ]
    };
    Grid::new("", "")
        .figure_columns(["no."])
        .word_columns(["server"])
        .figure_columns(["up", "down", "begins", "lasts", "rate", "round trip", "resent"])
        .word_columns(["ended"])
        .plain_rows(flows.iter().map(row))
}

/// The UDP flows by their bytes, the largest first.
fn udp(inspection: &Inspection) -> Grid {
    let mut flows: Vec<_> = inspection.udp.iter().collect();
    flows.sort_by_key(|flow| Reverse(flow.up.bytes + flow.down.bytes));
    let rows = flows.iter().map(|flow| {
        vec![
            flow.client.clone(),
            flow.server.clone(),
            quantity(flow.up.bytes as f64, "B"),
            quantity(flow.down.bytes as f64, "B"),
            quantity(flow.duration_s, "s"),
        ]
    });
    Grid::new("", "")
        .word_columns(["client", "server"])
        .figure_columns(["up", "down", "lasts"])
        .plain_rows(rows)
}

fn untitled(grid: Grid) -> Grid {
    let rows = grid
        .rows
        .into_iter()
        .map(|row| Row {
            cells: row.cells,
            ..Row::default()
        })
        .collect();
    Grid {
        title: String::new(),
        rows,
        ..grid
    }
}
