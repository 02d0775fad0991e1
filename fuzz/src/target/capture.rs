//! The fuzz target of captures, as a stranger might send them for a second opinion.

use super::portions::Portions;
use lastmile_capture::{Analysis, Segments, SentStatistics, analyse};
use lastmile_inspect::inspection;

/// A capture. Reading in portions gives the same as reading the whole; every packet is in one flow or set aside; no part is larger than its
/// whole. Its segments are those of its TCP connections, one by one.
pub fn capture(input: &[u8]) {
    let whole = analyse(input, "input");
    match (whole, analyse(Portions::new(input), "input")) {
        (Ok(whole), Ok(in_portions)) => {
            assert_eq!(whole, in_portions);
            check(&whole, input.len() as u64);
            check_segments(&whole, input);
        }
        (Err(error), Err(in_portions)) => {
            let said = error.to_string();
            assert!(said.starts_with("input: "), "{said}");
            assert_eq!(said, in_portions.to_string());
        }
        (whole, in_portions) => panic!("{whole:?}, and in portions {in_portions:?}"),
    }
}

fn check(analysis: &Analysis, length: u64) {
    let in_tcp = analysis.tcp.iter().map(|flow| flow.up.packets + flow.down.packets);
    let in_udp = analysis.udp.iter().map(|flow| flow.up.packets + flow.down.packets);
    let in_flows = in_tcp.chain(in_udp).sum::<u64>();
    assert_eq!(in_flows + analysis.set_aside.values().sum::<u64>(), analysis.packets);
    assert!(analysis.packets > 0 && analysis.first <= analysis.last);
    assert!(analysis.file.get() <= length && analysis.cut_off.is_none_or(|at| at == length));
    for flow in &analysis.tcp {
        assert!(flow.first <= flow.last && flow.idle.longest <= flow.idle.time);
        assert!(flow.idle.time <= flow.duration());
        check_sent(&flow.up);
        check_sent(&flow.down);
    }
    let http = &analysis.http;
    assert!(http.whole <= http.count && http.listed.len() as u64 <= http.count);
    for (connection, transaction) in &http.listed {
        assert!(*connection < analysis.tcp.len());
        assert!(transaction.ended.is_none_or(|_| transaction.first_byte.is_some()));
    }
    let record = inspection(analysis, "input", "0");
    assert_eq!(record.connections.len(), analysis.tcp.len());
}

fn check_segments(analysis: &Analysis, input: &[u8]) {
    let mut segments = Segments::open(input, "input").expect("it was read before");
    let mut passed = vec![0; analysis.tcp.len()];
    while let Some(segment) = segments.next().expect("it was read before") {
        let flow = &analysis.tcp[segment.connection as usize - 1];
        assert_eq!(segment.client, flow.client.to_string());
        assert_eq!(segment.to_string().lines().count(), 1);
        passed[segment.connection as usize - 1] += 1;
    }
    let packets = analysis.tcp.iter().map(|flow| flow.up.packets + flow.down.packets);
    assert!(packets.eq(passed.iter().copied()));
    assert_eq!(passed.iter().sum::<u64>() + segments.others(), analysis.packets);
    assert_eq!(segments.cut_off(), analysis.cut_off);
}

fn check_sent(sent: &SentStatistics) {
    assert!(sent.headers <= sent.bytes && sent.payload_once <= sent.payload);
    assert!(sent.retransmissions + sent.out_of_order + sent.after_hole <= sent.packets);
    assert!(sent.spurious_retransmissions <= sent.retransmissions);
    assert!(sent.round_trips.karn.count() <= sent.round_trips.all.count());
}
