//! Finds the socket that a segment is for, by its addresses.
//!
//! As in Linux, connections in TIME-WAIT are in a table of their own: each stays there for a minute, so that there are thousands of them where a
//! few are open, and hardly a segment is for one of them.

use super::socket::SocketId;
use std::collections::BTreeMap;
use std::net::SocketAddrV4;

/// The sockets of a world, by local and remote address.
#[derive(Debug, Default)]
pub(super) struct AddressTable {
    open: BTreeMap<AddressPair, SocketId>,
    in_time_wait: BTreeMap<AddressPair, SocketId>,
}

/// A local and a remote address as one number, which is compared at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AddressPair(u128);

impl AddressPair {
    pub(super) fn new(local: SocketAddrV4, remote: SocketAddrV4) -> Self {
        let number = |address: SocketAddrV4| u128::from(address.ip().to_bits()) << 16 | u128::from(address.port());
        Self(number(local) << 64 | number(remote))
    }
}

impl AddressTable {
    pub(super) fn get(&self, pair: AddressPair) -> Option<SocketId> {
        self.open.get(&pair).or_else(|| self.in_time_wait.get(&pair)).copied()
    }

    /// Adds an open socket, whose addresses no other has.
    pub(super) fn insert(&mut self, pair: AddressPair, id: SocketId) {
        self.open.insert(pair, id);
    }

    /// The socket is in TIME-WAIT from now on.
    pub(super) fn begin_time_wait(&mut self, pair: AddressPair, id: SocketId) {
        if self.open.get(&pair) == Some(&id) {
            self.open.remove(&pair);
            self.in_time_wait.insert(pair, id);
        }
    }

    /// Removes the socket, unless another one has its addresses by now.
    pub(super) fn remove(&mut self, pair: AddressPair, id: SocketId) {
        for table in [&mut self.open, &mut self.in_time_wait] {
            if table.get(&pair) == Some(&id) {
                table.remove(&pair);
            }
        }
    }
}
