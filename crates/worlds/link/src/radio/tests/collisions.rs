//! Hidden stations, lost ACKs, retry limits, beacons.

use super::*;
use crate::radio::error_rate::ln_bit_success;
use lastmile_units::{Decibels, Metres, Probability};

/// Two senders and a receiver between them; the senders sense each other, or do not.
fn two_senders(spec: &RadioSpec, metres: f64) -> RadioCounters {
    let stations = in_a_row(&[-metres, 0.0, metres]);
    let mut driver = Driver::new(spec, &stations, 1);
    // Below saturation: each sender needs about 2 ms of every 10.
    for number in 0..2000 {
        let at = us(number * 10_000);
        driver.run(at);
        driver.radio.offer(at, frame(0, 1, 1500, number)).unwrap();
        let later = us(number * 10_000 + number % 3000);
        driver.run(later);
        driver.radio.offer(later, frame(2, 1, 1500, number)).unwrap();
    }
    driver.run(us(30_000_000));
    driver.radio.radio_counters()
}

#[test]
fn stations_that_do_not_sense_each_other_collide_and_an_rts_helps() {
    // Senders sense each other up to 247 m, and each is received up to 11 Mbit/s at 100 m from the middle.
    let near = two_senders(&RadioSpec::dot11b(), 20.0);
    let spec = RadioSpec {
        path_loss: PathLoss {
            exponent: 3.0,
            ..RadioSpec::dot11b().path_loss
        },
        carrier_sense_threshold: lastmile_units::Dbm::new(-80.0),
        ..RadioSpec::dot11b()
    };
    // -80 dBm is reached at 98 m.
    let hidden = two_senders(&spec, 60.0);
    let with_rts = two_senders(
        &RadioSpec {
            rts_threshold: Some(ByteCount::new(200)),
            ..spec
        },
        60.0,
    );
    let collided = |counters: &RadioCounters| counters.total(|of| of.collisions) as f64 / 4000.0;
    println!(
        "collisions per packet: {} near, {} hidden, {} with RTS",
        collided(&near),
        collided(&hidden),
        collided(&with_rts)
    );
    assert!(collided(&near) < 0.02, "{}", collided(&near));
    assert!(collided(&hidden) > 0.3, "{}", collided(&hidden));
    assert!(
        with_rts.overlapped < hidden.overlapped / 3,
        "{:?} {:?}",
        with_rts.overlapped,
        hidden.overlapped
    );
}

#[test]
fn a_packet_is_given_up_after_its_last_attempt_at_a_receiver_that_never_answers() {
    let spec = RadioSpec {
        // Out of range.
        carrier_sense_threshold: lastmile_units::Dbm::new(-60.0),
        ..RadioSpec::dot11b()
    };
    let mut driver = Driver::new(&spec, &in_a_row(&[0.0, 500.0]), 1);
    driver.radio.record_air();
    for number in 0..50 {
        driver.radio.offer(us(0), frame(0, 1, 500, number)).unwrap();
    }
    driver.run(us(60_000_000));
    let counters = driver.radio.radio_counters();
    let frames = counters.stations[0].frames;
    assert_eq!(driver.dropped.len(), 50);
    assert_eq!(
        (frames.data_sent, frames.retries, frames.timeouts),
        (7 * 50, 6 * 50, 7 * 50)
    );
    assert_eq!((frames.acks_lost, frames.dropped_by_retry_limit), (0, 50));
    let air = driver.radio.take_air_frames();
    assert_eq!(air.len(), 7 * 50);
    for (number, frame) in air.iter().enumerate() {
        assert_eq!(
            (usize::from(frame.sequence), frame.is_retry),
            (number / 7, number % 7 != 0)
        );
        assert!(!frame.is_received && frame.payload == Some(number as u64 / 7));
    }
    // The space between two attempts: the timeout of 222 us, a DIFS, and up to 31, 63, ... slots.
    for two in air.windows(2) {
        let space = two[1].start.since_start() - two[0].end.since_start();
        assert!(space >= Duration::from_micros(222 + 50), "{space:?}");
        assert!(space <= Duration::from_micros(222 + 50 + 1023 * 20), "{space:?}");
    }
}

