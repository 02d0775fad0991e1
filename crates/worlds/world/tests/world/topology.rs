//! Claims about worlds of more than two hosts: only routers forward packets, and each packet is accounted for.

use crate::captures::packets;
use crate::support::{Recording, direction};
use lastmile_link::{Capacity, Counters, DirectionSpec, LinkSpec, Loss, Queue};
use lastmile_units::{Probability, Seed};
use lastmile_world::World as _;
use lastmile_world::sim::{CpuSpec, HostSettings, HostSpec, SimHost, World};
use lastmile_world::topology::{Assembly, HostName, Topology};
use lastmile_world::{Host, LinkId, Listener};
use std::io::ErrorKind;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn wire(direction: &DirectionSpec) -> LinkSpec {
    LinkSpec::new("wire", direction.clone(), direction.clone()).unwrap()
}

/// A client, a router and a server, with a wire between each two.
fn chain(access: &DirectionSpec, backbone: &DirectionSpec) -> Topology {
    Topology::builder()
        .host("client")
        .router("router")
        .host("server")
        .wire("access", wire(access), ["client"], ["router"])
        .wire("backbone", wire(backbone), ["router"], ["server"])
        .build()
        .unwrap()
}

fn world(topology: &Topology, seed: u64) -> Assembly<World> {
    World::from_topology(topology, Seed::new(seed), |_| HostSpec::default())
}

fn host(assembly: &Assembly<World>, name: &str) -> SimHost {
    assembly.hosts[name].clone()
}

fn link(assembly: &Assembly<World>, name: &str) -> LinkId {
    assembly.links[name]
}

/// Answers every connection to `server` with this number of bytes, and closes it.
fn serve(world: &World, server: &SimHost, bytes: usize) {
    let (mut listener, host) = (server.listen(80).unwrap(), server.clone());
    world.spawn(async move {
        loop {
            let mut stream = listener.accept().await.unwrap();
            host.spawn(async move {
                stream.read_u8().await.unwrap();
                stream.write_all(&vec![0; bytes]).await.unwrap();
            });
        }
    });
}

/// Fetches the answer; tells how long it was.
async fn fetch(client: SimHost, server: SimHost) -> usize {
    let mut stream = client.connect(server.address(80)).await.unwrap();
    stream.write_u8(1).await.unwrap();
    let mut body = Vec::new();
    stream.read_to_end(&mut body).await.unwrap();
    body.len()
}

/// Lets everything arrive that is on its way.
fn settle(world: &World, host: &SimHost) {
    let host = host.clone();
    let later = async move { host.sleep_until(host.now() + Duration::from_secs(60)).await };
    world.run(later).unwrap();
}

/// The counters of a link on which nothing is on its way, down and up; each packet was delivered or dropped.
fn settled_counters(assembly: &Assembly<World>, name: &str) -> [Counters; 2] {
    let (down, up) = assembly.world.link_counters(link(assembly, name));
    for counters in [down, up] {
        assert_eq!(counters.in_flight, 0);
        assert_eq!(counters.offered, counters.delivered + counters.dropped());
    }
    [down, up]
}

#[test]
fn a_handshake_over_a_router_takes_what_both_wires_take() {
    let (access, backbone) = (
        direction("56 kbit/s", Duration::from_millis(75)),
        direction("1 Mbit/s", Duration::from_millis(10)),
    );
    let chain = world(&chain(&access, &backbone), 1);
    let (client, server) = (host(&chain, "client"), host(&chain, "server"));
    let _listener = server.listen(80).unwrap();
    let connected = chain.world.run(async move {
        client.connect(server.address(80)).await.unwrap();
        client.now().since_start()
    });
    // A SYN and a SYN-ACK of 60 B each, serialised and carried twice each; the router takes no time.
    let serialised = Duration::from_nanos(8_571_429) + Duration::from_micros(480);
    assert_eq!(connected.unwrap(), 2 * (serialised + Duration::from_millis(75 + 10)));
}

