use super::*;

const MS: Duration = Duration::from_millis(1);
const DELAY: Duration = Duration::from_millis(40);
const SIZE: u64 = 1000;

/// Data arrives in order, and does not make the window grow.
fn arrive(policy: &mut Acknowledgement, now: Instant, length: u64, push: bool) {
    policy.on_arrival(now, None);
    policy.on_data(now, length, push, SIZE, None);
}

/// A policy that has used up its quick acknowledgements.
fn warm() -> Acknowledgement {
    let mut policy = Acknowledgement::new(DELAY, 1);
    arrive(&mut policy, Instant::START, SIZE, false);
    policy.on_sent(Instant::START, false, None);
    policy
}

#[test]
fn after_the_quick_ones_every_second_full_segment_is_acknowledged() {
    let mut policy = Acknowledgement::new(DELAY, 2);
    let now = Instant::START;
    let acknowledged = (0..6)
        .map(|_| {
            arrive(&mut policy, now, SIZE, false);
            let due = policy.is_due(now);
            if due {
                policy.on_sent(now, false, None);
            }
            due
        })
        .collect::<Vec<_>>();
    assert_eq!(acknowledged, [true, true, false, true, false, true]);
}

/// The window grows with the first four segments, whose acknowledgements then do not count as one of the two quick ones:
/// Linux's client acknowledges the first 22 segments one by one, 16 of them as quick ones and six while its window grows.
#[test]
fn while_the_window_grows_quick_acknowledgements_last() {
    let mut policy = Acknowledgement::new(DELAY, 2);
    let now = Instant::START;
    let acknowledged = (0..9).filter(|n| {
        policy.on_arrival(now, None);
        if *n < 4 {
            policy.enter_quickack_once();
        }
        policy.on_data(now, SIZE, false, SIZE, None);
        let due = policy.is_due(now);
        if due {
            policy.on_sent(now, false, None);
        }
        due
    });
    assert_eq!(acknowledged.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 7]);
}

#[test]
fn a_lone_segment_waits_for_the_delay_and_no_longer() {
    let mut policy = warm();
    arrive(&mut policy, Instant::START, 10, false);
    assert!(!policy.is_due(Instant::START));
    let at = Instant::START + timer_wheel::expected(DELAY);
    assert_eq!(policy.next_deadline(), Some(at));
    assert!(policy.is_due(at));
}

#[test]
fn an_end_that_answers_lets_acknowledgements_ride_along_until_an_answer_fails_to_come() {
    let mut policy = Acknowledgement::new(DELAY, 16);
    let mut now = Instant::START;
    arrive(&mut policy, now, 10, true);
    policy.on_sent(now, true, None);
    arrive(&mut policy, now, 10, true);
    policy.on_read(true, SIZE);
    assert!(!policy.is_due(now));
    now = policy.next_deadline().unwrap();
    policy.on_sent(now, false, None);
    // It no longer answers: pushed data is acknowledged at once.
    arrive(&mut policy, now, 10, true);
    assert!(policy.is_due(now));
}

#[test]
fn what_was_pushed_is_acknowledged_when_it_is_read() {
    for (length, push, acknowledged) in [(10, true, true), (SIZE, true, true), (SIZE, false, false)] {
        let mut policy = warm();
        arrive(&mut policy, Instant::START, length, push);
        assert!(!policy.is_due(Instant::START));
        policy.on_read(true, SIZE);
        assert_eq!(policy.is_due(Instant::START), acknowledged, "{length} {push}");
    }
}

/// Segments 1 s apart: the delay of 40 ms passes without an answer, and doubles, up to 200 ms.
#[test]
fn a_delay_that_passes_in_vain_doubles() {
    let mut policy = warm();
    let mut delays = Vec::new();
    let mut now = Instant::START;
    for _ in 0..4 {
        now += 1000 * MS;
        arrive(&mut policy, now, SIZE, false);
        let at = policy.next_deadline().unwrap();
        delays.push(at - now);
        policy.on_sent(at, false, None);
    }
    let expected = [40, 80, 160, 200].map(|delay| timer_wheel::expected(delay * MS));
    assert_eq!(delays, expected);
}

#[test]
fn beyond_a_gap_three_acknowledgements_leave_at_once_and_the_others_within_a_twentieth_of_a_round_trip() {
    let mut round_trip = RoundTrip::new(200 * MS);
    round_trip.sample(10 * MS, None, 1, 2);
    let mut policy = warm();
    let mut now = Instant::START + 100 * MS;
    for _ in 0..3 {
        policy.on_gap(now, 5, Some(&round_trip));
        assert!(policy.is_due(now));
        policy.on_sent(now, false, None);
    }
    policy.on_gap(now, 5, Some(&round_trip));
    policy.on_gap(now, 5, Some(&round_trip));
    assert!(!policy.is_due(now));
    now += MS / 2;
    assert!(policy.is_due(now));
}

#[test]
fn what_comes_again_brings_back_the_quick_acknowledgements() {
    let mut policy = Acknowledgement::new(DELAY, 4);
    let now = Instant::START;
    for _ in 0..4 {
        arrive(&mut policy, now, SIZE, false);
        policy.on_sent(now, false, None);
    }
    arrive(&mut policy, now, SIZE, false);
    assert!(!policy.is_due(now));
    policy.on_repetition();
    policy.on_sent(now, false, None);
    arrive(&mut policy, now, SIZE, false);
    assert!(policy.is_due(now));
}
