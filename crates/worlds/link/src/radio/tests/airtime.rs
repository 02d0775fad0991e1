//! One sender: every time follows from arithmetic.

use super::*;
use lastmile_units::Metres;

#[test]
fn a_frame_on_an_idle_medium_is_sent_at_once_and_otherwise_after_a_difs() {
    let mut driver = Driver::new(&RadioSpec::dot11b(), &in_a_row(&[0.0, 1.0]), 1);
    driver.radio.offer(us(10), frame(0, 1, 1000, 7)).unwrap();
    driver.run(us(10_000));
    // 192 us of preamble, 1,036 bytes in 753.5 us, rounded up.
    let end = 10 + 192 + 754;
    assert_eq!(driver.delivered, [(us(end), frame(0, 1, 1000, 7))]);
    driver.radio.offer(us(20_000), frame(1, 0, 40, 8)).unwrap();
    let end = 20_000 + 192 + 56;
    driver.run(us(end));
    assert_eq!(driver.delivered[1].0, us(end));
    // Station 0 has an ACK to send; a packet that comes after it waits for the rest of the DIFS alone.
    let after_ack = end + 10 + 248 + 20;
    driver.run(us(after_ack));
    driver.radio.offer(us(after_ack), frame(0, 1, 40, 9)).unwrap();
    driver.run(us(30_000));
    assert_eq!(driver.delivered[2].0, us(end + 10 + 248 + 50 + 192 + 56));
}

#[test]
fn a_saturated_sender_takes_the_airtime_of_the_standard() {
    const FRAMES: u64 = 20_000;
    for (spec, data, ack, ifs, window) in [
        // 1,536 bytes at 11 Mbit/s, ACK at 2 Mbit/s; SIFS and DIFS; the mean of 0 to 31 slots of 20 us.
        (RadioSpec::dot11b(), 192 + 1118, 192 + 56, 10 + 50, (31, 20)),
        (
            RadioSpec {
                phy: Phy::HighRateDsss(Preamble::Short),
                ..RadioSpec::dot11b()
            },
            96 + 1118,
            96 + 56,
            10 + 50,
            (31, 20),
        ),
        (RadioSpec::dot11a(), 20 + 57 * 4, 28, 16 + 34, (15, 9)),
    ] {
        let spec = RadioSpec {
            queue_packets: FRAMES as usize,
            ..spec
        };
        let mut driver = Driver::new(&spec, &in_a_row(&[0.0, 1.0]), 1);
        for number in 0..FRAMES {
            driver.radio.offer(us(0), frame(0, 1, 1500, number)).unwrap();
        }
        driver.run(us(FRAMES * 4000));
        let times: Vec<u64> = driver.delivered.iter().map(|(at, _)| at.as_nanos() / 1000).collect();
        assert_eq!(times.len() as u64, FRAMES);
        let fixed = data + ack + ifs;
        let mut slots_in_all = 0;
        for two in times.windows(2) {
            let back_off = two[1] - two[0] - fixed;
            assert_eq!(back_off % window.1, 0);
            assert!(back_off / window.1 <= window.0);
            slots_in_all += back_off / window.1;
        }
        // The standard deviation of one draw is (W + 1) / sqrt(12); five standard errors of the mean.
        let mean = slots_in_all as f64 / (FRAMES - 1) as f64;
        let error = (window.0 as f64 + 1.0) / 12f64.sqrt() / (FRAMES as f64).sqrt();
        assert!((mean - window.0 as f64 / 2.0).abs() < 5.0 * error, "{mean}");
        let counters = driver.radio.radio_counters();
        assert_eq!(counters.airtime.data, Duration::from_micros(FRAMES * data));
        assert_eq!(counters.airtime.acks, Duration::from_micros(FRAMES * ack));
        assert_eq!(
            (counters.overlapped, counters.total(|of| of.retries)),
            (Duration::ZERO, 0)
        );
        for station in &counters.stations {
            assert_eq!(
                station.transmitting + station.receiving + station.idle,
                counters.elapsed
            );
        }
        assert_eq!(counters.stations[0].transmitting, counters.stations[1].receiving);
        let joules: f64 = counters.stations.iter().map(|station| station.energy_joules).sum();
        let watts = spec.power_states;
        let busy = counters.busy.as_secs_f64();
        let idle = 2.0 * (counters.elapsed.as_secs_f64() - busy);
        let expected = (watts.transmit_watts + watts.receive_watts) * busy + watts.idle_watts * idle;
        assert!((joules / expected - 1.0).abs() < 1e-9, "{joules} {expected}");
    }
}

