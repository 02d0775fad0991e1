//! Which services listen on the machine's loopback address? The kernel is asked anew each time, as services come and go: it looks
//! for whoever would take a connection there (sock_diag(7)), in microseconds however many sockets there are.

use netlink_sys::{Socket, SocketAddr};
use nix::libc;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

/// The listening sockets of one network namespace.
#[derive(Debug)]
pub(super) struct Services {
    /// None where the kernel has no such interface.
    kernel: Option<Socket>,
}

/// The netlink protocol that tells of sockets (linux/netlink.h).
const NETLINK_SOCK_DIAG: isize = 4;
/// The kind of a question, and of an answer (linux/sock_diag.h).
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Every state (linux/inet_diag.h).
const ALL_STATES: u32 = u32::MAX;
/// Half of the number of a socket that is not known yet (linux/inet_diag.h, `INET_DIAG_NOCOOKIE`).
const NO_COOKIE: u32 = u32::MAX;
/// Whom the answer would be for: no program connects from this port (tcpmux, RFC 1078).
const ASKING_PORT: u16 = 1;

impl Services {
    /// Those of the network namespace that the calling thread is in now, wherever it goes later.
    pub(super) fn of_this_thread() -> io::Result<Self> {
        let services = Self { kernel: asking().ok() };
        // A kernel that cannot tell says that nobody listens.
        let someone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        if services.listen_on(someone.local_addr()?.port()) {
            Ok(services)
        } else {
            Ok(Self { kernel: None })
        }
    }

    /// Whether someone on the loopback address, of IPv4 or IPv6, takes connections to `port`. Where the kernel cannot be asked, someone
    /// does: the connection is broken off a little later then.
    pub(super) fn listen_on(&self, port: u16) -> bool {
        let Some(kernel) = &self.kernel else { return true };
        let ipv4 = question(libc::AF_INET as u8, &Ipv4Addr::LOCALHOST.octets(), port);
        let ipv6 = question(libc::AF_INET6 as u8, &Ipv6Addr::LOCALHOST.octets(), port);
        [ipv4, ipv6]
            .iter()
            .any(|question| answers(kernel, question).unwrap_or(true))
    }
}

fn asking() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
}

/// Who takes a connection to a loopback address that comes from the same (`nlmsghdr` and `inet_diag_req_v2`, linux/inet_diag.h)?
fn question(family: u8, address: &[u8], port: u16) -> Vec<u8> {
    let mut padded = [0; 16];
    padded[..address.len()].copy_from_slice(address);
    let mut request = vec![family, libc::IPPROTO_TCP as u8, 0, 0];
    request.extend(ALL_STATES.to_ne_bytes());
    request.extend(port.to_be_bytes());
    request.extend(ASKING_PORT.to_be_bytes());
    request.extend(padded);
    request.extend(padded);
    request.extend(0u32.to_ne_bytes()); // Any interface.
    request.extend(NO_COOKIE.to_ne_bytes());
    request.extend(NO_COOKIE.to_ne_bytes());

    let mut message = Vec::new();
    message.extend((HEADER as u32 + request.len() as u32).to_ne_bytes());
    message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend((libc::NLM_F_REQUEST as u16).to_ne_bytes());
    message.extend([0; 8]); // The kernel need not be told which question of whom it is.
    message.extend(request);
    message
}

/// The length of `nlmsghdr`; its third field of 16 bits is the message's kind.
const HEADER: usize = 16;

/// Whether the kernel has an answer, and not only an error.
fn answers(kernel: &Socket, question: &[u8]) -> io::Result<bool> {
    kernel.send(question, 0)?;
    let (answer, _) = kernel.recv_from_full()?;
    Ok(answer.get(4..6) == Some(&SOCK_DIAG_BY_FAMILY.to_ne_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_found_for_as_long_as_it_listens() {
        let services = Services::of_this_thread().unwrap();
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
        let services = Services::of_this_thread().unwrap();
        let elsewhere = TcpListener::bind("127.0.0.2:0").unwrap();
        let port = elsewhere.local_addr().unwrap().port();
        assert_eq!(services.listen_on(port), services.kernel.is_none());
    }
}
