//! Times saturated stations on a simulated radio, on one core: no TCP, only the medium.

use lastmile_link::radio::{Radio, RadioSpec};
use lastmile_link::{Event, Frame, Medium, Station};
use lastmile_units::{ByteCount, Instant, Seed};
use std::time::Duration;

/// The numbers of stations that are timed.
pub const STATIONS: [u16; 5] = [2, 5, 20, 50, 100];

/// One run.
#[derive(Debug, Clone, Copy)]
pub struct RadioRun {
    /// Frames that were on the air, ACKs included.
    pub frames: u64,
    /// Packets delivered.
    pub packets: u64,
    /// The time that passed on the radio.
    pub virtual_time: Duration,
    /// The time that this took.
    pub wall: Duration,
}

/// Runs `stations` stations that always have a packet of 1,500 bytes for the next one, for `packets` packets, on 802.11b.
pub fn run(stations: u16, packets: u64) -> RadioRun {
    let spec = RadioSpec::dot11b();
    let positions = spec.default_positions(stations.into());
    let placed: Vec<_> = (0..stations).map(Station).zip(positions).collect();
    let mut radio = Radio::new(&spec, &placed, Seed::new(1));
    let packet = |from: u16| Frame {
        from: Station(from),
        to: Station((from + 1) % stations),
        size: ByteCount::new(1500),
        payload: (),
    };
    let started = std::time::Instant::now();
    for from in 0..stations {
        for _ in 0..2 {
            let _ = radio.offer(Instant::START, packet(from));
        }
    }
    let (mut delivered, mut done) = (0, Vec::new());
    let mut now = Instant::START;
    while let Some(at) = radio.next_at().filter(|_| delivered < packets) {
        now = at;
        radio.poll(at, &mut |event| {
            delivered += u64::from(matches!(event, Event::Delivered { .. }));
            done.push(event.frame().from);
        });
        for from in done.drain(..) {
            let _ = radio.offer(at, packet(from.0));
        }
    }
    let wall = started.elapsed();
    let counters = radio.radio_counters();
    RadioRun {
        frames: counters.total(|of| of.data_sent + of.acks_sent),
        packets: delivered,
        virtual_time: now.since_start(),
        wall,
    }
}
