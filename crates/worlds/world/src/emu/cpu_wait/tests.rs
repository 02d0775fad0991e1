use super::*;

fn at(milliseconds: u64) -> Instant {
    Instant::START + Duration::from_millis(milliseconds)
}

fn span(from: u64, until: u64) -> Range<Instant> {
    at(from)..at(until)
}

/// A world's waits in its first 20 seconds, while other programs used this much CPU time.
fn waits(observed: &[Range<Instant>], sampled: &[Range<Instant>], foreign_cpu: Duration) -> CpuWaits {
    CpuWaits {
        period: span(0, 20_000),
        observed: observed.to_vec(),
        sampled: sampled.to_vec(),
        foreign_cpu,
        pressure: None,
    }
}

fn times(figure: &str, spans: &[Range<Instant>]) -> MeasuredTimes {
    MeasuredTimes::from([(figure.to_owned(), spans.to_vec())])
}

#[test]
fn a_wait_of_6_ms_moves_a_handshake_of_50_ms_and_no_transfer_of_16_s() {
    let waits = waits(&[span(20, 26)], &[], Duration::ZERO);
    let handshake = times("handshake_time", &[span(0, 50)]);
    let moved = waits.within_share(&handshake).expect_err("it moved");
    assert_eq!(
        (moved.waited, moved.measured),
        (Duration::from_millis(6), Duration::from_millis(50))
    );
    // 6 of the 44 ms that it takes without them.
    assert!((moved.share() - 6.0 / 44.0).abs() < 1e-12);
    assert_eq!(waits.within_share(&times("transfer_time", &[span(0, 16_000)])), Ok(()));
    // The wait was before it, or after it.
    assert_eq!(
        waits.within_share(&times("response_time", &[span(26, 60), span(0, 20)])),
        Ok(())
    );
}

#[test]
fn the_bound_is_a_twentieth_of_the_time_without_waits() {
    // 5 ms of 105, and of 104.
    let waits = waits(&[span(10, 15)], &[], Duration::ZERO);
    assert_eq!(waits.within_share(&times("transfer_time", &[span(0, 105)])), Ok(()));
    assert!(waits.within_share(&times("transfer_time", &[span(0, 104)])).is_err());
}

#[test]
fn the_worst_figure_is_named() {
    let waits = waits(&[span(20, 40)], &[], Duration::ZERO);
    let mut all = times("handshake_time", &[span(0, 50)]);
    all.extend(times("transfer_time", &[span(0, 300)]));
    let moved = waits.within_share(&all).expect_err("both moved");
    assert_eq!(moved.figure.as_deref(), Some("handshake_time"));
    assert_eq!(
        moved.to_string(),
        "programs waited 20 ms of 50 ms for a CPU, so handshake_time may be 67 % too long (5 % are allowed): stop other programs"
    );
}

#[test]
fn two_that_wait_at_once_count_once_and_two_in_turn_both() {
    let at_once = waits(&[span(10, 13), span(11, 14)], &[], Duration::ZERO);
    let in_turn = waits(&[span(10, 13), span(20, 23)], &[], Duration::ZERO);
    let whole = span(0, 100);
    let waited = |waits: &CpuWaits| waits.during(std::slice::from_ref(&whole)).0;
    assert_eq!(waited(&at_once), Duration::from_millis(4));
    assert_eq!(waited(&in_turn), Duration::from_millis(6));
}

#[test]
fn a_wait_delays_each_of_the_samples_that_are_measured_meanwhile() {
    let waits = waits(&[span(50, 60)], &[], Duration::ZERO);
    let spans = [span(0, 100), span(40, 100), span(200, 300)];
    assert_eq!(
        waits.during(&spans),
        (Duration::from_millis(20), Duration::from_millis(260))
    );
    assert!(waits.within_share(&times("delivery_time", &spans)).is_err());
}

#[test]
fn processes_that_wait_for_each_other_on_a_machine_of_their_own_are_not_late() {
    let busy_browser = [span(100, 400), span(500, 900)];
    let figure = times("page_load_time", &[span(0, 2000)]);
    assert_eq!(
        waits(&[], &busy_browser, Duration::from_millis(40)).within_share(&figure),
        Ok(())
    );
    let beside_others = waits(&[], &busy_browser, Duration::from_secs(4));
    assert_eq!(
        beside_others.within_share(&figure).expect_err("it moved").waited,
        Duration::from_millis(700)
    );
}

#[test]
fn half_a_millisecond_is_allowed_whatever_its_share() {
    let half = Instant::from_nanos(1_000_000)..Instant::from_nanos(1_500_000);
    assert_eq!(
        waits(&[half], &[], Duration::ZERO).within_share(&times("handshake_time", &[span(0, 2)])),
        Ok(())
    );
    assert!(
        waits(&[span(1, 2)], &[], Duration::ZERO)
            .within_share(&times("handshake_time", &[span(0, 3)]))
            .is_err()
    );
}

#[test]
fn a_time_that_is_all_waiting_has_no_share() {
    let all = waits(&[span(0, 100)], &[], Duration::ZERO);
    let moved = all
        .within_share(&times("handshake_time", &[span(0, 100)]))
        .expect_err("it moved");
    assert!(
        moved.to_string().contains("handshake_time may be nothing but waiting"),
        "{moved}"
    );
}

#[test]
fn a_later_state_has_no_waits_of_an_earlier_one() {
    let mut log = WaitLog::default();
    let load = |cpu, pressure| MachineLoad {
        foreign_cpu: Duration::from_millis(cpu),
        pressure: Some(Duration::from_millis(pressure)),
    };
    log.add(WaitSource::Observed, at(100), Duration::from_millis(90));
    let earlier = log.waits(at(150), load(70, 20));
    assert!(earlier.within_share_of_whole().is_err());
    log.add(WaitSource::Sampled, at(300), Duration::from_millis(50));
    let later = log.waits(at(350), load(100, 120)).since(&earlier);
    assert_eq!(later.observed, []);
    assert_eq!(later.sampled, [span(250, 300)]);
    let moved = later.within_share_of_whole().expect_err("they waited");
    assert_eq!(
        moved.to_string(),
        "programs waited 30 ms of 200 ms for a CPU, so times may be 18 % too long (5 % are allowed): stop other programs; this machine \
         was short of CPUs for 50 % of the time"
    );
}

#[test]
fn a_long_log_keeps_the_length_of_what_it_takes_together() {
    let mut log = WaitLog::default();
    let waits = WAITS_MAX as u64 + 1;
    for wait in 1..=waits {
        log.add(WaitSource::Observed, at(10 * wait), Duration::from_millis(3));
    }
    assert_eq!(log.observed.len(), WAITS_MAX / 2 + 2);
    let all = Union::of(log.observed.iter());
    assert_eq!(all.until(at(10 * waits)), Duration::from_millis(3 * waits));
}
