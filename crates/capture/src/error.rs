//! Why can a capture not be read? Which file, where in it, what was found, and what to do.

use std::io;

/// A capture that cannot be analysed.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct CaptureError {
    /// The file, as its reader was told it is called.
    pub name: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a capture.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// Its reader fails.
    #[error("cannot be read beyond byte {at}: {error}")]
    Unreadable {
        /// How much was read.
        at: u64,
        /// Why no more.
        error: io::Error,
    },
    /// It has no octet.
    #[error("is empty; a capture is written by `tcpdump -w FILE`, Wireshark, or `lastmile run --capture`")]
    Empty,
    /// It is something else.
    #[error("is neither pcap nor pcapng: it begins with {found}; {remedy}")]
    NotACapture {
        /// How it begins.
        found: String,
        /// What to do about that.
        remedy: &'static str,
    },
    /// Something in it cannot be. What stands before `at` is whole.
    #[error(
        "is damaged at byte {at}: {what} is {found}, and must be {wanted}; what stands before it can be had: head -c {at} FILE"
    )]
    Damaged {
        /// Where the block or record begins.
        at: u64,
        /// Which field.
        what: &'static str,
        /// What it holds.
        found: String,
        /// What it may hold.
        wanted: String,
    },
    /// It ends before a packet is whole.
    #[error("is cut off at byte {at}, before its first packet is whole; copy it again from where it was captured")]
    NothingWhole {
        /// How long it is.
        at: u64,
    },
    /// It is whole, and no packet is in it.
    #[error("holds no packet: nothing passed while it was captured, or the capture's filter let nothing through")]
    NoPacket,
    /// It has packets, and no message of a WebSocket connection could be read.
    #[error("{}", no_message(*connections, *conversations, unread))]
    NoWebSocketMessage {
        /// TCP connections in it.
        connections: usize,
        /// Those among them that became WebSocket connections.
        conversations: usize,
        /// Which packets could not be read, a sentence each.
        unread: Vec<String>,
    },
}

fn no_message(connections: usize, conversations: usize, unread: &[String]) -> String {
    let are = |count: usize| if count == 1 { "connection" } else { "connections" };
    if connections == 0 && !unread.is_empty() {
        return format!("has no TCP connection that can be read: {}", unread.join("; "));
    }
    let mut said = format!(
        "has {connections} TCP {}, {conversations} of them with a WebSocket handshake in clear, and no message that can be read; capture from \
         before the handshake, whole packets, and where nothing is within TLS: behind the proxy that ends it",
        are(connections)
    );
    for packets in unread {
        said += "; ";
        said += packets;
    }
    said
}
