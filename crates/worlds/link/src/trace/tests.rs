use super::*;

fn trace(text: &str) -> DeliveryTrace {
    DeliveryTrace::parse("test.trace", text).unwrap()
}

fn ms(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

fn full() -> ByteCount {
    OPPORTUNITY
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let error = |text: &str| DeliveryTrace::parse("cell.trace", text).unwrap_err().to_string();
    assert_eq!(
        error("1\n2\nthree\n"),
        "delivery trace \"cell.trace\", line 3: \"three\" is not a whole number of milliseconds, like 12"
    );
    assert_eq!(
        error("1\n5\n4\n"),
        "delivery trace \"cell.trace\", line 3: 4 ms comes after 5 ms; sort the lines by time"
    );
    assert_eq!(
        error(""),
        "delivery trace \"cell.trace\", line 1: the trace is empty; it needs a line for each delivery opportunity"
    );
    assert_eq!(
        error("0\n0\n"),
        "delivery trace \"cell.trace\", line 2: the last opportunity is at 0 ms, so the trace has no length"
    );
    for foreign in ["-1", "1.5", "99999999999", "1\n\n2", "\u{0}\u{fffd}", "1 2"] {
        assert!(DeliveryTrace::parse("x", foreign).is_err(), "{foreign:?}");
    }
    assert!(error(&"x".repeat(100_000)).len() < 200);
}

#[test]
fn windows_line_ends_and_spaces_are_read() {
    assert_eq!(trace("1\r\n 2 \r\n").opportunities(), 2);
}

#[test]
fn the_mean_rate_is_the_opportunities_over_the_period() {
    // 12 Mbit/s in mahimahi's terms: one opportunity per millisecond.
    assert_eq!(trace("1\n").rate_mean().bits_per_second(), 1504 * 8 * 1000);
    assert_eq!(trace("0\n5\n10\n").rate_mean().bits_per_second(), 3 * 1504 * 8 * 100);
}

#[test]
fn each_opportunity_delivers_one_full_packet_and_the_trace_repeats() {
    let mut cursor = TraceCursor::new(trace("1\n4\n4\n10\n"));
    let ends: Vec<_> = (0..9).map(|_| cursor.serialise(Instant::START, full())).collect();
    assert_eq!(ends, [1, 4, 4, 10, 11, 14, 14, 20, 21].map(ms));
}

#[test]
fn a_packet_larger_than_what_is_left_waits_on_and_small_ones_share() {
    let mut cursor = TraceCursor::new(trace("1\n2\n3\n"));
    let ends: Vec<_> = [752, 752, 1000, 1000, 504]
        .map(|size| cursor.serialise(Instant::START, ByteCount::new(size)))
        .into();
    // 752 + 752 fill 1 ms; 1000 at 2 ms leaves 504, so the next 1000 ends at 3 ms, which has 1008 left for the last.
    assert_eq!(ends, [1, 1, 2, 3, 3].map(ms));
    assert_eq!(
        TraceCursor::new(trace("1\n2\n3\n")).serialise(Instant::START, ByteCount::new(4513)),
        ms(4)
    );
}

#[test]
fn an_opportunity_in_the_past_is_lost_and_nothing_is_delivered_early() {
    let mut cursor = TraceCursor::new(trace("1\n7\n"));
    assert_eq!(cursor.serialise(ms(7), full()), ms(7));
    assert_eq!(cursor.serialise(Instant::from_nanos(8_000_001), full()), ms(14));
    assert_eq!(cursor.serialise(Instant::from_nanos(14_000_001), full()), ms(15));
}

#[test]
fn an_opportunity_at_0_ms_falls_on_the_end_of_the_repetition_before() {
    let mut cursor = TraceCursor::new(trace("0\n10\n"));
    let ends: Vec<_> = (0..5).map(|_| cursor.serialise(Instant::START, full())).collect();
    assert_eq!(ends, [0, 10, 10, 20, 20].map(ms));
    // A cursor that comes late finds both opportunities of one instant.
    let mut cursor = TraceCursor::new(trace("0\n10\n"));
    assert_eq!(
        [0, 0, 0].map(|_| cursor.serialise(ms(10), full())),
        [10, 10, 20].map(ms)
    );
}