#[test]
fn what_a_router_gets_for_others_it_sends_on_and_every_packet_is_accounted_for() {
    let access = DirectionSpec {
        queue: Queue::Packets(5),
        loss: Loss::Bernoulli(Probability::new(0.02).unwrap()),
        ..direction("2 Mbit/s", Duration::from_millis(20))
    };
    let backbone = direction("10 Mbit/s", Duration::from_millis(5));
    let chain = world(&chain(&access, &backbone), 1);
    let (client, server) = (host(&chain, "client"), host(&chain, "server"));
    serve(&chain.world, &server, 1_000_000);
    let fetched = chain.world.run(fetch(client.clone(), server));
    assert_eq!(fetched.unwrap(), 1_000_000);
    settle(&chain.world, &client);
    let [access_down, access_up] = settled_counters(&chain, "access");
    let [backbone_down, backbone_up] = settled_counters(&chain, "backbone");
    assert_eq!(access_up.delivered, backbone_up.offered);
    assert_eq!(access_up.bytes_delivered, backbone_up.bytes_offered);
    assert_eq!(backbone_down.delivered, access_down.offered);
    assert_eq!(backbone_down.bytes_delivered, access_down.bytes_offered);
    assert!(access_down.dropped_by_random_loss > 0 && access_down.dropped_by_full_queue > 0);
}

#[test]
fn a_router_is_seen_to_take_each_packet_and_to_send_it_with_a_shorter_time_to_live() {
    let wire = direction("2 Mbit/s", Duration::from_millis(20));
    let chain = world(&chain(&wire, &wire), 1);
    let (client, router, server) = (host(&chain, "client"), host(&chain, "router"), host(&chain, "server"));
    let (at_client, at_router) = (Recording::default(), Recording::default());
    chain.world.capture(&client, Box::new(at_client.clone())).unwrap();
    chain.world.capture(&router, Box::new(at_router.clone())).unwrap();
    serve(&chain.world, &server, 10_000);
    chain.world.run(fetch(client.clone(), server)).unwrap();
    settle(&chain.world, &client);
    let time_to_live = |packet: &Vec<u8>| packet[8];
    let (at_client, at_router) = (packets(&at_client.bytes()), packets(&at_router.bytes()));
    assert_eq!(at_router.len(), 2 * at_client.len());
    let arrived = at_router.iter().filter(|packet| time_to_live(packet) == 64);
    let left = at_router.iter().filter(|packet| time_to_live(packet) == 63);
    assert_eq!((arrived.count(), left.count()), (at_client.len(), at_client.len()));
    // The first is the client's SYN.
    assert_eq!(at_router[0], at_client[0]);
    assert_eq!(
        (time_to_live(&at_router[1]), &at_router[1][12..]),
        (63, &at_router[0][12..])
    );
    let from_server = at_client.iter().filter(|packet| packet[12..16] == [10, 0, 0, 3]);
    assert!(from_server.into_iter().all(|packet| time_to_live(packet) == 63));
}

#[test]
fn a_host_that_is_no_router_does_not_forward() {
    let wire = wire(&direction("2 Mbit/s", Duration::from_millis(20)));
    let topology = Topology::builder()
        .hosts(["client", "middle", "server"])
        .wire("access", wire.clone(), ["client"], ["middle"])
        .wire("backbone", wire, ["middle"], ["server"])
        .allow_unreachable()
        .build()
        .unwrap();
    let assembly = world(&topology, 1);
    let (client, middle, server) = (
        host(&assembly, "client"),
        host(&assembly, "middle"),
        host(&assembly, "server"),
    );
    let (_at_middle, _at_server) = (middle.listen(80).unwrap(), server.listen(80).unwrap());
    let connected = assembly.world.run(async move {
        let to_middle = client.connect(middle.address(80)).await.map(drop);
        let to_server = client.connect(server.address(80)).await.map(drop);
        (to_middle, to_server)
    });
    let (to_middle, to_server) = connected.unwrap();
    assert!(to_middle.is_ok());
    assert_eq!(to_server.unwrap_err().kind(), ErrorKind::NetworkUnreachable);
}

#[test]
fn hosts_of_one_side_reach_each_other_over_a_router_on_the_other() {
    let topology = Topology::builder()
        .hosts(["first", "second"])
        .router("router")
        .wire(
            "access",
            wire(&direction("2 Mbit/s", Duration::from_millis(20))),
            ["first", "second"],
            ["router"],
        )
        .build()
        .unwrap();
    let assembly = world(&topology, 1);
    let (first, second) = (host(&assembly, "first"), host(&assembly, "second"));
    serve(&assembly.world, &second, 10_000);
    assert_eq!(assembly.world.run(fetch(first.clone(), second)).unwrap(), 10_000);
    settle(&assembly.world, &first);
    let [down, up] = settled_counters(&assembly, "access");
    assert_eq!((down.offered, down.bytes_offered), (up.delivered, up.bytes_delivered));
}

