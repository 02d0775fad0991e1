//! The open connections: so many at a time, and where there is no place left, the one that has been idle for longest gives up its own.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// The connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    by_number: HashMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    /// Ends it; none until its task runs.
    abort: Option<AbortHandle>,
    /// How many requests it is being answered.
    requests: u32,
    /// When the last of them ended, or the connection began.
    idle_since: Instant,
}

/// The place of a connection. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
}

/// A request that is being answered, up to the end of the answer's body.
#[derive(Debug)]
pub(super) struct Answering {
    connections: Arc<Connections>,
    number: u64,
}

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            open: Mutex::default(),
        })
    }

    /// A place for a connection that was accepted. Where all are taken, the connection that has been idle for longest is closed for it; `None`
    /// where each is being answered.
    pub(super) fn open(self: &Arc<Self>) -> Option<ConnectionSlot> {
        let mut open = self.open.lock().expect("no thread panics with it");
        if open.by_number.len() >= self.most {
            open.close_idlest()?;
        }
        let number = open.next;
        open.next += 1;
        let connection = Connection {
            abort: None,
            requests: 0,
            idle_since: Instant::now(),
        };
        open.by_number.insert(number, connection);
        Some(ConnectionSlot {
            connections: Arc::clone(self),
            number,
        })
    }

    /// Closes the connection that has been idle for longest, where the system has no room for another.
    pub(super) fn close_idlest(&self) {
        self.open.lock().expect("no thread panics with it").close_idlest();
    }

    fn change(&self, number: u64, change: impl FnOnce(&mut Connection)) {
        let mut open = self.open.lock().expect("no thread panics with it");
        if let Some(connection) = open.by_number.get_mut(&number) {
            change(connection);
        }
    }

    /// The task that serves the connection of this number.
    pub(super) fn set_task(&self, number: u64, abort: AbortHandle) {
        self.change(number, |connection| connection.abort = Some(abort));
    }
}

impl OpenConnections {
    /// `None` where each is being answered.
    fn close_idlest(&mut self) -> Option<()> {
        let idle = self.by_number.iter().filter(|(_, connection)| connection.requests == 0);
        let (number, _) = idle.min_by_key(|(number, connection)| (connection.idle_since, **number))?;
        let number = *number;
        if let Some(abort) = self.by_number.remove(&number).and_then(|connection| connection.abort) {
            abort.abort();
        }
        Some(())
    }
}

impl ConnectionSlot {
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// A request arrived.
    pub(super) fn answer(&self) -> Answering {
        self.connections
            .change(self.number, |connection| connection.requests += 1);
        Answering {
            connections: Arc::clone(&self.connections),
            number: self.number,
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock().expect("no thread panics with it");
        open.by_number.remove(&self.number);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.connections.change(self.number, |connection| {
            connection.requests -= 1;
            connection.idle_since = Instant::now();
        });
    }
}

/// The body of an answer, which keeps its connection from being idle.
pub(super) struct AnsweringBody<B> {
    pub(super) inner: B,
    pub(super) _answering: Answering,
}

impl<B: Body<Data = Bytes> + Unpin> Body for AnsweringBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_connection_makes_room_and_one_that_is_answered_does_not() {
        let connections = Connections::new(2);
        let (first, second) = (connections.open().unwrap(), connections.open().unwrap());
        let answering = first.answer();
        let third = connections.open().unwrap();
        // The second lost its place, and giving it back takes none from the others.
        drop(second);
        let other = third.answer();
        assert!(connections.open().is_none());
        drop(answering);
        assert!(connections.open().is_some());
        drop((other, third, first));
        assert!(connections.open.lock().unwrap().by_number.is_empty());
    }
}
