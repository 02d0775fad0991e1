//! The fuzzed readers, and the claims about them besides that they do not panic.
//!
//! Each claim holds for every input: reading in portions gives the same as reading the whole, what is printed can be read back as the
//! same, what is offered is delivered, dropped or in flight.

mod capture;
mod coded_messages;
mod documents;
mod events;
mod http2_responses;
mod http_response;
mod java_stream;
mod link;
mod page;
mod portions;
mod rpc;
mod traffic;
mod transcript;
mod websocket;

pub use capture::capture;
pub use coded_messages::coded_messages;
pub use documents::{documents, positional};
pub use events::{event_chunk, event_line, event_pattern, event_query};
pub use http_response::http_response;
pub use http2_responses::http2_responses;
pub use java_stream::java_stream;
pub use link::{link, trace};
pub use page::page;
pub use rpc::{frames, giop, ice};
pub use traffic::{har, jsonl};
pub use transcript::{transcript, transcript_har, transcript_jsonl, transcript_lengths, transcript_log};
pub use websocket::{websocket_capture, websocket_frames, websocket_handshake};

use lastmile_codec::content::{Coding, Decoder, decode};
use lastmile_filter::{AcceptEncoding, Choice};
use lastmile_study::cell::expand;
use lastmile_study::file::Study;
use lastmile_units::ByteCount;

/// A reader, and the function that feeds it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// Feeds it an input; panics where a claim does not hold.
    pub run: fn(&[u8]),
}

/// Declares [`ALL`] from the names of functions.
macro_rules! targets {
    ($($name:ident)*) => {
        /// Every target.
        pub const ALL: &[Target] = &[$(Target { name: stringify!($name), run: $name }),*];
    };
}

targets! {
    har
    jsonl
    page
    positional
    documents
    ice
    giop
    frames
    event_chunk
    event_line
    event_pattern
    event_query
    java_stream
    study_toml
    link
    http_response
    http2_responses
    trace
    accept_encoding
    coded
    coded_messages
    capture
    websocket_handshake
    websocket_frames
    websocket_capture
    transcript
    transcript_jsonl
    transcript_lengths
    transcript_log
    transcript_har
}

/// The target of this name.
pub fn find(name: &str) -> Option<Target> {
    ALL.iter().find(|target| target.name == name).copied()
}

/// A study with more cells than this is not expanded, to save time; safety does not depend on the limit.
const STUDY_CELLS_MAX: usize = 10_000;

/// A study file. A study that can be read prints as one that reads as the same; its cells are distinct, or the study is refused.
pub fn study_toml(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let Ok(study) = Study::parse("input", text) else {
        return;
    };
    let expanded = study.expanded();
    let again = Study::parse("expanded", &expanded).expect("what a run folder keeps can be read again");
    // Compared as text, since a published NaN equals nothing.
    assert_eq!(again.expanded(), expanded);
    let combinations = |levels: Vec<usize>| levels.into_iter().fold(1_usize, usize::saturating_mul);
    let levels =
        |factors: &lastmile_study::settings::Factors| factors.axes().iter().map(|axis| axis.levels.len()).collect();
    let of_parts = study.parts.iter().map(|part| combinations(levels(&part.factors)));
    let cells = of_parts.fold(combinations(levels(&study.factors)), |product, part| {
        product.saturating_mul(part.max(1))
    });
    if cells <= STUDY_CELLS_MAX {
        let _ = expand(&study);
    }
}

/// `Accept-Encoding` lines. The chosen coding was offered; a coding that the lines refuse is never chosen.
pub fn accept_encoding(input: &[u8]) {
    const OFFERED: [&str; 4] = ["zstd", "br", "gzip", "deflate"];
    let lines = || input.split(|&byte| byte == b'\n');
    let accept = AcceptEncoding::parse(lines());
    match accept.choose(OFFERED) {
        Choice::Coded(index) => {
            assert!(index < OFFERED.len());
            // One more line can only lower the weight of the codings that it names again.
            let refusal = format!("{};q=0", OFFERED[index]);
            let refused = AcceptEncoding::parse(lines().chain([refusal.as_bytes()])).choose(OFFERED);
            assert_ne!(refused, Choice::Coded(index));
        }
        Choice::Identity => assert!(!accept.refuses_identity()),
        Choice::Nothing => assert!(accept.refuses_identity()),
    }
}

/// Enough for the content of small inputs, and little enough that a decompression bomb costs no time.
const DECODED_MAX: ByteCount = ByteCount::new(256 << 10);

/// A body with a content coding, decoded by each coding in turn. A body that decodes as a whole decodes to the same in portions, and neither
/// exceeds the limit.
///
/// A body that is refused as a whole may be accepted in portions: libzstd then does not compare the size in a frame's header with the
/// frame's content, where the frame's last block is empty.
pub fn coded(input: &[u8]) {
    for coding in Coding::ALL {
        let mut in_portions = Vec::new();
        let mut decoder = Decoder::new(coding, DECODED_MAX);
        let ended = portions::of(input)
            .try_for_each(|portion| decoder.write(portion, &mut in_portions))
            .and_then(|()| decoder.finish());
        assert!(ByteCount::from(in_portions.len()) <= DECODED_MAX);
        if let Ok(whole) = decode(coding, input, DECODED_MAX) {
            assert_eq!(ended, Ok(()), "{coding:?}");
            assert!(whole == in_portions, "{coding:?}");
        }
    }
}
