//! Writes the chosen setting as configuration of real WebSocket implementations.
//!
//! The configuration controls how a server compresses the messages it sends. Clients compress the messages it receives; it can require the same
//! window and takeover of them, but not a level. An implementation that does not support the chosen setting gets the nearest one that it
//! supports, with its ratio.
//!
//! Each text is tested: `tests/peers/snippets.rs` puts it, as printed, into a server of the implementation, and compares the agreed parameters
//! and the messages sent with the setting.

mod jetty;
mod python_websockets;
mod uwebsockets;
mod ws;

use crate::record::Snippet;
use lastmile_codec::message::{Deflate, Strategy};
use lastmile_report::number::percent;

/// The setting to write.
pub struct SnippetRequest<'a> {
    /// None: messages are left uncompressed.
    pub deflate: Option<Deflate>,
    /// The ratio of any setting of the grid.
    pub ratio_of: &'a dyn Fn(Deflate) -> Option<f64>,
}

/// The configuration of each implementation, ready to paste.
pub fn snippets(wanted: &SnippetRequest<'_>) -> Vec<Snippet> {
    vec![
        ws::snippet(wanted),
        uwebsockets::snippet(wanted),
        python_websockets::snippet(wanted),
        jetty::snippet(wanted),
    ]
}

impl SnippetRequest<'_> {
    /// The setting that an implementation uses instead of the chosen one, with both ratios; none if it supports the chosen one.
    fn substitute_note(&self, implementation: &str, does: Deflate) -> Option<String> {
        let wanted = self.deflate.filter(|wanted| *wanted != does)?;
        let snippet_of = |deflate: Deflate| {
            let ratio =
                (self.ratio_of)(deflate).map_or_else(String::new, |ratio| format!(", ratio {}", percent(ratio)));
            format!("{}{ratio}", setting_text(deflate))
        };
        Some(format!(
            " {implementation} cannot be configured for {}; the nearest setting that it supports is {}.",
            snippet_of(wanted),
            snippet_of(does)
        ))
    }
}

/// `level 6, 15 window bits, mem level 8, with context takeover`.
fn setting_text(deflate: Deflate) -> String {
    format!(
        "level {}, {} window bits, mem level {}, {} context takeover",
        deflate.level,
        deflate.window_bits.get(),
        deflate.mem_level,
        if deflate.takeover { "with" } else { "without" }
    )
}

/// The name of zlib's constant for a strategy.
fn zlib_constant(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Default => "Z_DEFAULT_STRATEGY",
        Strategy::Filtered => "Z_FILTERED",
        Strategy::HuffmanOnly => "Z_HUFFMAN_ONLY",
        Strategy::Rle => "Z_RLE",
        Strategy::Fixed => "Z_FIXED",
    }
}

/// A limit of the setting: RFC 7692 section 7.1.2.2 lets a server restrict a client's window only if the client offered it.
const CLIENTS_WINDOW: &str = "A client that did not offer client_max_window_bits may use a window of 32 KiB, and decompressing its messages needs \
                              that much memory, whatever is set here.";

#[cfg(test)]
mod tests;
