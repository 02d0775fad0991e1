//! When a driver hears of what happened: at its own time, and without being woken for much else.

use super::*;
use lastmile_units::{Dbm, Probability, random};

/// A radio of some kind, with two to five stations some of which may be hidden from each other.
fn any_radio(rng: &mut Rng) -> (RadioSpec, Vec<(Station, Position)>) {
    let mut spec = random::pick(rng, &[RadioSpec::dot11b as fn() -> RadioSpec, RadioSpec::dot11a])();
    if random::below(rng, 2) == 0 {
        spec.rate = RateControl::Arf;
    }
    if random::below(rng, 3) == 0 {
        spec.fading = Fading::Rayleigh;
    }
    if random::below(rng, 3) == 0 {
        spec.rts_threshold = Some(ByteCount::new(400));
    }
    if random::below(rng, 3) == 0 {
        spec.beacons = Some(Beacons::default());
    }
    if random::below(rng, 3) == 0 {
        spec.interferer = Some(Interferer {
            period: Duration::from_micros(2_900),
            duty_cycle: Probability::new(0.4).unwrap(),
            received_power: random::pick(rng, &[Dbm::new(-85.0), Dbm::new(-60.0)]),
        });
    }
    spec.carrier_sense_threshold = random::pick(rng, &[spec.carrier_sense_threshold, Dbm::new(-80.0)]);
    spec.short_retry_limit = random::pick(rng, &[2, 7]);
    spec.queue_packets = random::pick(rng, &[0, 1, 100]);
    let count = random::between(rng, 2, 5);
    let positions: Vec<f64> = (0..count).map(|_| random::up_to(rng, 150) as f64).collect();
    (spec, in_a_row(&positions))
}

#[test]
fn every_event_of_any_radio_is_reported_at_its_own_time() {
    let (mut delivered, mut dropped) = (0, 0);
    for seed in 0..300 {
        let mut rng = Seed::new(seed).rng();
        let (spec, stations) = any_radio(&mut rng);
        let mut driver = Driver::new(&spec, &stations, seed);
        let mut at = 0;
        for number in 0..200 {
            // Several at one instant, some while others are on the air, some after all is quiet.
            let pause = random::pick(&mut rng, &[0, 300_000, 3_000_000, 30_000_000]);
            at += random::up_to(&mut rng, pause);
            driver.run(Instant::from_nanos(at));
            let from = random::below(&mut rng, stations.len());
            let to = (from + random::between(&mut rng, 1, stations.len() - 1)) % stations.len();
            let size = random::pick(&mut rng, &[40, 300, 1500]);
            let offered = frame(from as u16, to as u16, size, number);
            // A full queue is one of the cases.
            let _ = driver.radio.offer(Instant::from_nanos(at), offered);
        }
        driver.run(Instant::from_nanos(at + 120_000_000_000));
        assert_eq!(driver.radio.counters().in_flight, 0, "seed {seed}");
        delivered += driver.delivered.len();
        dropped += driver.dropped.len();
    }
    println!("{delivered} delivered, {dropped} dropped");
    assert!(delivered > 10_000 && dropped > 1_000, "{delivered} {dropped}");
}

#[test]
fn a_driver_is_woken_little_more_than_once_for_each_packet() {
    const PACKETS: u64 = 10_000;
    let mut driver = Driver::new(&RadioSpec::dot11b(), &in_a_row(&[0.0, 1.0]), 1);
    let mut polls = 0;
    driver.radio.offer(us(0), frame(0, 1, 60, 0)).unwrap();
    for number in 1..PACKETS {
        while driver.delivered.len() < number as usize {
            let at = driver.radio.next_at().unwrap();
            driver.poll(at);
            polls += 1;
        }
        // The receiver answers at once.
        let (at, last) = driver.delivered[number as usize - 1].clone();
        driver
            .radio
            .offer(at, frame(last.to.0, last.from.0, 1000, number))
            .unwrap();
    }
    println!("{polls} polls for {PACKETS} packets");
    assert!(polls * 10 < PACKETS * 12, "{polls}");
}
