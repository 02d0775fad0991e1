//! Claims about worlds of more than two hosts over real kernels: times agree with the simulated world, and every packet is accounted
//! for in both.

use crate::datagrams::{Receiver, send};
use crate::pcapng::{Shared, packets};
use crate::transfer::transfer;
use futures_util::future::join_all;
use lastmile_link::{Capacity, Counters, DirectionSpec, LinkSpec, Queue};
use lastmile_units::Seed;
use lastmile_world::World as _;
use lastmile_world::emu::{Attachment, EmuHost, HostSpec, UnmodelledLosses, World};
use lastmile_world::topology::{Assembly, Topology};
use lastmile_world::{Host, Listener, sim};
use std::fs;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How far times and bytes of the two worlds may be apart. The study `fidelity` finds the median of its cells without chance within
/// this bound.
const AGREEMENT: f64 = 0.02;

/// Nothing is lost on it, so that the two worlds can be compared.
fn wire(rate: &str, one_way_delay: Duration) -> LinkSpec {
    let direction = DirectionSpec {
        capacity: Capacity::Rate(rate.parse().unwrap()),
        one_way_delay,
        queue: Queue::Unlimited,
        ..DirectionSpec::IDEAL
    };
    LinkSpec::new("wire", direction.clone(), direction).unwrap()
}

/// A client, a router and a server, with a wire between each two.
fn chain() -> Topology {
    Topology::builder()
        .host("client")
        .router("router")
        .host("server")
        .wire(
            "access",
            wire("2 Mbit/s", Duration::from_millis(20)),
            ["client"],
            ["router"],
        )
        .wire(
            "backbone",
            wire("10 Mbit/s", Duration::from_millis(5)),
            ["router"],
            ["server"],
        )
        .build()
        .unwrap()
}

pub(crate) fn simulated(topology: &Topology) -> Assembly<sim::World> {
    sim::World::from_topology(topology, Seed::new(1), |_| sim::HostSpec::default())
}

pub(crate) fn emulated(topology: &Topology) -> Assembly<World> {
    World::from_topology(topology, Seed::new(1), |_| HostSpec::default()).unwrap()
}

pub(crate) fn host<W: lastmile_world::World>(assembly: &Assembly<W>, name: &str) -> W::Host {
    assembly.hosts[name].clone()
}

/// The counters of a link, down and up, when nothing is on its way any more; every packet was delivered or dropped.
fn settled_counters<W: lastmile_world::World>(assembly: &Assembly<W>, name: &str) -> [Counters; 2] {
    let link = assembly.links[name];
    let host = assembly.hosts.values().next().unwrap();
    let mut before = None;
    // Longer than a round trip of any link here, and than an acknowledgement is delayed.
    let pause = Duration::from_millis(300);
    let counters = loop {
        let (host, later) = (host.clone(), host.now() + pause);
        assembly
            .world
            .run_for(2 * pause, async move { host.sleep_until(later).await })
            .unwrap();
        let (down, up) = assembly.world.link_counters(link);
        if before == Some((down, up)) && down.in_flight + up.in_flight == 0 {
            break [down, up];
        }
        before = Some((down, up));
    };
    for counters in counters {
        assert_eq!(
            counters.offered,
            counters.delivered + counters.dropped() + counters.in_flight
        );
    }
    counters
}

fn check_agreement(what: &str, simulated: f64, emulated: f64) {
    let difference = simulated / emulated - 1.0;
    println!(
        "emulated: {what}: {simulated} simulated, {emulated} emulated: {:+.2} %",
        100.0 * difference
    );
    assert!(difference.abs() < AGREEMENT, "{what}");
}

/// The time of a transfer over the chain, and the bytes that its wires deliver.
fn chain_figures<W: lastmile_world::World>(chain: &Assembly<W>) -> (Duration, f64) {
    let (client, server) = (host(chain, "client"), host(chain, "server"));
    let took = transfer(&chain.world, &client, &server, 300_000);
    let [access_down, access_up] = settled_counters(chain, "access");
    let [backbone_down, backbone_up] = settled_counters(chain, "backbone");
    // What the router gets for others, it sends on.
    assert_eq!(access_up.delivered, backbone_up.offered);
    assert_eq!(access_up.bytes_delivered, backbone_up.bytes_offered);
    assert_eq!(backbone_down.delivered, access_down.offered);
    assert_eq!(backbone_down.bytes_delivered, access_down.bytes_offered);
    let bytes = [access_down, access_up, backbone_down, backbone_up].map(|counters| counters.bytes_delivered.as_f64());
    (took, bytes.iter().sum())
}

pub(crate) fn a_chain_takes_what_it_takes_in_the_simulated_world() {
    let chain = chain();
    let (simulated_time, simulated_bytes) = chain_figures(&simulated(&chain));
    let emulated = emulated(&chain);
    let (emulated_time, emulated_bytes) = chain_figures(&emulated);
    check_agreement(
        "seconds of a chain",
        simulated_time.as_secs_f64(),
        emulated_time.as_secs_f64(),
    );
    check_agreement("bytes of a chain", simulated_bytes, emulated_bytes);
    assert_eq!(emulated.world.unroutable_packets(), 0);
    assert_eq!(emulated.world.disturbance().losses, UnmodelledLosses::default());
}

const CLIENTS: usize = 8;

/// A server and eight clients that share one wire to it.
fn star() -> Topology {
    let clients: Vec<String> = (1..=CLIENTS).map(|number| format!("client-{number}")).collect();
    Topology::builder()
        .host("server")
        .hosts(clients.clone())
        .wire(
            "access",
            wire("8 Mbit/s", Duration::from_millis(20)),
            clients,
            ["server"],
        )
        .build()
        .unwrap()
}

