//! How does a host's kernel get at the link? By an interface whose packets the forwarder reads and writes.

use super::kernel;
use super::namespace::Namespace;
use super::netlink::{InterfaceIndex, Netlink, Table};
use super::settings::{self, HostSpec};
use super::veth::{self, PacketSocket};
use crate::world::NETWORK;
use netlink_packet_route::link::{LinkAttribute, LinkFlags};
use netlink_packet_route::route::RouteMetric;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};

/// The interface's name in every host.
pub(super) const NAME: &str = "link0";
/// The largest IP packet, as of Ethernet (RFC 894).
pub(super) const MTU: u32 = 1500;
/// The addresses that a host sends to by its interface: more than an emulated world can have hosts. What is for any other address
/// is refused at once by the host's own kernel.
const WORLD: (Ipv4Addr, u8) = (Ipv4Addr::from_bits(NETWORK), 16);
/// All addresses.
const EVERYTHING: (Ipv4Addr, u8) = (Ipv4Addr::UNSPECIFIED, 0);
/// How many packets wait between the kernel and the forwarder. It only has to be more than come while the forwarder is
/// busy: what waits longer is the link model's queue. Our own choice: 15 MB, a tenth of a second at 1.2 Gbit/s.
pub(super) const QUEUE: u32 = 10_000;

/// By what the hosts of a world are attached to its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attachment {
    /// A TUN device in each host: `/dev/net/tun` must be open to this user.
    Tun,
    /// A pair of virtual Ethernet interfaces for each host, and a packet socket at its other end. It works without a device. To
    /// an ordinary user, it holds fewer packets while the forwarder is busy.
    Veth,
}

impl Attachment {
    /// What this machine has for this user: TUN where its device can be opened.
    pub fn here() -> Self {
        match Self::tun_is_shut() {
            None => Self::Tun,
            Some(_) => Self::Veth,
        }
    }

    /// Why this user cannot have TUN; none who can open its device.
    pub(super) fn tun_is_shut() -> Option<io::Error> {
        kernel::open_tun_device().err()
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

/// The forwarder's side of a host's interface. Nothing blocks.
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

    /// Hands an IP packet to the host.
    pub(super) fn write(&self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => (&*tun).write(packet).map(drop),
            Self::Veth(socket) => socket.write(packet),
        }
    }

    /// Packets of the host that were lost on this side of the interface, before the forwarder could read them.
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

/// Gives `host` an interface with `address`, by which everything leaves; `middle` is where the forwarder's end may lie.
///
/// # Errors
/// Those of the system, with what was attempted.
pub(super) fn set_up(
    attachment: Attachment,
    middle: &Namespace,
    host: &Namespace,
    address: Ipv4Addr,
    spec: &HostSpec,
) -> io::Result<Interface> {
    host.enter(settings::apply)??;
    let interface = match attachment {
        Attachment::Tun => Interface::Tun(
            host.enter(|| kernel::open_tun(NAME))?
                .map_err(to("opening /dev/net/tun"))?,
        ),
        Attachment::Veth => Interface::Veth(veth::make(middle, host, address).map_err(to("making a veth pair"))?),
    };
    host.enter(|| configure(address, spec))??;
    Ok(interface)
}

/// Gives the interface of the namespace that the calling thread is in its address and route.
fn configure(address: Ipv4Addr, spec: &HostSpec) -> io::Result<()> {
    let netlink = Netlink::open().map_err(to("opening rtnetlink"))?;
    let interface = InterfaceIndex::of(NAME)?;
    netlink
        .bring_up(InterfaceIndex::LOOPBACK, LinkFlags::empty(), Vec::new())
        .map_err(to("bringing the loopback interface up"))?;
    netlink
        .add_address(interface, address)
        .map_err(to("giving the interface an address"))?;
    netlink
        .bring_up(
            interface,
            // A TUN has no addresses to resolve anyway.
            LinkFlags::Noarp,
            vec![LinkAttribute::Mtu(MTU), LinkAttribute::TxQueueLen(QUEUE)],
        )
        .map_err(to("bringing the interface up"))?;
    netlink
        .add_route(Table::Main, WORLD, interface, address, metrics(spec))
        .map_err(to("adding a route with its congestion control"))
}

/// Lets the namespace that the calling thread is in send by its interface what is for nobody in its world.
pub(super) fn send_everything(address: Ipv4Addr, spec: &HostSpec) -> io::Result<()> {
    Netlink::open()?
        .add_route(
            Table::Main,
            EVERYTHING,
            InterfaceIndex::of(NAME)?,
            address,
            metrics(spec),
        )
        .map_err(to("adding a default route"))
}

/// Lets the namespace that the calling thread is in, which has `address`, answer `neighbour` in the name of every other address.
pub(super) fn answer_for_everyone(address: Ipv4Addr, neighbour: Ipv4Addr, spec: &HostSpec) -> io::Result<()> {
    let (netlink, interface) = (Netlink::open()?, InterfaceIndex::of(NAME)?);
    // Before the neighbour, too, counts as local.
    netlink
        .add_route(Table::Local, (neighbour, 32), interface, address, metrics(spec))
        .and_then(|()| netlink.own_every_address())
        .map_err(to("taking every address"))
}

/// What a route says of the connections that take it.
fn metrics(spec: &HostSpec) -> Vec<RouteMetric> {
    let congestion_control = RouteMetric::CcAlgo(spec.congestion_control.clone());
    let initial_window = spec.initial_window.map(RouteMetric::InitCwnd);
    std::iter::once(congestion_control).chain(initial_window).collect()
}

/// Says what was attempted.
fn to(what: &'static str) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{what}: {error}"))
}
