//! The doubts about the figures of a capture and of its connections.

use lastmile_capture::{Analysis, LISTED_MAX, Opening, SkipReason, TcpFlow};
use lastmile_report::record::{Doubt, DoubtKind};

/// Doubts about the capture as a whole.
pub(super) fn of_capture(analysis: &Analysis) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if let Some(at) = analysis.cut_off {
        let text = format!("the file is cut off at byte {at}; every complete packet before that is analysed");
        doubts.push(Doubt::new(DoubtKind::CutOff, text));
    }
    if analysis.snapped > 0 {
        let text = format!(
            "{} of {} packets were captured only in part; figures use the lengths that their headers state, and HTTP heads may be missing",
            analysis.snapped, analysis.packets
        );
        doubts.push(Doubt::new(DoubtKind::Snapped, text));
    }
    if analysis.out_of_time > 0 {
        let text = format!(
            "{} packets have an earlier time than a packet before them in the file; packets are analysed in the file's order",
            analysis.out_of_time
        );
        doubts.push(Doubt::new(DoubtKind::OutOfTime, text));
    }
    let set_aside = |why| analysis.set_aside.get(&why).copied().unwrap_or(0);
    for (kind, why, what) in [
        (
            DoubtKind::UnknownLink,
            SkipReason::UnknownLink,
            "have an unsupported link layer",
        ),
        (
            DoubtKind::Fragments,
            SkipReason::Fragment,
            "are IP fragments, which are not reassembled",
        ),
        (
            DoubtKind::BrokenHeaders,
            SkipReason::BrokenHeader,
            "have truncated or invalid headers",
        ),
    ] {
        if set_aside(why) > 0 {
            let text = format!(
                "{} of {} packets {what}; they belong to no flow",
                set_aside(why),
                analysis.packets
            );
            doubts.push(Doubt::new(kind, text));
        }
    }
    if analysis.http.count > analysis.http.listed.len() as u64 {
        let text = format!(
            "{} HTTP transactions were counted; {LISTED_MAX} of them are listed",
            analysis.http.count
        );
        doubts.push(Doubt::new(DoubtKind::TransactionsLeftOut, text));
    }
    doubts
}

/// Doubts about one connection.
pub(super) fn of_connection(flow: &TcpFlow) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if flow.opening == Opening::BeforeCapture {
        let text = "it began before the capture: its client is unknown, and its earlier traffic is missing".to_owned();
        doubts.push(Doubt::new(DoubtKind::BeforeCapture, text));
    }
    let unseen = flow.up.acked_unseen_segments + flow.down.acked_unseen_segments;
    if unseen > 0 {
        let text = format!(
            "{unseen} acknowledgements cover bytes that were not captured: packets are missing, and with them round trips, \
             retransmissions and bytes"
        );
        doubts.push(Doubt::new(DoubtKind::MissingPackets, text));
    }
    if flow.http_lost {
        let text = "HTTP could not be followed to the end: bytes were not captured, or are not HTTP".to_owned();
        doubts.push(Doubt::new(DoubtKind::HttpLost, text));
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DOUBTS, inspection};
    use lastmile_capture::test_packets::*;

    /// Requests and responses in turns, on a connection whose handshake was not captured.
    fn conversation(turns: impl IntoIterator<Item = (&'static str, &'static str)>) -> Vec<u8> {
        let (mut client, mut server, mut segments) = (1000, 9000, Vec::new());
        for (request, response) in turns {
            segments.push((0, up(ACK, client, server, request.as_bytes())));
            client += request.len() as u32;
            segments.push((0, down(ACK, server, client, response.as_bytes())));
            server += response.len() as u32;
        }
        capture(&segments)
    }

    /// A capture of one packet, of a link type.
    fn packet(link_type: u16, captured: &[u8], length: usize) -> Vec<u8> {
        let file = [section(LITTLE), interface(LITTLE, link_type, 0, &[])].concat();
        [file, enhanced(LITTLE, 0, 0, captured, length as u32, &[])].concat()
    }

    /// A capture that raises a doubt of this kind.
    fn doubtful(kind: DoubtKind) -> Vec<u8> {
        let request = up(ACK, 1, 1, b"GET / HTTP/1.1\r\n\r\n");
        let whole = request.ipv4();
        match kind {
            DoubtKind::CutOff => {
                let mut file = capture(&[(0, request), (1, request)]);
                file.truncate(file.len() - 1);
                file
            }
            DoubtKind::Snapped => packet(101, &whole[..45], whole.len()),
            DoubtKind::OutOfTime => capture(&[(1, request), (0, request)]),
            DoubtKind::UnknownLink => packet(147, &whole, whole.len()),
            DoubtKind::Fragments => {
                let mut fragment = whole;
                // More fragments follow (RFC 791 section 3.1).
                fragment[6] = 0x20;
                packet(101, &fragment, fragment.len())
            }
            DoubtKind::BrokenHeaders => packet(101, &whole[..30], 30),
            DoubtKind::TransactionsLeftOut => {
                let turn = ("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n");
                conversation(std::iter::repeat_n(turn, LISTED_MAX + 1))
            }
            DoubtKind::BeforeCapture => capture(&[(0, request)]),
            DoubtKind::MissingPackets => capture(&[
                (0, up(SYN, 100, 0, b"")),
                (1, down(SYN | ACK, 900, 101, b"")),
                (2, up(ACK, 101, 901, b"")),
                (3, down(ACK, 901, 101, b"seen")),
                (4, up(ACK, 101, 1001, b"")),
            ]),
            DoubtKind::HttpLost => conversation([("GET / HTTP/1.1\r\n\r\n", "\u{0}\u{1}\u{2}")]),
            other => panic!("{other} has no row"),
        }
    }

    #[test]
    fn every_kind_of_doubt_is_raised() {
        for kind in DOUBTS {
            let analysis = lastmile_capture::analyse(&doubtful(*kind)[..], "crafted").unwrap();
            let record = inspection(&analysis, "crafted", "0");
            let doubts = record.connections.iter().flat_map(|connection| &connection.doubts);
            let kinds: Vec<DoubtKind> = doubts.chain(&record.doubts).map(|doubt| doubt.kind).collect();
            assert!(kinds.contains(kind), "{kind}: {kinds:?}");
        }
    }
}
