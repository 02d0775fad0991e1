//! Claims about hosts on a radio: TCP runs over it, every packet is accounted for, and its air is captured.

use crate::support::Recording;
use lastmile_link::Station;
use lastmile_link::radio::{Beacons, RadioSpec};
use lastmile_units::{Metres, Seed};
use lastmile_world::sim::{HostSpec, SimHost, World};
use lastmile_world::topology::{Assembly, Topology};
use lastmile_world::{Host, Listener, World as _};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn network(spec: &RadioSpec, hosts: &[&str]) -> Assembly<World> {
    let topology = Topology::builder()
        .hosts(hosts.iter().copied())
        .radio("air", spec.clone(), hosts.iter().copied())
        .build()
        .unwrap();
    World::from_topology(&topology, Seed::new(1), |_| HostSpec::default())
}

/// Answers every connection to `server` with this number of bytes, and closes it.
fn serve(world: &World, server: &SimHost, bytes: usize) {
    let (mut listener, host) = (server.listen(80).unwrap(), server.clone());
    world.spawn(async move {
        loop {
            let mut stream = listener.accept().await.unwrap();
            host.spawn(async move {
                let mut request = [0; 80];
                stream.read_exact(&mut request).await.unwrap();
                stream.write_all(&vec![0; bytes]).await.unwrap();
                stream.shutdown().await.unwrap();
            });
        }
    });
}

/// Fetches the answer, on a connection of its own.
async fn fetch(client: &SimHost, server: &SimHost) -> usize {
    let mut stream = client.connect(server.address(80)).await.unwrap();
    stream.write_all(&[0; 80]).await.unwrap();
    let mut body = Vec::new();
    stream.read_to_end(&mut body).await.unwrap();
    body.len()
}

fn settle(world: &World, host: &SimHost) {
    let host = host.clone();
    world
        .run(async move { host.sleep_until(host.now() + Duration::from_secs(10)).await })
        .unwrap();
}

#[test]
fn a_bulk_transfer_takes_the_airtime_of_its_frames() {
    let made = network(&RadioSpec::dot11b(), &["client", "server"]);
    let (client, server) = (made.hosts["client"].clone(), made.hosts["server"].clone());
    const BYTES: usize = 20_000_000;
    serve(&made.world, &server, BYTES);
    let took = made.world.run(async move {
        assert_eq!(fetch(&client, &server).await, BYTES);
        client.now().since_start()
    });
    let rate = BYTES as f64 * 8.0 / took.unwrap().as_secs_f64() / 1e6;
    let counters = made.world.radio_counters(made.radios["air"]);
    println!(
        "bulk: {rate:.2} Mbit/s (ns-3 3.37 has 5.30); busy {:.3}, collisions {}, retries {}",
        counters.busy.as_secs_f64() / counters.elapsed.as_secs_f64(),
        counters.total(|of| of.collisions),
        counters.total(|of| of.retries)
    );
    // Two segments of 1,500 bytes and one ACK of 52 bytes: (2 * (1310 + 248 + 60) + (256 + 248 + 60)) us without any back-off is the
    // least, and a mean of 15.5 slots for each of the three is the most that one contender waits.
    let least = 2.0 * 1618.0 + 564.0;
    let most = least + 3.0 * 310.0;
    let rate_of = |microseconds: f64| 2.0 * 1448.0 * 8.0 / microseconds;
    assert!(
        rate < rate_of(least) && rate > rate_of(most) * 0.95,
        "{} {}",
        rate_of(least),
        rate_of(most)
    );
}

#[test]
fn one_client_with_a_connection_for_each_request_gets_what_the_airtime_permits() {
    let made = network(&RadioSpec::dot11b(), &["client", "server"]);
    let (client, server) = (made.hosts["client"].clone(), made.hosts["server"].clone());
    serve(&made.world, &server, 1024 + 300);
    const REQUESTS: u32 = 2000;
    let took = made.world.run(async move {
        for _ in 0..REQUESTS {
            fetch(&client, &server).await;
        }
        client.now().since_start()
    });
    let rate = f64::from(REQUESTS) / took.unwrap().as_secs_f64();
    let counters = made.world.radio_counters(made.radios["air"]);
    let packets = counters.total(|of| of.packets_delivered) as f64 / f64::from(REQUESTS);
    println!(
        "1 KB, one connection for each request: {rate:.1}/s (ns-3 3.37 has 133.4), {packets:.2} packets each, busy {:.3}, collisions {}",
        counters.busy.as_secs_f64() / counters.elapsed.as_secs_f64(),
        counters.total(|of| of.collisions)
    );
    assert!((packets - 11.0).abs() < 0.01);
    // Ten packets of some 88 bytes with their ACKs and spaces take 564 us each, the answer 1,527; and each waits up to the mean of a
    // back-off of one contender, 310 us.
    let least = 10.0 * 564.0 + 1527.0;
    assert!((1e6 / (least + 11.0 * 310.0)..1e6 / least).contains(&rate));
}

