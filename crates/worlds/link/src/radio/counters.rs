//! What happened on a radio: the use of airtime, and each station's attempts, losses, queue and energy.

use super::depth_series::DepthSeries;
use super::phy::Rate;
use crate::Station;
use std::time::Duration;

/// The counters of a radio at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioCounters {
    /// The time since the beginning.
    pub elapsed: Duration,
    /// How much of it at least one station was sending.
    pub busy: Duration,
    /// How much of it two or more stations were sending at once.
    pub overlapped: Duration,
    /// The airtime of frames by their kind, preambles included; overlaps count for each frame.
    pub airtime: Airtime,
    /// The airtime of frames by their kind, while no other frame was on the air. With `overlapped` it adds up to `busy`.
    pub alone: Airtime,
    /// Of each station, in the order in which they were given.
    pub stations: Vec<StationCounters>,
}

/// The airtime of frames by their kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Airtime {
    /// Of data frames.
    pub data: Duration,
    /// Of ACKs.
    pub acks: Duration,
    /// Of RTS and CTS frames.
    pub reservations: Duration,
    /// Of beacons.
    pub beacons: Duration,
}

/// The counters of a station.
#[derive(Debug, Clone, PartialEq)]
pub struct StationCounters {
    /// The station.
    pub station: Station,
    /// How long it was sending.
    pub transmitting: Duration,
    /// How long it sensed others while it was not sending.
    pub receiving: Duration,
    /// The rest of the time.
    pub idle: Duration,
    /// The energy that its radio took, in joules.
    pub energy_joules: f64,
    /// What it did.
    pub frames: FrameCounters,
    /// Its data frames by rate, attempts counted; the lowest rate first.
    pub attempts_by_rate: Vec<(Rate, u64)>,
    /// The most packets that waited at once in its queue, besides the one in service.
    pub longest_queue: u64,
    /// The packets in its queue over time, besides the one in service.
    pub queue: DepthSeries,
}

/// The numbers of frames and packets of a station.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameCounters {
    /// Packets that were offered for it to send.
    pub packets_offered: u64,
    /// Those of them that their receivers have got.
    pub packets_delivered: u64,
    /// Those that found its queue full.
    pub dropped_by_full_queue: u64,
    /// Those that it gave up after its last attempt.
    pub dropped_by_retry_limit: u64,
    /// Data frames sent, retries included.
    pub data_sent: u64,
    /// RTS frames sent.
    pub rts_sent: u64,
    /// Data and RTS frames sent again.
    pub retries: u64,
    /// Data and RTS frames sent while another frame was on the air anywhere.
    pub collisions: u64,
    /// Attempts whose ACK or CTS did not come.
    pub timeouts: u64,
    /// Those of them whose data had been received: the ACK was lost.
    pub acks_lost: u64,
    /// ACKs sent.
    pub acks_sent: u64,
    /// Data frames received again, and not delivered again.
    pub duplicates: u64,
    /// Beacons sent.
    pub beacons_sent: u64,
    /// Beacons received.
    pub beacons_received: u64,
}

impl RadioCounters {
    /// The sum over all stations of a number.
    pub fn total(&self, of: impl Fn(&FrameCounters) -> u64) -> u64 {
        self.stations.iter().map(|station| of(&station.frames)).sum()
    }

    /// The counters of a station.
    pub fn station(&self, station: Station) -> Option<&StationCounters> {
        self.stations.iter().find(|counters| counters.station == station)
    }
}

impl StationCounters {
    /// The share of time in which it was sending, from 0 to 1.
    pub fn airtime_share(&self) -> f64 {
        let whole = self.transmitting + self.receiving + self.idle;
        if whole.is_zero() {
            0.0
        } else {
            self.transmitting.as_secs_f64() / whole.as_secs_f64()
        }
    }
}