/// The share of packets that are given up, and how often each is sent, at this distance.
fn losses(metres: f64, packets: u64) -> (f64, f64, f64) {
    let spec = RadioSpec {
        queue_packets: packets as usize,
        carrier_sense_threshold: lastmile_units::Dbm::new(-120.0),
        ..RadioSpec::dot11b()
    };
    let mut driver = Driver::new(&spec, &in_a_row(&[0.0, metres]), 5);
    for number in 0..packets {
        driver.radio.offer(us(0), frame(0, 1, 1500, number)).unwrap();
    }
    driver.run(us(packets * 40_000));
    let frames = driver.radio.radio_counters().stations[0].frames;
    assert_eq!(frames.packets_delivered + frames.dropped_by_retry_limit, packets);
    let ratio = spec.signal_to_noise(Metres::new(metres)).ratio();
    let header = ln_bit_success(Rate::Dsss1, ratio) * 48.0;
    let data = libm::exp(ln_bit_success(Rate::Cck11, ratio) * 8.0 * 1536.0 + header);
    let ack = libm::exp(ln_bit_success(Rate::Dsss2, ratio) * 8.0 * 14.0 + header);
    let attempts = frames.data_sent as f64 / packets as f64;
    // An attempt ends the packet's service where data and ACK arrive.
    let success = data * ack;
    let expected_attempts = (1.0 - (1.0 - success).powi(7)) / success;
    println!("at {metres} m: {attempts} attempts, {expected_attempts} expected");
    assert!((attempts / expected_attempts - 1.0).abs() < 0.03);
    // Delivered if any of the attempts arrives; the ACK hardly matters here.
    (
        frames.dropped_by_retry_limit as f64 / packets as f64,
        (1.0 - data).powi(7),
        data,
    )
}

#[test]
fn retries_and_drops_follow_from_the_ratio_of_signal_to_noise() {
    const PACKETS: u64 = 20_000;
    for metres in [90.0, 108.0, 112.0, 116.0, 120.0, 124.0] {
        let (dropped, expected, data) = losses(metres, PACKETS);
        println!("at {metres} m: a frame arrives with {data}; dropped {dropped}, expected {expected}");
        let deviation = (expected * (1.0 - expected) / PACKETS as f64).sqrt();
        assert!((dropped - expected).abs() <= 5.0 * deviation + 1e-4, "at {metres} m");
    }
}

#[test]
fn a_frame_whose_ack_is_lost_is_delivered_once() {
    // An oven in the other half of the time, too weak to be waited for and too strong for an ACK to bear.
    let spec = RadioSpec {
        interferer: Some(Interferer {
            period: Duration::from_micros(2_900),
            duty_cycle: Probability::new(0.4).unwrap(),
            received_power: lastmile_units::Dbm::new(-77.0),
        }),
        ..RadioSpec::dot11b()
    };
    let mut driver = Driver::new(&spec, &in_a_row(&[0.0, 80.0]), 2);
    driver.radio.record_air();
    for number in 0..1000 {
        let at = us(number * 20_000);
        driver.run(at);
        driver.radio.offer(at, frame(0, 1, 100, number)).unwrap();
    }
    driver.run(us(30_000_000));
    let counters = driver.radio.radio_counters();
    let sender = counters.stations[0].frames;
    assert!(sender.acks_lost > 50, "{sender:?}");
    assert!(counters.stations[1].frames.duplicates > 50);
    let payloads: Vec<u64> = driver.delivered.iter().map(|(_, frame)| frame.payload).collect();
    assert!(
        payloads.windows(2).all(|two| two[0] < two[1]),
        "each once, and in order"
    );
    assert_eq!(driver.delivered.len() + driver.dropped.len(), 1000);
    // The record has the packet of a frame that was delivered before.
    let air = driver.radio.take_air_frames();
    assert!(
        air.iter()
            .filter(|frame| frame.kind == FrameKind::Data)
            .all(|frame| frame.payload.is_some())
    );
}

