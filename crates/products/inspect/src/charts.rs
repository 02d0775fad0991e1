//! Draws time-sequence charts of the connections that carried most, each in its larger direction.

use lastmile_capture::{DownsampledSeries, TcpFlow, TimeSequenceSeries};
use lastmile_report::record::{Axis, Chart, Point, Scale, Series, Source};
use lastmile_units::Instant;

/// The most connections that are drawn: our own choice, a few screens.
const CHARTS_MAX: usize = 6;
/// The most marks of a series without a line: our own choice, as many as can be distinguished.
const MARKS_MAX: usize = 200;

/// One chart per connection, in the order of connections.
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
        (&flow.down.series, flow.server, flow.client)
    } else {
        (&flow.up.series, flow.client, flow.server)
    };
    let TimeSequenceSeries {
        sent,
        acknowledged,
        retransmissions,
        out_of_order,
        dropped,
    } = drawn;
    let all = [
        ("sent", true, sent),
        ("acknowledged", true, acknowledged),
        ("retransmitted", false, retransmissions),
        ("out of order", false, out_of_order),
        ("dropped", false, dropped),
    ];
    Chart {
        title: format!("No. {}: from {from} to {to}", at + 1),
        note: "The newest byte sent and the newest byte acknowledged, as seen at the capture point: the lines are a round trip apart, and the \
               bytes in flight lie between them. Marks show where segments begin that were retransmitted, arrived out of order, or were \
               dropped; where there are many, only some are drawn."
            .to_owned(),
        x: Axis::new("Time since the connection began", "s", Scale::Linear),
        y: Axis::new("Byte of the stream", "B", Scale::Linear),
        series: all
            .into_iter()
            .filter(|(.., trace)| !trace.points().is_empty())
            .map(|(name, joined, trace)| series(name, joined, trace, flow.first))
            .collect(),
        ..Chart::default()
    }
}

fn series(name: &str, joined: bool, trace: &DownsampledSeries, began: Instant) -> Series {
    let step = if joined {
        1
    } else {
        trace.points().len().div_ceil(MARKS_MAX)
    };
    let point = |(at, byte): &(Instant, i64)| Point::new(at.saturating_since(began).as_secs_f64(), *byte as f64);
    Series {
        name: name.to_owned(),
        source: Source::Measured,
        joined,
        points: trace.points().iter().step_by(step).map(point).collect(),
    }
}