#[test]
fn an_rts_reserves_the_medium_for_large_frames() {
    let spec = RadioSpec {
        rts_threshold: Some(ByteCount::new(500)),
        ..RadioSpec::dot11b()
    };
    let mut driver = Driver::new(&spec, &in_a_row(&[0.0, 1.0, 2.0]), 1);
    driver.radio.record_air();
    driver.radio.offer(us(50), frame(0, 1, 1500, 1)).unwrap();
    // The second frame comes after the CTS, while the medium is reserved.
    let cts_ends = 50 + (192 + 80) + 10 + 248;
    driver.run(us(cts_ends + 5));
    driver.radio.offer(us(cts_ends + 5), frame(2, 1, 100, 2)).unwrap();
    driver.run(us(20_000));
    assert_eq!(driver.delivered[0].0, us(cts_ends + 10 + 192 + 1118));
    assert_eq!(driver.delivered.len(), 2);
    let kinds: Vec<FrameKind> = driver.radio.take_air_frames().iter().map(|frame| frame.kind).collect();
    use FrameKind::{Ack, Cts, Data, Rts};
    assert_eq!(kinds, [Rts, Cts, Data, Ack, Data, Ack]);
    assert_eq!(driver.radio.radio_counters().total(|of| of.retries), 0);
}

#[test]
fn a_queue_holds_its_packets_besides_the_one_in_service() {
    let mut driver = Driver::new(&RadioSpec::dot11b(), &in_a_row(&[0.0, 1.0]), 1);
    let accepted = (0..150).filter(|number| driver.radio.offer(us(0), frame(0, 1, 1000, *number)).is_ok());
    assert_eq!(accepted.count(), 101);
    driver.run(us(1_000_000));
    let counters = driver.radio.counters();
    assert_eq!((counters.delivered, counters.dropped_by_full_queue), (101, 49));
    assert_eq!(driver.radio.longest_queue(), 100);
    let station = &driver.radio.radio_counters().stations[0];
    assert_eq!(station.frames.dropped_by_full_queue, 49);
    let first = station.queue.samples().next().unwrap();
    assert!(
        first.deepest == 100 && first.mean < 100.0 && first.mean > 90.0,
        "{first:?}"
    );
}

#[test]
fn what_happens_to_a_frame_does_not_depend_on_when_the_radio_is_polled() {
    let spec = RadioSpec {
        beacons: Some(Beacons::default()),
        fading: Fading::Rayleigh,
        distance: Metres::new(80.0),
        short_retry_limit: 3,
        rate: RateControl::Arf,
        interferer: Some(Interferer {
            period: Duration::from_millis(20),
            duty_cycle: lastmile_units::Probability::new(0.3).unwrap(),
            received_power: lastmile_units::Dbm::new(-70.0),
        }),
        ..RadioSpec::dot11b()
    };
    let positions = spec.default_positions(5);
    let stations: Vec<_> = (0..5).map(Station).zip(positions).collect();
    let run = |step: Option<u64>| {
        let mut driver = Driver::new(&spec, &stations, 9);
        for number in 0..400 {
            let at = us(number * 1300);
            match step {
                // At its own times, at others as well, or only at offers.
                Some(0) => driver.run(at),
                Some(step) => {
                    for between in (0..1300).step_by(step as usize).filter(|_| number > 0) {
                        driver.poll(us((number - 1) * 1300 + between));
                    }
                }
                None => {}
            }
            let (from, to) = (number % 5, (number + 1 + number % 4) % 5);
            let (from, to) = if from == to { (from, (to + 1) % 5) } else { (from, to) };
            let _ = driver
                .radio
                .offer(at, frame(from as u16, to as u16, 40 + number * 3, number));
        }
        driver.run(us(5_000_000));
        (driver.delivered, driver.dropped, driver.radio.radio_counters())
    };
    let own_times = run(Some(0));
    assert!(
        own_times.1.len() > 5 && own_times.0.len() > 300,
        "{} {}",
        own_times.0.len(),
        own_times.1.len()
    );
    assert_eq!(own_times, run(None));
    assert_eq!(own_times, run(Some(100)));
    assert_eq!(own_times, run(Some(0)));
}
