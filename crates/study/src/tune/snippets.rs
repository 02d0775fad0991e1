//! How is the chosen setting written for real implementations of WebSocket?
//!
//! A server is told what to do with what it sends; what it receives is compressed by its clients, whom it can hold to the same window and
//! takeover, not to a level. Where an implementation cannot do what was chosen, it gets the nearest of what it can, with its figures.
//!
//! What is written here is run: `tests/peers/snippets.rs` puts each text, as it is printed, into a server of the implementation, and holds
//! what that server agrees to and sends against the setting.

mod jetty;
mod python_websockets;
mod uwebsockets;
mod ws;

use lastmile_payload::message_codec::Deflate;
use lastmile_report::number::percent;
use lastmile_report::tune::Snippet;

/// What is to be written.
pub struct Wanted<'a> {
    /// None: messages are left as they are.
    pub deflate: Option<Deflate>,
    /// The ratio of any setting of the grid.
    pub ratio_of: &'a dyn Fn(Deflate) -> Option<f64>,
}

/// The configuration of each implementation, as it is pasted.
pub fn snippets(wanted: &Wanted<'_>) -> Vec<Snippet> {
    vec![
        ws::snippet(wanted),
        uwebsockets::snippet(wanted),
        python_websockets::snippet(wanted),
        jetty::snippet(wanted),
    ]
}

impl Wanted<'_> {
    /// What an implementation does instead of what was chosen, with both ratios; none where it does what was chosen.
    fn instead(&self, implementation: &str, does: Deflate) -> Option<String> {
        let wanted = self.deflate.filter(|wanted| *wanted != does)?;
        let told = |deflate: Deflate| {
            let ratio =
                (self.ratio_of)(deflate).map_or_else(String::new, |ratio| format!(", which leaves {}", percent(ratio)));
            format!("{}{ratio}", written(deflate))
        };
        Some(format!(
            " {implementation} cannot be told {}; the nearest that it does is {}.",
            told(wanted),
            told(does)
        ))
    }
}

/// `level 6, 15 window bits, mem level 8, with context takeover`.
fn written(deflate: Deflate) -> String {
    format!(
        "level {}, {} window bits, mem level {}, {} context takeover",
        deflate.level,
        deflate.window_bits.get(),
        deflate.mem_level,
        if deflate.takeover { "with" } else { "without" }
    )
}

/// What of the setting clients may not follow: RFC 7692 section 7.1.2.2 lets a server ask for a client's window only of those that
/// offered to be asked.
const CLIENTS_WINDOW: &str = "A client that did not offer client_max_window_bits may use a window of 32 KiB, and its messages take that much to \
                              decompress, whatever is set here.";

#[cfg(test)]
mod tests;
