//! Pieces, the units of work of a sweep: consecutive messages in memory, with their history as far as any window reaches.
//!
//! A piece preserves two things of zlib's state in a whole stream: what a window reaches, and a message's position in zlib's buffer. That
//! buffer holds two windows and slides by one window at a time (`fill_window`), so a message's position in it is its position in the
//! stream modulo the window. History is therefore cut at a multiple of the largest window.

use super::Connection;
use super::grid::encoder;
use lastmile_codec::message::Deflate;

/// The largest window, in bytes (RFC 1951 section 2).
pub(super) const WINDOW_MAX: usize = 1 << 15;

/// The most messages in a piece: our own choice, so that the records of each message at each setting stay small.
const MESSAGES_MAX: usize = 8192;

/// How many of the `before` bytes before a position are kept as its history.
pub(super) fn history_length(before: usize) -> usize {
    before.min(before % WINDOW_MAX + WINDOW_MAX)
}

/// Messages of one or several connections.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// History and messages, connection by connection.
    pub(super) bytes: Vec<u8>,
    /// The piece's own messages.
    pub(super) messages: Vec<Span>,
    /// The messages in history; the first may lack its beginning.
    pub(super) history: Vec<Span>,
}

/// Where a message lies in a piece's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where its connection begins, or the part of it that is kept.
    pub(super) connection: usize,
}

impl Span {
    pub(super) const fn len(&self) -> usize {
        self.end - self.start
    }
}

impl Piece {
    pub(super) fn message(&self, span: Span) -> &[u8] {
        &self.bytes[span.start..span.end]
    }

    /// The approximate compressed size of its own messages at a setting: the history serves as a dictionary, cut as pieces are.
    pub(super) fn rough_size(&self, setting: Deflate) -> u64 {
        let mut encoder = encoder(setting);
        let of_connection = |messages: &[Span]| {
            let Span { start, connection, .. } = messages[0];
            encoder.reset();
            if setting.takeover {
                encoder.prime(&self.bytes[connection..start]);
            }
            let sizes = messages
                .iter()
                .map(|span| encoder.compressed_size(self.message(*span)) as u64);
            sizes.sum::<u64>()
        };
        let connections = self.messages.chunk_by(|one, other| one.connection == other.connection);
        connections.map(of_connection).sum()
    }

    /// The length of its own messages.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.messages.iter().map(Span::len).sum()
    }
}

/// The plan of a piece: runs of messages, each of one connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PiecePlan(Vec<MessageRun>);

/// Messages `first..end` of the connection at an index in the list; `before` bytes precede the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MessageRun {
    connection: usize,
    first: usize,
    end: usize,
    before: usize,
}

