//! Sessions: requests that depend on each other.
//!
//! The intended start of a dependent request is the intended start of the request before it, plus the *expected* response time, plus
//! the think time (Gil Tene's rule, HdrHistogram issue 148). With the actual response time in its place, a slow server would delay the
//! schedule that it is measured by: coordinated omission.

use std::num::NonZeroU32;
use std::time::Duration;

/// The requests of a session, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// The number of requests.
    pub requests: NonZeroU32,
    /// The time between a response and the next request.
    pub think_time: Duration,
    /// The response time that the schedule assumes.
    pub expected_response_time: Duration,
}

impl Session {
    /// A single request.
    pub const SINGLE: Self = Self {
        requests: NonZeroU32::MIN,
        think_time: Duration::ZERO,
        expected_response_time: Duration::ZERO,
    };

    /// The time from the intended start of a request to that of the next.
    pub fn step(&self) -> Duration {
        self.expected_response_time + self.think_time
    }
}
