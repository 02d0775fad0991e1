//! Claims about bad links: conversations end well, and every packet is accounted for.

use crate::support::{Pair, content, direction};
use lastmile_link::{CoDel, DirectionSpec, GilbertElliott, Jitter, Loss, Queue, Reordering};
use lastmile_tcp::{Config, CongestionControl, Nagle};
use lastmile_units::{ByteCount, Probability, Seed};
use lastmile_world::World as _;
use lastmile_world::sim::HostSpec;
use lastmile_world::{Host, Listener};
use rand_core::Rng as _;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

fn probability(ratio: f64) -> Probability {
    Probability::new(ratio).unwrap()
}

/// A bad link and two differently set hosts, drawn from a seed.
fn draw(seed: u64) -> (DirectionSpec, [HostSpec; 2]) {
    let mut rng = Seed::new(seed).derive("link").rng();
    let mut pick = |of: u32| rng.next_u32() % of;
    let delay = Duration::from_millis(u64::from(1 + pick(150)));
    let rate = ["56 kbit/s", "512 kbit/s", "2 Mbit/s", "20 Mbit/s"][pick(4) as usize];
    let bursts = GilbertElliott {
        good_to_bad: probability(0.02),
        bad_to_good: probability(0.3),
        loss_in_good: probability(0.0),
        loss_in_bad: probability(0.8),
    };
    let spec = DirectionSpec {
        queue: [
            Queue::Packets(1),
            Queue::Packets(3),
            Queue::Bytes(ByteCount::new(3000)),
            Queue::CoDel(CoDel::default()),
            Queue::Auto,
        ][pick(5) as usize],
        loss: [
            Loss::NONE,
            Loss::Bernoulli(probability(0.2)),
            Loss::Bernoulli(probability(0.02)),
            Loss::GilbertElliott(bursts),
        ][pick(4) as usize],
        jitter: [
            Jitter::None,
            Jitter::Uniform { half_width: delay },
            Jitter::Added { peak: 3 * delay },
        ][pick(3) as usize],
        reordering: [
            Reordering::None,
            Reordering::ByJitter,
            Reordering::Late {
                probability: probability(0.1),
                extra_delay: 2 * delay,
            },
        ][pick(3) as usize],
        ..direction(rate, delay)
    };
    let mut host = || {
        let tcp = Config {
            nagle: [Nagle::Off, Nagle::Minshall, Nagle::Classic][pick(3) as usize],
            congestion_control: [
                CongestionControl::Cubic,
                CongestionControl::Reno,
                CongestionControl::Bbr,
            ][pick(3) as usize],
            ..Config::default()
        };
        HostSpec {
            tcp,
            ..HostSpec::default()
        }
    };
    (spec, [host(), host()])
}

/// Writes and reads at the same time, to both ends.
async fn exchange(stream: impl AsyncRead + AsyncWrite, out: Vec<u8>) -> std::io::Result<Vec<u8>> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut got = Vec::new();
    let writing = async {
        writer.write_all(&out).await?;
        writer.shutdown().await
    };
    let (written, read) = futures_util::future::join(writing, reader.read_to_end(&mut got)).await;
    written.and(read).map(|_| got)
}

/// The virtual limit is far beyond what 20 % loss asks of 30 kB; a connection attempt alone gives up after 127 s.
const LIMIT: Duration = Duration::from_secs(20_000);

#[test]
fn both_streams_arrive_whole_over_a_thousand_bad_links() {
    for seed in 0..1000 {
        let (spec, [client, server]) = draw(seed);
        let pair = Pair::with_hosts(seed, &spec, client, server);
        let lengths = [1 + seed as usize * 7919 % 30_000, 1 + seed as usize * 104_729 % 30_000];
        let mut listener = pair.server.listen(80).unwrap();
        let (client, address, host) = (pair.client.clone(), pair.server.address(80), pair.server.clone());
        let served = async move {
            let stream = listener.accept().await.unwrap();
            exchange(stream, content(2, lengths[1])).await
        };
        let done = async move {
            let asked = async {
                let stream = client.connect(address).await?;
                exchange(stream, content(1, lengths[0])).await
            };
            let both = futures_util::future::join(asked, served).await;
            // Long enough for both ends to be gone, and for the link to be empty.
            host.sleep_until(host.now() + Duration::from_secs(300)).await;
            both
        };
        let (asked, served) = pair
            .world
            .run_for(LIMIT, done)
            .unwrap_or_else(|halt| panic!("seed {seed}: {halt}"));
        let (asked, served) = (asked.unwrap(), served.unwrap());
        assert!(
            asked == content(2, lengths[1]) && served == content(1, lengths[0]),
            "seed {seed}"
        );
        for counters in pair.counters() {
            assert_eq!(
                counters.offered,
                counters.delivered + counters.dropped() + counters.in_flight,
                "seed {seed}"
            );
        }
        let sent = pair.client.tcp_counters().segments_sent + pair.server.tcp_counters().segments_sent;
        let [down, up] = pair.counters();
        // Resets in response to segments without a connection belong to no socket.
        assert!(
            sent <= down.offered + up.offered,
            "seed {seed}: every segment is offered to the link"
        );
    }
}

#[test]
fn packets_are_accounted_for_while_a_transfer_is_cut_off() {
    let spec = DirectionSpec {
        loss: Loss::Bernoulli(probability(0.005)),
        ..direction("2 Mbit/s", Duration::from_millis(100))
    };
    let pair = Pair::new(3, &spec);
    let mut listener = pair.server.listen(80).unwrap();
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    pair.world.spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        stream.write_all(&content(0, 10_000_000)).await.unwrap();
    });
    let program = async move {
        let mut stream = client.connect(address).await.unwrap();
        stream.read_to_end(&mut Vec::new()).await
    };
    let halt = pair.world.run_for(Duration::from_secs(20), program).unwrap_err();
    assert_eq!(pair.world.now().since_start(), Duration::from_secs(20), "{halt}");
    let [down, up] = pair.counters();
    assert!(down.in_flight > 0 && down.dropped() > 0);
    for counters in [down, up] {
        assert_eq!(
            counters.offered,
            counters.delivered + counters.dropped() + counters.in_flight
        );
    }
}
