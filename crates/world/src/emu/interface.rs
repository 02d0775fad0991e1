//! How does a host's kernel get at the link? By an interface whose packets the forwarder reads and writes.

use super::kernel;
use super::netlink::{InterfaceIndex, Netlink};
use super::settings::{self, HostSpec};
use netlink_packet_route::link::LinkAttribute;
use netlink_packet_route::route::RouteMetric;
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;

/// The interface's name in every host.
pub(super) const NAME: &str = "link0";
/// The largest IP packet, as of Ethernet (RFC 894).
pub(super) const MTU: u32 = 1500;
/// How many packets wait between the kernel and the forwarder. It only has to be more than come while the forwarder is
/// busy: what waits longer is the link model's queue. Our own choice: 15 MB, a tenth of a second at 1.2 Gbit/s.
const QUEUE: u32 = 10_000;

/// Gives the namespace that the calling thread is in an interface with `address`, by which everything leaves.
///
/// # Errors
/// Those of the system, with what was attempted.
pub(super) fn set_up(address: Ipv4Addr, spec: &HostSpec) -> io::Result<File> {
    let to = |what: &'static str| move |error: io::Error| io::Error::new(error.kind(), format!("{what}: {error}"));
    settings::apply()?;
    let tun = kernel::open_tun(NAME).map_err(to("opening /dev/net/tun"))?;
    let netlink = Netlink::open().map_err(to("opening rtnetlink"))?;
    let interface = InterfaceIndex::of(NAME)?;
    netlink
        .bring_up(InterfaceIndex::LOOPBACK, Vec::new())
        .map_err(to("bringing the loopback interface up"))?;
    netlink
        .add_address(interface, address)
        .map_err(to("giving the interface an address"))?;
    netlink
        .bring_up(
            interface,
            vec![LinkAttribute::Mtu(MTU), LinkAttribute::TxQueueLen(QUEUE)],
        )
        .map_err(to("bringing the interface up"))?;
    let mut metrics = vec![RouteMetric::CcAlgo(spec.congestion_control.clone())];
    metrics.extend(spec.initial_window.map(RouteMetric::InitCwnd));
    netlink
        .add_default_route(interface, address, metrics)
        .map_err(to("adding a route with its congestion control"))?;
    Ok(tun)
}
