use super::*;
use crate::Capacity;
use crate::Queue;
use crate::Station;
use std::time::Duration;

fn frame(size: u64, payload: u64) -> Frame<u64> {
    Frame {
        from: Station(0),
        to: Station(1),
        size: Bytes::new(size),
        payload,
    }
}

fn modem() -> DirectionSpec {
    DirectionSpec {
        capacity: Capacity::Rate("56 kbit/s".parse().unwrap()),
        one_way_delay: Duration::from_millis(75),
        queue: Queue::Unlimited,
        ..DirectionSpec::IDEAL
    }
}

/// Polls at every `next_at` until nothing is left.
fn drain(link: &mut Link<u64>) -> Vec<Event<u64>> {
    let mut events = Vec::new();
    while let Some(at) = link.next_at() {
        link.poll(at, &mut |event| events.push(event));
    }
    events
}

#[test]
fn frames_back_to_back_end_exactly_at_their_bits_over_the_rate() {
    let mut link = Link::new(&modem(), Seed::new(1));
    for number in 0..10_000 {
        link.offer(Instant::START, frame(1500, number)).unwrap();
    }
    let events = drain(&mut link);
    for (index, event) in events.iter().enumerate() {
        let bits = (index as u128 + 1) * 12_000;
        let nanoseconds = (bits * 1_000_000_000).div_ceil(56_000) as u64 + 75_000_000;
        assert_eq!(event.at(), Instant::from_nanos(nanoseconds));
        assert_eq!(event.frame().payload, index as u64);
    }
    assert_eq!(events.len(), 10_000);
}

#[test]
fn a_queue_of_n_holds_n_besides_the_one_in_service() {
    for packets in [0, 1, 20] {
        let mut link = Link::new(
            &DirectionSpec {
                queue: Queue::Packets(packets),
                ..modem()
            },
            Seed::new(1),
        );
        for number in 0..=packets {
            link.offer(Instant::START, frame(1500, number)).unwrap();
        }
        let rejected = link.offer(Instant::START, frame(1500, 99)).unwrap_err();
        assert_eq!((rejected.frame.payload, rejected.cause), (99, DropCause::QueueFull));
        let delivered: Vec<_> = drain(&mut link).iter().map(|event| event.frame().payload).collect();
        assert_eq!(delivered, (0..=packets).collect::<Vec<_>>());
    }
}
