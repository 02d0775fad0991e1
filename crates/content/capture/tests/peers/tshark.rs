//! Runs tshark on a capture, and sums up its fields packet by packet, by connection and direction.

use lastmile_capture::{SentStatistics, TcpFlow};
use std::path::Path;
use std::process::Command;

/// A connection, in figures that both programs have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Stream {
    /// From the first packet to the last, in nanoseconds.
    duration: u64,
    up: Direction,
    down: Direction,
}

/// One direction of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Direction {
    packets: u64,
    payload: u64,
    /// Retransmissions, fast and spurious ones among them, and segments out of order.
    resent_or_out_of_order: u64,
    spurious: u64,
    duplicate_acknowledgements: u64,
    zero_windows: u64,
    /// From segments to the acknowledgements that end where they end, total in nanoseconds. Their number is not compared: tshark leaves out
    /// those of 0 ns, which a simulated host's answers take.
    round_trips: u64,
}

impl Stream {
    pub(crate) fn of(flow: &TcpFlow) -> Self {
        Self {
            duration: flow.duration().as_nanos() as u64,
            up: Direction::of(&flow.up),
            down: Direction::of(&flow.down),
        }
    }
}

impl Direction {
    fn of(sent: &SentStatistics) -> Self {
        let all = &sent.round_trips.all;
        let seconds = all.mean().unwrap_or(0.0) * all.count() as f64;
        Self {
            packets: sent.packets,
            payload: sent.payload.get(),
            resent_or_out_of_order: sent.retransmissions + sent.out_of_order,
            spurious: sent.spurious_retransmissions,
            duplicate_acknowledgements: sent.duplicate_acknowledgements,
            zero_windows: sent.zero_windows,
            round_trips: (seconds * 1e9).round() as u64,
        }
    }
}

const FIELDS: [&str; 10] = [
    "tcp.stream",
    "tcp.srcport",
    "tcp.len",
    "tcp.time_relative",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.duplicate_ack",
    "tcp.analysis.zero_window",
    "tcp.analysis.ack_rtt",
];

/// The port that the scenarios' server uses.
const SERVER: &str = "80";

pub(crate) fn streams(path: &Path) -> Vec<Stream> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-T", "fields", "-E", "separator=;"]);
    command.args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut streams: Vec<Stream> = Vec::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let fields: Vec<&str> = line.split(';').collect();
        let [
            stream,
            port,
            length,
            time,
            resent,
            out_of_order,
            spurious,
            duplicate,
            zero_window,
            round_trip,
        ] = fields[..]
        else {
            panic!("{line}");
        };
        let stream: usize = stream.parse().unwrap();
        streams.resize(streams.len().max(stream + 1), Stream::default());
        let Stream { duration, up, down } = &mut streams[stream];
        *duration = nanoseconds(time).max(*duration);
        let (near, far) = if port == SERVER { (down, up) } else { (up, down) };
        near.packets += 1;
        near.payload += length.parse::<u64>().unwrap();
        near.resent_or_out_of_order += u64::from(!resent.is_empty() || !out_of_order.is_empty());
        near.spurious += u64::from(!spurious.is_empty());
        near.duplicate_acknowledgements += u64::from(!duplicate.is_empty());
        near.zero_windows += u64::from(!zero_window.is_empty());
        if !round_trip.is_empty() {
            far.round_trips += nanoseconds(round_trip);
        }
    }
    streams
}

/// `1.234567890` in nanoseconds, without rounding.
fn nanoseconds(seconds: &str) -> u64 {
    let (whole, fraction) = seconds.split_once('.').unwrap();
    let fraction: u64 = format!("{fraction:0<9}").parse().unwrap();
    whole.parse::<u64>().unwrap() * 1_000_000_000 + fraction
}