/// Transfers `bytes` from the host `server` to each of `client-1` and so on, all at once. Returns when each ended, in seconds.
pub(crate) fn transfer_to_all<W: lastmile_world::World>(made: &Assembly<W>, clients: usize, bytes: usize) -> Vec<f64> {
    let server = host(made, "server");
    let mut listener = server.listen(80).unwrap();
    let tasks = server.clone();
    made.world.spawn(async move {
        loop {
            let mut stream = listener.accept().await.unwrap();
            tasks.spawn(async move {
                stream.read_exact(&mut [0; 100]).await.unwrap();
                stream.write_all(&vec![0; bytes]).await.unwrap();
                stream.shutdown().await.unwrap();
            });
        }
    });
    let start = server.now();
    let transfers: Vec<_> = (1..=clients)
        .map(|number| {
            let (client, address) = (host(made, &format!("client-{number}")), server.address(80));
            async move {
                let mut stream = client.connect(address).await.unwrap();
                stream.write_all(&[0; 100]).await.unwrap();
                let mut body = Vec::new();
                stream.read_to_end(&mut body).await.unwrap();
                assert_eq!(body.len(), bytes);
                (client.now() - start).as_secs_f64()
            }
        })
        .collect();
    made.world
        .run_for(Duration::from_secs(30), join_all(transfers))
        .unwrap()
}

/// When the last of eight transfers ends that begin together, the mean of when each does, and how many bytes the wire delivers.
fn star_figures<W: lastmile_world::World>(star: &Assembly<W>) -> [f64; 3] {
    let ended = transfer_to_all(star, CLIENTS, 200_000);
    let [down, up] = settled_counters(star, "access");
    let last = ended.iter().copied().fold(0.0, f64::max);
    let mean = ended.iter().sum::<f64>() / ended.len() as f64;
    [last, mean, down.bytes_delivered.as_f64() + up.bytes_delivered.as_f64()]
}

pub(crate) fn clients_of_one_wire_share_it_as_in_the_simulated_world() {
    let star = star();
    let simulated = star_figures(&simulated(&star));
    let emulated_world = emulated(&star);
    let emulated = star_figures(&emulated_world);
    check_agreement("seconds until the last of a star is done", simulated[0], emulated[0]);
    check_agreement("seconds until one of a star is done, mean", simulated[1], emulated[1]);
    check_agreement("bytes of a star", simulated[2], emulated[2]);
    assert_eq!(emulated_world.world.unroutable_packets(), 0);
    assert_eq!(emulated_world.world.disturbance().losses, UnmodelledLosses::default());
}

pub(crate) fn a_router_is_seen_to_take_each_packet_and_to_send_it_on() {
    let chain = emulated(&chain());
    let [client, router, server] = ["client", "router", "server"].map(|name| host(&chain, name));
    let (at_client, at_router) = (Shared::default(), Shared::default());
    chain.world.capture(&client, Box::new(at_client.clone())).unwrap();
    chain.world.capture(&router, Box::new(at_router.clone())).unwrap();
    transfer(&chain.world, &client, &server, 20_000);
    settled_counters(&chain, "access");
    let (at_client, at_router) = (packets(&at_client), packets(&at_router));
    let with_time_to_live = |time: u8| at_router.iter().filter(move |packet| packet.bytes[8] == time).count();
    assert_eq!(at_router.len(), 2 * at_client.len());
    assert_eq!(
        (with_time_to_live(64), with_time_to_live(63)),
        (at_client.len(), at_client.len())
    );
    assert!(at_router.iter().all(|packet| packet.checksums() == [0xffff; 2]));
    // The client's SYN, as it arrives and as it leaves.
    assert_eq!(at_router[0].bytes, at_client[0].bytes);
    assert_eq!(at_router[1].bytes[12..], at_client[0].bytes[12..]);
}

pub(crate) fn routers_forward_and_no_other_host_does() {
    let setting = |host: &EmuHost, name: &str| {
        let read = || fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap();
        host.namespace().enter(read).unwrap().trim().to_owned()
    };
    for attachment in [Attachment::best_available(), Attachment::Veth] {
        let topology = chain();
        let world = World::with_attachment(attachment, Seed::new(1)).unwrap();
        let chain = world.with_topology(&topology, |_| HostSpec::default()).unwrap();
        let [client, router, server] = ["client", "router", "server"].map(|name| host(&chain, name));
        let of_all = [&client, &router, &server].map(|host| setting(host, "ip_forward"));
        assert_eq!(of_all, ["0", "1", "0"]);
        for name in ["send_redirects", "rp_filter"] {
            assert_eq!(setting(&router, &format!("conf/link0/{name}")), "0", "{name}");
            assert_eq!(setting(&router, &format!("conf/all/{name}")), "0", "{name}");
        }
        let receiver = Receiver::at(&server);
        send(&client, &server, 50, 1500);
        assert_eq!(receiver.hear(), Vec::from_iter(0..50), "by {attachment}");
    }
    let wire = wire("10 Mbit/s", Duration::from_millis(5));
    let closed = Topology::builder()
        .hosts(["client", "middle", "server"])
        .wire("access", wire.clone(), ["client"], ["middle"])
        .wire("backbone", wire, ["middle"], ["server"])
        .allow_unreachable()
        .build()
        .unwrap();
    let closed = emulated(&closed);
    let (client, server) = (host(&closed, "client"), host(&closed, "server"));
    let receiver = Receiver::at(&server);
    send(&client, &server, 3, 100);
    assert_eq!(receiver.hear(), []);
    assert_eq!(closed.world.unroutable_packets(), 3);
}
