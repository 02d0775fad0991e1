//! Claims about links: packets pass the links that they should, and each is accounted for.

use crate::datagrams::{Receiver, send, two_hosts};
use lastmile_link::{Capacity, DirectionSpec, Loss, Queue};
use lastmile_units::{ByteCount, Probability, Seed};
use lastmile_world::World as _;
use lastmile_world::emu::{HostSpec, InvalidReason, World};
use std::time::Duration;

fn at(rate: &str) -> DirectionSpec {
    DirectionSpec {
        capacity: Capacity::Rate(rate.parse().unwrap()),
        ..DirectionSpec::IDEAL
    }
}

pub(crate) fn hosts_of_one_side_share_the_wire() {
    let world = World::new(Seed::new(1)).unwrap();
    let (first, second) = two_hosts(&world);
    let far = world.host(HostSpec::default()).unwrap();
    let slow = DirectionSpec {
        queue: Queue::Unlimited,
        ..at("2 Mbit/s")
    };
    let link = world.link(&slow, &slow, &[&first, &second], &[&far]);
    let receiver = Receiver::at(&far);
    let begun = lastmile_world::Host::now(&far);
    send(&first, &far, 25, 1000);
    send(&second, &far, 25, 1000);
    let mut numbers = Vec::new();
    while numbers.len() < 50 {
        let more = receiver.hear();
        assert!(!more.is_empty(), "{} of 50 arrived", numbers.len());
        numbers.extend(more);
    }
    let took = lastmile_world::Host::now(&far) - begun;
    // 4 ms each: had each host a wire of its own, all would be there after 100 ms.
    assert!(took >= Duration::from_millis(200), "{took:?}");
    numbers.sort_unstable();
    let each_twice: Vec<_> = (0..25).flat_map(|number| [number; 2]).collect();
    assert_eq!(numbers, each_twice);
    let (down, up) = world.link_counters(link);
    assert_eq!((up.offered, up.delivered, down.offered), (50, 50, 0));
    // Those of one side have no wire between them.
    let neighbour = Receiver::at(&second);
    send(&first, &second, 3, 100);
    assert_eq!(neighbour.hear(), []);
    assert_eq!(world.unroutable_packets(), 3);
}

pub(crate) fn each_link_carries_its_own() {
    let world = World::new(Seed::new(1)).unwrap();
    let (client, server) = two_hosts(&world);
    let other = world.host(HostSpec::default()).unwrap();
    let near = world.link(&at("10 Mbit/s"), &at("10 Mbit/s"), &[&client], &[&server]);
    let far = world.link(&at("1 Mbit/s"), &at("1 Mbit/s"), &[&client], &[&other]);
    let (at_server, at_other) = (Receiver::at(&server), Receiver::at(&other));
    send(&client, &server, 10, 1000);
    send(&client, &other, 20, 500);
    assert_eq!(at_server.hear(), Vec::from_iter(0..10));
    assert_eq!(at_other.hear(), Vec::from_iter(0..20));
    let carried = |link| {
        let (down, up) = world.link_counters(link);
        (up.delivered, up.bytes_delivered, down.offered)
    };
    assert_eq!(carried(near), (10, ByteCount::new(10_000), 0));
    assert_eq!(carried(far), (20, ByteCount::new(10_000), 0));
}

pub(crate) fn a_full_queue_drops_the_newest_packet() {
    let world = World::new(Seed::new(1)).unwrap();
    let (client, server) = two_hosts(&world);
    let slow = DirectionSpec {
        queue: Queue::Packets(5),
        // 120 ms a packet: all are offered before the first is out.
        ..at("100 kbit/s")
    };
    let link = world.link(&slow, &slow, &[&client], &[&server]);
    let receiver = Receiver::at(&server);
    send(&client, &server, 12, 1500);
    // One in service and five that wait.
    assert_eq!(receiver.hear(), Vec::from_iter(0..6));
    let (_, up) = world.link_counters(link);
    assert_eq!((up.offered, up.delivered, up.dropped_by_full_queue), (12, 6, 6));
}

pub(crate) fn every_packet_is_accounted_for() {
    let world = World::new(Seed::new(7)).unwrap();
    let (client, server) = two_hosts(&world);
    let lossy = DirectionSpec {
        queue: Queue::Packets(20),
        loss: Loss::Bernoulli(Probability::new(0.1).unwrap()),
        one_way_delay: Duration::from_millis(30),
        ..at("5 Mbit/s")
    };
    let link = world.link(&lossy, &lossy, &[&client], &[&server]);
    let receiver = Receiver::at(&server);
    send(&client, &server, 500, 500);
    let (_, now) = world.link_counters(link);
    assert_eq!(now.offered, now.delivered + now.dropped() + now.in_flight);
    let numbers = receiver.hear();
    assert!(numbers.is_sorted());
    let (down, up) = world.link_counters(link);
    assert_eq!((up.offered, up.in_flight, down.offered), (500, 0, 0));
    assert_eq!(up.delivered, numbers.len() as u64);
    assert_eq!(up.offered, up.delivered + up.dropped());
    assert_eq!(up.bytes_delivered, ByteCount::new(500 * up.delivered));
    assert!(up.dropped_by_full_queue > 0 && up.dropped_by_random_loss > 0, "{up:?}");
    assert_eq!(world.disturbance().lateness.packets(), up.delivered);
    assert_eq!(world.disturbance().losses.before_link, 0);
}

/// A packet is in no link's counters before the forwarder has read it. Here that waits, so the interface overflows.
pub(crate) fn a_sender_faster_than_the_forwarder_is_told_of() {
    let world = World::new(Seed::new(1)).unwrap();
    let (client, server) = two_hosts(&world);
    let link = world.link(&DirectionSpec::IDEAL, &DirectionSpec::IDEAL, &[&client], &[&server]);
    let before = world.disturbance();
    assert_eq!(before.losses, lastmile_world::emu::UnmodelledLosses::default());
    // The forwarder is blocked while it delivers a connection request.
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let (reached, held) = std::sync::mpsc::channel();
    world.on_connection_request(&server, move |_| {
        let _ = reached.send(());
        let _ = wait.recv_timeout(Duration::from_secs(20));
    });
    let _ = client.namespace().enter(|| {
        let socket = nix::sys::socket::socket(
            nix::sys::socket::AddressFamily::Inet,
            nix::sys::socket::SockType::Stream,
            nix::sys::socket::SockFlag::SOCK_NONBLOCK,
            None,
        )
        .unwrap();
        let address = lastmile_world::Host::address(&server, 80);
        // In progress, which is reported as an error.
        let _ = nix::sys::socket::connect(
            std::os::fd::AsRawFd::as_raw_fd(&socket),
            &nix::sys::socket::SockaddrIn::from(address),
        );
        held.recv().unwrap();
    });
    send(&client, &server, 12_000, 100);
    go_on.send(()).unwrap();
    // Every packet that was not lost arrives, and then no more.
    let mut offered = 0;
    loop {
        std::thread::park_timeout(Duration::from_millis(200));
        let (_, up) = world.link_counters(link);
        if up.offered == offered {
            break;
        }
        offered = up.offered;
    }
    let since = world.disturbance().since(&before);
    assert!(since.losses.before_link > 0);
    // The SYN, perhaps sent again, besides the datagrams.
    let syns = offered + since.losses.before_link - 12_000;
    assert!((1..=3).contains(&syns), "{offered} offered, {:?}", since.losses);
    assert!(matches!(since.verdict(), Err(InvalidReason::Lost(_))));
}
