//! Sends requests to the kernel over netlink (netlink(7)), one at a time: configures interfaces, addresses and routes (rtnetlink(7)).

use super::namespace::Namespace;
use super::sysctl::HostSpec;
use nix::libc;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// A netlink socket of one namespace: the one that the calling thread was in when it was opened.
#[derive(Debug)]
pub(super) struct Netlink(OwnedFd);

/// The index of an interface in its namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InterfaceIndex(u32);

/// The routing tables; the local one is consulted first (ip-rule(8)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Table {
    Local = libc::RT_TABLE_LOCAL,
    Main = libc::RT_TABLE_MAIN,
}

/// The beginning of the kernel's response to a request.
pub(super) struct Response {
    pub(super) kind: u16,
    /// In a response of the kind `NLMSG_ERROR`: 0 if the request has been carried out, or else an error number, negated.
    code: i32,
}

/// The address of an Ethernet interface.
pub(super) type EthernetAddress = [u8; 6];

/// A request fails if what it creates exists already.
const CREATE: i32 = libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
/// The attribute of a veth's data that describes its other end (linux/veth.h).
const VETH_INFO_PEER: u16 = 1;
/// Metrics of a route (linux/rtnetlink.h).
const RTAX_INITCWND: u16 = 11;
const RTAX_CC_ALGO: u16 = 16;
/// The length of `nlmsghdr` and the first field after it. The rest of a response is not needed, and the kernel discards it.
const RESPONSE_BEGINNING: usize = 20;

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
    /// Opens a socket to configure the network.
    pub(super) fn open() -> io::Result<Self> {
        Self::with_protocol(SockProtocol::NetlinkRoute)
    }

    pub(super) fn with_protocol(protocol: SockProtocol) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        Ok(Self(socket(AddressFamily::Netlink, SockType::Raw, flags, protocol)?))
    }

    /// Brings an interface up, after `attributes` and `flags` (`IFF_*`) have been set.
    pub(super) fn bring_up(&self, interface: InterfaceIndex, flags: i32, attributes: &[Vec<u8>]) -> io::Result<()> {
        let message = link_message(interface.get(), libc::IFF_UP | flags, attributes);
        self.configure(libc::RTM_SETLINK, libc::NLM_F_ACK, &message)
    }

    /// Makes a pair of virtual Ethernet interfaces (veth(4)): one here, the other in another namespace.
    pub(super) fn add_veth(
        &self,
        here: (&str, EthernetAddress),
        (name, address, there): (&str, EthernetAddress, &Namespace),
    ) -> io::Result<()> {
        let end = |(name, address): (&str, EthernetAddress)| {
            [
                text_attribute(libc::IFLA_IFNAME, name),
                attribute(libc::IFLA_ADDRESS, &address),
            ]
            .concat()
        };
        let namespace = attribute(libc::IFLA_NET_NS_FD, &there.as_fd().as_raw_fd().to_ne_bytes());
        let peer = link_message(0, 0, &[end((name, address)), namespace]);
        let pair = [
            text_attribute(libc::IFLA_INFO_KIND, "veth"),
            attribute(libc::IFLA_INFO_DATA, &attribute(VETH_INFO_PEER, &peer)),
        ];
        let message = link_message(0, 0, &[end(here), attribute(libc::IFLA_LINKINFO, &pair.concat())]);
        self.configure(libc::RTM_NEWLINK, CREATE, &message)
    }

    /// Gives an interface an address of its own.
    pub(super) fn add_address(&self, interface: InterfaceIndex, address: Ipv4Addr) -> io::Result<()> {
        // `ifaddrmsg`: no flags.
        let mut message = vec![libc::AF_INET as u8, 32, 0, libc::RT_SCOPE_UNIVERSE];
        message.extend(interface.get().to_ne_bytes());
        message.extend(attribute(libc::IFA_LOCAL, &address.octets()));
        message.extend(attribute(libc::IFA_ADDRESS, &address.octets()));
        self.configure(libc::RTM_NEWADDR, CREATE, &message)
    }

    /// Adds a route to `destination`, an address and its prefix length, by `interface`, for connections as `spec` says.
    ///
    /// A route may name any congestion control, while a namespace's default must be one that the machine's root has allowed
    /// (`tcp_allowed_congestion_control`).
    pub(super) fn add_route(
        &self,
        table: Table,
        destination: (Ipv4Addr, u8),
        interface: InterfaceIndex,
        source: Ipv4Addr,
        spec: &HostSpec,
    ) -> io::Result<()> {
        let mut metrics = text_attribute(RTAX_CC_ALGO, &spec.congestion_control);
        if let Some(segments) = spec.initial_window {
            metrics.extend(attribute(RTAX_INITCWND, &segments.to_ne_bytes()));
        }
        let attributes = [
            attribute(libc::RTA_OIF, &interface.get().to_ne_bytes()),
            attribute(libc::RTA_PREFSRC, &source.octets()),
            attribute(libc::RTA_METRICS, &metrics),
        ];
        self.add(
            table,
            libc::RT_SCOPE_LINK,
            libc::RTN_UNICAST,
            destination,
            &attributes.concat(),
        )
    }

    /// Makes every address local to this namespace that no other route of the local table names.
    pub(super) fn own_every_address(&self) -> io::Result<()> {
        let loopback = attribute(libc::RTA_OIF, &InterfaceIndex::LOOPBACK.get().to_ne_bytes());
        let everything = (Ipv4Addr::UNSPECIFIED, 0);
        self.add(
            Table::Local,
            libc::RT_SCOPE_HOST,
            libc::RTN_LOCAL,
            everything,
            &loopback,
        )
    }

    fn add(
        &self,
        table: Table,
        scope: u8,
        kind: u8,
        (address, prefix): (Ipv4Addr, u8),
        attributes: &[u8],
    ) -> io::Result<()> {
        // `rtmsg`: no source, no type of service; no flags.
        let mut message = vec![libc::AF_INET as u8, prefix, 0, 0];
        message.extend([table as u8, libc::RTPROT_STATIC, scope, kind, 0, 0, 0, 0]);
        message.extend(attributes);
        if prefix > 0 {
            message.extend(attribute(libc::RTA_DST, &address.octets()));
        }
        self.configure(libc::RTM_NEWROUTE, CREATE, &message)
    }

    /// Sends a request that changes something, and waits until that is done.
    fn configure(&self, kind: u16, flags: i32, message: &[u8]) -> io::Result<()> {
        match self.ask(kind, flags, message)? {
            Response { kind, code } if i32::from(kind) == libc::NLMSG_ERROR && code != 0 => {
                Err(io::Error::from_raw_os_error(-code))
            }
            _ => Ok(()),
        }
    }

    /// Sends a request, and waits for the response.
    ///
    /// # Errors
    /// Those of the socket.
    pub(super) fn ask(&self, kind: u16, flags: i32, message: &[u8]) -> io::Result<Response> {
        // `nlmsghdr`: the kernel needs no sequence number and no port ID.
        let length = size_of::<libc::nlmsghdr>() + message.len();
        let mut request = (length as u32).to_ne_bytes().to_vec();
        request.extend(kind.to_ne_bytes());
        request.extend(((libc::NLM_F_REQUEST | flags) as u16).to_ne_bytes());
        request.extend([0; 8]);
        request.extend(message);
        send(self.0.as_raw_fd(), &request, MsgFlags::empty())?;

        let mut response = [0; RESPONSE_BEGINNING];
        recv(self.0.as_raw_fd(), &mut response, MsgFlags::empty())?;
        let [.., a, b, c, d] = response;
        Ok(Response {
            kind: u16::from_ne_bytes([response[4], response[5]]),
            code: i32::from_ne_bytes([a, b, c, d]),
        })
    }
}

/// The attribute of an interface for its MTU.
pub(super) fn mtu(bytes: u32) -> Vec<u8> {
    attribute(libc::IFLA_MTU, &bytes.to_ne_bytes())
}

/// The attribute of an interface for the length of its queue.
pub(super) fn queue_length(packets: u32) -> Vec<u8> {
    attribute(libc::IFLA_TXQLEN, &packets.to_ne_bytes())
}

/// An `ifinfomsg` and its attributes; `flags` are set, no flag is cleared. Interface 0 is a new one.
fn link_message(interface: u32, flags: i32, attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut message = vec![libc::AF_UNSPEC as u8, 0, 0, 0];
    for field in [interface, flags as u32, flags as u32] {
        message.extend(field.to_ne_bytes());
    }
    message.extend(attributes.concat());
    message
}

/// An attribute: its length without padding, its kind and its value.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len() as u16;
    let mut attribute = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    attribute.extend(value);
    attribute.resize(attribute.len().next_multiple_of(4), 0);
    attribute
}

fn text_attribute(kind: u16, text: &str) -> Vec<u8> {
    attribute(kind, &[text.as_bytes(), &[0]].concat())
}
