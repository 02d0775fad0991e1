//! The network's state of one connection: the programs that wait for it, its next deadline, and whether a program still holds it.

use lastmile_tcp::Connection;
use lastmile_units::Instant;
use std::task::Waker;

/// The number of a socket of this world. Numbers are not reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SocketId(pub(super) usize);

/// A connection, with the network's state of it.
pub(super) struct Socket {
    pub(super) connection: Connection,
    /// The time of its earliest event in the queue.
    armed: Option<Instant>,
    pub(super) reader: Option<Waker>,
    pub(super) writer: Option<Waker>,
    /// The port whose listener receives it after the handshake.
    pub(super) accepted_at: Option<u16>,
    /// Whether the program has dropped it.
    pub(super) orphaned: bool,
}

impl Socket {
    pub(super) const fn new(connection: Connection, accepted_at: Option<u16>) -> Self {
        let (armed, reader, writer, orphaned) = (None, None, None, false);
        Self {
            connection,
            armed,
            reader,
            writer,
            accepted_at,
            orphaned,
        }
    }

    /// The deadline that must be added to the event queue, if no earlier event is there.
    pub(super) fn deadline_to_arm(&mut self) -> Option<Instant> {
        let deadline = self.connection.next_deadline()?;
        let sooner = self.armed.is_none_or(|armed| deadline < armed);
        sooner.then(|| *self.armed.insert(deadline))
    }

    /// Whether the event that is due is the current one: a later deadline may have been queued before it.
    pub(super) fn is_armed_for(&self, now: Instant) -> bool {
        self.armed == Some(now)
    }

    /// Handles a due event. Deadlines often move later: then only the later one has to be armed.
    pub(super) fn on_deadline(&mut self, now: Instant) {
        self.armed = None;
        if self.connection.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.connection.on_timer(now);
        }
    }

    /// Wakes the programs that can go on.
    pub(super) fn wake_waiters(&mut self) {
        if self.connection.is_readable()
            && let Some(waker) = self.reader.take()
        {
            waker.wake();
        }
        if self.connection.is_writable()
            && let Some(waker) = self.writer.take()
        {
            waker.wake();
        }
    }
}