impl PiecePlan {
    /// Cuts all messages, in order, into pieces of at least `size` bytes of their own, save the last. Messages stay whole.
    pub(super) fn all(connections: &[Connection<'_>], size: usize) -> Vec<Self> {
        Self::up_to(connections, size, usize::MAX)
    }

    /// Cuts as [`Self::all`] does, but leaves out messages above `longest` bytes, which are only the history of those after them.
    pub(super) fn up_to(connections: &[Connection<'_>], size: usize, longest: usize) -> Vec<Self> {
        let (mut cuts, mut cut) = (Vec::new(), Self::default());
        // Bytes and messages in the cut.
        let (mut filled, mut count) = (0, 0);
        for (connection, Connection { messages }) in connections.iter().enumerate() {
            let mut before = 0;
            for (place, message) in messages.iter().enumerate() {
                if message.len() <= longest {
                    cut.extend(connection, place, before);
                    filled += message.len();
                    count += 1;
                }
                before += message.len();
                if filled >= size || count >= MESSAGES_MAX {
                    cuts.push(std::mem::take(&mut cut));
                    (filled, count) = (0, 0);
                }
            }
        }
        if !cut.0.is_empty() {
            cuts.push(cut);
        }
        cuts
    }

    /// Adds a message, which `before` bytes of its connection precede.
    fn extend(&mut self, connection: usize, place: usize, before: usize) {
        match self.0.last_mut() {
            Some(run) if run.connection == connection && run.end == place => run.end += 1,
            _ => self.0.push(MessageRun {
                connection,
                first: place,
                end: place + 1,
                before,
            }),
        }
    }

    /// The connection and index of its first message.
    pub(super) fn begin(&self) -> Option<(usize, usize)> {
        self.0.first().map(|run| (run.connection, run.first))
    }

    /// Its own messages, run by run.
    pub(super) fn runs<'a>(&'a self, connections: &'a [Connection<'a>]) -> impl Iterator<Item = &'a [&'a [u8]]> {
        self.0
            .iter()
            .map(|run| &connections[run.connection].messages[run.first..run.end])
    }

    /// Whether it holds each of its connections from the beginning.
    pub(super) fn is_whole(&self) -> bool {
        self.0.iter().all(|run| run.before == 0)
    }

    /// The piece itself.
    pub(super) fn piece(&self, connections: &[Connection<'_>]) -> Piece {
        let mut piece = Piece::default();
        for run in &self.0 {
            let messages = &connections[run.connection].messages;
            let start = piece.bytes.len();
            let reach = history_length(run.before);
            // Backwards to the message that history begins in, then forwards.
            let (mut first, mut behind) = (run.first, 0);
            while behind < reach {
                first -= 1;
                behind += messages[first].len();
            }
            let mut left_out = behind - reach;
            for (place, message) in messages.iter().enumerate().take(run.end).skip(first) {
                let from = piece.bytes.len();
                piece.bytes.extend_from_slice(&message[std::mem::take(&mut left_out)..]);
                let span = Span {
                    start: from,
                    end: piece.bytes.len(),
                    connection: start,
                };
                if place < run.first {
                    &mut piece.history
                } else {
                    &mut piece.messages
                }
                .push(span);
            }
        }
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hold_every_message_once_with_history_cut_at_a_multiple_of_the_largest_window() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
        let long = Connection {
            messages: bytes.chunks(777).collect(),
        };
        let short = Connection {
            messages: vec![b"", b"one", b"two"],
        };
        let connections = [short.clone(), long.clone(), short];
        let pieces: Vec<_> = PiecePlan::all(&connections, 50_000)
            .iter()
            .map(|cut| cut.piece(&connections))
            .collect();
        let own: Vec<_> = pieces
            .iter()
            .flat_map(|piece| piece.messages.iter().map(|span| piece.message(*span)))
            .collect();
        let all: Vec<_> = connections
            .iter()
            .flat_map(|connection| connection.messages.iter().copied())
            .collect();
        assert_eq!(own, all);
        assert!(pieces.len() > 3);
        // Pieces from the second on begin in the long connection, which the last one ends.
        let mut before = pieces[0].messages.iter().skip(3).map(Span::len).sum::<usize>();
        for piece in &pieces[1..] {
            let first = piece.messages[0];
            let history = first.start - first.connection;
            assert_eq!(history, before.min(before % WINDOW_MAX + WINDOW_MAX));
            assert_eq!(piece.bytes[..history], bytes[before - history..before]);
            before += piece.len();
        }
    }

    #[test]
    fn what_is_too_long_for_a_piece_is_history_alone() {
        let messages: [&[u8]; 5] = [b"one", b"a very long one", b"two", b"three", b"another long one"];
        let connections = [Connection {
            messages: messages.to_vec(),
        }];
        let cuts = PiecePlan::up_to(&connections, 9, 5);
        assert_eq!(cuts.len(), 1);
        assert_eq!(cuts.iter().map(PiecePlan::begin).collect::<Vec<_>>(), [Some((0, 0))]);
        let piece = cuts[0].piece(&connections);
        let own: Vec<_> = piece.messages.iter().map(|span| piece.message(*span)).collect();
        assert_eq!(own, [b"one" as &[u8], b"two", b"three"]);
        let second = piece.messages[1];
        assert_eq!(
            &piece.bytes[second.connection..second.start],
            b"onea very long one" as &[u8]
        );
    }
}
