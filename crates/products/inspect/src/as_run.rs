//! An inspection as a run of a study, so that two captures can be compared: all connections together, what each side sent, and HTTP.
//!
//! Connections have other ports in each capture, so they are not told apart.

use crate::record::{Inspection, Sent};
use lastmile_report::record::{Cell, Figure, Run};

impl Inspection {
    /// What clients and servers sent over TCP, all connections together, and the times of HTTP.
    pub fn as_run(&self) -> Run {
        let way = |name: &str, sent: &[&Sent]| {
            let sum = |unit: &str, count: fn(&Sent) -> u64| {
                let sum: u64 = sent.iter().map(|sent| count(sent)).sum();
                Some(Figure::of_value(unit, sum as f64))
            };
            let figures = [
                ("packets", sum("1", |sent| sent.packets)),
                ("sent_bytes", sum("B", |sent| sent.bytes)),
                ("payload_bytes", sum("B", |sent| sent.payload_once_bytes)),
                ("retransmissions", sum("1", |sent| sent.retransmissions)),
                ("out_of_order", sum("1", |sent| sent.out_of_order)),
            ];
            Cell::of_figures("tcp", [("way", name)], figures, &self.doubts)
        };
        let up: Vec<&Sent> = self.connections.iter().map(|flow| &flow.up).collect();
        let down: Vec<&Sent> = self.connections.iter().map(|flow| &flow.down).collect();
        let whole = [
            ("duration", Some(Figure::of_value("s", self.capture.duration_s))),
            (
                "connections",
                Some(Figure::of_value("1", self.connections.len() as f64)),
            ),
        ];
        let http = [
            (
                "transactions",
                Some(Figure::of_value("1", self.http.transactions as f64)),
            ),
            ("time_to_first_byte", self.http.time_to_first_byte.clone()),
            ("time_to_last_byte", self.http.time_to_last_byte.clone()),
        ];
        let cells = vec![
            Cell::of_figures("capture", [], whole, &self.doubts),
            way("down", &down),
            way("up", &up),
            Cell::of_figures("http", [], http, &self.doubts),
        ];
        let run = Run::of_cells(format!("inspect {}", self.capture.source), &self.version, 0, cells);
        Run {
            world: "captured".to_owned(),
            ..run
        }
    }
}
