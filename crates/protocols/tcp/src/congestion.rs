//! The congestion window, and the algorithms that move it and set a pacing rate.
//!
//! Algorithms are of two kinds. One grows the window until a loss ([`Algorithm`]); during recovery [`super::recovery`] sets the
//! window, and nothing is paced. The other models the path ([`Bbr`]), controls the window alone and sets a pacing rate. Windows
//! are counted in segments, as in Linux.

mod bbr;
mod cubic;
mod hystart;
mod reno;

use super::config::{Config, CongestionControl};
use super::delivery_rate::RateSample;
use bbr::Bbr;
use cubic::Cubic;
use lastmile_units::{BitRate, ByteCount, Instant, Seed};
use reno::Reno;
use std::time::Duration;

/// The round trip of the segment acknowledged last.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundTripSample {
    pub(super) now: Instant,
    pub(super) took: Duration,
    /// Everything before this offset has arrived.
    pub(super) up_to: u64,
    /// The next offset to be sent.
    pub(super) next: u64,
}

/// An acknowledgement, as reported to an algorithm that models the path. Counts are in segments.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckSample {
    pub(super) now: Instant,
    /// Segments newly known to have arrived, and newly thought lost.
    pub(super) acknowledged: u32,
    pub(super) lost: u32,
    /// The round trip of the segment acknowledged last, where it is known.
    pub(super) round_trip: Option<Duration>,
    pub(super) smoothed_round_trip: Option<Duration>,
    /// Whether the acknowledgement may have waited for a second segment that never came.
    pub(super) maybe_delayed: bool,
    pub(super) rate: Option<RateSample>,
    /// Segments delivered so far, and when the last of them was.
    pub(super) delivered: u64,
    pub(super) delivered_at: Instant,
    /// Segments in flight before this acknowledgement, and now.
    pub(super) in_flight_before: u32,
    pub(super) in_flight: u32,
    /// When the next burst may leave.
    pub(super) departs_at: Instant,
    pub(super) phase: Phase,
}

/// The reason for recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing.
    Open,
    /// Losses that arrivals showed.
    Fast,
    /// A timeout.
    Timeout,
}

/// The state of a connection when its congestion control begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionStart {
    pub(super) now: Instant,
    /// Payload of a full segment.
    pub(super) segment_size: ByteCount,
    /// The round trip of the handshake, where it is known.
    pub(super) handshake: Option<Duration>,
    /// Specific to this connection.
    pub(super) seed: Seed,
}

/// Grows a window after slow start, and shrinks it on a loss. Windows are in segments.
pub(super) trait Algorithm: std::fmt::Debug {
    /// The window after an acknowledgement of `segments` in congestion avoidance.
    fn avoid(&mut self, now: Instant, segments: u32, window: u32) -> u32;
    /// The slow start threshold after a loss; the algorithm starts a new epoch.
    fn threshold_after_loss(&mut self, window: u32) -> u32;
    /// Observes a round trip; returns true where slow start should end now.
    fn on_round_trip(&mut self, _sample: &RoundTripSample, _window: u32, _in_slow_start: bool) -> bool {
        false
    }
    /// A timeout expired: resets what was learnt.
    fn on_timeout(&mut self) {}
    /// The sender was idle for that long, which must not count as time to grow.
    fn on_idle(&mut self, _idle: Duration) {}
}

/// The congestion window.
#[derive(Debug)]
pub(super) struct Congestion {
    window: u32,
    threshold: u32,
    initial: u32,
    control: Control,
}

/// What controls the window.
#[derive(Debug)]
enum Control {
    LossBased(Box<dyn Algorithm>),
    ModelBased(Box<Bbr>),
}

/// The minimum number of segments to which a loss cuts the window (RFC 5681 section 3.1).
pub(super) const THRESHOLD_MIN: u32 = 2;

impl Congestion {
    pub(super) fn new(config: &Config, beginning: &ConnectionStart) -> Self {
        let control = match config.congestion_control {
            CongestionControl::Cubic => Control::LossBased(Box::new(Cubic::default())),
            CongestionControl::Reno => Control::LossBased(Box::new(Reno::default())),
            CongestionControl::Bbr => Control::ModelBased(Box::new(Bbr::new(beginning, config.initial_window))),
        };
        Self {
            window: config.initial_window,
            threshold: u32::MAX,
            initial: config.initial_window,
            control,
        }
    }

    /// The rate at which payload may leave; none without pacing.
    pub(super) const fn pacing_rate(&self) -> Option<BitRate> {
        match &self.control {
            Control::LossBased(_) => None,
            Control::ModelBased(bbr) => Some(bbr.pacing_rate()),
        }
    }

    pub(super) const fn window(&self) -> u32 {
        self.window
    }

    pub(super) const fn slow_start_threshold(&self) -> u32 {
        self.threshold
    }

