//! Claims about captures of real packets.

use crate::datagrams::{Receiver, send, two_hosts};
use crate::pcapng::{Shared, packets};
use crate::transfer::transfer;
use lastmile_link::{Capacity, DirectionSpec, Loss, Queue};
use lastmile_units::{Probability, Seed};
use lastmile_world::World as _;
use lastmile_world::emu::{Attachment, World};
use std::collections::BTreeSet;
use std::time::Duration;

pub(crate) fn packets_are_whole_and_their_checksums_right() {
    // TUN where its device is open to this user.
    let attachments = BTreeSet::from([Attachment::best_available(), Attachment::Veth]);
    for attachment in attachments {
        let world = World::with_attachment(attachment, Seed::new(1)).unwrap();
        let (client, server) = two_hosts(&world);
        let delay = DirectionSpec {
            one_way_delay: Duration::from_millis(20),
            ..DirectionSpec::IDEAL
        };
        let link = world.link(&delay, &delay, &[&client], &[&server]);
        let (at_client, at_server) = (Shared::default(), Shared::default());
        world.capture(&client, Box::new(at_client.clone())).unwrap();
        world.capture(&server, Box::new(at_server.clone())).unwrap();
        transfer(&world, &client, &server, 50_000);
        let (down, up) = world.link_counters(link);
        let (at_client, at_server) = (packets(&at_client), packets(&at_server));
        // What is still on its way is in one of them.
        assert!(at_server.len() as u64 >= down.delivered + up.delivered);
        for packet in at_client.iter().chain(&at_server) {
            assert_eq!(packet.checksums(), [0xffff; 2], "by {attachment}");
            assert!(packet.bytes.len() <= 1500);
            assert_eq!(packet.comment, None);
        }
        // The SYN reaches the server no earlier than the link says.
        let crossing = at_server[0].at - at_client[0].at;
        assert_eq!(at_server[0].bytes, at_client[0].bytes);
        assert!(crossing >= delay.one_way_delay, "{crossing:?}");
        assert!(world.capture_error().is_none());
    }
}

pub(crate) fn drops_are_told_with_their_causes() {
    let world = World::new(Seed::new(5)).unwrap();
    let (client, server) = two_hosts(&world);
    let lossy = DirectionSpec {
        capacity: Capacity::Rate("5 Mbit/s".parse().unwrap()),
        queue: Queue::Packets(30),
        loss: Loss::Bernoulli(Probability::new(0.2).unwrap()),
        ..DirectionSpec::IDEAL
    };
    let link = world.link(&lossy, &lossy, &[&client], &[&server]);
    let (sent, dropped) = (Shared::default(), Shared::default());
    world.capture(&client, Box::new(sent.clone())).unwrap();
    world.capture_drops(link, Box::new(dropped.clone())).unwrap();
    let receiver = Receiver::at(&server);
    send(&client, &server, 200, 500);
    let arrived = receiver.hear().len();
    let (_, up) = world.link_counters(link);
    let (sent, dropped) = (packets(&sent), packets(&dropped));
    assert_eq!((sent.len(), dropped.len()), (200, 200 - arrived), "{up:?}");
    let with = |packets: &[crate::pcapng::Packet], comment: &str| {
        let commented = packets
            .iter()
            .filter(|packet| packet.comment.as_deref() == Some(comment));
        commented.count() as u64
    };
    assert_eq!(with(&dropped, "dropped: queue full"), up.dropped_by_full_queue);
    assert_eq!(with(&dropped, "dropped: random loss"), up.dropped_by_random_loss);
    assert!(up.dropped_by_full_queue > 0 && up.dropped_by_random_loss > 0, "{up:?}");
    // A sender knows of the queue alone.
    assert_eq!(with(&sent, "dropped: queue full"), up.dropped_by_full_queue);
    assert_eq!(
        sent.iter().filter(|packet| packet.comment.is_some()).count() as u64,
        up.dropped_by_full_queue
    );
}