#[test]
fn every_packet_of_every_station_is_accounted_for() {
    let hosts = ["server", "client-1", "client-2", "client-3"];
    let spec = RadioSpec {
        distance: Metres::new(110.0),
        ..RadioSpec::dot11b()
    };
    let made = network(&spec, &hosts);
    let server = made.hosts["server"].clone();
    serve(&made.world, &server, 100_000);
    let clients: Vec<_> = hosts[1..].iter().map(|name| made.hosts[*name].clone()).collect();
    let fetches: Vec<_> = clients
        .into_iter()
        .map(|client| {
            let server = server.clone();
            async move { fetch(&client, &server).await }
        })
        .collect();
    let fetched = made.world.run(futures_util::future::join_all(fetches)).unwrap();
    assert_eq!(fetched, [100_000; 3]);
    settle(&made.world, &server);
    let radio = made.radios["air"];
    let counters = made.world.counters(radio.medium());
    assert_eq!(counters.in_flight, 0);
    assert_eq!(counters.offered, counters.delivered + counters.dropped());
    let stations = made.world.radio_counters(radio);
    assert_eq!(stations.total(|of| of.packets_offered), counters.offered);
    assert_eq!(stations.total(|of| of.packets_delivered), counters.delivered);
    assert!(stations.total(|of| of.retries) > 0 && stations.total(|of| of.collisions) > 0);
    assert!(stations.station(Station(0)).unwrap().frames.packets_offered > 3 * 69);
}

#[test]
fn the_air_is_captured_as_a_monitor_records_it() {
    let spec = RadioSpec {
        beacons: Some(Beacons::default()),
        distance: Metres::new(115.0),
        ..RadioSpec::dot11b()
    };
    let made = network(&spec, &["client", "server"]);
    let (client, server) = (made.hosts["client"].clone(), made.hosts["server"].clone());
    let air = Recording::default();
    made.world
        .capture_air(made.radios["air"], Box::new(air.clone()))
        .unwrap();
    serve(&made.world, &server, 50_000);
    made.world
        .run(async move {
            fetch(&client, &server).await;
        })
        .unwrap();
    let counters = made.world.radio_counters(made.radios["air"]);
    let frames = crate::captures::packets(&air.bytes());
    let of_kind = |kind: u8| frames.iter().filter(move |frame| frame[24] == kind).count() as u64;
    // What is still on the air at the end is not in it.
    assert!(counters.total(|of| of.data_sent).abs_diff(of_kind(0x08)) <= 1);
    assert!(counters.total(|of| of.acks_sent).abs_diff(of_kind(0xd4)) <= 1);
    assert!(counters.total(|of| of.beacons_sent).abs_diff(of_kind(0x80)) <= 1);
    let retries = frames
        .iter()
        .filter(|frame| frame[24] == 0x08 && frame[25] & 0x08 != 0)
        .count() as u64;
    assert!(counters.total(|of| of.retries).abs_diff(retries) <= 1 && retries > 0);
    // The first data frame is the client's SYN: radiotap with 11 Mbit/s, header, LLC and SNAP, IPv4, check sequence.
    let syn = frames.iter().find(|frame| frame[24] == 0x08).unwrap();
    assert_eq!((syn[2], syn[17]), (24, 22));
    assert_eq!(syn[28..34], [0x02, 0, 0x0a, 0, 0, 2]);
    assert_eq!(syn[34..40], [0x02, 0, 0x0a, 0, 0, 1]);
    assert_eq!(syn[48..58], [0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45, 0]);
    assert_eq!(syn.len(), 24 + 24 + 8 + 60 + 4);
}

#[test]
fn a_radio_without_two_different_known_stations_is_refused() {
    let build = |stations: &[&str]| {
        Topology::builder()
            .hosts(["client", "server"])
            .radio("air", RadioSpec::dot11b(), stations.iter().copied())
            .build()
    };
    assert!(build(&["client", "server"]).is_ok());
    let refusal = |stations: &[&str]| build(stations).unwrap_err().to_string();
    assert_eq!(
        refusal(&["client"]),
        "radio air has fewer than two stations; name at least two hosts"
    );
    assert_eq!(
        refusal(&["client", "client"]),
        "radio air has host client twice; name it once"
    );
    assert_eq!(
        refusal(&["client", "sever"]),
        r#"radio air names a host "sever" that the topology does not have; its hosts are client, server"#
    );
}
