//! At which addresses does the far host take connections? At those that were asked for and lead somewhere: a door is opened just
//! before the request comes to the host's kernel, and shut once its service is gone.

use super::carry::Target;
use super::services::Services;
use super::{DNS, Order, Reach, listen_at};
use crate::emu::namespace::Namespace;
use nix::sys::socket::{Shutdown, shutdown};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// Where connections come in, and whom they are for.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) listener: TcpListener,
    pub(super) target: Target,
}

/// The doors of one far host.
pub(super) struct Doors {
    pub(super) far: Namespace,
    pub(super) address: Ipv4Addr,
    pub(super) reach: Reach,
    pub(super) services: Arc<Services>,
    /// Who answers questions for names outside.
    pub(super) resolver: Option<SocketAddr>,
    pub(super) open: BTreeMap<SocketAddrV4, TcpListener>,
    pub(super) gateway: UnboundedSender<Order>,
}

impl Doors {
    /// Someone is about to ask for a connection to `to`.
    pub(super) fn requested(&mut self, to: SocketAddrV4) {
        match (self.target(to), self.open.contains_key(&to)) {
            (Some(target), false) => self.open(to, target),
            (None, true) => self.shut(to),
            _ => {}
        }
    }

    /// Who is meant by an address; nobody where connections are to be refused.
    fn target(&self, to: SocketAddrV4) -> Option<Target> {
        let outside = self.reach == Reach::Outside;
        if *to.ip() != self.address {
            return outside.then_some(Target::Address(to.into()));
        }
        if self.services.listen_on(to.port()) {
            return Some(Target::Loopback(to.port()));
        }
        // Answers that are too long for a datagram are asked for again by TCP (RFC 7766).
        let resolver = self.resolver.filter(|_| outside && to.port() == DNS)?;
        Some(Target::Address(resolver))
    }

    fn open(&mut self, to: SocketAddrV4, target: Target) {
        // Where it cannot be opened, for want of descriptors, the connection is refused.
        let Ok(Ok(listener)) = self.far.enter(|| listen_at(to)) else {
            return;
        };
        if let Ok(ours) = listener.try_clone() {
            let door = Door { listener, target };
            if self.gateway.send(Order::Open(door)).is_ok() {
                self.open.insert(to, ours);
            }
        }
    }

    /// The door is shut at once, though the gateway's thread holds it too.
    fn shut(&mut self, to: SocketAddrV4) {
        if let Some(door) = self.open.remove(&to) {
            let _ = shutdown(door.as_raw_fd(), Shutdown::Read);
        }
    }
}
