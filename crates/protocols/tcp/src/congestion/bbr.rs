//! BBR: sets rate and window by a model of the path, its bandwidth and its round trip with empty queues.
//!
//! `bandwidth` measures the bandwidth, `aggregation` the clumping of acknowledgements, `long_term_bandwidth` detects policing, and `window`
//! derives the window.

mod aggregation;
mod bandwidth;
mod long_term_bandwidth;
mod window;

use super::{AckSample, ConnectionStart, Phase};
use aggregation::Aggregation;
use bandwidth::{Bandwidth, Gain, Maximum};
use lastmile_units::{BitRate, ByteCount, Instant, Rng};
use long_term_bandwidth::{Policer, Progress};
use rand_core::Rng as _;
use std::time::Duration;
use window::WINDOW_MIN;

/// BBR version 1: Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: congestion-based congestion control", ACM Queue 14
/// (2016), and draft-cardwell-iccrg-bbr-congestion-control-00, as Linux's `tcp_bbr.c` has it: its roundings, its recovery by
/// packet conservation, its allowance for aggregation and its detection of policers. Windows are in segments.
///
/// Departure: time is not rounded to ticks of the kernel's clock.
#[derive(Debug)]
pub(super) struct Bbr {
    segment_size: ByteCount,
    chance: Rng,
    mode: Mode,
    pacing_gain: Gain,
    pacing_rate: BitRate,
    /// Whether the rate was set from a round trip, and not from a guess.
    has_round_trip: bool,

    bandwidth: Maximum,
    policer: Policer,
    aggregation: Aggregation,
    round: u64,
    /// A round ends when data arrives that was sent after this many segments had been delivered.
    round_ends: u64,
    round_began: bool,

    /// The least round trip of the last ten seconds, in whole microseconds, and when it was measured.
    round_trip: Option<Duration>,
    round_trip_seen: Instant,

    full_pipe: FullPipe,
    phase: Phase,
    conserves_packets: bool,
    /// The window to return to after recovery, or after probing for the round trip.
    window_before: u32,
    restarts_after_idle: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The rate doubles each round trip, until the bandwidth stops growing.
    Startup,
    /// Drains the queue that startup made.
    Drain,
    /// The rate cycles around the bandwidth, to find more of it.
    ProbeBandwidth { step: usize, since: Instant },
    /// The window is kept small, so that queues empty and the minimum round trip shows.
    ProbeRoundTrip { ends: Option<ProbeEnd> },
}

/// When a probe for the round trip ends: not before `at`, and not before a round has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProbeEnd {
    at: Instant,
    round_passed: bool,
}

/// Whether the bandwidth still grows in startup.
#[derive(Debug, Default)]
struct FullPipe {
    bandwidth: Bandwidth,
    rounds_without_growth: u32,
    reached: bool,
}

/// 2 / ln 2: the least gain by which the rate doubles each round trip (`bbr_high_gain`).
const HIGH_GAIN: Gain = Gain(256 * 2885 / 1000 + 1);
/// Its inverse, which drains in one round the queue of startup.
const DRAIN_GAIN: Gain = Gain(256 * 1000 / 2885);
/// One step up, one step down to drain its queue, and six at the bandwidth (`bbr_pacing_gain`).
const CYCLE: [Gain; 8] = {
    let mut cycle = [Gain::ONE; 8];
    (cycle[0], cycle[1]) = (Gain(256 * 5 / 4), Gain(256 * 3 / 4));
    cycle
};
/// The cycle begins at any step but the second.
const FIRST_STEPS: u64 = 7;
/// The number of rounds for which a bandwidth is remembered.
const BANDWIDTH_ROUNDS: u64 = 10;
/// How long a round trip is remembered.
const ROUND_TRIP_VALIDITY: Duration = Duration::from_secs(10);
const PROBE_ROUND_TRIP: Duration = Duration::from_millis(200);
/// The growth at which a bandwidth counts as larger, and the rounds without it after which the pipe is full.
const GROWTH: Gain = Gain(256 * 5 / 4);
const ROUNDS_WITHOUT_GROWTH: u32 = 3;
/// The round trip that a rate assumes before the first measurement.
const ROUND_TRIP_GUESS: Duration = Duration::from_millis(1);

impl Bbr {
    pub(super) fn new(beginning: &ConnectionStart, window: u32) -> Self {
        let ConnectionStart {
            now,
            segment_size,
            handshake,
            seed,
        } = *beginning;
        Self {
            segment_size,
            chance: seed.derive("bbr").rng(),
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            pacing_rate: initial_rate(window, handshake, segment_size),
            has_round_trip: handshake.is_some(),
            bandwidth: Maximum::default(),
            policer: Policer::new(now, segment_size),
            aggregation: Aggregation::new(now),
            round: 0,
            round_ends: 0,
            round_began: false,
            round_trip: handshake.map(in_microseconds),
            round_trip_seen: now,
            full_pipe: FullPipe::default(),
            phase: Phase::Open,
            conserves_packets: false,
            window_before: 0,
            restarts_after_idle: false,
        }
    }

