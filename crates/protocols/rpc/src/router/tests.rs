//! Tests of the router with calls and times alone.

use super::*;
use crate::ice::{Encapsulation, Identity};
use std::num::NonZeroUsize;

fn call(client: &str, operation: &str, number: u8) -> Invocation {
    let identity = Identity {
        name: "feed".to_owned(),
        category: client.to_owned(),
    };
    Invocation::new(identity, operation, Encapsulation::new(vec![number]))
}

fn at(milliseconds: u64) -> Instant {
    Instant::START + Duration::from_millis(milliseconds)
}

fn router(calls: usize, queue: u64) -> Router {
    Router::new(Settings {
        allowed: AllowList::parse("prices * tick # all clients\nnews anna *").unwrap(),
        batch: BatchLimits {
            calls: NonZeroUsize::new(calls).unwrap(),
            bytes: None,
            delay: Some(Duration::from_millis(20)),
        },
        queue: ByteCount::new(queue),
    })
}

#[test]
fn calls_of_several_back_ends_become_one_batch_when_it_is_full_or_the_first_has_waited_long_enough() {
    let mut router = router(3, 1000);
    let anna = router.begin_session("anna");
    assert_eq!(router.offer("prices", call("anna", "tick", 1), at(0)), Ok(anna));
    assert_eq!(router.offer("news", call("anna", "headline", 2), at(5)), Ok(anna));
    assert_eq!(router.take_batch(anna, at(19)), None);
    assert_eq!(router.due(anna), Some(at(20)));
    assert_eq!(router.take_batch(anna, at(20)).unwrap().len(), 2);
    // While a batch is being written, others gather.
    for number in 0..4 {
        router.offer("prices", call("anna", "tick", number), at(30)).unwrap();
    }
    assert_eq!(router.take_batch(anna, at(90)), None);
    router.written(anna);
    assert_eq!(router.take_batch(anna, at(90)).unwrap().len(), 3);
    let counters = router.counters();
    assert_eq!(
        (
            counters.offered,
            counters.written,
            counters.on_the_way,
            counters.waiting
        ),
        (6, 2, 3, 1)
    );
    assert!(counters.is_complete());
}

#[test]
fn only_what_the_allow_list_names_reaches_a_client() {
    let mut router = router(1, 1000);
    router.begin_session("anna");
    router.begin_session("bert");
    assert_eq!(
        router.offer("prices", call("anna", "headline", 1), at(0)),
        Err(Refusal::Forbidden)
    );
    assert_eq!(
        router.offer("news", call("bert", "headline", 1), at(0)),
        Err(Refusal::Forbidden)
    );
    assert_eq!(
        router.offer("strange", call("anna", "tick", 1), at(0)),
        Err(Refusal::Forbidden)
    );
    assert_eq!(
        router.offer("prices", call("carl", "tick", 1), at(0)),
        Err(Refusal::WithoutSession)
    );
    assert!(router.offer("prices", call("bert", "tick", 1), at(0)).is_ok());
    let counters = router.counters();
    assert_eq!((counters.forbidden, counters.without_session), (3, 1));
    let remarks = router.take_remarks();
    assert_eq!(remarks.len(), 3, "one for each back end: {remarks:?}");
    assert!(
        remarks[0].contains("\"prices\" call headline of the client \"anna\""),
        "{remarks:?}"
    );
    assert!(counters.is_complete());
    assert!(!AllowList::default().allows("prices", "anna", "tick"));
    assert_eq!(AllowList::parse("a b\n").unwrap_err().line, 1);
}

#[test]
fn a_client_that_does_not_read_fills_its_own_queue_and_no_more() {
    let mut router = router(1000, 500);
    let (slow, quick) = (router.begin_session("slow"), router.begin_session("quick"));
    let mut delivered = 0;
    for number in 0..10_000 {
        let _ = router.offer("prices", call("slow", "tick", number as u8), at(number));
        router
            .offer("prices", call("quick", "tick", number as u8), at(number))
            .unwrap();
        if let Some(batch) = router.take_batch(quick, at(number + 20)) {
            delivered += batch.len();
            router.written(quick);
        }
    }
    assert!(router.waiting_bytes(slow) <= ByteCount::new(500));
    assert_eq!(delivered, 10_000);
    let counters = router.counters();
    assert!(counters.queue_full > 9_900, "{counters:?}");
    assert!(counters.is_complete());
}

#[test]
fn what_a_session_loses_is_counted_and_not_handed_out_to_the_next() {
    let mut router = router(2, 1000);
    let first = router.begin_session("anna");
    for number in 0..5 {
        router.offer("prices", call("anna", "tick", number), at(0)).unwrap();
    }
    assert_eq!(router.take_batch(first, at(0)).unwrap().len(), 2);
    let second = router.begin_session("anna");
    assert!(!router.has_session(first));
    assert_eq!(router.take_batch(second, at(100)), None);
    router.written(first);
    let counters = router.counters();
    assert_eq!((counters.lost, counters.written, counters.waiting), (5, 0, 0));
    assert!(counters.is_complete());
}
