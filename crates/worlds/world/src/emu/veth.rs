//! Attaches a host by a pair of virtual Ethernet interfaces, for machines where `/dev/net/tun` cannot be opened. One end is the
//! host's; at the other, in the world's middle namespace, a packet socket reads and writes IP packets.
//!
//! Only the framing is Ethernet's: the host resolves no addresses (`IFF_NOARP`), and its kernel checksums and segments packets as they
//! would be on a wire.

use super::interface::{MTU, NAME, QUEUE};
use super::namespace::Namespace;
use super::netlink::{self, EthernetAddress, InterfaceIndex, Netlink};
use super::syscalls::{self, Offload};
use super::sysctl;
use nix::sys::socket::{getsockopt, setsockopt, sockopt};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads and writes the IP packets of one host, each with one system call.
pub(super) struct PacketSocket {
    socket: File,
    /// The kernel resets its own counter when it is read.
    overflowed: AtomicU64,
}

/// The address of the host's end. The second-lowest bit of the first byte marks it as locally administered (IEEE 802-2014, section
/// 8.2).
const HOST_END: EthernetAddress = [2, 0, 0, 0, 0, 1];
/// The address of the other end. The host does not write to it, so that the middle namespace's own IP ignores the packets.
const MIDDLE_END: EthernetAddress = [2, 0, 0, 0, 0, 2];

/// Destination, source, EtherType (RFC 894).
const ETHERNET_HEADER: usize = 14;

/// The Ethernet header of a packet to the host: [`HOST_END`], [`MIDDLE_END`], IPv4.
const TO_HOST: [u8; ETHERNET_HEADER] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];

/// The size of the socket's receive buffer. A user that may not exceed `net.core.rmem_max` gets that, which is 180 packets on
/// most systems. Our own choice: as many packets as a TUN holds; the kernel doubles the requested size (socket(7), `SO_RCVBUF`).
const RECEIVE_BUFFER: usize = ACCOUNTED * QUEUE as usize / 2;
/// The bytes that the kernel accounts for a packet of 1,500 bytes: its buffer of 2,048 and its descriptor (`SKB_TRUESIZE`), as
/// observed on 64-bit machines.
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
        sysctl::apply(false)?;
        let netlink = Netlink::open()?;
        netlink.add_veth((&name, MIDDLE_END), (NAME, HOST_END, host))?;
        let end = InterfaceIndex::of(&name)?;
        netlink.bring_up(end, 0, &[netlink::mtu(MTU)])?;
        open(end)
    })??;
    host.enter(|| {
        // In this order: when checksum offload is off, the kernel itself turns off the offloads that need it.
        for offload in [
            Offload::TransmitChecksum,
            Offload::TransmitSegmentation,
            Offload::Segmentation,
            Offload::Merging,
        ] {
            syscalls::turn_off(NAME, offload)?;
        }
        io::Result::Ok(())
    })??;
    Ok(PacketSocket {
        socket,
        overflowed: AtomicU64::new(0),
    })
}

/// Opens a packet socket with the largest buffer that this user may have.
fn open(interface: InterfaceIndex) -> io::Result<File> {
    let socket = syscalls::open_packet_socket(interface.get())?;
    if setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
        setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER)?;
    }
    Ok(socket)
}

/// The number of full-size packets that fit this user's socket buffer.
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

    /// Writes an IP packet to the host.
    pub(super) fn write(&self, packet: &[u8]) -> io::Result<()> {
        // Whole, or not at all: a packet is one message.
        (&self.socket)
            .write_vectored(&[IoSlice::new(&TO_HOST), IoSlice::new(packet)])
            .map(drop)
    }

    /// The number of packets so far that were lost because the socket's buffer was full.
    pub(super) fn overflowed(&self) -> u64 {
        let more = syscalls::packets_overflowed(&self.socket).unwrap_or_default();
        self.overflowed.fetch_add(more, Ordering::Relaxed) + more
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
