//! Estimates the rate at which the network delivers what is sent.
//!
//! Each segment records how much had been delivered when it left. Its acknowledgement then shows how much was delivered while
//! it was in flight, and how long that took: a sample of the rate. [`super::congestion`] uses the samples.

use super::scoreboard::Sent;
use lastmile_units::Instant;
use std::collections::VecDeque;
use std::time::Duration;

/// Delivery rate estimation: draft-cheng-iccrg-delivery-rate-estimation-00, as in Linux's `tcp_rate.c`. Counts are in segments.
#[derive(Debug)]
pub(super) struct DeliveryRate {
    /// C.delivered: segments known to have arrived.
    pub(super) delivered: u64,
    /// C.delivered_time: when the last of them was acknowledged.
    pub(super) delivered_at: Instant,
    /// C.first_sent_time: when the most recently delivered segment was sent; the next sample's send interval begins there.
    first_sent_at: Instant,
    /// C.app_limited: until this many are delivered, samples show the program's pace and not the network's.
    program_limited_until: Option<u64>,
    pub(super) round_trip_minimum: Option<Duration>,
    outstanding: VecDeque<SendRecord>,
    /// The segment sent last, among those that this acknowledgement delivers.
    newest: Option<LatestDelivered>,
}

/// The state when a segment was last sent.
#[derive(Debug, Clone, Copy)]
struct SendRecord {
    /// One past the segment's last offset, which identifies it.
    end: u64,
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    program_limited: bool,
}

#[derive(Debug, Clone, Copy)]
struct LatestDelivered {
    sent_at: Instant,
    departure: SendRecord,
}

/// What was delivered while one segment was in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RateSample {
    /// Segments delivered before that segment was sent.
    pub(super) delivered_before: u64,
    /// Segments delivered since.
    pub(super) delivered: u64,
    /// How long that took: to send the segments or to have them acknowledged, whichever took longer. In whole microseconds.
    pub(super) interval: Duration,
    /// Whether the program left a gap in what was sent.
    pub(super) program_limited: bool,
}

impl DeliveryRate {
    /// For a connection whose handshake ended at `now` and took `handshake`.
    pub(super) const fn new(now: Instant, handshake: Option<Duration>) -> Self {
        Self {
            // The SYN counts, as in Linux.
            delivered: 1,
            delivered_at: now,
            first_sent_at: now,
            program_limited_until: None,
            round_trip_minimum: handshake,
            outstanding: VecDeque::new(),
            newest: None,
        }
    }

    pub(super) const fn is_program_limited(&self) -> bool {
        self.program_limited_until.is_some()
    }

    /// The program has nothing more to send while `in_flight` segments are in flight: until those have arrived, samples are
    /// limited by the program.
    pub(super) fn mark_program_limited(&mut self, in_flight: u32) {
        self.program_limited_until = Some(self.delivered + u64::from(in_flight));
    }

