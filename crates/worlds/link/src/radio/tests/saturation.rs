//! Saturation throughput beside Bianchi's model of the distributed coordination function.

use super::*;

/// The durations of Bianchi's model, in microseconds, and its contention windows.
struct Bianchi {
    slot: f64,
    /// From the beginning of a frame that is received until slots count again.
    success: f64,
    /// From the beginning of frames that collide.
    collision: f64,
    /// The least window: 32 for draws from 0 to 31.
    window: f64,
    /// How often the window doubles.
    doublings: i32,
}

impl Bianchi {
    /// The chance that a station sends in a slot, and that its frame then collides (G. Bianchi, "Performance analysis of the IEEE 802.11
    /// distributed coordination function", IEEE JSAC 18(3), 2000, equations 7 and 9), by bisection.
    fn fixed_point(&self, stations: f64) -> (f64, f64) {
        let sends = |p: f64| {
            let sum: f64 = (0..self.doublings).map(|stage| (2.0 * p).powi(stage)).sum();
            2.0 / (1.0 + self.window + p * self.window * sum)
        };
        let collides = |sends: f64| 1.0 - (1.0 - sends).powf(stations - 1.0);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..100 {
            let p = (low + high) / 2.0;
            if collides(sends(p)) > p { low = p } else { high = p }
        }
        (sends(low), low)
    }

    /// Frames per second (equation 13).
    fn frames_per_second(&self, stations: f64) -> f64 {
        let (sends, _) = self.fixed_point(stations);
        let any = 1.0 - (1.0 - sends).powf(stations);
        let one = stations * sends * (1.0 - sends).powf(stations - 1.0) / any;
        let slot = (1.0 - any) * self.slot + any * one * self.success + any * (1.0 - one) * self.collision;
        any * one / slot * 1e6
    }
}

/// Frames per second of packets of `bytes`, and the share of attempts that collide, of `count` saturated stations within `seconds`.
fn measured(spec: &RadioSpec, bytes: u64, count: usize, seconds: u64) -> (f64, f64) {
    let stations: Vec<_> = (0..count as u16)
        .map(Station)
        .zip(spec.default_positions(count))
        .collect();
    let mut driver = Driver::new(spec, &stations, 7);
    let mut next = 0;
    let mut refill = |driver: &mut Driver, at: Instant, from: u16| {
        next += 1;
        driver
            .radio
            .offer(at, frame(from, (from + 1) % count as u16, bytes, next))
            .unwrap();
    };
    for from in 0..count as u16 {
        for _ in 0..3 {
            refill(&mut driver, us(0), from);
        }
    }
    let (mut frames, end) = (0, us(seconds * 1_000_000));
    while let Some(at) = driver.radio.next_at().filter(|at| *at < end) {
        driver.poll(at);
        let done: Vec<_> = driver.delivered.drain(..).chain(driver.dropped.drain(..)).collect();
        for (at, done) in done {
            frames += 1;
            refill(&mut driver, at, done.from.0);
        }
    }
    let counters = driver.radio.radio_counters();
    let dropped = counters.total(|of| of.dropped_by_retry_limit);
    let collided = counters.total(|of| of.collisions) as f64 / counters.total(|of| of.data_sent) as f64;
    ((frames - dropped) as f64 / seconds as f64, collided)
}

/// Ours beside the model, for these packets and numbers of stations.
fn compare(spec: &RadioSpec, bytes: u64, counts: &[usize], seconds: u64) {
    // As in the model, every collision destroys all frames, and none is given up.
    let spec = RadioSpec {
        capture: None,
        short_retry_limit: 1000,
        ..spec.clone()
    };
    let (phy, RateControl::Fixed(rate)) = (spec.phy, spec.rate) else {
        panic!("the model knows one rate")
    };
    let us = |duration: Duration| duration.as_secs_f64() * 1e6;
    let data = us(phy.frame_duration(rate, bytes as u32 + MAC_OVERHEAD + LLC_SNAP));
    let ack = us(phy.frame_duration(phy.control_rate(rate, spec.highest_basic_rate), phy::ACK));
    let window = phy.contention_window_min() + 1;
    let model = Bianchi {
        slot: us(phy.slot()),
        success: data + us(phy.sifs()) + ack + us(phy.difs()),
        // Those that collided wait for the timeout and a DIFS, and the others an EIFS; the model knows one time. It is that of the others.
        collision: data + us(phy.eifs()),
        window: f64::from(window),
        doublings: ((phy.contention_window_max() + 1) / window).ilog2() as i32,
    };
    for &count in counts {
        let (ours, collided) = measured(&spec, bytes, count, seconds);
        let expected = model.frames_per_second(count as f64);
        let (_, p) = model.fixed_point(count as f64);
        let off = ours / expected - 1.0;
        println!(
            "{bytes} bytes at {rate}, windows from {window}, {count} stations: {ours:.1} frames/s, the model has {expected:.1} ({:+.2} %); \
             collisions {collided:.3} and {p:.3}",
            100.0 * off
        );
        assert!(off.abs() < 0.04, "{count} stations: {ours} {expected}");
        assert!((collided - p).abs() < 0.04, "{count} stations: {collided} {p}");
    }
}

#[test]
fn saturation_throughput_is_that_of_bianchis_model() {
    compare(&RadioSpec::dot11b(), 1500, &[2, 5, 10, 20, 50], 60);
}

#[test]
fn so_it_is_with_short_packets_with_other_rates_and_with_the_windows_of_802_11a() {
    compare(&RadioSpec::dot11b(), 100, &[5, 20], 30);
    let slow = RadioSpec {
        rate: RateControl::Fixed(Rate::Dsss2),
        ..RadioSpec::dot11b()
    };
    compare(&slow, 1000, &[10], 60);
    // Windows from 16, slots of 9 us.
    compare(&RadioSpec::dot11a(), 1500, &[2, 10, 30], 20);
    compare(&RadioSpec::dot11a(), 300, &[10], 20);
}
