//! The listening sockets of the gateway on the far host. One is opened for each address that a program asks for and that a service
//! serves, just before the request reaches the host's kernel, and closed once its service is gone.

use super::loopback_services::LoopbackServices;
use super::tcp_relay::RelayTarget;
use super::{DNS, GatewayCommand, GatewayReach, listen_at};
use crate::emu::namespace::Namespace;
use nix::sys::socket::{Shutdown, shutdown};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// The listening sockets of one far host.
pub(super) struct RelayListeners {
    pub(super) far: Namespace,
    pub(super) address: Ipv4Addr,
    pub(super) reach: GatewayReach,
    pub(super) services: Arc<LoopbackServices>,
    /// The name server for names outside the world.
    pub(super) resolver: Option<SocketAddr>,
    pub(super) open: BTreeMap<SocketAddrV4, TcpListener>,
    pub(super) gateway: UnboundedSender<GatewayCommand>,
}

impl RelayListeners {
    /// Opens or closes the listener at `to`, for which a connection request is about to arrive.
    pub(super) fn on_connection_request(&mut self, to: SocketAddrV4) {
        match (self.target(to), self.open.contains_key(&to)) {
            (Some(target), false) => self.open(to, target),
            (None, true) => self.close(to),
            _ => {}
        }
    }

    /// The target of connections to an address; none if they are to be refused.
    fn target(&self, to: SocketAddrV4) -> Option<RelayTarget> {
        let outside = self.reach == GatewayReach::Outside;
        if *to.ip() != self.address {
            return outside.then_some(RelayTarget::Address(to.into()));
        }
        if self.services.listen_on(to.port()) {
            return Some(RelayTarget::Loopback(to.port()));
        }
        // Responses that are too long for a datagram are requested again over TCP (RFC 7766).
        let resolver = self.resolver.filter(|_| outside && to.port() == DNS)?;
        Some(RelayTarget::Address(resolver))
    }

    fn open(&mut self, to: SocketAddrV4, target: RelayTarget) {
        // If it cannot be opened for lack of descriptors, the connection is refused.
        let Ok(Ok(listener)) = self.far.enter(|| listen_at(to)) else {
            return;
        };
        if let Ok(ours) = listener.try_clone()
            && self.gateway.send(GatewayCommand::Open { listener, target }).is_ok()
        {
            self.open.insert(to, ours);
        }
    }

    /// Closes a listener at once, though the gateway's thread has a handle to it, too.
    fn close(&mut self, to: SocketAddrV4) {
        if let Some(listener) = self.open.remove(&to) {
            let _ = shutdown(listener.as_raw_fd(), Shutdown::Read);
        }
    }
}
