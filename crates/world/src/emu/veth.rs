//! How does a host's kernel get at the link where `/dev/net/tun` is shut? By a pair of virtual Ethernet interfaces: one end is
//! the host's, and a packet socket reads and writes IP packets at the other, in the world's middle namespace.
//!
//! Ethernet is there in name only: the host resolves no addresses (`IFF_NOARP`), and its interface checksums and splits
//! packets as they would be on a wire.

use super::interface::{MTU, NAME, QUEUE};
use super::kernel::{self, Offload};
use super::namespace::Namespace;
use super::netlink::{EthernetAddress, InterfaceIndex, Netlink};
use super::settings;
use netlink_packet_route::link::{LinkAttribute, LinkFlags};
use nix::sys::socket::{getsockopt, setsockopt, sockopt};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads and writes the IP packets of one host, each with one system call.
pub(super) struct PacketSocket {
    socket: File,
    /// The kernel forgets its count as it tells it.
    overflowed: AtomicU64,
}

/// Of the host's end. The second-least bit of the first byte says that nobody was assigned it (IEEE 802-2014, section 8.2).
const HOST_END: EthernetAddress = [2, 0, 0, 0, 0, 1];
/// Of the other end: not what the host writes to, so that the middle namespace's own IP lets packets pass by.
const MIDDLE_END: EthernetAddress = [2, 0, 0, 0, 0, 2];

/// Destination, source, EtherType (RFC 894).
const ETHERNET_HEADER: usize = 14;

/// What stands before a packet to the host: [`HOST_END`], [`MIDDLE_END`], IPv4.
const TO_HOST: [u8; ETHERNET_HEADER] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];

/// How much the socket holds until the forwarder reads. Who may not exceed `net.core.rmem_max` gets that, which is 180 packets on
/// most systems. Our own choice: as many packets as a TUN holds; the kernel gives
/// twice what is asked for (socket(7), `SO_RCVBUF`).
const RECEIVE_BUFFER: usize = ACCOUNTED * QUEUE as usize / 2;
/// What the kernel accounts a packet of 1,500 bytes for: its buffer of 2,048 and what describes it (`SKB_TRUESIZE`), as seen on 64-bit
/// machines.
const ACCOUNTED: usize = 2304;

/// Makes the pair: one end is `host`'s, called [`NAME`], the other is in `middle`, where a packet socket is opened on it.
///
/// # Errors
/// Those of the system.
pub(super) fn make(middle: &Namespace, host: &Namespace, address: Ipv4Addr) -> io::Result<PacketSocket> {
    let name = format!(
        "host{}",
        address.octets()[1..]
            .iter()
            .fold(0, |number, &byte| number << 8 | u32::from(byte))
    );
    let socket = middle.enter(|| {
        // Neighbour discovery of this end would arrive at the host.
        settings::apply()?;
        let netlink = Netlink::open()?;
        netlink.add_veth((&name, MIDDLE_END), (NAME, HOST_END, host))?;
        let end = InterfaceIndex::of(&name)?;
        netlink.bring_up(end, LinkFlags::empty(), vec![LinkAttribute::Mtu(MTU)])?;
        open(end)
    })??;
    host.enter(|| {
        // In this order: without checksums the kernel itself turns off what needs them.
        for offload in [
            Offload::TransmitChecksum,
            Offload::TransmitSegmentation,
            Offload::Segmentation,
            Offload::Merging,
        ] {
            kernel::turn_off(NAME, offload)?;
        }
        io::Result::Ok(())
    })??;
    Ok(PacketSocket {
        socket,
        overflowed: AtomicU64::new(0),
    })
}

/// Opens a packet socket that holds as much as it may.
fn open(interface: InterfaceIndex) -> io::Result<File> {
    let socket = kernel::open_packet_socket(interface.get())?;
    if setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
        setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER)?;
    }
    Ok(socket)
}

/// How many full packets may wait for the forwarder, for this user.
///
/// # Errors
/// When this user may open no packet socket.
pub(super) fn packets_held() -> io::Result<usize> {
    let socket = Namespace::new()?.enter(|| open(InterfaceIndex::LOOPBACK))??;
    Ok(getsockopt(&socket, sockopt::RcvBuf)? / ACCOUNTED)
}

impl PacketSocket {
    /// Reads the next IP packet that the host has sent.
    pub(super) fn read(&self, packet: &mut [u8]) -> io::Result<usize> {
        let mut header = [0; ETHERNET_HEADER];
        let read = (&self.socket).read_vectored(&mut [IoSliceMut::new(&mut header), IoSliceMut::new(packet)])?;
        Ok(read.saturating_sub(ETHERNET_HEADER))
    }

    /// Hands an IP packet to the host.
    pub(super) fn write(&self, packet: &[u8]) -> io::Result<()> {
        // Whole, or not at all: a packet is one message.
        (&self.socket)
            .write_vectored(&[IoSlice::new(&TO_HOST), IoSlice::new(packet)])
            .map(drop)
    }

    /// Packets that found the socket's buffer full, so far.
    pub(super) fn overflowed(&self) -> u64 {
        let more = kernel::packets_overflowed(&self.socket).unwrap_or_default();
        self.overflowed.fetch_add(more, Ordering::Relaxed) + more
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
