//! Compares our counts with those of tshark and tcptrace, on lossy captures of the simulated world, taken at both ends.
//!
//! Every connection of every capture is compared: durations to the nanosecond, retransmissions and out-of-order segments one by one. A
//! missing program is named, and the checks that need it are skipped.

#[path = "peers/conversion.rs"]
mod conversion;
#[path = "peers/scenario.rs"]
mod scenario;
#[path = "peers/tcptrace.rs"]
mod tcptrace;
#[path = "peers/tshark.rs"]
mod tshark;

use lastmile_capture::{Analysis, Opening, TcpFlow, analyse};
use scenario::{CapturePoint, CapturedTraffic};
use std::process::Command;

/// A real program, how it prints its version, and the checks that need it.
struct Peer {
    program: &'static str,
    version: &'static str,
    checks: &'static str,
    check: fn(&CapturedTraffic, &Analysis, &std::path::Path),
}

const PEERS: [Peer; 2] = [
    Peer {
        program: "tshark",
        version: "--version",
        checks: "durations, retransmissions and out-of-order segments, round trips, zero windows as Wireshark has them",
        check: check_tshark,
    },
    Peer {
        program: "tcptrace",
        version: "-version",
        checks: "retransmissions, out-of-order segments and unique bytes as tcptrace has them",
        check: check_tcptrace,
    },
];

fn main() {
    println!("\nreal programs that captures are compared with");
    let there = PEERS.iter().filter(|peer| {
        let output = Command::new(peer.program).arg(peer.version).output();
        match &output {
            Ok(output) => {
                let said = [&output.stdout[..], &output.stderr].concat();
                let said = String::from_utf8_lossy(&said);
                let line = said
                    .lines()
                    .find(|line| line.contains(char::is_numeric))
                    .unwrap_or("of an unknown version");
                println!("{}: there, {}", peer.program, line.trim());
            }
            Err(_) => println!(
                "{}: MISSING, skipped: {} (make peers installs it)",
                peer.program, peer.checks
            ),
        }
        output.is_ok()
    });
    let there: Vec<&Peer> = there.collect();
    let folder = tempfile::tempdir().unwrap();
    let (mut flows, mut retransmissions, mut out_of_order, mut zero_windows) = (0, 0, 0, 0);
    for captured in scenario::all() {
        let analysis = analyse(&captured.pcapng[..], &captured.name).unwrap();
        account(&captured, &analysis);
        for peer in &there {
            (peer.check)(&captured, &analysis, folder.path());
        }
        flows += analysis.tcp.len();
        retransmissions += both(&analysis, |sent| sent.retransmissions);
        out_of_order += both(&analysis, |sent| sent.out_of_order);
        zero_windows += both(&analysis, |sent| sent.zero_windows);
    }
    assert!(retransmissions > 500 && out_of_order > 500, "the captures are lossy");
    assert!(zero_windows > 0, "windows close");
    println!(
        "compared: {flows} connections with {retransmissions} retransmissions, {out_of_order} segments out of order\n"
    );
}

fn both(analysis: &Analysis, figure: fn(&lastmile_capture::SentStatistics) -> u64) -> u64 {
    analysis
        .tcp
        .iter()
        .map(|flow| figure(&flow.up) + figure(&flow.down))
        .sum()
}

/// Holds without another program: at the sender nothing is out of order, and all that was sent is accounted for.
fn account(captured: &CapturedTraffic, analysis: &Analysis) {
    let TcpFlow { up, down, .. } = &analysis.tcp[0];
    for (sent, at_sender) in [
        (up, captured.point == CapturePoint::Client),
        (down, captured.point == CapturePoint::Server),
    ] {
        assert!(sent.out_of_order == 0 || !at_sender, "{}", captured.name);
    }
    for flow in &analysis.tcp {
        assert!(matches!(flow.opening, Opening::Handshake { .. }), "{}", captured.name);
        assert_eq!(flow.down.payload_once.get(), captured.down_bytes, "{}", captured.name);
        assert_eq!(flow.up.payload_once.get(), captured.up_bytes, "{}", captured.name);
    }
}

fn check_tshark(captured: &CapturedTraffic, analysis: &Analysis, folder: &std::path::Path) {
    let path = folder.join("capture.pcapng");
    std::fs::write(&path, &captured.pcapng).unwrap();
    let streams = tshark::streams(&path);
    assert_eq!(streams.len(), analysis.tcp.len(), "{}", captured.name);
    for (stream, flow) in streams.iter().zip(&analysis.tcp) {
        let ours = tshark::Stream::of(flow);
        assert_eq!(&ours, stream, "{} (ours, then tshark's)", captured.name);
    }
}

fn check_tcptrace(captured: &CapturedTraffic, analysis: &Analysis, folder: &std::path::Path) {
    let path = folder.join("capture.pcap");
    std::fs::write(&path, conversion::ethernet_pcap(&captured.pcapng)).unwrap();
    let connections = tcptrace::connections(&path);
    assert_eq!(connections.len(), analysis.tcp.len(), "{}", captured.name);
    for (connection, flow) in connections.iter().zip(&analysis.tcp) {
        let ours = [&flow.up, &flow.down].map(tcptrace::Direction::of);
        assert_eq!(&ours, connection, "{} (ours, then tcptrace's)", captured.name);
    }
}
