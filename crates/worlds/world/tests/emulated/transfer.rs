//! Claims about transfers over real kernels: they take the time that the link implies, and lose the frames that the simulated world
//! loses.

use crate::datagrams::two_hosts;
use crate::pcapng::{Shared, packets};
use lastmile_link::{Capacity, DirectionSpec, Loss, Queue};
use lastmile_units::{Probability, Seed};
use lastmile_world::emu::{Attachment, World};
use lastmile_world::{Host, Listener, World as _, sim};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Opens a connection, asks with 100 bytes, and reads `bytes` of answer; tells how long that took.
pub(crate) fn transfer<W: lastmile_world::World>(
    world: &W,
    client: &W::Host,
    server: &W::Host,
    bytes: usize,
) -> Duration {
    let (client, server) = (client.clone(), server.clone());
    let mut listener = server.listen(80).unwrap();
    world.spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        stream.read_exact(&mut [0; 100]).await.unwrap();
        stream.write_all(&vec![0; bytes]).await.unwrap();
        stream.shutdown().await.unwrap();
    });
    world
        .run_for(Duration::from_secs(30), async move {
            let start = client.now();
            let mut stream = client.connect(server.address(80)).await.unwrap();
            stream.write_all(&[0; 100]).await.unwrap();
            let mut body = Vec::new();
            stream.read_to_end(&mut body).await.unwrap();
            assert_eq!(body.len(), bytes);
            client.now() - start
        })
        .unwrap()
}

pub(crate) fn it_takes_what_the_link_says_by_tun() {
    if Attachment::best_available() != Attachment::Tun {
        println!("emulated: /dev/net/tun is shut to this user: attachment by TUN is not checked");
        return;
    }
    it_takes_what_the_link_says(Attachment::Tun);
}

pub(crate) fn it_takes_what_the_link_says_by_veth() {
    it_takes_what_the_link_says(Attachment::Veth);
}

fn it_takes_what_the_link_says(attachment: Attachment) {
    let world = World::with_attachment(attachment, Seed::new(1)).unwrap();
    assert_eq!(world.attachment(), attachment);
    let (client, server) = two_hosts(&world);
    let modem = DirectionSpec {
        capacity: Capacity::Rate("512 kbit/s".parse().unwrap()),
        one_way_delay: Duration::from_millis(50),
        ..DirectionSpec::IDEAL
    };
    let link = world.link(&modem, &modem, &[&client], &[&server]);
    let took = transfer(&world, &client, &server, 100_000);
    let (down, _) = world.link_counters(link);
    assert_eq!(down.dropped(), 0);
    // Everything but the SYN-ACK's 60 B passes the slow direction back to back once the window is full.
    let serialised = Duration::from_secs_f64(down.bytes_delivered.as_f64() * 8.0 / 512e3);
    assert!(
        took > serialised,
        "{took:?} is faster than the link, which takes {serialised:?}"
    );
    assert!(
        took < serialised + Duration::from_millis(500),
        "{took:?} against {serialised:?}"
    );
    assert_eq!(world.unroutable_packets(), 0);
    assert!(world.lateness().packets() >= down.delivered);
}

pub(crate) fn the_same_frames_are_lost_as_in_the_simulated_world() {
    let lossy = DirectionSpec {
        capacity: Capacity::Rate("8 Mbit/s".parse().unwrap()),
        one_way_delay: Duration::from_millis(5),
        queue: Queue::Unlimited,
        loss: Loss::Bernoulli(Probability::new(0.03).unwrap()),
        ..DirectionSpec::IDEAL
    };
    let clean = DirectionSpec {
        loss: Loss::NONE,
        ..lossy.clone()
    };
    const BYTES: usize = 400_000;

    let simulated = sim::World::new(Seed::new(3));
    let host = || simulated.host(sim::HostSpec::default());
    let (client, server) = (host(), host());
    let link = simulated.link(&lossy, &clean, &[&client], &[&server]);
    let (sent, dropped) = (Shared::default(), Shared::default());
    simulated.capture(&server, Box::new(sent.clone())).unwrap();
    simulated.capture_drops(link, Box::new(dropped.clone())).unwrap();
    transfer(&simulated, &client, &server, BYTES);
    let in_simulation = lost_frames(&sent, &dropped);

    let emulated = World::new(Seed::new(3)).unwrap();
    let (client, server) = two_hosts(&emulated);
    let link = emulated.link(&lossy, &clean, &[&client], &[&server]);
    let (sent, dropped) = (Shared::default(), Shared::default());
    emulated.capture(&server, Box::new(sent.clone())).unwrap();
    emulated.capture_drops(link, Box::new(dropped.clone())).unwrap();
    transfer(&emulated, &client, &server, BYTES);
    let in_emulation = lost_frames(&sent, &dropped);

    // The two kernels of TCP send a few packets more or less; as far as both went, the same were lost.
    let common = in_simulation.0.min(in_emulation.0);
    let among = |frames: &[usize]| {
        frames
            .iter()
            .copied()
            .filter(|&frame| frame < common)
            .collect::<Vec<_>>()
    };
    assert!(common > BYTES / 1500 && !in_emulation.1.is_empty());
    assert_eq!(among(&in_emulation.1), among(&in_simulation.1));
}

/// How many frames a server sent, and which of them were lost, by their place among those sent.
fn lost_frames(sent: &Shared, dropped: &Shared) -> (usize, Vec<usize>) {
    let server = [10, 0, 0, 2];
    let sent: Vec<_> = packets(sent)
        .into_iter()
        .filter(|packet| packet.bytes[12..16] == server)
        .collect();
    let mut from = 0;
    let index = |packet: &crate::pcapng::Packet| {
        let index = from + sent[from..].iter().position(|sent| sent.bytes == packet.bytes).unwrap();
        from = index + 1;
        index
    };
    let lost = packets(dropped).iter().map(index).collect();
    (sent.len(), lost)
}
