//! Tests of BBR in each of its states, with the algorithm alone on a played path: one acknowledgement per round.

use super::*;
use crate::delivery_rate::RateSample;
use lastmile_units::Seed;

const SEGMENT: ByteCount = ByteCount::new(1448);
const MS: Duration = Duration::from_millis(1);
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// BBR on a path, and the state that an acknowledgement would report.
struct Path {
    bbr: Bbr,
    window: u32,
    now: Instant,
    delivered: u64,
    round_trip: Duration,
    in_flight: u32,
    lost: u32,
    phase: Phase,
    program_limited: bool,
}

impl Path {
    /// A connection whose handshake took a round trip.
    fn new(seed: u64) -> Self {
        let beginning = ConnectionStart {
            now: Instant::START,
            segment_size: SEGMENT,
            handshake: Some(ROUND_TRIP),
            seed: Seed::new(seed),
        };
        Self {
            bbr: Bbr::new(&beginning, 10),
            window: 10,
            now: Instant::START,
            delivered: 1,
            round_trip: ROUND_TRIP,
            in_flight: 0,
            lost: 0,
            phase: Phase::Open,
            program_limited: false,
        }
    }

    /// A round trip passes, and the segments sent at its beginning are acknowledged at once.
    fn round(&mut self, segments: u32) {
        self.now += self.round_trip;
        let delivered_before = self.delivered;
        self.delivered += u64::from(segments);
        let rate = RateSample {
            delivered_before,
            delivered: u64::from(segments),
            interval: self.round_trip,
            program_limited: self.program_limited,
        };
        let observed = AckSample {
            now: self.now,
            acknowledged: segments,
            lost: std::mem::take(&mut self.lost),
            round_trip: Some(self.round_trip),
            smoothed_round_trip: Some(self.round_trip),
            maybe_delayed: false,
            rate: Some(rate),
            delivered: self.delivered,
            delivered_at: self.now,
            in_flight_before: self.in_flight,
            in_flight: self.in_flight,
            departs_at: self.now,
            phase: self.phase,
        };
        self.window = self.bbr.on_ack(&observed, self.window);
    }

    /// A path that is known to carry 100 segments per round trip: the queue of startup is drained.
    fn filled(seed: u64) -> Self {
        let mut path = Self::new(seed);
        path.in_flight = 300;
        for segments in [10, 20, 40, 80, 100, 100, 100, 100] {
            path.round(segments);
        }
        assert_eq!(path.bbr.mode, Mode::Drain);
        path.in_flight = 100;
        path.round(100);
        assert!(matches!(path.bbr.mode, Mode::ProbeBandwidth { .. }));
        path
    }

    fn step(&self) -> Option<usize> {
        match self.bbr.mode {
            Mode::ProbeBandwidth { step, .. } => Some(step),
            _ => None,
        }
    }

    /// The pacing rate, in segments per round trip before the margin of one per cent.
    fn paced(&self) -> f64 {
        let bytes_per_second = self.bbr.pacing_rate().bits_per_second() as f64 / 8.0;
        bytes_per_second / 0.99 / SEGMENT.as_f64() * ROUND_TRIP.as_secs_f64()
    }
}

/// Rates are in steps of 2^-24 segments per microsecond and of 1/256: at ten segments in 100 ms, one part in 1,600 and 256.
fn close(rate: f64, expected: f64) -> bool {
    (rate / expected - 1.0).abs() < 1.0 / 200.0
}

const STARTUP: f64 = 2.885;

#[test]
fn before_anything_is_known_startups_gain_is_applied_to_the_window_over_the_handshake() {
    let path = Path::new(1);
    assert!(close(path.paced(), STARTUP * 10.0), "{}", path.paced());
}

#[test]
fn in_startup_the_rate_follows_the_bandwidth_and_the_window_what_is_acknowledged() {
    let mut path = Path::new(1);
    let mut window = 10;
    for segments in [10, 20, 40, 80] {
        path.round(segments);
        window += segments;
        assert_eq!((path.bbr.mode, path.window), (Mode::Startup, window));
        assert!(close(path.paced(), STARTUP * f64::from(segments)), "{}", path.paced());
    }
}

#[test]
fn three_rounds_without_a_quarter_more_fill_the_pipe_and_the_queue_is_drained_to_the_product() {
    let mut path = Path::new(1);
    path.in_flight = 300;
    for segments in [10, 20, 40, 80, 100, 124, 124] {
        path.round(segments);
        assert_eq!(path.bbr.mode, Mode::Startup, "after a round of {segments}");
    }
    path.round(124);
    assert_eq!(path.bbr.mode, Mode::Drain);
    // The inverse of startup's gain, in steps of 1/256 and rounded down.
    assert!(close(path.paced(), 124.0 * 88.0 / 256.0), "{}", path.paced());
    // The product, with room for three bursts of two segments.
    path.in_flight = 124 + 6 + 1;
    path.round(124);
    assert_eq!(path.bbr.mode, Mode::Drain);
    path.in_flight -= 1;
    path.round(124);
    assert!(path.step().is_some());
}

