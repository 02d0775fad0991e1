//! Claims about the times of bulk transfers, beside the kernel's. A client connects and asks, a server answers with bytes.
//!
//! The kernel's figures are those of Linux with Cubic between two network namespaces, joined by a program that passes each
//! packet through the same link model in real time: from `connect` to the last byte read, the median of several runs.

use crate::support::{Pair, Recording, direction};
use lastmile_link::{DirectionSpec, Queue};
use lastmile_world::World as _;
use lastmile_world::{Host, Listener};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

struct Profile {
    rate: &'static str,
    one_way_delay_ms: u64,
    queue: Queue,
    bytes: usize,
    kernel_seconds: f64,
    /// How far from the kernel this TCP was when the figure was taken, rounded up, in per cent: a change shows.
    within_percent: f64,
}

const PROFILES: [Profile; 8] = [
    profile("512 kbit/s", 50, Queue::Unlimited, 1_000_000, 16.390, 0.1),
    // An acknowledgement more or less before the queue is full moves what is dropped, and the end of the transfer by two frames.
    profile("512 kbit/s", 50, Queue::Packets(64), 1_000_000, 16.390, 0.4),
    profile("512 kbit/s", 50, Queue::Packets(20), 1_000_000, 16.390, 0.1),
    profile("512 kbit/s", 50, Queue::Packets(10), 1_000_000, 16.390, 0.1),
    profile("56 kbit/s", 75, Queue::Packets(10), 100_000, 15.290, 0.2),
    profile("2 Mbit/s", 150, Queue::Packets(50), 3_000_000, 13.54, 0.5),
    profile("2 Mbit/s", 300, Queue::Packets(30), 2_000_000, 11.361, 1.0),
    profile("11 Mbit/s", 2, Queue::Packets(100), 10_000_000, 7.548, 0.1),
];

const fn profile(
    rate: &'static str,
    one_way_delay_ms: u64,
    queue: Queue,
    bytes: usize,
    kernel_seconds: f64,
    within_percent: f64,
) -> Profile {
    Profile {
        rate,
        one_way_delay_ms,
        queue,
        bytes,
        kernel_seconds,
        within_percent,
    }
}

impl Profile {
    fn direction(&self) -> DirectionSpec {
        let delay = Duration::from_millis(self.one_way_delay_ms);
        DirectionSpec {
            queue: self.queue,
            ..direction(self.rate, delay)
        }
    }
}

struct Transfer {
    handshake: Duration,
    first_byte: Duration,
    total: Duration,
    retransmissions: u64,
    drops: u64,
    capture: Vec<u8>,
}

const REQUEST: usize = 100;

fn transfer(direction: &DirectionSpec, bytes: usize) -> Transfer {
    let pair = Pair::new(1, direction);
    let recording = Recording::default();
    pair.world.capture(&pair.server, Box::new(recording.clone())).unwrap();
    let mut listener = pair.server.listen(80).unwrap();
    pair.world.spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        stream.read_exact(&mut [0; REQUEST]).await.unwrap();
        stream.write_all(&vec![7; bytes]).await.unwrap();
    });
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    let program = async move {
        let mut stream = client.connect(address).await.unwrap();
        let handshake = client.now().since_start();
        stream.write_all(&[1; REQUEST]).await.unwrap();
        stream.read_u8().await.unwrap();
        let first_byte = client.now().since_start();
        stream.read_exact(&mut vec![0; bytes - 1]).await.unwrap();
        (handshake, first_byte, client.now().since_start())
    };
    let (handshake, first_byte, total) = pair.world.run(program).unwrap();
    Transfer {
        handshake,
        first_byte,
        total,
        retransmissions: pair.server.tcp_counters().retransmissions,
        drops: pair.counters()[0].dropped(),
        capture: recording.bytes(),
    }
}

#[test]
fn transfers_take_as_long_as_the_kernels() {
    let mut far = Vec::new();
    for profile in &PROFILES {
        let transfer = transfer(&profile.direction(), profile.bytes);
        let seconds = transfer.total.as_secs_f64();
        let percent = (seconds / profile.kernel_seconds - 1.0) * 100.0;
        // What the project promises, whatever the table says.
        let promised = if transfer.drops == 0 { 1.0 } else { 10.0 };
        if percent.abs() > profile.within_percent.min(promised) {
            let Profile {
                rate,
                one_way_delay_ms,
                queue,
                ..
            } = profile;
            far.push(format!(
                "{rate}, {one_way_delay_ms} ms, {queue:?}: {seconds:.3} s, {percent:+.2} %"
            ));
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}

#[test]
fn only_what_was_dropped_is_sent_again() {
    for profile in &PROFILES {
        let transfer = transfer(&profile.direction(), profile.bytes);
        assert_eq!(
            transfer.retransmissions, transfer.drops,
            "{}, {:?}",
            profile.rate, profile.queue
        );
    }
}

/// 512 kbit/s is 15,625 ns a byte. The handshake is a SYN and a SYN-ACK of 60 B; the request of 100 B has headers of 52 B, and
/// leaves behind the acknowledgement of 52 B; the answer's first segment is 1500 B.
#[test]
fn the_handshake_and_the_first_byte_take_what_serialisation_and_delay_add_up_to() {
    let transfer = transfer(&PROFILES[0].direction(), PROFILES[0].bytes);
    let (byte, round_trip) = (Duration::from_nanos(15_625), Duration::from_millis(100));
    assert_eq!(transfer.handshake, round_trip + byte * (60 + 60));
    let answered = transfer.handshake + round_trip + byte * (52 + 152 + 1500);
    // The server's acknowledgement of the request, 52 B, is before the answer.
    assert_eq!(transfer.first_byte, answered + byte * 52);
}

#[test]
fn two_runs_put_the_same_packets_on_the_wire_at_the_same_times() {
    for profile in &PROFILES[3..6] {
        let run = || transfer(&profile.direction(), profile.bytes).capture;
        assert!(run() == run(), "{}", profile.rate);
    }
}
