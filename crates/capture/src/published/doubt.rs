//! What makes the figures of a capture suspect?

use crate::analysis::{Analysis, LISTED_MAX};
use crate::datagram::SetAside;
use crate::tcp::{Opening, TcpFlow};
use lastmile_report::record::Doubt;

fn doubt(kind: &str, text: String) -> Doubt {
    Doubt {
        kind: kind.to_owned(),
        text,
    }
}

/// What is doubtful of the whole.
pub(super) fn of_capture(analysis: &Analysis) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if let Some(at) = analysis.cut_off {
        let text = format!("the file is cut off at byte {at}; what stands whole before that is analysed");
        doubts.push(doubt("cut-off", text));
    }
    if analysis.snapped > 0 {
        let text = format!(
            "of {} of {} packets only the beginning was kept; figures rest on the lengths that their headers state, and HTTP heads may be lost",
            analysis.snapped, analysis.packets
        );
        doubts.push(doubt("snapped", text));
    }
    if analysis.out_of_time > 0 {
        let text = format!(
            "{} packets stand behind one that passed later; they are taken in the file's order",
            analysis.out_of_time
        );
        doubts.push(doubt("out-of-time", text));
    }
    let set_aside = |why| analysis.set_aside.get(&why).copied().unwrap_or(0);
    for (kind, why, what) in [
        (
            "unknown-link",
            SetAside::UnknownLink,
            "begin with a link layer that is not known here",
        ),
        (
            "fragments",
            SetAside::Fragment,
            "are fragments of IP packets, which are not put together",
        ),
        (
            "broken-headers",
            SetAside::BrokenHeader,
            "have headers that are cut off or are none",
        ),
    ] {
        if set_aside(why) > 0 {
            let text = format!(
                "{} of {} packets {what}; they are in no flow",
                set_aside(why),
                analysis.packets
            );
            doubts.push(doubt(kind, text));
        }
    }
    if analysis.http.count > analysis.http.listed.len() as u64 {
        let text = format!(
            "{} HTTP transactions were counted; {LISTED_MAX} of them are listed",
            analysis.http.count
        );
        doubts.push(doubt("transactions-left-out", text));
    }
    doubts
}

/// What is doubtful of a connection.
pub(super) fn of_connection(flow: &TcpFlow) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if flow.opening == Opening::BeforeCapture {
        let text =
            "it began before the capture: which side is the client is not known, nor what passed before".to_owned();
        doubts.push(doubt("before-capture", text));
    }
    let unseen = flow.up.acknowledged_unseen + flow.down.acknowledged_unseen;
    if unseen > 0 {
        let text = format!(
            "{unseen} acknowledgements are of octets that were not captured: packets are missing, and with them round trips, \
             retransmissions and octets"
        );
        doubts.push(doubt("missing-packets", text));
    }
    if flow.http_lost {
        let text = "HTTP could not be followed to the end: octets were not captured, or are no HTTP".to_owned();
        doubts.push(doubt("http-lost", text));
    }
    doubts
}
