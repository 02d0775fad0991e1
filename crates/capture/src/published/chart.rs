//! Which connections are drawn, and how? Time and sequence of those that carried most, each in the direction that carried more.

use crate::tcp::{Drawn, TcpFlow};
use crate::trace::Trace;
use lastmile_report::record::{Axis, Chart, Point, Scale, Series, Source};
use lastmile_units::Instant;

/// How many connections are drawn: our own choice, a few screens.
const CHARTS_MAX: usize = 6;
/// Of marks that no line joins, no more are drawn than this: our own choice, as many as can be told apart.
const MARKS_MAX: usize = 200;

/// A chart a connection, in the order of connections.
pub(super) fn time_sequences(flows: &[TcpFlow]) -> Vec<Chart> {
    let carried = |flow: &TcpFlow| flow.up.payload_once.max(flow.down.payload_once);
    let mut most: Vec<usize> = (0..flows.len()).filter(|at| carried(&flows[*at]).get() > 0).collect();
    most.sort_by_key(|at| (std::cmp::Reverse(carried(&flows[*at])), *at));
    most.truncate(CHARTS_MAX);
    most.sort_unstable();
    most.into_iter().map(|at| time_sequence(at, &flows[at])).collect()
}

fn time_sequence(at: usize, flow: &TcpFlow) -> Chart {
    let is_down = flow.down.payload_once >= flow.up.payload_once;
    let (drawn, from, to) = if is_down {
        (&flow.down.drawn, flow.server, flow.client)
    } else {
        (&flow.up.drawn, flow.client, flow.server)
    };
    let Drawn {
        sent,
        acknowledged,
        retransmissions,
        out_of_order,
        dropped,
    } = drawn;
    let all = [
        ("sent", true, sent),
        ("acknowledged", true, acknowledged),
        ("sent again", false, retransmissions),
        ("out of order", false, out_of_order),
        ("dropped", false, dropped),
    ];
    let axis = |label: &str, unit: &str| Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale: Scale::Linear,
    };
    Chart {
        title: format!("No. {}: from {from} to {to}", at + 1),
        note: "The newest octet sent, and acknowledged, as they passed the place of capture: the lines are a round trip apart, and what is \
               in flight is between them. Marks are where segments begin that were sent again, came out of order, or were dropped; \
               where they are many, some."
            .to_owned(),
        x: axis("Time since the connection began", "s"),
        y: axis("Octet of the stream", "B"),
        series: all
            .into_iter()
            .filter(|(.., trace)| !trace.points().is_empty())
            .map(|(name, joined, trace)| series(name, joined, trace, flow.first))
            .collect(),
    }
}

fn series(name: &str, joined: bool, trace: &Trace, began: Instant) -> Series {
    let step = if joined {
        1
    } else {
        trace.points().len().div_ceil(MARKS_MAX)
    };
    let point = |(at, octet): &(Instant, i64)| Point {
        x: at.saturating_since(began).as_secs_f64(),
        y: *octet as f64,
        spread: None,
        label: None,
    };
    Series {
        name: name.to_owned(),
        source: Source::Measured,
        joined,
        points: trace.points().iter().step_by(step).map(point).collect(),
    }
}
