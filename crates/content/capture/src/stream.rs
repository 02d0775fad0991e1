//! Puts the bytes of one direction in order, and finds those that were not captured.

use std::collections::BTreeMap;

/// What comes next in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// This many bytes that were not captured.
    Missing(u64),
}

/// The bytes of one direction, put in order as segments arrive.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    next: i64,
    /// The other side has acknowledged everything up to here.
    acknowledged: i64,
    /// Early arrivals: where each ends, and as much of it as was captured.
    early: BTreeMap<i64, (i64, Vec<u8>)>,
    held: usize,
}

/// The most bytes that wait for their turn: our own choice, as large as Linux's receive window grows by default. Where more would wait, the
/// bytes before them count as missing.
const HELD_MAX: usize = 6 << 20;
/// The approximate memory of a piece besides its bytes, of which a snapped one may have none.
const PIECE: usize = 64;

impl Stream {
    /// A stream that begins at `next`.
    pub(crate) fn new(next: i64) -> Self {
        Self {
            next,
            acknowledged: next,
            ..Self::default()
        }
    }

    /// The next position.
    pub(crate) fn next(&self) -> i64 {
        self.next
    }

    /// Bytes at positions `from` to `until` arrive; `bytes` are the captured ones, from the first on.
    pub(crate) fn arrive(&mut self, from: i64, until: i64, bytes: &[u8], sink: &mut dyn FnMut(Arrival<'_>)) {
        if self.acknowledged > self.next && from >= self.acknowledged {
            self.skip_to(self.acknowledged, sink);
        }
        if from > self.next {
            let longer = self.early.get(&from).is_none_or(|(end, _)| *end < until);
            if longer {
                self.held += bytes.len() + PIECE;
                if let Some((_, shorter)) = self.early.insert(from, (until, bytes.to_vec())) {
                    self.held -= shorter.len() + PIECE;
                }
            }
            while self.held > HELD_MAX
                && let Some(first) = self.early.keys().next().copied()
            {
                self.skip_hole(first, sink);
            }
            return;
        }
        self.deliver(from, until, bytes, sink);
        self.drain(sink);
    }

    /// The other side has everything up to `until`: bytes that have not come by now were not captured.
    pub(crate) fn skip_to(&mut self, until: i64, sink: &mut dyn FnMut(Arrival<'_>)) {
        while self.next < until {
            let first = self.early.keys().next().copied();
            self.skip_hole(first.map_or(until, |first| first.min(until)), sink);
        }
    }

    /// The same for a caller that would rather wait than lose bytes: those after which nothing has arrived may still come, since a packet
    /// is sometimes captured after its own acknowledgement.
    pub(crate) fn acknowledge(&mut self, until: i64, sink: &mut dyn FnMut(Arrival<'_>)) {
        self.acknowledged = self.acknowledged.max(until);
        if !self.early.is_empty() {
            self.skip_to(self.acknowledged, sink);
        }
    }

    /// Nothing more will arrive: reports what waits behind holes, and what was acknowledged and never came.
    pub(crate) fn end(&mut self, sink: &mut dyn FnMut(Arrival<'_>)) {
        self.skip_to(self.acknowledged, sink);
        while let Some(first) = self.early.keys().next().copied() {
            self.skip_hole(first, sink);
        }
    }

    fn skip_hole(&mut self, until: i64, sink: &mut dyn FnMut(Arrival<'_>)) {
        if until > self.next {
            sink(Arrival::Missing((until - self.next) as u64));
            self.next = until;
        }
        self.drain(sink);
    }

    fn drain(&mut self, sink: &mut dyn FnMut(Arrival<'_>)) {
        while let Some(first) = self.early.first_entry().filter(|first| *first.key() <= self.next) {
            let (from, (until, bytes)) = first.remove_entry();
            self.held -= bytes.len() + PIECE;
            self.deliver(from, until, &bytes, sink);
        }
    }

    fn deliver(&mut self, from: i64, until: i64, bytes: &[u8], sink: &mut dyn FnMut(Arrival<'_>)) {
        if until <= self.next {
            return;
        }
        let fresh = bytes.get((self.next - from) as usize..).unwrap_or(&[]);
        if !fresh.is_empty() {
            sink(Arrival::Bytes(fresh));
        }
        let missing = (until - self.next) as u64 - fresh.len() as u64;
        if missing > 0 {
            sink(Arrival::Missing(missing));
        }
        self.next = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(run: impl FnOnce(&mut Stream, &mut dyn FnMut(Arrival<'_>))) -> String {
        let (mut stream, mut text) = (Stream::new(10), String::new());
        run(&mut stream, &mut |arrival| match arrival {
            Arrival::Bytes(bytes) => text += std::str::from_utf8(bytes).unwrap(),
            Arrival::Missing(count) => text += &format!("<{count}>"),
        });
        text
    }

    #[test]
    fn bytes_come_in_order_and_once() {
        let text = collect(|stream, sink| {
            stream.arrive(10, 13, b"abc", sink);
            stream.arrive(16, 19, b"ghi", sink);
            stream.arrive(12, 15, b"cde", sink);
            stream.arrive(12, 17, b"cdefg", sink);
        });
        assert_eq!(text, "abcdefghi");
    }

    #[test]
    fn what_was_not_captured_is_told_in_its_place() {
        let text = collect(|stream, sink| {
            stream.arrive(10, 20, b"abc", sink);
            stream.arrive(25, 27, b"xy", sink);
            stream.skip_to(30, sink);
        });
        assert_eq!(text, "abc<7><5>xy<3>");
    }

    #[test]
    fn what_comes_behind_its_acknowledgement_is_not_missing() {
        let text = collect(|stream, sink| {
            stream.arrive(10, 13, b"abc", sink);
            stream.acknowledge(19, sink);
            stream.arrive(16, 19, b"ghi", sink);
            stream.arrive(13, 16, b"def", sink);
            stream.acknowledge(22, sink);
            stream.arrive(22, 24, b"mn", sink);
            stream.acknowledge(27, sink);
            stream.end(sink);
        });
        assert_eq!(text, "abcdefghi<3>mn<3>");
    }

    #[test]
    fn what_waits_at_the_end_is_told_behind_its_hole() {
        let text = collect(|stream, sink| {
            stream.arrive(12, 14, b"cd", sink);
            stream.arrive(15, 16, b"f", sink);
            stream.end(sink);
        });
        assert_eq!(text, "<2>cd<1>f");
    }

    #[test]
    fn what_waits_for_ever_is_not_held_for_ever() {
        let mut held = 0;
        collect(|stream, sink| {
            for n in 1..100 {
                stream.arrive(n * (1 << 20), n * (1 << 20) + (1 << 19), &[b'x'; 1 << 19], sink);
                held = held.max(stream.held);
            }
        });
        assert!(held <= HELD_MAX, "{held}");
    }
}
