//! How long do bulk transfers take, beside the kernel?

use lastmile_link::{Capacity, DirectionSpec, Queue};
use lastmile_units::{BitRate, Seed};
use lastmile_world::sim::{HostSpec, World};
use lastmile_world::{Host, Listener};
use std::io;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Reads once into `to`; 0 at the end of the stream.
async fn read(stream: &mut (impl AsyncRead + Unpin), to: &mut [u8]) -> io::Result<usize> {
    std::future::poll_fn(|context: &mut Context<'_>| {
        let mut buffer = ReadBuf::new(to);
        Pin::new(&mut *stream).poll_read(context, &mut buffer).map_ok(|()| buffer.filled().len())
    })
    .await
}

async fn write_all(stream: &mut (impl AsyncWrite + Unpin), mut from: &[u8]) -> io::Result<()> {
    while !from.is_empty() {
        let written = std::future::poll_fn(|context| Pin::new(&mut *stream).poll_write(context, from)).await?;
        from = &from[written..];
    }
    Ok(())
}

struct Transfer {
    handshake: Duration,
    first_byte: Duration,
    total: Duration,
    retransmissions: u64,
    drops: u64,
    packets: u64,
}

fn transfer(rate: &str, one_way_delay: Duration, queue: Queue, bytes: usize) -> Transfer {
    let world = World::new(Seed::new(1));
    let (client, server) = (world.host(HostSpec::default()), world.host(HostSpec::default()));
    let rate: BitRate = rate.parse().unwrap();
    let direction = DirectionSpec { capacity: Capacity::Rate(rate), one_way_delay, queue, ..DirectionSpec::IDEAL };
    let link = world.link(&direction, &direction, &[&client], &[&server]);
    let mut listener = server.listen(80).unwrap();
    world.spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        let mut request = [0; 100];
        read(&mut stream, &mut request).await.unwrap();
        let chunk = vec![7; 65_536];
        let mut left = bytes;
        while left > 0 {
            let size = left.min(chunk.len());
            write_all(&mut stream, &chunk[..size]).await.unwrap();
            left -= size;
        }
    });
    let address = server.address(80);
    let (handshake, first_byte, total) = world
        .run(async move {
            let mut stream = client.connect(address).await.unwrap();
            let handshake = client.now().since_start();
            write_all(&mut stream, &[1; 100]).await.unwrap();
            let mut buffer = vec![0; 65_536];
            let mut got = read(&mut stream, &mut buffer).await.unwrap();
            let first_byte = client.now().since_start();
            while got < bytes {
                let n = read(&mut stream, &mut buffer).await.unwrap();
                assert!(n > 0, "the stream ends only when all has arrived");
                got += n;
            }
            (handshake, first_byte, client.now().since_start())
        })
        .unwrap();
    let (down, up) = world.link_counters(link);
    Transfer {
        handshake,
        first_byte,
        total,
        retransmissions: server.tcp_counters().retransmissions,
        drops: down.dropped(),
        packets: down.offered + up.offered,
    }
}

#[test]
fn print() {
    let ms = Duration::from_millis;
    for (rate, delay, queue, bytes, kernel) in [
        ("512 kbit/s", ms(50), Queue::Unlimited, 1_000_000, 16.390),
        ("512 kbit/s", ms(50), Queue::Packets(64), 1_000_000, 16.390),
        ("512 kbit/s", ms(50), Queue::Packets(20), 1_000_000, 16.390),
        ("512 kbit/s", ms(50), Queue::Packets(10), 1_000_000, 16.390),
        ("56 kbit/s", ms(75), Queue::Packets(10), 100_000, 15.290),
        ("2 Mbit/s", ms(150), Queue::Packets(50), 3_000_000, 13.54),
        ("2 Mbit/s", ms(300), Queue::Packets(30), 2_000_000, 11.361),
        ("11 Mbit/s", ms(2), Queue::Packets(100), 10_000_000, 7.548),
        ("56 kbit/s", ms(75), Queue::Packets(10), 25_000_000, 3700.0),
    ] {
        let at = std::time::Instant::now();
        let t = transfer(rate, delay, queue, bytes);
        println!(
            "{rate} {delay:?} {queue:?} {bytes}: {:.3} (kernel {kernel}, {:+.2} %) handshake {:.1} first {:.1} rtx {} drops {} packets {} wall {:?}",
            t.total.as_secs_f64(), (t.total.as_secs_f64()/kernel-1.0)*100.0,
            t.handshake.as_secs_f64()*1e3, t.first_byte.as_secs_f64()*1e3, t.retransmissions, t.drops, t.packets, at.elapsed()
        );
    }
}
