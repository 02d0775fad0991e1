//! The drawing of a capture's HTTP transactions, request by request.

use crate::record::{Connection, Inspection, Transaction};
use lastmile_chart::waterfall::{Load, Phase, Row, Waterfall};
use lastmile_report::number::quantity;
use std::collections::BTreeSet;

/// The first `rows` transactions, in the order of their requests; none where there are none.
pub(super) fn drawing(inspection: &Inspection, rows: usize) -> Option<Waterfall> {
    let mut opened = BTreeSet::new();
    let listed = inspection.http.listed.iter().take(rows);
    let rows: Vec<Row> = listed
        .filter_map(|transaction| {
            let connection = inspection.connections.get(transaction.connection as usize)?;
            let is_first = opened.insert(transaction.connection);
            Some(row(transaction, connection, is_first))
        })
        .collect();
    (!rows.is_empty()).then(|| Waterfall {
        title: "Every request".to_owned(),
        note: "From a request's first byte at the capture point to the first and the last byte of its response; before a request that a connection \
               was opened for, its handshake. A response that the capture lacks the end of is drawn to its first byte. Point at a row for all that is known of it."
            .to_owned(),
        load: Load {
            name: String::new(),
            events: Vec::new(),
        },
        before: None,
        rows,
    })
}

fn row(transaction: &Transaction, connection: &Connection, is_first: bool) -> Row {
    let Transaction {
        method, target, status, ..
    } = transaction;
    let handshake = handshake(transaction, connection).filter(|_| is_first);
    let first_byte = transaction.time_to_first_byte_s.unwrap_or_default();
    let last_byte = transaction.time_to_last_byte_s.unwrap_or(first_byte);
    let answer = match (status, transaction.time_to_last_byte_s) {
        (None, _) => "no response".to_owned(),
        (Some(status), None) => format!("status {status}, incomplete"),
        (Some(status), Some(_)) => format!("status {status}"),
    };
    Row {
        name: if method == "GET" {
            target.clone()
        } else {
            format!("{method} {target}")
        },
        host: connection.server.clone(),
        details: format!(
            "{answer}, {} of request and {} of response\nTCP no. {}, from {}",
            quantity(transaction.request_bytes as f64, "B"),
            quantity(transaction.response_bytes as f64, "B"),
            transaction.connection + 1,
            connection.client,
        ),
        start: transaction.began_s - handshake.unwrap_or_default(),
        phases: vec![
            (Phase::Connect, handshake.unwrap_or_default()),
            (Phase::Wait, first_byte),
            (Phase::Receive, last_byte - first_byte),
        ],
        before: None,
        is_critical: false,
        connection: Some(transaction.connection + 1),
    }
}

/// From a connection's SYN to its first request, in seconds; none where the request came so much later that the connection was not opened for
/// it: after two round trips, which is our own choice.
fn handshake(transaction: &Transaction, connection: &Connection) -> Option<f64> {
    let since_opening = transaction.began_s - connection.began_s;
    let round_trip = connection.handshake.as_ref()?.round_trip_s;
    (0.0..=2.0 * round_trip)
        .contains(&since_opening)
        .then_some(since_opening)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixtures::inspection;

    /// The phases of each row, in thousandths of a second.
    fn bars(inspection: &Inspection, rows: usize) -> Vec<(f64, Vec<f64>)> {
        let round = |seconds: f64| (seconds * 1e3).round();
        let drawn = drawing(inspection, rows).unwrap().rows;
        let bar = |row: &Row| {
            let lengths = row.phases.iter().map(|(_, length)| round(*length));
            (round(row.start), lengths.collect())
        };
        drawn.iter().map(bar).collect()
    }

    #[test]
    fn the_first_request_of_a_connection_begins_with_its_handshake() {
        let mut inspection = inspection();
        let connection = &mut inspection.connections[0];
        (connection.began_s, connection.handshake.as_mut().unwrap().round_trip_s) = (0.0, 0.05);
        let first = &mut inspection.http.listed[0];
        (first.began_s, first.time_to_first_byte_s, first.time_to_last_byte_s) = (0.06, Some(0.1), Some(0.3));
        let second = Transaction {
            began_s: 0.5,
            time_to_last_byte_s: None,
            ..first.clone()
        };
        inspection.http.listed.push(second);
        let drawn = [(0.0, vec![60.0, 100.0, 200.0]), (500.0, vec![0.0, 100.0, 0.0])];
        assert_eq!(bars(&inspection, 10), drawn);
        assert_eq!(bars(&inspection, 1), drawn[..1]);
        // A connection that was there long before the request was not opened for it.
        inspection.http.listed[0].began_s = 0.11;
        assert_eq!(bars(&inspection, 1), [(110.0, vec![0.0, 100.0, 200.0])]);
    }

    #[test]
    fn without_http_there_is_nothing_to_draw() {
        let mut inspection = inspection();
        inspection.http.listed[0].connection = 99;
        assert_eq!(drawing(&inspection, 10), None, "a record that was edited");
        inspection.http.listed.clear();
        assert_eq!(drawing(&inspection, 10), None);
    }
}
