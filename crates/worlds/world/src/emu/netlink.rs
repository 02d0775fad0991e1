//! Configures interfaces, addresses and routes over rtnetlink (rtnetlink(7)), one request at a time.

use super::namespace::Namespace;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage, AddressScope};
use netlink_packet_route::link::{InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, AsRawFd};

/// An rtnetlink socket of one namespace: the one that the calling thread was in when it was opened.
pub(super) struct Netlink(Socket);

/// The index of an interface in its namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InterfaceIndex(u32);

/// The routing tables; the local one is consulted first (ip-rule(8)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Local,
    Main,
}

/// The address of an Ethernet interface.
pub(super) type EthernetAddress = [u8; 6];

impl InterfaceIndex {
    /// The index of the loopback interface, which is always the first.
    pub(super) const LOOPBACK: Self = Self(1);

    pub(super) fn of(name: &str) -> io::Result<Self> {
        Ok(Self(nix::net::if_::if_nametoindex(name)?))
    }

    pub(super) const fn get(self) -> u32 {
        self.0
    }
}

impl Netlink {
    pub(super) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }

    /// Brings an interface up, after `attributes` and `flags` have been set.
    pub(super) fn bring_up(
        &self,
        interface: InterfaceIndex,
        flags: LinkFlags,
        attributes: Vec<LinkAttribute>,
    ) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = interface.get();
        message.header.flags = LinkFlags::Up | flags;
        message.header.change_mask = LinkFlags::Up | flags;
        message.attributes = attributes;
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Makes a pair of virtual Ethernet interfaces (veth(4)): one here, the other in another namespace.
    pub(super) fn add_veth(
        &self,
        here: (&str, EthernetAddress),
        (name, address, there): (&str, EthernetAddress, &Namespace),
    ) -> io::Result<()> {
        let end = |(name, address): (&str, EthernetAddress)| {
            vec![
                LinkAttribute::IfName(name.to_owned()),
                LinkAttribute::Address(address.to_vec()),
            ]
        };
        let mut peer = LinkMessage::default();
        peer.attributes = end((name, address));
        peer.attributes.push(LinkAttribute::NetNsFd(there.as_fd().as_raw_fd()));
        let mut message = LinkMessage::default();
        message.attributes = end(here);
        message.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]));
        self.ask(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Gives an interface an address of its own.
    pub(super) fn add_address(&self, interface: InterfaceIndex, address: Ipv4Addr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = 32;
        message.header.scope = AddressScope::Universe;
        message.header.index = interface.get();
        message.attributes = vec![
            AddressAttribute::Local(IpAddr::V4(address)),
            AddressAttribute::Address(IpAddr::V4(address)),
        ];
        self.ask(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Adds a route to `destination`, an address and its prefix length, by `interface`, with `metrics`.
    ///
    /// A route may name any congestion control, while a namespace's default must be one that the machine's root has allowed
    /// (`tcp_allowed_congestion_control`).
    pub(super) fn add_route(
        &self,
        table: Table,
        destination: (Ipv4Addr, u8),
        interface: InterfaceIndex,
        source: Ipv4Addr,
        metrics: Vec<RouteMetric>,
    ) -> io::Result<()> {
        let attributes = vec![
            RouteAttribute::Oif(interface.get()),
            RouteAttribute::PrefSource(source.into()),
            RouteAttribute::Metrics(metrics),
        ];
        self.add(table, RouteScope::Link, RouteType::Unicast, destination, attributes)
    }

    /// Makes every address local to this namespace that no other route of the local table names.
    pub(super) fn own_every_address(&self) -> io::Result<()> {
        let attributes = vec![RouteAttribute::Oif(InterfaceIndex::LOOPBACK.get())];
        let everything = (Ipv4Addr::UNSPECIFIED, 0);
        self.add(Table::Local, RouteScope::Host, RouteType::Local, everything, attributes)
    }

    fn add(
        &self,
        table: Table,
        scope: RouteScope,
        kind: RouteType,
        (address, prefix): (Ipv4Addr, u8),
        mut attributes: Vec<RouteAttribute>,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.table = match table {
            Table::Local => nix::libc::RT_TABLE_LOCAL,
            Table::Main => RouteHeader::RT_TABLE_MAIN,
        };
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = scope;
        message.header.kind = kind;
        message.header.destination_prefix_length = prefix;
        if prefix > 0 {
            attributes.push(RouteAttribute::Destination(RouteAddress::Inet(address)));
        }
        message.attributes = attributes;
        self.ask(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Sends a request, and waits for the response.
    fn ask(&self, request: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(request));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.0.send(&bytes, 0)?;
        let (answer, _) = self.0.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }
}
