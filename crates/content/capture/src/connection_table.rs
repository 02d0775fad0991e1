//! Finds the flow that a packet belongs to by its two ends, of which the latest connection counts.

use crate::datagram::Datagram;
use std::collections::HashMap;
use std::net::SocketAddr;

/// The flows of a capture, in the order of their beginnings.
#[derive(Debug)]
pub(crate) struct ConnectionTable<C> {
    pub(crate) connections: Vec<C>,
    /// The latest connection between two ends. Only looked up, never iterated, so that its order does not matter.
    by_ends: HashMap<(SocketAddr, SocketAddr), usize>,
}

impl<C> Default for ConnectionTable<C> {
    fn default() -> Self {
        Self {
            connections: Vec::new(),
            by_ends: HashMap::new(),
        }
    }
}

impl<C> ConnectionTable<C> {
    /// The index of the connection that `datagram` belongs to: a new one where there is none, or where it is reused.
    pub(crate) fn index_of(
        &mut self,
        datagram: &Datagram<'_>,
        is_reused: impl Fn(&C) -> bool,
        begin: impl FnOnce() -> C,
    ) -> usize {
        let ends = (datagram.from.min(datagram.to), datagram.from.max(datagram.to));
        let known = self.by_ends.get(&ends).copied();
        let going_on = known.filter(|index| !is_reused(&self.connections[*index]));
        going_on.unwrap_or_else(|| {
            self.connections.push(begin());
            self.by_ends.insert(ends, self.connections.len() - 1);
            self.connections.len() - 1
        })
    }
}