/// The clients share one wire, whose queue drops packets: their transfers take the time that the wire needs to carry their packets.
#[test]
fn clients_of_one_wire_share_what_it_carries() {
    const CLIENTS: usize = 8;
    const BYTES: usize = 200_000;
    let names: Vec<String> = (1..=CLIENTS).map(|number| format!("client-{number}")).collect();
    let bottleneck = DirectionSpec {
        queue: Queue::Packets(50),
        ..direction("4 Mbit/s", Duration::from_millis(20))
    };
    let topology = Topology::builder()
        .host("server")
        .hosts(names.clone())
        .wire("access", wire(&bottleneck), names.clone(), ["server"])
        .build()
        .unwrap();
    let star = world(&topology, 1);
    let server = host(&star, "server");
    serve(&star.world, &server, BYTES);
    let fetches: Vec<_> = names
        .iter()
        .map(|name| fetch(host(&star, name), server.clone()))
        .collect();
    let fetched = star.world.run(futures_util::future::join_all(fetches)).unwrap();
    assert_eq!(fetched, [BYTES; CLIENTS]);
    let took = star.world.now().since_start();
    settle(&star.world, &server);
    let [down, _] = settled_counters(&star, "access");
    assert!(down.dropped_by_full_queue > 0);
    let serialised = Duration::from_secs_f64(down.bytes_delivered.as_f64() * 8.0 / 4e6);
    // Before it: the round trips of a SYN and of a request; after it: the wire's delay.
    assert!(
        took < serialised + Duration::from_millis(5 * 20 + 30),
        "{took:?} for {serialised:?}"
    );
    assert!(took > serialised.mul_f64(0.98));
}

/// A world that is made from a topology equals one that is made by hand, to the nanosecond.
#[test]
fn a_world_from_a_topology_is_the_world_made_by_hand() {
    let lossy = DirectionSpec {
        capacity: Capacity::Rate("8 Mbit/s".parse().unwrap()),
        loss: Loss::Bernoulli(Probability::new(0.03).unwrap()),
        ..direction("8 Mbit/s", Duration::from_millis(5))
    };
    let outcome = |world: &World, link, client: &SimHost, server: &SimHost| {
        serve(world, server, 400_000);
        world.run(fetch(client.clone(), server.clone())).unwrap();
        (world.now(), world.link_counters(link))
    };
    let by_hand = World::new(Seed::new(3));
    let (server, client) = (by_hand.host(HostSpec::default()), by_hand.host(HostSpec::default()));
    let wired = by_hand.link(&lossy, &lossy, &[&client], &[&server]);
    let expected = outcome(&by_hand, wired, &client, &server);
    let topology = Topology::builder()
        .hosts(["server", "client"])
        .wire("access", wire(&lossy), ["client"], ["server"])
        .build()
        .unwrap();
    let made = world(&topology, 3);
    let (client, server) = (host(&made, "client"), host(&made, "server"));
    assert_eq!(outcome(&made.world, link(&made, "access"), &client, &server), expected);
    let (down, _) = expected.1;
    assert!(down.dropped_by_random_loss > 0);
}

#[test]
fn hosts_of_a_topology_may_share_a_cpu() {
    let topology = Topology::builder()
        .hosts(["server", "client"])
        .wire("access", wire(&DirectionSpec::IDEAL), ["client"], ["server"])
        .build()
        .unwrap();
    let settings = |cpu_of: Option<&str>| {
        let cpu_of = cpu_of.map(|name| HostName::new(name).unwrap());
        World::from_topology(&topology, Seed::new(1), move |name| HostSettings {
            spec: HostSpec {
                cpu: CpuSpec::default(),
                ..HostSpec::default()
            },
            cpu_of: cpu_of.clone().filter(|other| other != name),
        })
    };
    let took = |made: &Assembly<World>| {
        let [client, server] = ["client", "server"].map(|name| host(made, name));
        let work = Duration::from_millis(5);
        let both = async move {
            futures_util::future::join(client.compute(work), server.compute(work)).await;
            client.now().since_start()
        };
        made.world.run(both).unwrap()
    };
    assert_eq!(took(&settings(None)), Duration::from_millis(5));
    assert_eq!(took(&settings(Some("server"))), Duration::from_millis(10));
}