#[test]
fn an_interferer_that_stations_sense_is_waited_for() {
    let oven = |dbm| RadioSpec {
        interferer: Some(Interferer {
            period: Duration::from_millis(20),
            duty_cycle: Probability::new(0.5).unwrap(),
            received_power: lastmile_units::Dbm::new(dbm),
        }),
        queue_packets: 10_000,
        ..RadioSpec::dot11b()
    };
    let delivered = |spec: &RadioSpec| {
        let mut driver = Driver::new(spec, &in_a_row(&[0.0, 30.0]), 2);
        for number in 0..10_000 {
            driver.radio.offer(us(0), frame(0, 1, 1500, number)).unwrap();
        }
        driver.run(us(4_000_000));
        (
            driver.delivered.len() as f64,
            driver.radio.radio_counters().total(|of| of.timeouts),
        )
    };
    let (alone, _) = delivered(&RadioSpec {
        interferer: None,
        ..oven(0.0)
    });
    let (beside, timeouts) = delivered(&oven(-60.0));
    println!("{beside} beside an oven, {alone} alone, {timeouts} timeouts");
    assert!((0.42..0.55).contains(&(beside / alone)), "{}", beside / alone);
    assert!(timeouts > 0, "some frames are caught by its beginning");
}

#[test]
fn one_station_sends_each_beacon_and_frames_wait_for_it() {
    let spec = RadioSpec {
        beacons: Some(Beacons::default()),
        ..RadioSpec::dot11b()
    };
    let positions = spec.default_positions(4);
    let stations: Vec<_> = (0..4).map(Station).zip(positions).collect();
    let mut driver = Driver::new(&spec, &stations, 3);
    driver.radio.record_air();
    assert_eq!(driver.radio.next_at(), None, "an empty medium has no events");
    driver.poll(us(102_400 * 1000 + 50_000));
    let counters = driver.radio.radio_counters();
    let sent = counters.total(|of| of.beacons_sent);
    // Of 4 stations that draw from 63 slots, two of the least draw the same now and then.
    assert!((1000..1150).contains(&sent), "{sent}");
    assert!(
        counters
            .stations
            .iter()
            .all(|station| station.frames.beacons_sent > 180)
    );
    let beacon = driver.radio.take_air_frames().remove(0);
    assert!(beacon.kind == FrameKind::Beacon && beacon.to.is_none() && beacon.rate == Rate::Dsss1);
    let since = beacon.start.since_start() - Duration::from_micros(102_400);
    assert!(since <= Duration::from_micros(62 * 20), "{since:?}");
}

#[test]
fn rate_fallback_finds_the_rate_that_the_distance_permits() {
    let used = |metres: f64| {
        let spec = RadioSpec {
            rate: RateControl::Arf,
            queue_packets: 2000,
            ..RadioSpec::dot11b()
        };
        let mut driver = Driver::new(&spec, &in_a_row(&[0.0, metres]), 3);
        for number in 0..2000 {
            driver.radio.offer(us(0), frame(0, 1, 1000, number)).unwrap();
        }
        driver.run(us(60_000_000));
        let by_rate = driver.radio.radio_counters().stations.remove(0).attempts_by_rate;
        by_rate.iter().max_by_key(|(_, attempts)| *attempts).unwrap().0
    };
    assert_eq!(
        [10.0, 125.0, 150.0, 200.0].map(used),
        [Rate::Cck11, Rate::Cck5, Rate::Dsss2, Rate::Dsss1]
    );
}

#[test]
fn of_two_frames_at_once_a_much_stronger_one_survives_where_receivers_can_capture() {
    let survive = |capture: Option<Decibels>| {
        let spec = RadioSpec {
            capture,
            ..RadioSpec::dot11b()
        };
        let mut driver = Driver::new(&spec, &in_a_row(&[-5.0, 0.0, 50.0]), 1);
        driver.radio.record_air();
        driver.radio.offer(us(0), frame(1, 2, 100, 0)).unwrap();
        let end = 192 + 99 + 10 + 248;
        driver.run(us(end));
        driver.radio.take_air_frames();
        // Both wait for the end of the DIFS.
        driver.radio.offer(us(end + 10), frame(0, 1, 500, 1)).unwrap();
        driver.radio.offer(us(end + 20), frame(2, 1, 500, 2)).unwrap();
        driver.run(us(100_000));
        assert_eq!(driver.delivered.len(), 3);
        let air = driver.radio.take_air_frames();
        assert!(air[0].is_overlapped && air[1].is_overlapped);
        [air[0].is_received, air[1].is_received]
    };
    assert_eq!(survive(None), [false, false]);
    assert_eq!(survive(Some(Decibels::new(10.0))), [true, false]);
    assert_eq!(survive(Some(Decibels::new(40.0))), [false, false]);
}

