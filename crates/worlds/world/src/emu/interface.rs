//! The interface that attaches a host to the world: the forwarder reads and writes its packets.

use super::namespace::Namespace;
use super::netlink::{self, InterfaceIndex, Netlink, Table};
use super::syscalls;
use super::sysctl::{self, HostSpec};
use super::veth::{self, PacketSocket};
use crate::world::NETWORK;
use nix::libc;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};

/// The interface's name in every host.
pub(super) const NAME: &str = "link0";
/// The largest IP packet, as of Ethernet (RFC 894).
pub(super) const MTU: u32 = 1500;
/// The addresses that a host reaches by its interface: more than an emulated world can have hosts. The host's own kernel refuses
/// packets for any other address at once.
const WORLD: (Ipv4Addr, u8) = (Ipv4Addr::from_bits(NETWORK), 16);
/// All addresses.
const EVERYTHING: (Ipv4Addr, u8) = (Ipv4Addr::UNSPECIFIED, 0);
/// The length of the queue between the kernel and the forwarder. It only has to exceed the packets that arrive while the forwarder is
/// busy: the link model has its own queue. Our own choice: 15 MB, a tenth of a second at 1.2 Gbit/s.
pub(super) const QUEUE: u32 = 10_000;

/// The way in which the hosts of a world are attached to its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attachment {
    /// A TUN device in each host: this user must be able to open `/dev/net/tun`.
    Tun,
    /// A pair of virtual Ethernet interfaces for each host, and a packet socket at its other end. It needs no device. For
    /// an ordinary user, it buffers fewer packets while the forwarder is busy.
    Veth,
}

impl Attachment {
    /// The best attachment for this user on this machine: TUN if its device can be opened.
    pub fn best_available() -> Self {
        if Self::tun_error().is_none() {
            Self::Tun
        } else {
            Self::Veth
        }
    }

    /// The error of opening the TUN device; none if this user can open it.
    pub(super) fn tun_error() -> Option<io::Error> {
        syscalls::open_tun_device().err()
    }
}

impl fmt::Display for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tun => "TUN",
            Self::Veth => "veth and packet sockets",
        })
    }
}

/// The forwarder's side of a host's interface. Calls do not block.
pub(super) enum Interface {
    Tun(File),
    Veth(PacketSocket),
}

impl Interface {
    /// Reads the next IP packet that the host has sent.
    pub(super) fn read(&self, packet: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tun(tun) => (&*tun).read(packet),
            Self::Veth(socket) => socket.read(packet),
        }
    }

    /// Writes an IP packet to the host.
    pub(super) fn write(&self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => (&*tun).write(packet).map(drop),
            Self::Veth(socket) => socket.write(packet),
        }
    }

    /// The number of packets from the host that were lost on this side of the interface, before the forwarder could read them.
    pub(super) fn overflowed(&self) -> u64 {
        match self {
            // The interface itself counts them.
            Self::Tun(_) => 0,
            Self::Veth(socket) => socket.overflowed(),
        }
    }
}

impl AsFd for Interface {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(tun) => tun.as_fd(),
            Self::Veth(socket) => socket.as_fd(),
        }
    }
}

/// Gives `host` an interface with `address` as its only way out; `middle` is the namespace for the forwarder's end, if it needs one.
///
/// # Errors
/// Those of the system, with what was attempted.
pub(super) fn set_up(
    attachment: Attachment,
    middle: &Namespace,
    host: &Namespace,
    address: Ipv4Addr,
    spec: &HostSpec,
    is_router: bool,
) -> io::Result<Interface> {
    // Before the interface is made, since it inherits these settings.
    host.enter(|| sysctl::apply(is_router))??;
    let interface = match attachment {
        Attachment::Tun => Interface::Tun(attempt(
            "opening /dev/net/tun",
            host.enter(|| syscalls::open_tun(NAME))?,
        )?),
        Attachment::Veth => Interface::Veth(attempt("making a veth pair", veth::make(middle, host, address))?),
    };
    host.enter(|| configure(address, spec))??;
    Ok(interface)
}

/// Gives the interface of the namespace that the calling thread is in its address and route.
fn configure(address: Ipv4Addr, spec: &HostSpec) -> io::Result<()> {
    let netlink = attempt("opening rtnetlink", Netlink::open())?;
    let interface = InterfaceIndex::of(NAME)?;
    let loopback_up = netlink.bring_up(InterfaceIndex::LOOPBACK, 0, &[]);
    attempt("bringing the loopback interface up", loopback_up)?;
    let addressed = netlink.add_address(interface, address);
    attempt("giving the interface an address", addressed)?;
    let attributes = [netlink::mtu(MTU), netlink::queue_length(QUEUE)];
    // A TUN has no addresses to resolve anyway.
    let up = netlink.bring_up(interface, libc::IFF_NOARP, &attributes);
    attempt("bringing the interface up", up)?;
    let routed = netlink.add_route(Table::Main, WORLD, interface, address, spec);
    attempt("adding a route with its congestion control", routed)
}

/// Routes packets for addresses outside the world to the interface of the calling thread's namespace.
pub(super) fn send_everything(address: Ipv4Addr, spec: &HostSpec) -> io::Result<()> {
    let routed = Netlink::open()?.add_route(Table::Main, EVERYTHING, InterfaceIndex::of(NAME)?, address, spec);
    attempt("adding a default route", routed)
}

/// Makes the calling thread's namespace, which has `address`, answer `neighbour` for every other address.
pub(super) fn answer_for_everyone(address: Ipv4Addr, neighbour: Ipv4Addr, spec: &HostSpec) -> io::Result<()> {
    let (netlink, interface) = (Netlink::open()?, InterfaceIndex::of(NAME)?);
    // Before the neighbour's address becomes local, too.
    let routed = netlink
        .add_route(Table::Local, (neighbour, 32), interface, address, spec)
        .and_then(|()| netlink.own_every_address());
    attempt("adding a local route for every address", routed)
}

/// The result, with what was attempted in its error.
fn attempt<T>(what: &str, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{what}: {error}")))
}
