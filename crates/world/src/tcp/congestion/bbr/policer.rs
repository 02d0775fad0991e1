//! Is the path policed? A token bucket passes bursts and then drops what exceeds its rate: such a rate shows in the long run
//! alone.

use super::bandwidth::Bandwidth;
use lastmile_units::{Bytes, Instant};
use std::time::Duration;

/// Long-term bandwidth sampling (Linux's `bbr_lt_bw_sampling`; Flach et al., "An Internet-wide analysis of traffic policing",
/// SIGCOMM 2016): two intervals running in which a fifth was lost, and whose rates agree, are taken for a policer's work.
#[derive(Debug)]
pub(super) struct Policer {
    segment_size: Bytes,
    /// Segments found lost so far.
    lost: u64,
    state: State,
    /// The rate of the last interval.
    last: Option<Bandwidth>,
    rounds: u32,
    began: Mark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was lost since sampling was given up.
    Waits,
    Samples,
    /// The path is taken to be policed to `last`.
    Policed,
}

/// Where an interval began.
#[derive(Debug, Clone, Copy)]
struct Mark {
    at: Instant,
    delivered: u64,
    lost: u64,
}

/// What there is to know of an acknowledgement, or of a timeout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    /// When segments were last delivered.
    pub(super) delivered_at: Instant,
    /// Segments delivered so far.
    pub(super) delivered: u64,
    /// Whether segments were found lost just now.
    pub(super) loses: bool,
    pub(super) round_began: bool,
    /// Whether it is the program's pace that shows.
    pub(super) program_limited: bool,
}

/// Rounds in an interval, at least; four times as many at most.
const SHORTEST_INTERVAL: u32 = 4;
const LONGEST_INTERVAL: u32 = 16;
/// An interval counts where at least this share was lost, in 1/256 of what was delivered.
const LOSS_THRESHOLD: u64 = 50;
/// Rounds after which a policed rate is put to the test again.
const POLICED_ROUNDS: u32 = 48;

impl Policer {
    pub(super) const fn new(now: Instant, segment_size: Bytes) -> Self {
        Self {
            segment_size,
            lost: 0,
            state: State::Waits,
            last: None,
            rounds: 0,
            began: Mark {
                at: now,
                delivered: 0,
                lost: 0,
            },
        }
    }

    /// The rate that the path is policed to, where it is taken to be.
    pub(super) fn rate(&self) -> Option<Bandwidth> {
        self.last.filter(|_| self.state == State::Policed)
    }

    pub(super) const fn on_lost(&mut self, segments: u32) {
        self.lost += segments as u64;
    }

    /// What was learnt is void.
    pub(super) const fn reset(&mut self) {
        (self.state, self.last) = (State::Waits, None);
    }

    /// A round begins while the policed rate is in use and bandwidth is probed for: true where that ends now.
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
        self.began = Mark {
            at: progress.delivered_at,
            delivered: progress.delivered,
            lost: self.lost,
        };
    }

    /// Takes an acknowledgement or a timeout, while the path is not taken to be policed.
    pub(super) fn observe(&mut self, progress: &Progress) {
        if self.state == State::Waits {
            // What passed before the first loss were the bucket's tokens.
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
        if self.rounds < SHORTEST_INTERVAL {
            return;
        }
        if self.rounds > LONGEST_INTERVAL {
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
        let bandwidth = Bandwidth::of(delivered, Duration::from_millis(time));
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
