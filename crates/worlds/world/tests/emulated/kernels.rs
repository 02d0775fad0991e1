//! Claims about hosts' kernels: they are configured as requested, and their counters are read.

use crate::datagrams::two_hosts;
use crate::pcapng::{Packet, Shared, packets};
use crate::transfer::transfer;
use futures_util::future::join;
use lastmile_link::{Capacity, DirectionSpec, Loss, Queue};
use lastmile_units::{Probability, Seed};
use lastmile_world::emu::{HostSpec, World};
use lastmile_world::{Host, Listener, World as _};
use nix::sys::socket::{getsockopt, sockopt};
use std::time::Duration;

pub(crate) fn congestion_control_and_initial_window_are_those_asked_for() {
    for (control, initial_window) in [("cubic", None), ("reno", Some(4)), ("cubic", Some(25))] {
        let world = World::new(Seed::new(1)).unwrap();
        let spec = HostSpec {
            congestion_control: control.to_owned(),
            initial_window,
            ..HostSpec::default()
        };
        let (client, server) = (world.host(spec.clone()).unwrap(), world.host(spec).unwrap());
        let delay = DirectionSpec {
            one_way_delay: Duration::from_millis(50),
            ..DirectionSpec::IDEAL
        };
        world.link(&delay, &delay, &[&client], &[&server]);
        let at_server = Shared::default();
        world.capture(&server, Box::new(at_server.clone())).unwrap();
        transfer(&world, &client, &server, 100_000);
        assert_eq!(
            first_flight(&at_server),
            initial_window.unwrap_or(10) as usize,
            "{control}"
        );

        let mut listener = server.listen(81).unwrap();
        let controls = world.run_for(Duration::from_secs(5), async move {
            let (connected, accepted) = join(client.connect(server.address(81)), listener.accept()).await;
            [connected.unwrap(), accepted.unwrap()].map(|stream| getsockopt(&stream, sockopt::TcpCongestion).unwrap())
        });
        for found in controls.unwrap() {
            let found = found.to_string_lossy();
            assert_eq!(found.trim_end_matches('\0'), control);
        }
    }
}

/// How many segments of data the server sends before any of it is acknowledged.
fn first_flight(at_server: &Shared) -> usize {
    let packets = packets(at_server);
    let data = |packet: &&crate::pcapng::Packet| packet.is_from(2) && packet.data().1 > 0;
    let first = packets.iter().position(|packet| data(&packet)).unwrap();
    packets[first..]
        .iter()
        .take_while(|packet| packet.is_from(2))
        .filter(data)
        .count()
}

pub(crate) fn retransmissions_are_those_seen_on_the_wire() {
    let world = World::new(Seed::new(2)).unwrap();
    let (client, server) = two_hosts(&world);
    let lossy = DirectionSpec {
        capacity: Capacity::Rate("10 Mbit/s".parse().unwrap()),
        one_way_delay: Duration::from_millis(5),
        queue: Queue::Unlimited,
        loss: Loss::Bernoulli(Probability::new(0.03).unwrap()),
        ..DirectionSpec::IDEAL
    };
    world.link(&lossy, &DirectionSpec::IDEAL, &[&client], &[&server]);
    let at_server = Shared::default();
    world.capture(&server, Box::new(at_server.clone())).unwrap();
    assert_eq!(world.retransmissions(&server), 0);
    transfer(&world, &client, &server, 400_000);
    // The link up loses nothing, so that the server sees all that the client sends. A segment is counted before it is captured, and
    // the last segments are sent again at any time, so that the two figures may need a moment to meet.
    for last_try in (0..500).map(|index| index == 499) {
        let counted = [&server, &client].map(|host| world.retransmissions(host));
        let packets = packets(&at_server);
        let seen = [2, 1].map(|host| segments_sent_again(&packets, host));
        if counted == seen || last_try {
            assert_eq!(counted, seen, "of the server and of the client");
            assert!(seen[0] > 0);
            break;
        }
        let waiting = client.clone();
        let pause = async move { waiting.sleep_until(waiting.now() + Duration::from_millis(10)).await };
        world.run_for(Duration::from_secs(1), pause).unwrap();
    }
}

/// How many segments of this host begin before the end of what it had sent already.
fn segments_sent_again(packets: &[Packet], host: u8) -> u64 {
    let mut sent_up_to: Option<u32> = None;
    let mut again = 0;
    for packet in packets.iter().filter(|packet| packet.is_from(host)) {
        let (sequence, length) = packet.sequence_space();
        if length == 0 {
            continue;
        }
        if sent_up_to.is_some_and(|end| end.wrapping_sub(sequence) as i32 > 0) {
            again += 1;
        } else {
            sent_up_to = Some(sequence.wrapping_add(length));
        }
    }
    again
}
