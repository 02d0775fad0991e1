use super::*;
use lastmile_units::ByteCount;

mod airtime;
mod collisions;
mod reports;
mod saturation;

/// A driver of a radio: offers, and everything that is reported.
pub(super) struct Driver {
    pub(super) radio: Radio<u64>,
    pub(super) delivered: Vec<(Instant, Frame<u64>)>,
    pub(super) dropped: Vec<(Instant, Frame<u64>)>,
}

pub(super) fn us(microseconds: u64) -> Instant {
    Instant::from_nanos(microseconds * 1000)
}

pub(super) fn frame(from: u16, to: u16, size: u64, payload: u64) -> Frame<u64> {
    Frame {
        from: Station(from),
        to: Station(to),
        size: ByteCount::new(size),
        payload,
    }
}

/// Stations in a row, at these metres.
pub(super) fn in_a_row(metres: &[f64]) -> Vec<(Station, Position)> {
    let station_at = |(number, x): (usize, &f64)| (Station(number as u16), Position { x: *x, y: 0.0 });
    metres.iter().enumerate().map(station_at).collect()
}

impl Driver {
    pub(super) fn new(spec: &RadioSpec, stations: &[(Station, Position)], seed: u64) -> Self {
        Self {
            radio: Radio::new(spec, stations, Seed::new(seed)),
            delivered: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// Polls the radio at each time that it names, up to `until`.
    pub(super) fn run(&mut self, until: Instant) {
        // What happened before may not be reported yet.
        let begin = Instant::from_nanos(self.radio.now);
        loop {
            let next = self.radio.next_at().filter(|at| *at <= until);
            let at = next.unwrap_or(until);
            let known = (self.delivered.len(), self.dropped.len());
            self.poll(at);
            // Whoever polls at each time that the radio names learns of each event at its time.
            let mut times = self.delivered[known.0..].iter().chain(&self.dropped[known.1..]);
            assert!(
                times.all(|(event_at, _)| *event_at == at || *event_at <= begin),
                "polled at {at:?}"
            );
            if next.is_none() {
                return;
            }
        }
    }

    pub(super) fn poll(&mut self, at: Instant) {
        let (delivered, dropped) = (&mut self.delivered, &mut self.dropped);
        self.radio.poll(at, &mut |event| match event {
            Event::Delivered { at, frame } => delivered.push((at, frame)),
            Event::Dropped { at, frame, .. } => dropped.push((at, frame)),
        });
        let counters = self.radio.counters();
        assert_eq!(
            counters.offered,
            counters.delivered + counters.dropped() + counters.in_flight,
            "{counters:?}"
        );
    }
}