    pub(super) const fn pacing_rate(&self) -> BitRate {
        self.pacing_rate
    }

    /// Whether rates are limited on purpose now, and say nothing about the path.
    pub(super) const fn is_rate_limited_by_design(&self) -> bool {
        matches!(self.mode, Mode::ProbeRoundTrip { .. })
    }

    /// Observes an acknowledgement; returns the window that follows `window`.
    pub(super) fn on_ack(&mut self, seen: &AckSample, window: u32) -> u32 {
        self.update_bandwidth(seen);
        if seen.rate.is_some() && seen.acknowledged > 0 {
            let (at, bandwidth) = (seen.delivered_at, self.bandwidth());
            self.aggregation
                .observe(at, seen.acknowledged, self.round_began, bandwidth, window);
        }
        self.update_cycle(seen);
        self.update_full_pipe(seen);
        self.update_drain(seen);
        let window = self.update_round_trip(seen, window);
        self.update_pacing(seen.smoothed_round_trip, window);
        self.next_window(seen, window)
    }

    /// The bandwidth of the path, as far as it is known.
    fn bandwidth(&self) -> Bandwidth {
        self.policer.rate().unwrap_or_else(|| self.bandwidth.get())
    }

    fn update_bandwidth(&mut self, seen: &AckSample) {
        self.round_began = false;
        self.policer.on_lost(seen.lost);
        let Some(rate) = seen.rate else { return };
        if rate.delivered_before >= self.round_ends {
            self.round_ends = seen.delivered;
            self.round += 1;
            self.round_began = true;
            self.conserves_packets = false;
        }
        self.watch_for_policer(seen, rate.program_limited);
        let bandwidth = Bandwidth::from_segments(rate.delivered, rate.interval);
        // A sample limited by the program says nothing about the path, unless it exceeds what was known.
        if !rate.program_limited || bandwidth >= self.bandwidth.get() {
            self.bandwidth.observe(BANDWIDTH_ROUNDS, self.round, bandwidth);
        }
    }

    fn watch_for_policer(&mut self, seen: &AckSample, program_limited: bool) {
        if self.policer.rate().is_none() {
            let progress = Progress {
                delivered_at: seen.delivered_at,
                delivered: seen.delivered,
                loses: seen.lost > 0,
                round_began: self.round_began,
                program_limited,
            };
            self.policer.observe(&progress);
        } else if matches!(self.mode, Mode::ProbeBandwidth { .. }) && self.round_began && self.policer.ends_with_round()
        {
            self.probe_bandwidth(seen.delivered_at);
        }
    }

    /// Moves to the next step of the cycle when this one has lasted a round trip, or has had its effect.
    fn update_cycle(&mut self, seen: &AckSample) {
        let Mode::ProbeBandwidth { step, since } = self.mode else {
            return;
        };
        let round_trip = self.round_trip.unwrap_or(Duration::MAX);
        let has_lasted = seen.delivered_at.saturating_since(since) > round_trip;
        let bandwidth = self.bandwidth.get();
        let is_over = match self.pacing_gain {
            Gain::ONE => has_lasted,
            gain if gain > Gain::ONE => {
                // A path with short queues may not hold as much as the probe sends.
                has_lasted
                    && (seen.lost > 0
                        || self.in_network(seen, seen.in_flight_before) >= self.in_flight_at(bandwidth, gain))
            }
            _ => has_lasted || self.in_network(seen, seen.in_flight_before) <= self.in_flight_at(bandwidth, Gain::ONE),
        };
        if is_over {
            self.mode = Mode::ProbeBandwidth {
                step: (step + 1) % CYCLE.len(),
                since: seen.delivered_at,
            };
        }
    }

    fn update_full_pipe(&mut self, seen: &AckSample) {
        let program_limited = seen.rate.is_none_or(|rate| rate.program_limited);
        if self.full_pipe.reached || !self.round_began || program_limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= self.full_pipe.bandwidth.times(GROWTH) {
            (self.full_pipe.bandwidth, self.full_pipe.rounds_without_growth) = (bandwidth, 0);
            return;
        }
        self.full_pipe.rounds_without_growth += 1;
        self.full_pipe.reached = self.full_pipe.rounds_without_growth >= ROUNDS_WITHOUT_GROWTH;
    }

