//! What does the network keep of a connection? Who waits for it, when it wants to be called, and whether a program still holds it.

use crate::tcp::Connection;
use lastmile_units::Instant;
use std::task::Waker;

/// A socket that was opened in this world. Numbers are not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SocketId(usize);

/// A connection, as the network keeps it.
pub(super) struct Socket {
    pub(super) connection: Connection,
    /// The earliest entry on the agenda for it.
    armed: Option<Instant>,
    pub(super) reader: Option<Waker>,
    pub(super) writer: Option<Waker>,
    /// The port whose listener is to be told when the handshake is done.
    pub(super) accepted_at: Option<u16>,
    /// The program has let go of it.
    pub(super) orphaned: bool,
}

impl SocketId {
    pub(super) const fn new(index: usize) -> Self {
        Self(index)
    }

    pub(super) const fn index(self) -> usize {
        self.0
    }
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

    /// The deadline that must be put on the agenda, where no earlier entry is there.
    pub(super) fn deadline_to_arm(&mut self) -> Option<Instant> {
        let deadline = self.connection.next_deadline()?;
        let sooner = self.armed.is_none_or(|armed| deadline < armed);
        sooner.then(|| *self.armed.insert(deadline))
    }

    /// Whether the entry that came is the one that counts: a later one may have been put down before it.
    pub(super) fn is_armed_for(&self, now: Instant) -> bool {
        self.armed == Some(now)
    }

    /// An entry has come. Deadlines move away more often than they come: then there is only a later one to arm.
    pub(super) fn on_deadline(&mut self, now: Instant) {
        self.armed = None;
        if self.connection.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.connection.on_timer(now);
        }
    }

    /// Wakes the programs that can go on.
    pub(super) fn wake_who_waits(&mut self) {
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
