//! BBR's window: the target of the model, and its changes during recovery.

use super::bandwidth::{Bandwidth, Gain};
use super::{Bbr, HIGH_GAIN, Mode};
use crate::congestion::{AckSample, Phase};
use crate::pacing::segments_per_burst;
use lastmile_units::ByteCount;

/// The window's gain while probing for bandwidth: room for delayed acknowledgements.
const WINDOW_GAIN: Gain = Gain(2 * 256);
/// The smallest window: two pairs of segments, since every second segment is acknowledged.
pub(super) const WINDOW_MIN: u32 = 4;
/// The window before any round trip is known (RFC 6928).
const INITIAL_WINDOW: u32 = 10;
/// The largest burst that windows allow for, in segments.
const BURST_MAX: u32 = 127;

impl Bbr {
    /// The next window: grown by what was acknowledged, up to the model's target (`bbr_set_cwnd`).
    pub(super) fn next_window(&mut self, seen: &AckSample, window: u32) -> u32 {
        let mut next = window;
        if seen.acknowledged > 0 {
            let (recovered, conserves) = self.recover_or_restore(seen, window);
            next = recovered;
            if !conserves {
                next = self.towards_target(seen, recovered);
            }
        }
        if self.is_rate_limited_by_design() {
            next = next.min(WINDOW_MIN);
        }
        next
    }

    fn towards_target(&self, seen: &AckSample, window: u32) -> u32 {
        let bandwidth = self.bandwidth();
        let gain = match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBandwidth { .. } => WINDOW_GAIN,
            Mode::ProbeRoundTrip { .. } => Gain::ONE,
        };
        let aggregated = if self.full_pipe.reached {
            self.aggregation.allowance(bandwidth)
        } else {
            0
        };
        let target = self.with_bursts(self.product(bandwidth, gain) + aggregated);
        let grown = window + seen.acknowledged;
        let next = if self.full_pipe.reached {
            grown.min(target)
        } else if window < target || seen.delivered < u64::from(INITIAL_WINDOW) {
            grown
        } else {
            window
        };
        next.max(WINDOW_MIN)
    }

    /// Subtracts losses from the window. In the first round of a recovery only as much is sent as arrives; afterwards the
    /// window is restored. Returns the window, and whether it is final.
    fn recover_or_restore(&mut self, seen: &AckSample, window: u32) -> (u32, bool) {
        let mut window = window.saturating_sub(seen.lost).max(1);
        let arrived = seen.in_flight + seen.acknowledged;
        if seen.phase == Phase::Fast && self.phase != Phase::Fast {
            self.conserves_packets = true;
            self.round_ends = seen.delivered;
            window = arrived;
        } else if seen.phase == Phase::Open && self.phase != Phase::Open {
            window = window.max(self.window_before);
            self.conserves_packets = false;
        }
        self.phase = seen.phase;
        if self.conserves_packets {
            (window.max(arrived), true)
        } else {
            (window, false)
        }
    }

    pub(super) fn keep_window(&mut self, window: u32) {
        self.window_before = if self.phase == Phase::Open && !self.is_rate_limited_by_design() {
            window
        } else {
            self.window_before.max(window)
        };
    }

    /// bandwidth x least round trip x `gain`.
    fn product(&self, bandwidth: Bandwidth, gain: Gain) -> u32 {
        match self.round_trip {
            Some(round_trip) => bandwidth.product(round_trip, gain),
            None => INITIAL_WINDOW,
        }
    }

    pub(super) fn in_flight_at(&self, bandwidth: Bandwidth, gain: Gain) -> u32 {
        self.with_bursts(self.product(bandwidth, gain))
    }

    /// A window with room for the bursts that both ends hold, made even to spare delayed acknowledgements
    /// (`bbr_quantization_budget`).
    fn with_bursts(&self, window: u32) -> u32 {
        let even = (window + 3 * self.burst()).next_multiple_of(2);
        match self.mode {
            // A step up exceeds even a small product.
            Mode::ProbeBandwidth { step: 0, .. } => even + 2,
            _ => even,
        }
    }

    fn burst(&self) -> u32 {
        segments_per_burst(self.pacing_rate, ByteCount::new(0), self.segment_size).min(BURST_MAX)
    }

    /// How many of `in_flight` segments will be in the network when the next burst departs (`bbr_packets_in_net_at_edt`).
    pub(super) fn in_network(&self, seen: &AckSample, in_flight: u32) -> u32 {
        let until = seen.departs_at.saturating_since(seen.now);
        let delivered = self.bandwidth().packets_delivered_in(until);
        let burst = if self.pacing_gain > Gain::ONE { self.burst() } else { 0 };
        u64::from(in_flight + burst).saturating_sub(delivered) as u32
    }
}