#[test]
fn what_the_program_holds_back_neither_fills_the_pipe_nor_lowers_the_bandwidth() {
    let mut path = Path::new(1);
    for segments in [10, 20, 40] {
        path.round(segments);
    }
    path.program_limited = true;
    for _ in 0..30 {
        path.round(5);
    }
    assert_eq!(path.bbr.mode, Mode::Startup);
    assert!(close(path.paced(), STARTUP * 40.0), "{}", path.paced());
    // A sample above what was known counts even if the program limited it.
    path.round(50);
    assert!(close(path.paced(), STARTUP * 50.0), "{}", path.paced());
}

#[test]
fn the_cycle_is_a_step_up_a_step_down_and_six_at_the_bandwidth() {
    let mut path = Path::filled(1);
    while path.step() != Some(0) {
        path.round(100);
    }
    // A step lasts longer than a round trip, which a round here does not.
    path.round_trip = ROUND_TRIP + MS;
    let mut gains = Vec::new();
    for _ in 0..8 {
        gains.push(path.paced() / 100.0);
        path.in_flight = if path.step() == Some(0) { 140 } else { 110 };
        path.round(101);
        path.in_flight = 110;
    }
    let expected = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    assert!(
        gains
            .iter()
            .zip(expected)
            .all(|(gain, expected)| close(*gain, expected)),
        "{gains:?}"
    );
    assert_eq!(path.step(), Some(0));
}

#[test]
fn a_step_up_lasts_until_as_much_is_under_way_or_something_is_lost() {
    for loses in [false, true] {
        let mut path = Path::filled(1);
        while path.step() != Some(0) {
            path.round(100);
        }
        path.round_trip = ROUND_TRIP + MS;
        path.in_flight = 110;
        for _ in 0..5 {
            path.round(101);
            assert_eq!(path.step(), Some(0));
        }
        if loses {
            path.lost = 1;
        } else {
            path.in_flight = 140;
        }
        path.round(101);
        assert_eq!(path.step(), Some(1));
    }
}

#[test]
fn a_step_down_ends_as_soon_as_no_more_than_the_product_is_under_way() {
    let mut path = Path::filled(1);
    while path.step() != Some(1) {
        path.in_flight = 140;
        path.round(100);
    }
    path.in_flight = 105;
    path.round_trip = ROUND_TRIP / 2;
    // Half a round trip later.
    path.round(50);
    assert_eq!(path.step(), Some(2));
}

/// Seven steps with a chance of 1/7 each: of 1,400 seeds 200 each, with a standard deviation of sqrt(1400 x 6/49) = 13. Five
/// standard deviations are exceeded by chance once in a million.
#[test]
fn the_cycle_begins_at_any_step_but_the_one_down_and_at_each_as_often() {
    let mut began = [0_i32; 8];
    for seed in 0..1400 {
        began[Path::filled(seed).step().unwrap()] += 1;
    }
    assert_eq!(began[1], 0);
    let others = began.iter().enumerate().filter(|(step, _)| *step != 1);
    for (step, count) in others {
        assert!((count - 200).abs() < 5 * 13, "step {step} began {count} times");
    }
}

#[test]
fn the_window_is_twice_the_product_with_room_for_bursts() {
    let mut path = Path::filled(1);
    while path.step() != Some(2) {
        path.in_flight = 140;
        path.round(100);
    }
    for _ in 0..3 {
        path.round(100);
    }
    // A round acknowledged at once is a round's worth more than expected: 100 ms of it are allowed for.
    let aggregated = 99;
    assert_eq!(path.window, (200 + aggregated + 6_u32).next_multiple_of(2));
}

#[test]
fn after_ten_seconds_without_a_shorter_round_trip_the_window_is_four_for_200_ms_and_a_round() {
    let mut path = Path::filled(1);
    path.round_trip = ROUND_TRIP + MS;
    while path.now.since_start() <= Duration::from_secs(10) {
        assert!(!path.bbr.is_rate_limited_by_design());
        path.round(101);
    }
    assert!(path.bbr.is_rate_limited_by_design(), "at {:?}", path.now);
    // The queue is not empty before four are under way.
    for _ in 0..5 {
        path.round(101);
        assert_eq!(path.window, 4);
    }
    path.in_flight = 4;
    path.round_trip = ROUND_TRIP;
    let drained_at = path.now + ROUND_TRIP;
    path.round(4);
    while path.bbr.is_rate_limited_by_design() {
        assert_eq!(path.window, 4);
        path.round(4);
    }
    let lasted = path.now - drained_at;
    assert!(lasted > 200 * MS && lasted <= 200 * MS + ROUND_TRIP, "{lasted:?}");
    assert!(path.step().is_some());
    assert!(
        path.window >= 200,
        "the window is twice the product again: {}",
        path.window
    );
    // The next probe is ten seconds away.
    path.in_flight = 110;
    for _ in 0..95 {
        path.round(100);
        assert!(!path.bbr.is_rate_limited_by_design());
    }
}

