//! Relays DNS queries (RFC 1035) from the far host to the machine's name servers, and their responses back. It does not interpret
//! either.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The longest datagram there is.
const DATAGRAM_MAX: usize = 65_535;
/// The timeout of a name server before the next is asked, as in resolv.conf(5).
const TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of open queries; more are dropped, and clients repeat them. Our own choice.
const OPEN_QUERIES_MAX: usize = 256;

/// The machine's name servers, in their order: those of `/etc/resolv.conf`, or else the one on the loopback address (resolv.conf(5)).
pub(super) fn machine_name_servers() -> Vec<SocketAddr> {
    let named = parse_name_servers(&fs::read_to_string("/etc/resolv.conf").unwrap_or_default());
    if named.is_empty() {
        vec![(Ipv4Addr::LOCALHOST, super::DNS).into()]
    } else {
        named
    }
}

fn parse_name_servers(settings: &str) -> Vec<SocketAddr> {
    let servers = settings.lines().filter_map(|line| line.strip_prefix("nameserver"));
    // An address may name its interface, which only a link-local one needs: those are skipped.
    let addresses = servers.filter_map(|address| address.trim().parse().ok());
    addresses
        .map(|address: IpAddr| SocketAddr::new(address, super::DNS))
        .collect()
}

/// Relays queries that arrive at `at` to the servers, as long as the thread lives.
pub(super) async fn relay(at: std::net::UdpSocket, servers: Vec<SocketAddr>) {
    let listening = at.set_nonblocking(true).and_then(|()| UdpSocket::from_std(at));
    let Ok(at) = listening.map(Arc::new) else { return };
    let (room, servers) = (Arc::new(Semaphore::new(OPEN_QUERIES_MAX)), Arc::new(servers));
    let mut question = vec![0; DATAGRAM_MAX];
    loop {
        let Ok((length, asker)) = at.recv_from(&mut question).await else {
            continue;
        };
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            continue;
        };
        let (at, servers, question) = (Arc::clone(&at), Arc::clone(&servers), question[..length].to_vec());
        tokio::spawn(async move {
            for &server in &*servers {
                if let Ok(Ok(answer)) = timeout(TIMEOUT, ask(server, &question)).await {
                    let _ = at.send_to(&answer, asker).await;
                    break;
                }
            }
            drop(permit);
        });
    }
}

/// Queries one server, from a new port for each query, so that responses cannot be mixed up.
async fn ask(server: SocketAddr, question: &[u8]) -> io::Result<Vec<u8>> {
    let here: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(here, 0)).await?;
    socket.connect(server).await?;
    socket.send(question).await?;
    let mut answer = vec![0; DATAGRAM_MAX];
    let length = socket.recv(&mut answer).await?;
    answer.truncate(length);
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_are_read_in_their_order() {
        let settings = "# nameserver 1.1.1.1\nsearch example.org\nnameserver 10.0.0.53\nnameserver\t::1\nnameserver fe80::1%eth0\n";
        let expected: [SocketAddr; 2] = ["10.0.0.53:53".parse().unwrap(), "[::1]:53".parse().unwrap()];
        assert_eq!(parse_name_servers(settings), expected);
    }

    #[test]
    fn a_question_is_answered_by_the_first_server_that_does() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let socket = || std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            let (at, refusing, server) = (socket(), socket(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
            let relay_at = at.local_addr().unwrap();
            let servers = vec![refusing.local_addr().unwrap(), server.local_addr().unwrap()];
            // Its port is closed from now on.
            drop(refusing);
            tokio::spawn(relay(at, servers));
            tokio::spawn(async move {
                let mut question = [0; 100];
                let (length, asker) = server.recv_from(&mut question).await.unwrap();
                assert_eq!(&question[..length], b"who?");
                server.send_to(b"me", asker).await.unwrap();
            });
            assert_eq!(ask(relay_at, b"who?").await.unwrap(), b"me");
        });
    }
}
