//! Decides how many bytes a post has, and how long its answer may take, from the posts before it.
//!
//! A post that is larger than what a link carries between two breaks would never end. So a post without an answer makes the next ones smaller, and
//! each answer makes them larger again.

use std::time::Duration;

/// The bytes and times of posts on an uplink.
#[derive(Debug)]
pub(super) struct Pace {
    /// The most bytes of a post, before compression. A larger chunk goes alone.
    largest: usize,
    /// Bytes per second of the last post that was answered.
    measured: Option<f64>,
}

/// The most bytes of any post, and the fewest that the most may be: our own choice.
const POST_SIZE_MAX: usize = 256 << 10;
const POST_SIZE_MIN: usize = 1 << 10;

/// How long an answer may take beside the time for sending: a disk can be slow. Our own choice.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// A link that is slower than this is taken for broken, in bytes per second: that of an Iridium phone call, 2.4 kbit/s.
const SLOWEST: f64 = 300.0;
/// A link may become so many times slower from a post to the next: our own choice.
const SLOWDOWN: f64 = 8.0;

impl Default for Pace {
    fn default() -> Self {
        Self {
            largest: POST_SIZE_MAX,
            measured: None,
        }
    }
}

impl Pace {
    /// The most bytes of the next post.
    pub(super) const fn largest(&self) -> usize {
        self.largest
    }

    /// How long the answer to a post of so many bytes may take.
    pub(super) fn limit(&self, bytes: u64) -> Duration {
        answer_limit(
            bytes,
            self.measured.map_or(SLOWEST, |rate| (rate / SLOWDOWN).max(SLOWEST)),
        )
    }

    /// A post of so many bytes was answered after this time.
    pub(super) fn answered(&mut self, bytes: u64, time: Duration) {
        self.largest = (self.largest * 2).min(POST_SIZE_MAX);
        self.measured = Some(bytes as f64 / time.as_secs_f64().max(1e-6));
    }

    /// A post was not answered.
    pub(super) fn failed(&mut self) {
        self.largest = (self.largest / 2).max(POST_SIZE_MIN);
        self.measured = None;
    }
}

/// How long the answer to a post of so many bytes may take on a link of which nothing is known.
pub(crate) fn longest_answer(bytes: u64) -> Duration {
    answer_limit(bytes, SLOWEST)
}

fn answer_limit(bytes: u64, rate: f64) -> Duration {
    ANSWER_LIMIT + Duration::from_secs_f64(bytes as f64 / rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_take_the_time_that_its_post_needs_on_the_slowest_link_and_less_once_the_link_is_known() {
        let mut pace = Pace::default();
        assert_eq!(pace.limit(300), ANSWER_LIMIT + Duration::from_secs(1));
        pace.answered(80_000, Duration::from_secs(10));
        assert_eq!(pace.limit(2_000), ANSWER_LIMIT + Duration::from_secs(2));
        pace.failed();
        assert_eq!(pace.limit(300), ANSWER_LIMIT + Duration::from_secs(1));
    }

    #[test]
    fn posts_shrink_where_none_is_answered_and_grow_with_each_answer() {
        let mut pace = Pace::default();
        for _ in 0..20 {
            pace.failed();
        }
        assert_eq!(pace.largest(), POST_SIZE_MIN);
        for _ in 0..20 {
            pace.answered(1, Duration::from_secs(1));
        }
        assert_eq!(pace.largest(), POST_SIZE_MAX);
    }
}