#[test]
fn a_station_that_senses_a_frame_and_cannot_read_it_waits_an_eifs_after_it_and_others_a_difs() {
    // At 200 m a frame is sensed; at 11 Mbit/s, and even at the 2 Mbit/s of the ACK, it is not read. At 20 m it is.
    for (metres, space) in [(200, 364), (20, 50)] {
        let stations = in_a_row(&[0.0, 1.0, f64::from(metres)]);
        for seed in 0..20 {
            let mut driver = Driver::new(&RadioSpec::dot11b(), &stations, seed);
            driver.radio.record_air();
            driver.radio.offer(us(0), frame(0, 1, 1500, 1)).unwrap();
            // While the frame is on the air.
            driver.run(us(500));
            driver.radio.offer(us(500), frame(2, 1, 100, 2)).unwrap();
            driver.run(us(50_000));
            let air = driver.radio.take_air_frames();
            let kinds: Vec<_> = air[..3].iter().map(|frame| (frame.kind, frame.from.0)).collect();
            assert_eq!(kinds, [(FrameKind::Data, 0), (FrameKind::Ack, 1), (FrameKind::Data, 2)]);
            let waited = (air[2].start.since_start() - air[1].end.since_start()).as_micros() as u64;
            assert!(
                waited >= space && (waited - space).is_multiple_of(20),
                "at {metres} m: {waited} us"
            );
            assert!((waited - space) / 20 <= 31, "at {metres} m: {waited} us");
        }
    }
}

#[test]
fn rate_fallback_climbs_again_when_what_disturbed_it_is_over() {
    // Interference of 40 s in every 80, too weak to be waited for: with it 11 Mbit/s does not arrive at 60 m, and without it it does.
    let spec = RadioSpec {
        rate: RateControl::Arf,
        interferer: Some(Interferer {
            period: Duration::from_secs(80),
            duty_cycle: Probability::new(0.5).unwrap(),
            received_power: lastmile_units::Dbm::new(-80.0),
        }),
        ..RadioSpec::dot11b()
    };
    let mut driver = Driver::new(&spec, &in_a_row(&[0.0, 60.0]), 3);
    driver.radio.record_air();
    let mut rates = Vec::new();
    for number in 0..4000 {
        let at = us(number * 40_000);
        driver.run(at);
        driver.radio.offer(at, frame(0, 1, 1000, number)).unwrap();
        let sent = driver.radio.take_air_frames();
        rates.extend(
            sent.iter()
                .filter(|frame| frame.kind == FrameKind::Data)
                .map(|frame| frame.rate),
        );
    }
    // Two periods: the highest rate holds for hundreds of frames, then a lower one does, then the highest again.
    let mut held: Vec<Rate> = Vec::new();
    for hundred in rates.chunks(100) {
        let highest = hundred.iter().filter(|rate| **rate == Rate::Cck11).count();
        let rate = if highest > 90 {
            Rate::Cck11
        } else if highest < 30 {
            Rate::Cck5
        } else {
            continue;
        };
        if held.last() != Some(&rate) {
            held.push(rate);
        }
    }
    assert!(held.len() >= 4, "{held:?}");
    assert!(held.windows(2).all(|two| two[0] != two[1]));
}

#[test]
fn a_station_that_only_listens_takes_the_energy_of_its_reception_and_of_its_idle_time() {
    let spec = RadioSpec::dot11b();
    let mut driver = Driver::new(&spec, &in_a_row(&[0.0, 1.0, 2.0, 2000.0]), 1);
    for number in 0..10 {
        let at = us(number * 100_000);
        driver.run(at);
        driver.radio.offer(at, frame(0, 1, 1500, number)).unwrap();
    }
    driver.run(us(1_000_000));
    let counters = driver.radio.radio_counters();
    let watts = spec.power_states;
    // Ten frames of 1,310 us and their ACKs of 248, in one second.
    let (data, acks) = (10.0 * 1310e-6, 10.0 * 248e-6);
    let expected = [
        watts.transmit_watts * data + watts.receive_watts * acks + watts.idle_watts * (1.0 - data - acks),
        watts.transmit_watts * acks + watts.receive_watts * data + watts.idle_watts * (1.0 - data - acks),
        watts.receive_watts * (data + acks) + watts.idle_watts * (1.0 - data - acks),
        // Out of range.
        watts.idle_watts,
    ];
    for (station, expected) in counters.stations.iter().zip(expected) {
        assert!(
            (station.energy_joules - expected).abs() < 1e-9,
            "{station:?} {expected}"
        );
    }
}
