//! In which parts is a transcript worked on? A piece: messages one behind the other in memory, with as much of what went before them as
//! any window reaches.
//!
//! Pieces keep two things as zlib has them in a whole stream: what a window reaches, and where in its buffer a message comes to
//! stand. That buffer holds two windows, and by a window's length at a time what it holds moves to the front (`fill_window`), so a
//! message's place in it is its place in the stream, modulo the window. History is therefore cut at a multiple of the largest
//! window.

use super::Connection;
use super::grid::encoder;
use crate::message_codec::Deflate;

/// The largest window, in octets (RFC 1951 section 2).
pub(super) const WINDOW_MAX: usize = 1 << 15;

/// As many messages as a piece has: our own choice, so that what is noted of each, at each setting, stays small.
const MESSAGES_MAX: usize = 8192;

/// How many of the octets before something are kept as its history.
pub(super) fn kept(before: usize) -> usize {
    before.min(before % WINDOW_MAX + WINDOW_MAX)
}

/// Messages of one or several connections.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// History and messages, connection by connection.
    pub(super) octets: Vec<u8>,
    /// The messages that are the piece's own.
    pub(super) messages: Vec<Span>,
    /// The messages in history, whole or their ends.
    pub(super) history: Vec<Span>,
}

/// Where a message lies in a piece's octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where its connection begins, or what is left of it.
    pub(super) connection: usize,
}

impl Span {
    pub(super) const fn len(&self) -> usize {
        self.end - self.start
    }
}

impl Piece {
    pub(super) fn message(&self, span: Span) -> &[u8] {
        &self.octets[span.start..span.end]
    }

    /// Octets of its own messages as a setting codes them, roughly: what went before them is there as a dictionary would be, cut as pieces
    /// are.
    pub(super) fn rough_size(&self, setting: Deflate) -> u64 {
        let mut encoder = encoder(setting);
        let of_connection = |messages: &[Span]| {
            let Span { start, connection, .. } = messages[0];
            encoder.reset();
            if setting.takeover {
                encoder.prime(&self.octets[connection..start]);
            }
            let sizes = messages
                .iter()
                .map(|span| encoder.coded_size(self.message(*span)) as u64);
            sizes.sum::<u64>()
        };
        let connections = self.messages.chunk_by(|one, other| one.connection == other.connection);
        connections.map(of_connection).sum()
    }

    /// Octets of its own messages.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.messages.iter().map(Span::len).sum()
    }
}

/// Where a piece is cut from: runs of messages, each of one connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cut(Vec<Run>);

/// Messages `first..end` of the connection at a place in the list, of which the first has `before` octets before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    connection: usize,
    first: usize,
    end: usize,
    before: usize,
}

impl Cut {
    /// Cuts all messages, in order, into pieces of at least `size` octets of their own, save the last. Messages stay whole.
    pub(super) fn all(connections: &[Connection<'_>], size: usize) -> Vec<Self> {
        Self::up_to(connections, size, usize::MAX)
    }

    /// Cuts as [`Self::all`] does, but leaves out messages above `longest` octets, which are only the history of those after them.
    pub(super) fn up_to(connections: &[Connection<'_>], size: usize, longest: usize) -> Vec<Self> {
        let (mut cuts, mut cut) = (Vec::new(), Self::default());
        // Octets and messages that are in the cut.
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

    /// Adds a message, which `before` octets of its connection come before.
    fn extend(&mut self, connection: usize, place: usize, before: usize) {
        match self.0.last_mut() {
            Some(run) if run.connection == connection && run.end == place => run.end += 1,
            _ => self.0.push(Run {
                connection,
                first: place,
                end: place + 1,
                before,
            }),
        }
    }

    /// The connection and place of its first message.
    pub(super) fn begin(&self) -> Option<(usize, usize)> {
        self.0.first().map(|run| (run.connection, run.first))
    }

    /// Its own messages, run by run.
    pub(super) fn runs<'a>(&'a self, connections: &'a [Connection<'a>]) -> impl Iterator<Item = &'a [&'a [u8]]> {
        self.0
            .iter()
            .map(|run| &connections[run.connection].messages[run.first..run.end])
    }

    /// Whether each of its connections is in it from the beginning.
    pub(super) fn is_whole(&self) -> bool {
        self.0.iter().all(|run| run.before == 0)
    }

    /// The piece itself.
    pub(super) fn piece(&self, connections: &[Connection<'_>]) -> Piece {
        let mut piece = Piece::default();
        for run in &self.0 {
            let messages = &connections[run.connection].messages;
            let start = piece.octets.len();
            let reach = kept(run.before);
            // Backwards to the message that history begins in, then forwards.
            let (mut first, mut behind) = (run.first, 0);
            while behind < reach {
                first -= 1;
                behind += messages[first].len();
            }
            let mut left_out = behind - reach;
            for (place, message) in messages.iter().enumerate().take(run.end).skip(first) {
                let from = piece.octets.len();
                piece
                    .octets
                    .extend_from_slice(&message[std::mem::take(&mut left_out)..]);
                let span = Span {
                    start: from,
                    end: piece.octets.len(),
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
        let octets: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
        let long = Connection {
            messages: octets.chunks(777).collect(),
        };
        let short = Connection {
            messages: vec![b"", b"one", b"two"],
        };
        let connections = [short.clone(), long.clone(), short];
        let pieces: Vec<_> = Cut::all(&connections, 50_000)
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
            assert_eq!(piece.octets[..history], octets[before - history..before]);
            before += piece.len();
        }
    }

    #[test]
    fn what_is_too_long_for_a_piece_is_history_alone() {
        let messages: [&[u8]; 5] = [b"one", b"a very long one", b"two", b"three", b"another long one"];
        let connections = [Connection {
            messages: messages.to_vec(),
        }];
        let cuts = Cut::up_to(&connections, 9, 5);
        assert_eq!(cuts.len(), 1);
        assert_eq!(cuts.iter().map(Cut::begin).collect::<Vec<_>>(), [Some((0, 0))]);
        let piece = cuts[0].piece(&connections);
        let own: Vec<_> = piece.messages.iter().map(|span| piece.message(*span)).collect();
        assert_eq!(own, [b"one" as &[u8], b"two", b"three"]);
        let second = piece.messages[1];
        assert_eq!(
            &piece.octets[second.connection..second.start],
            b"onea very long one" as &[u8]
        );
    }
}
