use super::*;
use crate::Capacity;
use crate::Queue;
use crate::Station;
use std::time::Duration;

fn frame(size: u64, payload: u64) -> Frame<u64> {
    Frame {
        from: Station(0),
        to: Station(1),
        size: ByteCount::new(size),
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

#[test]
fn a_queue_counts_ip_bytes_without_framing() {
    let direction = DirectionSpec {
        queue: Queue::Bytes(ByteCount::new(3000)),
        framing_overhead: ByteCount::new(18),
        ..modem()
    };
    let mut link = Link::new(&direction, Seed::new(1));
    let taken = (0..5)
        .filter(|number| link.offer(Instant::START, frame(1500, *number)).is_ok())
        .count();
    assert_eq!(taken, 3);
}

#[test]
fn room_is_made_by_a_frame_that_enters_service_at_the_same_instant() {
    let mut link = Link::new(
        &DirectionSpec {
            queue: Queue::Packets(1),
            ..modem()
        },
        Seed::new(1),
    );
    link.offer(Instant::START, frame(700, 0)).unwrap();
    link.offer(Instant::START, frame(700, 1)).unwrap();
    // 700 B take 100 ms; without a poll in between, the second has left the queue by then.
    assert!(link.offer(Instant::from_nanos(99_999_999), frame(700, 2)).is_err());
    assert!(link.offer(Instant::from_nanos(100_000_000), frame(700, 3)).is_ok());
}

#[test]
fn framing_overhead_is_serialised_and_not_delivered() {
    let mut link = Link::new(
        &DirectionSpec {
            framing_overhead: ByteCount::new(14),
            ..modem()
        },
        Seed::new(1),
    );
    link.offer(Instant::START, frame(686, 0)).unwrap();
    let events = drain(&mut link);
    assert_eq!(events[0].at(), Instant::from_nanos(175_000_000));
    assert_eq!(link.counters().bytes_delivered, ByteCount::new(686));
}

#[test]
fn no_rate_drifts_over_a_long_run() {
    // Rates that divide nothing evenly, and one so fast that a frame takes less than a nanosecond.
    for rate in [
        1_u64,
        7,
        33_600,
        999_983,
        10_000_000_019,
        1_000_000_000_000,
        9_999_999_999_971,
    ] {
        let mut transmitter = Transmitter::new(
            &Capacity::Rate(lastmile_units::BitRate::new(rate).unwrap()),
            ByteCount::ZERO,
        );
        let mut bits = 0_u128;
        for size in (0..20_000_u64).map(|number| 40 + number * 7919 % 1461) {
            bits += u128::from(size) * 8;
            let end = transmitter.serialise(transmitter.free_at(), ByteCount::new(size));
            assert_eq!(
                u128::from(end.as_nanos()),
                (bits * 1_000_000_000).div_ceil(u128::from(rate)),
                "{rate} bit/s"
            );
        }
    }
}

#[test]
fn an_idle_transmitter_starts_at_once_and_carries_nothing_over() {
    let mut link = Link::new(
        &DirectionSpec {
            one_way_delay: Duration::ZERO,
            ..modem()
        },
        Seed::new(1),
    );
    link.offer(Instant::START, frame(1, 0)).unwrap();
    link.offer(Instant::from_nanos(1_000_000), frame(1, 1)).unwrap();
    // 8 bits at 56 kbit/s take 142,857.14 ns, rounded up each time.
    let times: Vec<_> = drain(&mut link).iter().map(|event| event.at().as_nanos()).collect();
    assert_eq!(times, [142_858, 1_142_858]);
}

#[test]
fn a_lost_frame_has_taken_its_time_on_the_link() {
    let direction = DirectionSpec {
        loss: "100 %".parse().unwrap(),
        ..modem()
    };
    let mut link = Link::new(&direction, Seed::new(1));
    for number in 0..3 {
        link.offer(Instant::START, frame(700, number)).unwrap();
    }
    let lost: Vec<_> = drain(&mut link)
        .into_iter()
        .map(|event| match event {
            Event::Dropped {
                at,
                cause: DropCause::RandomLoss,
                ..
            } => at.as_nanos() / 1_000_000,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lost, [100, 200, 300]);
    assert_eq!(link.counters().dropped_by_random_loss, 3);
}

#[test]
fn jitter_keeps_the_order_unless_it_may_not() {
    let numbers = |reordering: &str| {
        let direction = DirectionSpec {
            jitter: "20 ms".parse().unwrap(),
            one_way_delay: Duration::from_millis(20),
            reordering: reordering.parse().unwrap(),
            ..DirectionSpec::IDEAL
        };
        let mut link = Link::new(&direction, Seed::new(1));
        for number in 0..1000 {
            link.offer(Instant::from_nanos(number * 1_000_000), frame(1500, number))
                .unwrap();
        }
        drain(&mut link)
            .iter()
            .map(|event| event.frame().payload)
            .collect::<Vec<_>>()
    };
    assert!(numbers("none").is_sorted());
    assert!(!numbers("jitter").is_sorted());
    let mut sorted = numbers("jitter");
    sorted.sort_unstable();
    assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
}

#[test]
fn late_frames_are_overtaken_and_the_others_keep_their_order() {
    let direction = DirectionSpec {
        reordering: "10 % by 5.5 ms".parse().unwrap(),
        one_way_delay: Duration::from_millis(20),
        ..DirectionSpec::IDEAL
    };
    let mut link = Link::new(&direction, Seed::new(1));
    for number in 0..1000 {
        link.offer(Instant::from_nanos(number * 1_000_000), frame(1500, number))
            .unwrap();
    }
    let (mut on_time, mut late) = (Vec::new(), Vec::new());
    for event in drain(&mut link) {
        let sent = event.frame().payload;
        match event.at().as_nanos() - sent * 1_000_000 {
            20_000_000 => on_time.push(sent),
            25_500_000 => late.push(sent),
            other => panic!("a delay of {other} ns"),
        }
    }
    assert!(on_time.is_sorted() && late.is_sorted());
    assert_eq!(on_time.len() + late.len(), 1000);
    assert!(late.len() > 50);
}

#[test]
fn frames_that_arrive_at_one_instant_do_so_in_the_order_they_were_sent() {
    let direction = DirectionSpec {
        reordering: "jitter".parse().unwrap(),
        ..DirectionSpec::IDEAL
    };
    let mut link = Link::new(&direction, Seed::new(1));
    for number in 0..100 {
        link.offer(Instant::START, frame(1500, number)).unwrap();
    }
    let numbers: Vec<_> = drain(&mut link).iter().map(|event| event.frame().payload).collect();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
}

#[test]
fn codel_leaves_a_burst_alone_and_thins_a_standing_queue() {
    let direction = DirectionSpec {
        capacity: Capacity::Rate("12 Mbit/s".parse().unwrap()),
        queue: "codel(limit=10000 packets)".parse().unwrap(),
        ..DirectionSpec::IDEAL
    };
    // A burst of 100 frames has left within the interval of 100 ms: one frame per millisecond.
    let mut link = Link::new(&direction, Seed::new(1));
    for number in 0..100 {
        link.offer(Instant::START, frame(1500, number)).unwrap();
    }
    drain(&mut link);
    assert_eq!(link.counters().dropped(), 0);
    // Twice the rate for 2 s: the first drop comes one interval after the delay first exceeded the target. Frame n
    // arrives at n/2 ms and enters service at n ms while nothing is dropped, so frame 10 is the first to have waited 5
    // ms, and the drop is at 110 ms.
    let mut link = Link::new(&direction, Seed::new(1));
    let mut drops = Vec::new();
    for number in 0..4000 {
        let now = Instant::from_nanos(number * 500_000);
        link.poll(now, &mut |event| {
            if let Event::Dropped { at, cause, .. } = event {
                assert_eq!(cause, DropCause::ActiveQueueManagement);
                drops.push(at.as_nanos() / 1_000_000);
            }
        });
        link.offer(now, frame(1500, number)).unwrap();
    }
    assert_eq!(drops[..3], [110, 210, 281]);
    assert!(drops.len() > 50, "{} drops", drops.len());
}

#[test]
fn a_trace_delivers_at_its_opportunities() {
    let trace = crate::DeliveryTrace::parse("t", "3\n6\n6\n").unwrap();
    let direction = DirectionSpec {
        capacity: Capacity::Trace(trace),
        one_way_delay: Duration::from_millis(100),
        ..DirectionSpec::IDEAL
    };
    let mut link = Link::new(&direction, Seed::new(1));
    for number in 0..4 {
        link.offer(Instant::START, frame(1504, number)).unwrap();
    }
    let times: Vec<_> = drain(&mut link)
        .iter()
        .map(|event| event.at().as_nanos() / 1_000_000)
        .collect();
    assert_eq!(times, [103, 106, 106, 109]);
}

mod any_link;