    /// A segment that ends at `end` leaves, for the first time or again.
    pub(super) fn on_sent(&mut self, now: Instant, end: u64) {
        if self.outstanding.is_empty() {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let departure = SendRecord {
            end,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            program_limited: self.is_program_limited(),
        };
        match self.find(end) {
            Some(index) => self.outstanding[index] = departure,
            None => self.outstanding.push_back(departure),
        }
    }

    fn find(&self, end: u64) -> Option<usize> {
        let index = match self.outstanding.front() {
            Some(first) if first.end >= end => 0,
            _ => self.outstanding.partition_point(|departure| departure.end < end),
        };
        self.outstanding.get(index).filter(|departure| departure.end == end)?;
        Some(index)
    }

    /// A segment is newly known to have arrived.
    pub(super) fn on_delivered(&mut self, sent: &Sent) {
        self.delivered += 1;
        let Some(index) = self.find(sent.end) else { return };
        let newest = self.newest.map(|newest| (newest.sent_at, newest.departure.end));
        if newest.is_none_or(|newest| (sent.at, sent.end) > newest) {
            let departure = self.outstanding[index];
            self.newest = Some(LatestDelivered {
                sent_at: sent.at,
                departure,
            });
        }
    }

    /// Everything before `acknowledged` has arrived: returns the sample of this acknowledgement, if it gives one. `round_trip`
    /// is that of the segment it acknowledges last.
    pub(super) fn sample(
        &mut self,
        now: Instant,
        acknowledged: u64,
        round_trip: Option<Duration>,
    ) -> Option<RateSample> {
        while self.outstanding.front().is_some_and(|first| first.end <= acknowledged) {
            self.outstanding.pop_front();
        }
        if let Some(sample) = round_trip {
            self.round_trip_minimum = Some(self.round_trip_minimum.map_or(sample, |minimum| minimum.min(sample)));
        }
        self.program_limited_until = self.program_limited_until.filter(|until| self.delivered <= *until);
        let LatestDelivered { sent_at, departure } = self.newest.take()?;
        (self.delivered_at, self.first_sent_at) = (now, sent_at);
        let sending = sent_at.saturating_since(departure.first_sent_at);
        let acknowledging = now.saturating_since(departure.delivered_at);
        let interval = Duration::from_micros(sending.max(acknowledging).as_micros() as u64);
        // Nothing is delivered in less than a round trip, unless an original was acknowledged after it was resent.
        let shortest = self.round_trip_minimum.map_or(0, |minimum| minimum.as_micros());
        (interval.as_micros() >= shortest.max(1)).then(|| RateSample {
            delivered_before: departure.delivered,
            delivered: self.delivered - departure.delivered,
            interval,
            program_limited: departure.program_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Segment number `index`, of 10 bytes, as it was sent `at` ms.
    fn sent(index: u64, at: u32) -> Sent {
        Sent {
            start: index * 10,
            end: index * 10 + 10,
            at: instant(at),
            retransmitted: false,
            sacked: false,
            lost: false,
            resent: false,
        }
    }

    fn instant(ms: u32) -> Instant {
        Instant::START + MS * ms
    }

    /// Sends segments `first..last` at `at` ms.
    fn send(rate: &mut DeliveryRate, at: u32, segments: std::ops::Range<u64>) {
        for index in segments {
            rate.on_sent(instant(at), index * 10 + 10);
        }
    }

    #[test]
    fn a_sample_is_what_was_delivered_while_a_segment_was_under_way() {
        let mut rate = DeliveryRate::new(Instant::START, None);
        send(&mut rate, 0, 0..2);
        rate.on_delivered(&sent(0, 0));
        let first = rate.sample(instant(100), 10, Some(100 * MS)).unwrap();
        assert_eq!((first.delivered, first.interval), (1, 100 * MS));
        send(&mut rate, 100, 2..3);
        rate.on_delivered(&sent(1, 0));
        let second = rate.sample(instant(120), 20, Some(120 * MS)).unwrap();
        assert_eq!((second.delivered, second.interval), (2, 120 * MS));
        rate.on_delivered(&sent(2, 100));
        let third = rate.sample(instant(210), 30, Some(110 * MS)).unwrap();
        // It left when one had been delivered, 100 ms ago; two have been delivered since.
        assert_eq!(
            third,
            RateSample {
                delivered_before: first.delivered_before + 1,
                delivered: 2,
                interval: 110 * MS,
                program_limited: false
            }
        );
    }

    /// Acknowledgements that were held up and arrive together show the rate of sending, not that of their arrival.
    #[test]
    fn a_rate_is_never_above_that_of_sending() {
        let mut rate = DeliveryRate::new(Instant::START, None);
        for index in 0..10 {
            send(&mut rate, index * 20, u64::from(index)..u64::from(index) + 1);
        }
        rate.on_delivered(&sent(0, 0));
        rate.sample(instant(200), 10, Some(20 * MS)).unwrap();
        (1..10).for_each(|index| rate.on_delivered(&sent(index, index as u32 * 20)));
        let sample = rate.sample(instant(201), 100, Some(21 * MS)).unwrap();
        // The last left 180 ms after the first, and nothing had been delivered then: 200 ms for it all to be acknowledged.
        assert_eq!((sample.delivered, sample.interval), (10, 201 * MS));
        send(&mut rate, 201, 10..11);
        send(&mut rate, 261, 11..12);
        rate.on_delivered(&sent(10, 201));
        rate.sample(instant(300), 110, Some(99 * MS)).unwrap();
        rate.on_delivered(&sent(11, 261));
        let sample = rate.sample(instant(300), 120, Some(39 * MS)).unwrap();
        // Sent within 60 ms of one another, and acknowledged within 99 ms of the connection's being idle.
        assert_eq!((sample.delivered, sample.interval), (2, 99 * MS));
    }

    #[test]
    fn samples_of_what_left_while_the_program_had_no_more_are_marked_until_that_has_arrived() {
        let mut rate = DeliveryRate::new(Instant::START, None);
        rate.mark_program_limited(0);
        send(&mut rate, 0, 0..1);
        rate.on_delivered(&sent(0, 0));
        assert!(rate.sample(instant(50), 10, Some(50 * MS)).unwrap().program_limited);
        assert!(!rate.is_program_limited());
        send(&mut rate, 50, 1..2);
        rate.on_delivered(&sent(1, 50));
        assert!(!rate.sample(instant(100), 20, Some(50 * MS)).unwrap().program_limited);
    }

    /// The acknowledgement of an original soon after it was resent would give a rate that is far too high.
    #[test]
    fn what_seems_delivered_within_less_than_a_round_trip_gives_no_sample() {
        let mut rate = DeliveryRate::new(Instant::START, Some(80 * MS));
        send(&mut rate, 0, 0..2);
        send(&mut rate, 70, 0..1);
        rate.on_delivered(&sent(0, 70));
        assert_eq!(rate.sample(instant(79), 10, None), None);
        rate.on_delivered(&sent(1, 0));
        assert_eq!(rate.sample(instant(80), 20, Some(80 * MS)).unwrap().interval, 80 * MS);
    }

    #[test]
    fn of_segments_acknowledged_together_the_one_sent_last_is_the_sample() {
        let mut rate = DeliveryRate::new(Instant::START, None);
        send(&mut rate, 0, 0..4);
        rate.on_delivered(&sent(2, 0));
        rate.sample(instant(100), 0, Some(100 * MS)).unwrap();
        // The first is resent, and acknowledged with those after it.
        send(&mut rate, 100, 0..1);
        [sent(0, 100), sent(1, 0), sent(3, 0)]
            .iter()
            .for_each(|sent| rate.on_delivered(sent));
        let sample = rate.sample(instant(210), 40, None).unwrap();
        assert_eq!((sample.delivered, sample.interval), (3, 110 * MS));
    }
}
