//! What happened on the radio of a load, up to a moment.

use super::plan::RADIO;
use lastmile_lab::testbed::{Testbed, TestbedWorld};
use lastmile_link::radio::StationCounters;
use std::time::Duration;

/// Counters of the radio; the difference of two belongs to a span of time.
pub(super) struct RadioUse {
    /// How long at least one station was sending.
    pub(super) busy: Duration,
    /// Packets that found the queue of a client full.
    pub(super) client_drops: u64,
    /// Packets that found the queue of the server full.
    pub(super) server_drops: u64,
    /// Frames that were sent again.
    pub(super) retries: u64,
}

impl RadioUse {
    /// The use so far.
    pub(super) fn of<W: TestbedWorld>(testbed: &Testbed<W>) -> Self {
        let counters = testbed.world.radio_counters(testbed.radio(RADIO));
        let drops = |station: &StationCounters| station.frames.dropped_by_full_queue;
        // The server is the first station.
        let (server, clients) = counters.stations.split_at(1);
        Self {
            busy: counters.busy,
            client_drops: clients.iter().map(drops).sum(),
            server_drops: server.iter().map(drops).sum(),
            retries: counters.total(|frames| frames.retries),
        }
    }

    /// The use since an earlier moment.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            busy: self.busy - earlier.busy,
            client_drops: self.client_drops - earlier.client_drops,
            server_drops: self.server_drops - earlier.server_drops,
            retries: self.retries - earlier.retries,
        }
    }
}