    fn update_drain(&mut self, seen: &AckSample) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain
            && self.in_network(seen, seen.in_flight) <= self.in_flight_at(self.bandwidth.get(), Gain::ONE)
        {
            self.probe_bandwidth(seen.delivered_at);
        }
    }

    fn probe_bandwidth(&mut self, since: Instant) {
        let below = (u64::from(self.chance.next_u32()) * FIRST_STEPS) >> 32;
        let step = (CYCLE.len() - below as usize) % CYCLE.len();
        self.mode = Mode::ProbeBandwidth { step, since };
    }

    /// Tracks the least round trip, and probes for it where it was not seen for too long. Returns the window.
    fn update_round_trip(&mut self, seen: &AckSample, window: u32) -> u32 {
        let expired = seen.now.saturating_since(self.round_trip_seen) > ROUND_TRIP_VALIDITY;
        if let Some(sample) = seen.round_trip.map(in_microseconds)
            && (self.round_trip.is_none_or(|least| sample < least) || (expired && !seen.maybe_delayed))
        {
            (self.round_trip, self.round_trip_seen) = (Some(sample), seen.now);
        }
        if expired && !self.restarts_after_idle && !self.is_rate_limited_by_design() {
            self.keep_window(window);
            self.mode = Mode::ProbeRoundTrip { ends: None };
        }
        let mut window = window;
        if let Mode::ProbeRoundTrip { ends } = &mut self.mode {
            match ends {
                None if seen.in_flight <= WINDOW_MIN => {
                    *ends = Some(ProbeEnd {
                        at: seen.now + PROBE_ROUND_TRIP,
                        round_passed: false,
                    });
                    self.round_ends = seen.delivered;
                }
                None => {}
                Some(end) => {
                    end.round_passed |= self.round_began;
                    if end.round_passed {
                        window = self.end_probe_when_due(seen.now, seen.delivered_at, window);
                    }
                }
            }
        }
        if seen.acknowledged > 0 {
            self.restarts_after_idle = false;
        }
        window
    }

    fn end_probe_when_due(&mut self, now: Instant, delivered_at: Instant, window: u32) -> u32 {
        let Mode::ProbeRoundTrip { ends: Some(end) } = self.mode else {
            return window;
        };
        if end.at >= now {
            return window;
        }
        self.round_trip_seen = now;
        if self.full_pipe.reached {
            self.probe_bandwidth(delivered_at);
        } else {
            self.mode = Mode::Startup;
        }
        window.max(self.window_before)
    }

    fn update_pacing(&mut self, smoothed: Option<Duration>, window: u32) {
        self.pacing_gain = match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBandwidth { .. } if self.policer.rate().is_some() => Gain::ONE,
            Mode::ProbeBandwidth { step, .. } => CYCLE[step],
            Mode::ProbeRoundTrip { .. } => Gain::ONE,
        };
        if !self.has_round_trip && smoothed.is_some() {
            self.has_round_trip = true;
            self.pacing_rate = initial_rate(window, smoothed, self.segment_size);
        }
        self.pace(self.pacing_gain);
    }

    /// The rate never falls before the pipe is full.
    fn pace(&mut self, gain: Gain) {
        let rate = self.bandwidth().paced(gain, self.segment_size);
        if self.full_pipe.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// A loss was found while the window was `window`.
    pub(super) fn on_loss(&mut self, window: u32) {
        self.keep_window(window);
    }

    /// A timeout expired.
    pub(super) fn on_timeout(&mut self) {
        self.phase = Phase::Timeout;
        self.full_pipe.bandwidth = Bandwidth::ZERO;
    }

    /// The losses were spurious: detection of a full pipe and of a policer starts over (`bbr_undo_cwnd`).
    pub(super) const fn undo(&mut self) {
        (self.full_pipe.bandwidth, self.full_pipe.rounds_without_growth) = (Bandwidth::ZERO, 0);
        self.policer.reset();
    }

    /// `lost` losses were found without an arrival.
    pub(super) const fn on_losses_by_time(&mut self, lost: u32) {
        self.policer.on_lost(lost);
    }

    /// A timeout expired, when `delivered` segments had been delivered until `delivered_at`: for the policer detection, that
    /// ends a round.
    pub(super) fn on_round_by_timeout(&mut self, delivered: u64, delivered_at: Instant) {
        if self.policer.rate().is_none() {
            self.policer.observe(&Progress {
                delivered_at,
                delivered,
                loses: true,
                round_began: true,
                program_limited: false,
            });
        }
    }

    /// Sending restarts after the program had nothing to send: no more than the bandwidth is needed. Returns the window.
    pub(super) fn on_restart(&mut self, now: Instant, delivered_at: Instant, window: u32) -> u32 {
        self.restarts_after_idle = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBandwidth { .. } => self.pace(Gain::ONE),
            Mode::ProbeRoundTrip { .. } => return self.end_probe_when_due(now, delivered_at, window),
            Mode::Startup | Mode::Drain => {}
        }
        window
    }
}

/// The rate that startup's gain gives for one window per round trip.
fn initial_rate(window: u32, round_trip: Option<Duration>, segment_size: ByteCount) -> BitRate {
    let round_trip = round_trip.unwrap_or(ROUND_TRIP_GUESS);
    Bandwidth::from_segments(u64::from(window), round_trip).paced(HIGH_GAIN, segment_size)
}

fn in_microseconds(time: Duration) -> Duration {
    Duration::from_micros(time.as_micros() as u64)
}

#[cfg(test)]
mod tests;
