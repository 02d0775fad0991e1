//! Finds the services that listen on the machine's loopback address. It asks the kernel each time, since services start and stop:
//! one lookup of the listening socket (sock_diag(7)) takes microseconds, however many sockets there are.

use crate::emu::netlink::Netlink;
use nix::libc;
use nix::sys::socket::SockProtocol;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

/// The listening sockets of one network namespace.
#[derive(Debug)]
pub(super) struct LoopbackServices {
    /// None if the kernel has no sock_diag.
    kernel: Option<Netlink>,
}

/// The type of requests and responses (linux/sock_diag.h).
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Every state (linux/inet_diag.h).
const ALL_STATES: u32 = u32::MAX;
/// Half of the cookie of a socket that is not known yet (linux/inet_diag.h, `INET_DIAG_NOCOOKIE`).
const NO_COOKIE: u32 = u32::MAX;
/// The source port of the lookup: no program connects from this one (tcpmux, RFC 1078).
const UNUSED_PORT: u16 = 1;

impl LoopbackServices {
    /// The services of the network namespace that the calling thread is in now, even if it moves later.
    pub(super) fn of_this_thread() -> io::Result<Self> {
        let services = Self {
            kernel: Netlink::with_protocol(SockProtocol::NetlinkSockDiag).ok(),
        };
        // A kernel without support reports that nobody listens.
        let someone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        if services.listen_on(someone.local_addr()?.port()) {
            Ok(services)
        } else {
            Ok(Self { kernel: None })
        }
    }

    /// Whether a socket on the loopback address, of IPv4 or IPv6, accepts connections to `port`. True if the kernel cannot be asked:
    /// the connection is then reset a little later.
    pub(super) fn listen_on(&self, port: u16) -> bool {
        let Some(kernel) = &self.kernel else { return true };
        let ipv4 = request(libc::AF_INET as u8, &Ipv4Addr::LOCALHOST.octets(), port);
        let ipv6 = request(libc::AF_INET6 as u8, &Ipv6Addr::LOCALHOST.octets(), port);
        [ipv4, ipv6].iter().any(|request| {
            let response = kernel.ask(SOCK_DIAG_BY_FAMILY, 0, request);
            // The kernel responds with a socket, or with an error.
            response.map_or(true, |response| response.kind == SOCK_DIAG_BY_FAMILY)
        })
    }
}

/// A request for the socket that would accept a connection from a loopback address to itself (`inet_diag_req_v2`, linux/inet_diag.h).
fn request(family: u8, address: &[u8], port: u16) -> Vec<u8> {
    let mut padded = [0; 16];
    padded[..address.len()].copy_from_slice(address);
    let mut request = vec![family, libc::IPPROTO_TCP as u8, 0, 0];
    request.extend(ALL_STATES.to_ne_bytes());
    request.extend(port.to_be_bytes());
    request.extend(UNUSED_PORT.to_be_bytes());
    request.extend(padded);
    request.extend(padded);
    request.extend(0u32.to_ne_bytes()); // Any interface.
    request.extend(NO_COOKIE.to_ne_bytes());
    request.extend(NO_COOKIE.to_ne_bytes());
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_found_for_as_long_as_it_listens() {
        let services = LoopbackServices::of_this_thread().unwrap();
        if services.kernel.is_none() {
            return println!("skipped: this kernel has no sock_diag");
        }
        for address in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"] {
            let Ok(service) = TcpListener::bind(address) else {
                println!("skipped: this machine has no {address}");
                continue;
            };
            let port = service.local_addr().unwrap().port();
            assert!(services.listen_on(port), "{address}");
            drop(service);
            assert!(!services.listen_on(port), "{address}");
        }
    }

    #[test]
    fn what_listens_on_another_address_is_not_on_the_loopback_address() {
        let services = LoopbackServices::of_this_thread().unwrap();
        let elsewhere = TcpListener::bind("127.0.0.2:0").unwrap();
        let port = elsewhere.local_addr().unwrap().port();
        assert_eq!(services.listen_on(port), services.kernel.is_none());
    }
}
