//! Detects a policed path.
//!
//! A token bucket passes bursts and then drops what exceeds its rate, so the rate shows only in the long run.

use super::bandwidth::Bandwidth;
use lastmile_units::{ByteCount, Instant};
use std::time::Duration;

/// Long-term bandwidth sampling (Linux's `bbr_lt_bw_sampling`; Flach et al., "An Internet-wide analysis of traffic policing",
/// SIGCOMM 2016): two consecutive intervals with a loss of a fifth and with consistent rates are attributed to a policer.
#[derive(Debug)]
pub(super) struct Policer {
    segment_size: ByteCount,
    /// Segments found lost so far.
    lost: u64,
    state: State,
    /// The rate of the last interval.
    last: Option<Bandwidth>,
    rounds: u32,
    began: IntervalStart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was lost since sampling was abandoned.
    Waits,
    Samples,
    /// The path is assumed to be policed to `last`.
    Policed,
}

/// Where an interval began.
#[derive(Debug, Clone, Copy)]
struct IntervalStart {
    at: Instant,
    delivered: u64,
    lost: u64,
}

/// The state at an acknowledgement, or at a timeout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    /// When segments were last delivered.
    pub(super) delivered_at: Instant,
    /// Segments delivered so far.
    pub(super) delivered: u64,
    /// Whether segments were found lost just now.
    pub(super) loses: bool,
    pub(super) round_began: bool,
    /// Whether the program limited the rate.
    pub(super) program_limited: bool,
}

/// The minimum rounds of an interval; the maximum is four times as many.
const INTERVAL_MIN: u32 = 4;
const INTERVAL_MAX: u32 = 16;
/// An interval counts where at least this share was lost, in 1/256 of the delivered segments.
const LOSS_THRESHOLD: u64 = 50;
/// Rounds after which a policed rate is tested again.
const POLICED_ROUNDS: u32 = 48;

impl Policer {
    pub(super) const fn new(now: Instant, segment_size: ByteCount) -> Self {
        Self {
            segment_size,
            lost: 0,
            state: State::Waits,
            last: None,
            rounds: 0,
            began: IntervalStart {
                at: now,
                delivered: 0,
                lost: 0,
            },
        }
    }

    /// The rate that the path is policed to, if it is assumed to be.
    pub(super) fn rate(&self) -> Option<Bandwidth> {
        self.last.filter(|_| self.state == State::Policed)
    }

    pub(super) const fn on_lost(&mut self, segments: u32) {
        self.lost += segments as u64;
    }

    /// Resets what was learnt.
    pub(super) const fn reset(&mut self) {
        (self.state, self.last) = (State::Waits, None);
    }

    /// A round begins while the policed rate is in use and bandwidth is probed for: true where that use ends now.
    pub(super) const fn ends_with_round(&mut self) -> bool {
        self.rounds += 1;
        let ends = self.rounds >= POLICED_ROUNDS;
        if ends {
            self.reset();
        }
        ends
    }

    const fn begin_interval(&mut self, progress: &Progress) {
        self.rounds = 0;
        self.began = IntervalStart {
            at: progress.delivered_at,
            delivered: progress.delivered,
            lost: self.lost,
        };
    }

    /// Observes an acknowledgement or a timeout, while the path is not assumed to be policed.
    pub(super) fn observe(&mut self, progress: &Progress) {
        if self.state == State::Waits {
            // Traffic before the first loss used the bucket's tokens.
            if !progress.loses {
                return;
            }
            self.begin_interval(progress);
            self.state = State::Samples;
        }
        if progress.program_limited {
            return self.reset();
        }
        self.rounds += u32::from(progress.round_began);
        if self.rounds < INTERVAL_MIN {
            return;
        }
        if self.rounds > INTERVAL_MAX {
            return self.reset();
        }
        // An interval ends with a loss, when the bucket is empty.
        if !progress.loses {
            return;
        }
        let delivered = progress.delivered - self.began.delivered;
        let lost = self.lost - self.began.lost;
        // Linux counts this time in milliseconds.
        let time = progress.delivered_at.saturating_since(self.began.at).as_millis() as u64;
        if delivered == 0 || lost << 8 < LOSS_THRESHOLD * delivered || time == 0 {
            return;
        }
        let bandwidth = Bandwidth::from_segments(delivered, Duration::from_millis(time));
        match self.last {
            Some(last) if last.is_consistent_with(bandwidth, self.segment_size) => {
                self.last = Some(last.mean_with(bandwidth));
                (self.state, self.rounds) = (State::Policed, 0);
            }
            _ => {
                self.last = Some(bandwidth);
                self.begin_interval(progress);
            }
        }
    }
}
