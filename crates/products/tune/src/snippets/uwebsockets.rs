//! The configuration of uWebSockets (`CompressOptions` of uWebSockets 20, as in `src/PerMessageDeflate.h`, and of uWebSockets.js).
//!
//! It has eight dedicated compressors, each with one window and mem level, and one shared by all connections; its level is always zlib's
//! default. Since 20.7.0, and still in 20.79.0, a bit test in `src/HttpResponse.h` mistakes every dedicated compressor for
//! `DEDICATED_COMPRESSOR_3KB`: each negotiates the window of its name, and compresses with 9 window bits and mem level 1. The configuration
//! names the compressor that would match the chosen setting once that is fixed; the comments and the note describe what it does now.

use super::SnippetRequest;
use crate::record::{Implementation, Snippet};
use lastmile_codec::message::{Deflate, Strategy, WindowBits};

/// A dedicated compressor: its name (the memory by zlib's formula), its window bits, its mem level.
const DEDICATED: [(&str, u8, u8); 8] = [
    ("3KB", 9, 1),
    ("4KB", 9, 2),
    ("8KB", 10, 3),
    ("16KB", 11, 4),
    ("32KB", 12, 5),
    ("64KB", 13, 6),
    ("128KB", 14, 7),
    ("256KB", 15, 8),
];

/// The level of `Z_DEFAULT_COMPRESSION` (zlib.h), which it uses with `Z_DEFAULT_STRATEGY`.
const LEVEL: u8 = 6;

pub(super) fn snippet(wanted: &SnippetRequest<'_>) -> Snippet {
    let implementation = Implementation::UWebSockets;
    let Some(deflate) = wanted.deflate else {
        return Snippet {
            implementation,
            text: "app.ws('/*', {\n  compression: uWS.DISABLED,\n});\n".to_owned(),
            note: "Messages are left uncompressed, which is the default of uWebSockets.".to_owned(),
        };
    };
    let (dedicated, shared) = (does(true, 9, 1), does(false, 15, 8));
    let ratio = |deflate| (wanted.ratio_of)(deflate).unwrap_or(f64::INFINITY);
    let is_dedicated = deflate.takeover && ratio(dedicated) <= ratio(shared);
    let mut note = "In C++ the same names are members of uWS::CompressOptions. Only messages sent with their argument `compress` set are \
                    compressed."
        .to_owned();
    let (comment, compression, does) = if is_dedicated {
        note += " A client that did not offer client_max_window_bits is sent client_no_context_takeover instead, if the decompressor has \
                 less than 32 KB.";
        (
            "  // In uWebSockets 20.7 to 20.79 at least, all dedicated compressors run as the one of 3KB: 9 window bits, mem level 1.\n",
            nearest(deflate),
            dedicated,
        )
    } else {
        // The shared compressor has zlib's longest window and default mem level.
        let both = "uWS.SHARED_COMPRESSOR | uWS.SHARED_DECOMPRESSOR".to_owned();
        (
            "  // One compressor for all connections: 15 window bits, mem level 8, no context takeover.\n",
            both,
            shared,
        )
    };
    note += &wanted.substitute_note("uWebSockets", does).unwrap_or_default();
    Snippet {
        implementation,
        text: format!(
            "app.ws('/*', {{\n{comment}  // The level is always zlib's default, 6.\n  compression: {compression},\n}});\n"
        ),
        note,
    }
}

/// The setting of a compressor.
fn does(takeover: bool, window_bits: u8, mem_level: u8) -> Deflate {
    Deflate {
        takeover,
        window_bits: WindowBits::new(window_bits).expect("zlib has these windows"),
        level: LEVEL,
        mem_level,
        strategy: Strategy::Default,
    }
}

/// The dedicated compressor and decompressor whose names are nearest to a setting.
fn nearest(deflate: Deflate) -> String {
    let bits = deflate.window_bits.runs_as().get();
    let (name, window_bits, _) = DEDICATED
        .into_iter()
        .min_by_key(|(_, window_bits, mem_level)| (window_bits.abs_diff(bits), mem_level.abs_diff(deflate.mem_level)))
        .expect("there are eight");
    let window = 1_u32 << window_bits;
    let decompressor = if window < 1024 {
        format!("{window}B")
    } else {
        format!("{}KB", window / 1024)
    };
    format!("uWS.DEDICATED_COMPRESSOR_{name} | uWS.DEDICATED_DECOMPRESSOR_{decompressor}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_codec::message::MessageCodec;

    fn deflate(text: &str) -> Deflate {
        let MessageCodec::Deflate(deflate) = text.parse().unwrap() else {
            panic!("{text} is deflate")
        };
        deflate
    }

    #[test]
    fn the_nearest_compressor_has_the_window_and_then_the_nearest_mem_level() {
        for (setting, named) in [
            (
                "deflate:6/w11/m4",
                "uWS.DEDICATED_COMPRESSOR_16KB | uWS.DEDICATED_DECOMPRESSOR_2KB",
            ),
            (
                "deflate:9/w9/m9",
                "uWS.DEDICATED_COMPRESSOR_4KB | uWS.DEDICATED_DECOMPRESSOR_512B",
            ),
        ] {
            assert_eq!(nearest(deflate(setting)), named);
        }
    }

    #[test]
    fn the_shared_compressor_is_taken_where_it_leaves_less_or_takeover_is_not_wanted() {
        let chosen = |setting: &str, dedicated: f64, shared: f64| {
            let wanted = SnippetRequest {
                deflate: Some(deflate(setting)),
                ratio_of: &|of| Some(if of.takeover { dedicated } else { shared }),
            };
            snippet(&wanted)
                .text
                .contains("uWS.SHARED_COMPRESSOR | uWS.SHARED_DECOMPRESSOR")
        };
        assert!(!chosen("deflate:6/w15/m8", 0.5, 0.8));
        assert!(chosen("deflate:6/w15/m8", 0.8, 0.5));
        assert!(chosen("deflate:6/w15/m8/no-takeover", 0.5, 0.8));
    }
}
