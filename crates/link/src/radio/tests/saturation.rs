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

/// Frames per second, and the share of attempts that collide, of `count` saturated stations within `seconds`.
fn measured(spec: &RadioSpec, count: usize, seconds: u64) -> (f64, f64) {
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
            .offer(at, frame(from, (from + 1) % count as u16, 1500, next))
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

#[test]
fn saturation_throughput_is_that_of_bianchis_model() {
    // As in the model, every collision destroys all frames, and none is given up.
    let spec = RadioSpec {
        capture: None,
        short_retry_limit: 1000,
        ..RadioSpec::dot11b()
    };
    let data = 192.0 + 1118.0;
    let model = Bianchi {
        slot: 20.0,
        success: data + 10.0 + 248.0 + 50.0,
        // Those that collided wait for the timeout and a DIFS, and the others an EIFS; the model knows one time. It is that of the others.
        collision: data + 364.0,
        window: 32.0,
        doublings: 5,
    };
    println!("stations: frames/s of ours and of the model, and collisions");
    for count in [2, 5, 10, 20, 50] {
        let (ours, collided) = measured(&spec, count, 60);
        let expected = model.frames_per_second(count as f64);
        let (_, p) = model.fixed_point(count as f64);
        let off = ours / expected - 1.0;
        println!(
            "{count:3}: {ours:.1} {expected:.1} ({:+.2} %); {collided:.3} {p:.3}",
            100.0 * off
        );
        assert!(off.abs() < 0.04, "{count} stations: {ours} {expected}");
        assert!((collided - p).abs() < 0.04, "{count} stations: {collided} {p}");
    }
}
