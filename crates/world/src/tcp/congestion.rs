//! How many segments may be outstanding? The window, and the algorithms that move it while nothing is being recovered.
//!
//! Windows are counted in segments, as Linux counts them. What happens during recovery is [`super::recovery`]'s.

mod cubic;
mod hystart;
mod reno;

use super::config::{Config, CongestionControl};
use cubic::Cubic;
use lastmile_units::Instant;
use reno::Reno;
use std::time::Duration;

/// What an algorithm is told of an acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acknowledged {
    pub(super) now: Instant,
    /// Segments newly known to have arrived.
    pub(super) segments: u32,
    /// The sample this acknowledgement gave, where it gave one.
    pub(super) round_trip: Option<Duration>,
    /// Everything before this offset has arrived.
    pub(super) up_to: u64,
    /// The next offset to be sent.
    pub(super) next: u64,
    /// Whether the window, and not the program, held the sender back.
    pub(super) window_limited: bool,
}

/// How a window grows past slow start, and shrinks on a loss. Windows are in segments.
pub(super) trait Algorithm: std::fmt::Debug {
    /// The window after an acknowledgement in congestion avoidance.
    fn avoid(&mut self, ack: &Acknowledged, segments: u32, window: u32) -> u32;
    /// The slow start threshold after a loss; the algorithm starts a new epoch.
    fn threshold_after_loss(&mut self, window: u32) -> u32;
    /// Watches an acknowledgement during slow start; true where it should end now.
    fn leaves_slow_start(&mut self, _ack: &Acknowledged, _window: u32) -> bool {
        false
    }
    /// A timeout ran out: what was learnt is void.
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
    algorithm: Box<dyn Algorithm>,
}

/// No window is cut below this many segments by a loss (RFC 5681 section 3.1).
pub(super) const MINIMUM_THRESHOLD: u32 = 2;

impl Congestion {
    pub(super) fn new(config: &Config) -> Self {
        let algorithm: Box<dyn Algorithm> = match config.congestion_control {
            CongestionControl::Cubic => Box::new(Cubic::new()),
            CongestionControl::Reno => Box::new(Reno::new()),
        };
        Self {
            window: config.initial_window,
            threshold: u32::MAX,
            initial: config.initial_window,
            algorithm,
        }
    }

    pub(super) const fn window(&self) -> u32 {
        self.window
    }

    pub(super) const fn threshold(&self) -> u32 {
        self.threshold
    }

    pub(super) const fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Grows the window for an acknowledgement that arrived while nothing is being recovered.
    pub(super) fn on_ack(&mut self, ack: &Acknowledged) {
        if self.in_slow_start() && self.algorithm.leaves_slow_start(ack, self.window) {
            self.threshold = self.window;
        }
        if !ack.window_limited {
            return;
        }
        let mut segments = ack.segments;
        if self.in_slow_start() {
            segments = self.slow_start(segments);
        }
        if segments > 0 {
            self.window = self.algorithm.avoid(ack, segments, self.window);
        }
    }

    /// Grows by one segment a segment, up to the threshold; returns the segments that are left for avoidance.
    pub(super) fn slow_start(&mut self, segments: u32) -> u32 {
        let grown = self
            .window
            .saturating_add(segments)
            .min(self.threshold.max(self.window));
        let used = grown - self.window;
        self.window = grown;
        segments - used
    }

    /// A loss was found: sets the threshold. The window itself is brought down by recovery.
    pub(super) fn on_loss(&mut self) {
        self.threshold = self.algorithm.threshold_after_loss(self.window);
    }

    /// A timeout ran out while `outstanding` segments are still thought to be under way.
    pub(super) fn on_timeout(&mut self, outstanding: u32) {
        self.algorithm.on_timeout();
        self.window = outstanding + 1;
    }

    pub(super) const fn set_window(&mut self, window: u32) {
        self.window = window;
    }

    /// Nothing was sent for `idle`: halves the window for every timeout that passed, down to the initial window (RFC 5681
    /// section 4.1, RFC 2861; Linux's `tcp_slow_start_after_idle`).
    pub(super) fn on_idle(&mut self, idle: Duration, timeout: Duration) {
        self.algorithm.on_idle(idle);
        if idle < timeout {
            return;
        }
        // RFC 2861 section 3.2: the threshold remembers three quarters of the window that was in use.
        self.threshold = self.threshold.max(self.window - self.window / 4);
        let restart = self.initial.min(self.window);
        let halvings = (idle.as_nanos() / timeout.as_nanos().max(1)).min(31) as u32;
        self.window = (self.window >> halvings).max(restart);
    }
}
