//! Datagrams between hosts: packets whose number and size a test decides.
#![allow(
    clippy::disallowed_types,
    reason = "these sockets are of real kernels, in namespaces"
)]

use lastmile_world::Host as _;
use lastmile_world::emu::{EmuHost, World};
use std::io::ErrorKind;
use std::net::UdpSocket;
use std::time::Duration;

const PORT: u16 = 9;
/// IP and UDP headers (RFC 791, RFC 768).
const HEADERS: usize = 28;
/// The silence after which no more datagrams are expected. Longer than the delay of any link in these tests.
const SILENCE: Duration = Duration::from_millis(250);

/// Receives the datagrams that are sent to a host.
pub(crate) struct Receiver(UdpSocket);

impl Receiver {
    pub(crate) fn at(host: &EmuHost) -> Self {
        let socket = host
            .namespace()
            .enter(|| UdpSocket::bind(host.address(PORT)))
            .unwrap()
            .unwrap();
        socket.set_read_timeout(Some(SILENCE)).unwrap();
        Self(socket)
    }

    /// The numbers of the packets that arrive, in their order, until nothing more does.
    pub(crate) fn hear(&self) -> Vec<u32> {
        let (mut numbers, mut packet) = (Vec::new(), [0; 1500]);
        loop {
            match self.0.recv(&mut packet) {
                Ok(_) => numbers.push(u32::from_be_bytes(*packet.first_chunk().unwrap())),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return numbers,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Sends as many packets of `size` bytes, headers included, as fast as may be; they are numbered from 0.
pub(crate) fn send(from: &EmuHost, to: &EmuHost, count: u32, size: usize) {
    let socket = from
        .namespace()
        .enter(|| UdpSocket::bind("0.0.0.0:0"))
        .unwrap()
        .unwrap();
    let mut packet = vec![0; size - HEADERS];
    for number in 0..count {
        packet[..4].copy_from_slice(&number.to_be_bytes());
        assert_eq!(socket.send_to(&packet, to.address(PORT)).unwrap(), packet.len());
    }
}

/// Two hosts of a world.
pub(crate) fn two_hosts(world: &World) -> (EmuHost, EmuHost) {
    let host = || world.host(lastmile_world::emu::HostSpec::default()).unwrap();
    (host(), host())
}