    pub(super) const fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Observes the round trip of what was acknowledged last.
    pub(super) fn on_round_trip(&mut self, sample: &RoundTripSample) {
        let in_slow_start = self.in_slow_start();
        if let Control::LossBased(algorithm) = &mut self.control
            && algorithm.on_round_trip(sample, self.window, in_slow_start)
        {
            self.threshold = self.window;
        }
    }

    /// Grows the window for an acknowledgement of `segments` outside recovery, while the window limits the sender.
    pub(super) fn on_ack(&mut self, now: Instant, mut segments: u32) {
        let Control::LossBased(algorithm) = &mut self.control else {
            return;
        };
        if self.window < self.threshold {
            // One segment per segment, up to the threshold; avoidance gets the rest.
            let grown = self.window.saturating_add(segments).min(self.threshold);
            segments -= grown - self.window;
            self.window = grown;
        }
        if segments > 0 {
            self.window = algorithm.avoid(now, segments, self.window);
        }
    }

    /// Reports any acknowledgement to an algorithm that models the path. True where rates measured from now on are limited on
    /// purpose.
    pub(super) fn on_observed(&mut self, seen: &AckSample) -> bool {
        let Control::ModelBased(bbr) = &mut self.control else {
            return false;
        };
        self.window = bbr.on_ack(seen, self.window);
        bbr.is_rate_limited_by_design()
    }

    /// A loss was found: sets the threshold. Recovery reduces the window itself.
    pub(super) fn on_loss(&mut self) {
        match &mut self.control {
            Control::LossBased(algorithm) => self.threshold = algorithm.threshold_after_loss(self.window),
            Control::ModelBased(bbr) => bbr.on_loss(self.window),
        }
    }

    /// A timeout expired while `outstanding` segments are still thought to be in flight.
    pub(super) fn on_timeout(&mut self, outstanding: u32) {
        match &mut self.control {
            Control::LossBased(algorithm) => algorithm.on_timeout(),
            Control::ModelBased(bbr) => bbr.on_timeout(),
        }
        self.window = outstanding + 1;
    }

    /// `lost` segments were found lost without an arrival.
    pub(super) const fn on_losses_by_time(&mut self, lost: u32) {
        if let Control::ModelBased(bbr) = &mut self.control {
            bbr.on_losses_by_time(lost);
        }
    }

    /// After [`Congestion::on_timeout`], once its losses are reported: `delivered` segments had arrived until `delivered_at`.
    pub(super) fn on_round_by_timeout(&mut self, delivered: u64, delivered_at: Instant) {
        if let Control::ModelBased(bbr) = &mut self.control {
            bbr.on_round_by_timeout(delivered, delivered_at);
        }
    }

    /// The threshold to return to after a cut: at least three quarters of the window that was in use (RFC 2861 section 3.2,
    /// Linux's `tcp_current_ssthresh`).
    pub(super) fn threshold_remembered(&self) -> u32 {
        self.threshold.max(self.window - self.window / 4)
    }

    /// A cut turns out to have been unnecessary. An algorithm that models the path restores the window by itself.
    pub(super) fn undo(&mut self, window: u32, threshold: u32) {
        match &mut self.control {
            Control::LossBased(_) => {
                self.window = self.window.max(window);
                self.threshold = self.threshold.max(threshold);
            }
            Control::ModelBased(bbr) => bbr.undo(),
        }
    }

    /// Recovery sets this window. An algorithm that models the path ignores it.
    pub(super) const fn set_window(&mut self, window: u32) {
        if let Control::LossBased(_) = self.control {
            self.window = window;
        }
    }

    /// Sending begins, with nothing in flight, after the program had nothing to send.
    pub(super) fn on_restart(&mut self, now: Instant, delivered_at: Instant) {
        if let Control::ModelBased(bbr) = &mut self.control {
            self.window = bbr.on_restart(now, delivered_at, self.window);
        }
    }

    /// Nothing was sent for `idle`: halves the window for every timeout that passed, down to the initial window (RFC 5681
    /// section 4.1, RFC 2861; Linux's `tcp_slow_start_after_idle`).
    pub(super) fn on_idle(&mut self, idle: Duration, timeout: Duration) {
        // A pacing rate serves the purpose of the smaller window (Linux's `tcp_slow_start_after_idle_check`).
        let Control::LossBased(algorithm) = &mut self.control else {
            return;
        };
        algorithm.on_idle(idle);
        if idle <= timeout {
            return;
        }
        self.threshold = self.threshold_remembered();
        let restart = self.initial.min(self.window);
        let halvings = ((idle.as_nanos() - 1) / timeout.as_nanos().max(1)).min(31) as u32;
        self.window = (self.window >> halvings).max(restart);
    }

    /// At most `used` segments were outstanding during one timeout: the window is reduced half way to that, or to the initial
    /// window (RFC 2861 section 3.1; Linux's `tcp_cwnd_application_limited`).
    pub(super) fn on_unused(&mut self, used: u32) {
        let used = used.max(self.initial);
        if matches!(self.control, Control::LossBased(_)) && used < self.window {
            self.threshold = self.threshold_remembered();
            self.window = self.window.midpoint(used);
        }
    }
}
