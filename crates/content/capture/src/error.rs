//! The errors of reading a capture: the file, the position in it, what was found there, and the remedy.

use std::io;

/// A capture that cannot be analysed.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct CaptureError {
    /// The file's name, as the caller gave it.
    pub name: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a capture.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The reader failed.
    #[error("cannot be read beyond byte {at}: {error}")]
    Unreadable {
        /// How many bytes were read.
        at: u64,
        /// The reader's error.
        error: io::Error,
    },
    /// It has no bytes.
    #[error("is empty; a capture is written by `tcpdump -w FILE`, Wireshark, or `lastmile run --capture`")]
    Empty,
    /// It is another kind of file.
    #[error("is neither pcap nor pcapng: it begins with {found}; {remedy}")]
    NotACapture {
        /// Its first bytes.
        found: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A field in it has an impossible value. Everything before `at` is intact.
    #[error(
        "is damaged at byte {at}: {what} is {found}, and must be {wanted}; to extract what precedes it: head -c {at} FILE"
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
    /// It ends before its first packet is complete.
    #[error("is cut off at byte {at}, before the end of its first packet; copy it again from where it was captured")]
    NothingWhole {
        /// Its length.
        at: u64,
    },
    /// It is complete and holds no packet.
    #[error("holds no packet: there was no traffic during the capture, or the capture filter excluded all of it")]
    NoPacket,
    /// It has packets, but no readable message of a WebSocket connection.
    #[error("{}", no_message(*connections, *conversations, unread))]
    NoWebSocketMessage {
        /// TCP connections in it.
        connections: usize,
        /// Those among them that became WebSocket connections.
        conversations: usize,
        /// Which packets could not be read, one sentence each.
        unread: Vec<String>,
    },
}

fn no_message(connections: usize, conversations: usize, unread: &[String]) -> String {
    let are = |count: usize| if count == 1 { "connection" } else { "connections" };
    if connections == 0 && !unread.is_empty() {
        return format!("has no readable TCP connection: {}", unread.join("; "));
    }
    let mut said = format!(
        "has {connections} TCP {}, {conversations} of them with an unencrypted WebSocket handshake, and no readable message; start the capture \
         before the handshake, capture whole packets, and capture where there is no TLS: behind the proxy that terminates it",
        are(connections)
    );
    for packets in unread {
        said += "; ";
        said += packets;
    }
    said
}