#[test]
fn a_shorter_round_trip_puts_the_probe_off() {
    let mut path = Path::filled(1);
    path.round_trip = ROUND_TRIP - MS;
    path.round(100);
    let seen = path.now;
    path.round_trip = ROUND_TRIP;
    while path.now <= seen + Duration::from_secs(10) {
        assert!(!path.bbr.is_rate_limited_by_design());
        path.round(100);
    }
    assert!(path.bbr.is_rate_limited_by_design());
}

#[test]
fn in_the_first_round_of_a_recovery_only_as_much_is_sent_as_arrives_and_after_it_the_window_is_restored() {
    let mut path = Path::filled(1);
    while path.step() != Some(3) {
        path.in_flight = 140;
        path.round(100);
    }
    let window = path.window;
    (path.phase, path.lost, path.in_flight) = (Phase::Fast, 10, 60);
    path.bbr.on_loss(window);
    // Part of a round: it acknowledges what was sent before.
    let round_ends = path.bbr.round_ends;
    path.bbr.round_ends = u64::MAX;
    path.round(30);
    assert_eq!(path.window, 60 + 30);
    assert!(path.bbr.conserves_packets);
    assert!(path.bbr.round_ends > round_ends);
    // A round later, the window grows by what is acknowledged.
    path.round(50);
    assert_eq!(path.window, 60 + 30 + 50);
    path.phase = Phase::Open;
    path.round(20);
    assert!(path.window >= window, "{} was {window}", path.window);
}

#[test]
fn after_a_timeout_the_window_returns_to_what_it_was_once_it_is_over() {
    let mut path = Path::filled(1);
    while path.step() != Some(3) {
        path.in_flight = 140;
        path.round(100);
    }
    let window = path.window;
    path.bbr.on_loss(window);
    path.bbr.on_timeout();
    (path.window, path.phase, path.in_flight) = (1, Phase::Timeout, 0);
    path.round(1);
    assert_eq!(path.window, WINDOW_MIN);
    path.round(4);
    assert_eq!(path.window, WINDOW_MIN + 4);
    path.phase = Phase::Open;
    path.round(8);
    assert!(path.window >= window, "{} was {window}", path.window);
}

#[test]
fn after_a_pause_it_sends_at_the_bandwidth_whatever_step_it_is_at() {
    let mut path = Path::filled(1);
    while path.step() != Some(0) {
        path.round(100);
    }
    assert!(close(path.paced(), 125.0), "{}", path.paced());
    let window = path.window;
    let restarted = path.bbr.on_restart(path.now, path.now, window);
    assert_eq!(restarted, window);
    assert!(close(path.paced(), 100.0), "{}", path.paced());
}

/// A policer that passes 50 segments per round and drops a third of what is sent.
#[test]
fn a_rate_that_a_policer_enforces_is_kept_for_48_rounds_and_then_put_to_the_test() {
    let mut path = Path::filled(1);
    let mut rounds = 0;
    while path.bbr.policer.rate().is_none() {
        path.lost = 25;
        path.round(50);
        rounds += 1;
        assert!(rounds <= 10, "two intervals of four rounds are enough");
    }
    assert!(close(path.paced(), 50.0), "{}", path.paced());
    let mut kept = 0;
    while path.bbr.policer.rate().is_some() {
        assert!(close(path.paced(), 50.0), "{}", path.paced());
        path.round(50);
        kept += 1;
    }
    assert_eq!(kept, 48);
}

#[test]
fn losses_of_less_than_a_fifth_are_no_policers_work() {
    let mut path = Path::filled(1);
    for _ in 0..200 {
        path.lost = 9;
        path.round(50);
        assert_eq!(path.bbr.policer.rate(), None);
    }
}

#[test]
fn losses_that_were_none_neither_fill_the_pipe_nor_show_a_policer() {
    let mut path = Path::new(1);
    for segments in [10, 20, 40, 40, 40] {
        path.round(segments);
    }
    path.bbr.undo();
    // Two rounds without growth are discarded: the pipe is full after one round that sets the mark and three more.
    for _ in 0..3 {
        path.round(40);
        assert_eq!(path.bbr.mode, Mode::Startup);
    }
    path.in_flight = 300;
    path.round(40);
    assert_eq!(path.bbr.mode, Mode::Drain);

    let mut path = Path::filled(1);
    while path.bbr.policer.rate().is_none() {
        path.lost = 25;
        path.round(50);
    }
    path.bbr.undo();
    assert_eq!(path.bbr.policer.rate(), None);
}
