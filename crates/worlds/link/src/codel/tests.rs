use super::*;

const FRAME: ByteCount = ByteCount::new(1500);
const BACKLOG: ByteCount = ByteCount::new(150_000);

fn at(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

fn control() -> CoDelControl {
    CoDelControl::new(CoDel::default())
}

/// Serves one frame at `milliseconds` from a standing queue of `sojourn` ms; returns how many frames were dropped
/// before it.
fn dequeue(control: &mut CoDelControl, milliseconds: u64, sojourn: u64, backlog: ByteCount) -> u32 {
    let mut drops = 0;
    while control.judge(at(milliseconds), Duration::from_millis(sojourn), FRAME, backlog) == Verdict::Drop {
        drops += 1;
    }
    drops
}

/// The milliseconds in which frames are dropped when one is served each millisecond of `range`.
fn drop_times(control: &mut CoDelControl, range: std::ops::Range<u64>, sojourn: u64) -> Vec<u64> {
    let times = |ms| {
        let drops = dequeue(control, ms, sojourn, BACKLOG);
        std::iter::repeat_n(ms, drops as usize)
    };
    range.flat_map(times).collect()
}

#[test]
fn a_delay_below_the_target_is_never_punished() {
    assert_eq!(drop_times(&mut control(), 0..10_000, 4), []);
}

#[test]
fn the_first_drop_comes_an_interval_after_the_delay_went_above_the_target() {
    let mut control = control();
    assert_eq!(drop_times(&mut control, 0..50, 4), []);
    assert_eq!(drop_times(&mut control, 50..151, 20), [150]);
}

#[test]
fn one_good_frame_within_the_interval_starts_it_over() {
    let mut control = control();
    assert_eq!(drop_times(&mut control, 0..90, 20), []);
    assert_eq!(drop_times(&mut control, 90..91, 4), []);
    assert_eq!(drop_times(&mut control, 91..191, 20), []);
    assert_eq!(drop_times(&mut control, 191..192, 20), [191]);
}

#[test]
fn while_the_queue_stands_drops_come_at_the_inverse_square_root_of_their_count() {
    // RFC 8289, section 3.2: each next drop is 100 ms / sqrt(count) after the last was due; frames are served on whole
    // milliseconds.
    let mut due = 100.0_f64;
    let mut expected = vec![100];
    for count in 1..60 {
        due += 100.0 / f64::from(count).sqrt();
        expected.push(due.ceil() as u64);
    }
    let until = expected.last().unwrap() + 1;
    assert_eq!(drop_times(&mut control(), 0..until, 20), expected);
}

#[test]
fn a_backlog_of_one_packet_is_left_alone_however_old_it_is() {
    let mut control = control();
    assert!((0..10_000).all(|ms| dequeue(&mut control, ms, 500, FRAME) == 0));
}

#[test]
fn dropping_ends_with_the_first_frame_below_the_target() {
    let mut control = control();
    assert_eq!(drop_times(&mut control, 0..101, 20), [100]);
    assert_eq!(drop_times(&mut control, 101..102, 4), []);
    // 200 ms would have been the next drop's time; a new interval begins instead.
    assert_eq!(drop_times(&mut control, 102..202, 20), []);
}

#[test]
fn dropping_that_begins_again_soon_takes_up_the_rate_it_had() {
    let mut control = control();
    let first = drop_times(&mut control, 0..600, 20);
    assert_eq!(first, [100, 200, 271, 329, 379, 424, 464, 502, 538, 571]);
    assert_eq!(drop_times(&mut control, 600..601, 4), []);
    // Begins at 701 with count = 10 - 1 = 9: the next is due 100 / sqrt(9) = 33.3 ms later, and then 100 / sqrt(10) =
    // 31.6.
    assert_eq!(drop_times(&mut control, 601..770, 20), [701, 735, 766]);
}

#[test]
fn dropping_that_begins_again_late_starts_gently() {
    let mut control = control();
    assert_eq!(drop_times(&mut control, 0..600, 20).len(), 10);
    // More than 16 intervals after the last drop was due.
    assert_eq!(drop_times(&mut control, 600..2300, 4), []);
    assert_eq!(drop_times(&mut control, 2300..2501, 20), [2400, 2500]);
}

#[test]
fn an_empty_queue_starts_the_interval_over() {
    let mut control = control();
    assert_eq!(drop_times(&mut control, 0..90, 20), []);
    control.found_empty();
    assert_eq!(drop_times(&mut control, 90..190, 20), []);
    assert_eq!(drop_times(&mut control, 190..191, 20), [190]);
}
