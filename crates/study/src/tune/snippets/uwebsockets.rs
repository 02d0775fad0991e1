//! What does uWebSockets need to be told? (`CompressOptions` of uWebSockets 20, as in `src/PerMessageDeflate.h`, and of uWebSockets.js.)
//!
//! It has eight dedicated compressors, each of one window and mem level, and a shared one for all connections; its level is always
//! zlib's default.

use super::{CLIENTS_WINDOW, Wanted};
use lastmile_payload::message_codec::{Deflate, Strategy, WindowBits};
use lastmile_report::tune::{Implementation, Snippet};

/// A dedicated compressor: its name is by the memory that zlib's formula gives, its window bits, its mem level.
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

/// What `Z_DEFAULT_COMPRESSION` is (zlib.h), and `Z_DEFAULT_STRATEGY`.
const LEVEL: u8 = 6;

pub(super) fn snippet(wanted: &Wanted<'_>) -> Snippet {
    let implementation = Implementation::UWebSockets;
    let Some(deflate) = wanted.deflate else {
        return Snippet {
            implementation,
            text: "app.ws('/*', { compression: uWS.DISABLED });\n".to_owned(),
            note: "Messages are left as they are, which uWebSockets does unless told otherwise.".to_owned(),
        };
    };
    let (compression, does) = nearest(deflate);
    let mut note = format!(
        "In C++ the same names are members of uWS::CompressOptions. Only messages sent with their argument `compress` set are compressed. \
         {CLIENTS_WINDOW}"
    );
    note += &wanted.instead("uWebSockets", does).unwrap_or_default();
    Snippet {
        implementation,
        text: format!("app.ws('/*', {{\n  compression: {compression},\n}});\n"),
        note,
    }
}

/// The options nearest to a setting, and what they do.
fn nearest(deflate: Deflate) -> (String, Deflate) {
    let does = |window_bits: u8, mem_level: u8| Deflate {
        takeover: deflate.takeover,
        window_bits: WindowBits::new(window_bits).expect("the table holds windows that zlib has"),
        level: LEVEL,
        mem_level,
        strategy: Strategy::Default,
    };
    if !deflate.takeover {
        // The shared compressor is made with zlib's longest window and usual mem level.
        return (
            "uWS.SHARED_COMPRESSOR | uWS.SHARED_DECOMPRESSOR".to_owned(),
            does(15, 8),
        );
    }
    let bits = deflate.window_bits.runs_as().get();
    let (name, window_bits, mem_level) = DEDICATED
        .into_iter()
        .min_by_key(|(_, window_bits, mem_level)| (window_bits.abs_diff(bits), mem_level.abs_diff(deflate.mem_level)))
        .expect("there are eight");
    let window = 1_u32 << window_bits;
    let decompressor = if window < 1024 {
        format!("{window}B")
    } else {
        format!("{}KB", window / 1024)
    };
    (
        format!("uWS.DEDICATED_COMPRESSOR_{name} | uWS.DEDICATED_DECOMPRESSOR_{decompressor}"),
        does(window_bits, mem_level),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_compressor_has_the_window_and_then_the_nearest_mem_level() {
        let nearest = |text: &str| {
            let lastmile_payload::message_codec::MessageCodec::Deflate(deflate) = text.parse().unwrap() else {
                panic!("{text} is deflate")
            };
            nearest(deflate).0
        };
        assert_eq!(
            nearest("deflate:6/w11/m4"),
            "uWS.DEDICATED_COMPRESSOR_16KB | uWS.DEDICATED_DECOMPRESSOR_2KB"
        );
        assert_eq!(
            nearest("deflate:9/w9/m9"),
            "uWS.DEDICATED_COMPRESSOR_4KB | uWS.DEDICATED_DECOMPRESSOR_512B"
        );
        assert_eq!(
            nearest("deflate:6/w15/m8/no-takeover"),
            "uWS.SHARED_COMPRESSOR | uWS.SHARED_DECOMPRESSOR"
        );
    }
}
