//! What happened while requests were being sent: what was completed, and how many requests were in flight, counted in two ways that must agree.
//!
//! Over any window, the time integral of the number of requests in flight is the sum of the parts of their times that lie in it, exactly, however they
//! come and whatever becomes of them: Little's law for a sample path (Little, "Little's law as viewed on its 50th anniversary", Operations Research
//! 59, 2011). One side is a counter that changes with each event; the other is made of the figures that are published.

use std::time::Duration;

/// From the end of the warm-up to the end of sending. Times count from the start of the run.
///
/// What is completed later would make an overloaded server look as if it kept up. Per second of this time, completions are the throughput of operational
/// analysis (Denning and Buzen, "The operational analysis of queueing network models", ACM Computing Surveys 10, 1978): never more than was due,
/// and never more than the server or the link carried in that time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SendingWindow {
    start: Duration,
    end: Duration,
    /// Requests that were due and completed within it.
    pub completed: u64,
    /// Bytes of their bodies.
    pub body_bytes: u64,
    /// Their response times, together.
    response_time: Duration,
    /// The parts that lie within it of the times of all other requests: those of the warm-up, those that failed, and those in flight at its end.
    other_time: Duration,
    in_flight: u32,
    /// Up to when requests in flight are counted.
    counted_until: Duration,
    /// The time integral of their number.
    in_flight_time: Duration,
}

impl SendingWindow {
    /// A window of a run that has not begun.
    pub const fn new(start: Duration, end: Duration) -> Self {
        Self {
            start,
            end,
            completed: 0,
            body_bytes: 0,
            response_time: Duration::ZERO,
            other_time: Duration::ZERO,
            in_flight: 0,
            counted_until: start,
            in_flight_time: Duration::ZERO,
        }
    }

    /// A request is in flight from when it is due, which may be earlier than the last event.
    pub(crate) fn begin(&mut self, due: Duration) {
        self.count_until(due);
        self.in_flight_time += self.counted_until.saturating_sub(due.max(self.start));
        self.in_flight += 1;
    }

    /// A request is completed, `response` after it was due.
    pub(crate) fn complete(&mut self, at: Duration, response: Duration, body_bytes: u64) {
        self.end_one(at);
        let due = at.saturating_sub(response);
        if due >= self.start && at <= self.end {
            self.completed += 1;
            self.body_bytes += body_bytes;
            self.response_time += response;
        } else {
            self.other_time += self.part(due, at);
        }
    }

    /// A request has failed.
    pub(crate) fn fail(&mut self, due: Duration, at: Duration) {
        self.end_one(at);
        self.other_time += self.part(due, at);
    }

    /// The run is stopped: the window ends here, if not earlier.
    pub(crate) fn stop(&mut self, at: Duration) {
        self.end = self.end.min(at);
    }

    /// Adds that of another thread, over the same time.
    pub(crate) fn add(&mut self, other: &Self) {
        self.start = self.start.max(other.start);
        self.end = self.end.max(other.end);
        self.completed += other.completed;
        self.body_bytes += other.body_bytes;
        self.response_time += other.response_time;
        self.other_time += other.other_time;
        self.in_flight_time += other.in_flight_time + other.uncounted_time();
        self.counted_until = self.counted_until.max(other.counted_until);
    }

    /// Its length.
    pub const fn span(&self) -> Duration {
        self.end.saturating_sub(self.start)
    }

    /// The mean number of requests in flight, by the counter.
    pub fn in_flight_mean(&self) -> f64 {
        self.per_second((self.in_flight_time + self.uncounted_time()).as_secs_f64())
    }

    /// The same by Little's law, where so many of its requests are said to be completed per second: this rate times their mean response time, and the
    /// other requests.
    pub fn in_flight_by_law(&self, transaction_rate: f64) -> f64 {
        let response_mean = self.response_time.as_secs_f64() / self.completed.max(1) as f64;
        transaction_rate * response_mean + self.per_second(self.other_time.as_secs_f64())
    }

    fn per_second(&self, sum: f64) -> f64 {
        let span = self.span().as_secs_f64();
        if span > 0.0 { sum / span } else { 0.0 }
    }

    fn end_one(&mut self, at: Duration) {
        self.count_until(at);
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    fn count_until(&mut self, at: Duration) {
        let at = at.min(self.end);
        self.in_flight_time += at.saturating_sub(self.counted_until) * self.in_flight;
        self.counted_until = self.counted_until.max(at);
    }

    /// What the requests that are still in flight add up to the end.
    fn uncounted_time(&self) -> Duration {
        self.end.saturating_sub(self.counted_until) * self.in_flight
    }

    /// The part of a request's time that lies within the window.
    fn part(&self, due: Duration, at: Duration) -> Duration {
        at.min(self.end).saturating_sub(due.max(self.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// From 1 s to 3 s: a request of the warm-up until 2 s, one completed after 0.5 s, one failed after 1 s, one that outlasts the window by a second.
    fn window() -> SendingWindow {
        let mut window = SendingWindow::new(at(1_000), at(3_000));
        window.begin(at(500));
        window.begin(at(1_000));
        window.complete(at(1_500), at(500), 7);
        // It is heard of after a later event.
        window.begin(at(1_200));
        window.complete(at(2_000), at(1_500), 7);
        window.fail(at(1_200), at(2_200));
        window.begin(at(2_600));
        window.complete(at(4_000), at(1_400), 7);
        window
    }

    #[test]
    fn a_window_counts_what_is_due_and_completed_in_it() {
        let window = window();
        assert_eq!((window.completed, window.body_bytes), (1, 7));
        // 1 s, 0.5 s, 1 s and 0.4 s in 2 s.
        assert!((window.in_flight_mean() - 1.45).abs() < 1e-12, "{window:?}");
        assert!((window.in_flight_by_law(0.5) - 1.45).abs() < 1e-12, "{window:?}");
    }

    #[test]
    fn a_request_that_is_lost_or_ends_twice_and_a_rate_over_another_time_break_the_law() {
        let differs =
            |window: &SendingWindow, rate: f64| (window.in_flight_mean() - window.in_flight_by_law(rate)).abs() > 0.01;
        let mut lost = window();
        lost.begin(at(2_900));
        assert!(differs(&lost, 0.5));
        let mut twice = window();
        twice.fail(at(2_600), at(2_800));
        assert!(differs(&twice, 0.5));
        assert!(differs(&window(), 1.0), "the rate since the first completion");
    }

    #[test]
    fn windows_of_threads_add_up() {
        let mut sum = window();
        let mut other = SendingWindow::new(at(1_000), at(3_000));
        other.begin(at(2_000));
        sum.add(&other);
        assert!((sum.in_flight_mean() - 1.95).abs() < 1e-12, "{sum:?}");
    }
}
