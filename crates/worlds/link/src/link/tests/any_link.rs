//! Properties of any link, however it is driven: every frame is accounted for once, and polling changes nothing.

use super::*;
use crate::{DeliveryTrace, Jitter, Loss, Reordering};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn capacity() -> impl Strategy<Value = Capacity> {
    let trace = || Capacity::Trace(DeliveryTrace::parse("t", "0\n1\n1\n9\n17\n").unwrap());
    prop_oneof![
        Just(Capacity::Unlimited),
        (1_000_u64..100_000_000).prop_map(|rate| Capacity::Rate(lastmile_units::BitRate::new(rate).unwrap())),
        Just(trace()),
    ]
}

fn one_of<T: std::str::FromStr<Err: std::fmt::Debug> + Clone + std::fmt::Debug>(
    texts: &'static [&'static str],
) -> impl Strategy<Value = T> {
    prop::sample::select(texts).prop_map(|text| text.parse().unwrap())
}

const QUEUES: &[&str] = &[
    "auto",
    "unlimited",
    "0 packets",
    "1 packet",
    "5 packets",
    "4 kB",
    "codel",
    "codel(target=1 ms, interval=2 ms, limit=9 packets)",
];
const LOSSES: &[&str] = &[
    "0 %",
    "5 %",
    "50 %",
    "100 %",
    "bursty(rate=10 %, burst=4)",
    "gilbert-elliott(p=10 %, r=20 %, loss_good=1 %)",
];
const JITTERS: &[&str] = &["none", "9 ms", "normal(3 ms)", "added(20 ms)"];
const REORDERINGS: &[&str] = &["none", "jitter", "20 % by 7 ms"];

fn direction() -> impl Strategy<Value = DirectionSpec> {
    let parts = (
        capacity(),
        prop::sample::select(&[0_u64, 9, 40][..]),
        one_of::<Jitter>(JITTERS),
        one_of::<Reordering>(REORDERINGS),
        one_of::<Queue>(QUEUES),
        one_of::<Loss>(LOSSES),
        prop::sample::select(&[0_u64, 38][..]),
    );
    parts.prop_map(
        |(capacity, delay, jitter, reordering, queue, loss, overhead)| DirectionSpec {
            capacity,
            one_way_delay: Duration::from_millis(delay),
            jitter,
            reordering,
            queue,
            loss,
            framing_overhead: ByteCount::new(overhead),
        },
    )
}

/// Gaps in microseconds and sizes in bytes; many gaps are 0.
fn traffic() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec(
        (prop_oneof![Just(0_u64), 0_u64..3_000, 0_u64..100_000], 20_u64..1600),
        1..80,
    )
}

/// Offers all of `traffic`, polling in between when `polled`; returns the fate of each frame, by its number.
fn run(direction: &DirectionSpec, seed: u64, traffic: &[(u64, u64)], polled: bool) -> Vec<(u64, u64, &'static str)> {
    let mut link = Link::new(direction, Seed::new(seed));
    let mut fates = Vec::new();
    let mut now = Instant::START;
    let mut observe = |event: Event<u64>| {
        let kind = if matches!(event, Event::Delivered { .. }) {
            "delivered"
        } else {
            "dropped"
        };
        fates.push((event.frame().payload, event.at().as_nanos(), kind));
    };
    let mut rejected = Vec::new();
    for (number, &(gap, size)) in traffic.iter().enumerate() {
        let next = now + Duration::from_micros(gap);
        while polled && let Some(at) = link.next_at().filter(|at| *at <= next) {
            link.poll(at, &mut |event| {
                assert_eq!(event.at(), at, "polled at next_at, an event is told at its own instant");
                observe(event);
            });
        }
        now = next;
        if let Err(back) = link.offer(now, frame(size, number as u64)) {
            rejected.push((back.frame.payload, now.as_nanos(), "rejected"));
        }
        let counters = link.counters();
        assert_eq!(
            counters.offered,
            counters.delivered + counters.dropped() + counters.in_flight
        );
    }
    let mut last = Instant::START;
    while let Some(at) = link.next_at() {
        // Some polls come much later than they could.
        let at = if polled { at } else { at + Duration::from_millis(50) };
        link.poll(at, &mut |event| {
            assert!(
                event.at() >= last && event.at() <= at,
                "events come in the order of time"
            );
            last = event.at();
            observe(event);
        });
        let counters = link.counters();
        assert_eq!(
            counters.offered,
            counters.delivered + counters.dropped() + counters.in_flight
        );
    }
    let counters = link.counters();
    assert_eq!((counters.in_flight, counters.offered), (0, traffic.len() as u64));
    assert_eq!(counters.dropped_by_full_queue, rejected.len() as u64);
    assert_eq!(
        counters.delivered,
        fates.iter().filter(|fate| fate.2 == "delivered").count() as u64
    );
    let delivered_bytes = |fate: &&(u64, u64, &str)| fate.2 == "delivered";
    let bytes: u64 = fates
        .iter()
        .filter(delivered_bytes)
        .map(|fate| traffic[fate.0 as usize].1)
        .sum();
    assert_eq!(counters.bytes_delivered, ByteCount::new(bytes));
    fates.extend(rejected);
    fates.sort_unstable();
    fates
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_frame_is_accounted_for_once(direction in direction(), seed: u64, traffic in traffic()) {
        let fates = run(&direction, seed, &traffic, true);
        let numbers: Vec<_> = fates.iter().map(|fate| fate.0).collect();
        prop_assert_eq!(numbers, (0..traffic.len() as u64).collect::<Vec<_>>());
    }

    #[test]
    fn how_often_it_is_polled_changes_nothing(direction in direction(), seed: u64, traffic in traffic()) {
        prop_assert_eq!(run(&direction, seed, &traffic, true), run(&direction, seed, &traffic, false));
    }
}
