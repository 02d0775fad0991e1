//! What happened on the radio of a load: its use up to a moment, and over time.

use super::plan::RADIO;
use lastmile_link::radio::{DepthSeries, StationCounters};
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::Observation;
use lastmile_testbed::testbed::{Testbed, TestbedWorld};
use lastmile_units::Instant;
use std::ops::Range;
use std::time::Duration;

/// Counters of the radio; the difference of two belongs to a span of time.
pub(super) struct RadioUse {
    /// How long at least one station was sending.
    busy: Duration,
    /// How long frames of each kind were alone on the air, and how long several frames were on it.
    shares: [(&'static Figure, Duration); 5],
    client_drops: u64,
    server_drops: u64,
    retries: u64,
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
            shares: [
                (figure::DATA_AIRTIME_SHARE, counters.alone.data),
                (figure::ACK_AIRTIME_SHARE, counters.alone.acks),
                (figure::RESERVATION_AIRTIME_SHARE, counters.alone.reservations),
                (figure::BEACON_AIRTIME_SHARE, counters.alone.beacons),
                (figure::COLLISION_AIRTIME_SHARE, counters.overlapped),
            ],
            client_drops: clients.iter().map(drops).sum(),
            server_drops: server.iter().map(drops).sum(),
            retries: counters.total(|frames| frames.retries),
        }
    }

    /// The figures of the use since an earlier moment, which is `time` ago.
    pub(super) fn observe_since(&self, earlier: &Self, time: Duration, observation: &mut Observation) {
        let share = |now: Duration, before: Duration| (now - before).as_secs_f64() / time.as_secs_f64();
        observation.sample(
            figure::CLIENT_QUEUE_DROPS,
            (self.client_drops - earlier.client_drops) as f64,
        );
        observation.sample(
            figure::SERVER_QUEUE_DROPS,
            (self.server_drops - earlier.server_drops) as f64,
        );
        observation.sample(figure::MAC_RETRIES, (self.retries - earlier.retries) as f64);
        let busy = share(self.busy, earlier.busy);
        observation.sample(figure::AIRTIME_SHARE, busy);
        for ((figure, now), (_, before)) in self.shares.iter().zip(&earlier.shares) {
            observation.sample(figure, share(*now, *before));
        }
        observation.sample(figure::IDLE_AIRTIME_SHARE, 1.0 - busy);
    }

    /// The share of airtime in use in each step of length `step`, from the use at the beginning of each and at the end.
    pub(super) fn airtime_shares(uses: &[Self], step: Duration) -> Vec<f64> {
        let share = |pair: &[Self]| (pair[1].busy - pair[0].busy).as_secs_f64() / step.as_secs_f64();
        uses.windows(2).map(share).collect()
    }
}

/// The packets that waited in the queues of the clients together and of the server over `span`, as figures, and as timelines where they are wanted.
pub(super) fn observe_queues<W: TestbedWorld>(
    testbed: &Testbed<W>,
    span: &Range<Instant>,
    with_timelines: bool,
    observation: &mut Observation,
) {
    let counters = testbed.world.radio_counters(testbed.radio(RADIO));
    let (server, clients) = counters.stations.split_at(1);
    for (figure, stations) in [(figure::SERVER_QUEUE, server), (figure::CLIENT_QUEUE, clients)] {
        let (step, depths) = depths(stations, span);
        if depths.is_empty() {
            continue;
        }
        observation.sample(figure, depths.iter().sum::<f64>() / depths.len() as f64);
        if with_timelines {
            observation.timeline(figure, step, &depths);
        }
    }
}

/// The packets in the queues of all these stations, in each part of `span`, and the length of a part.
fn depths(stations: &[StationCounters], span: &Range<Instant>) -> (Duration, Vec<f64>) {
    let step = stations.iter().map(|station| station.queue.sample_duration()).max();
    let step = step.unwrap_or_default().max(Duration::from_nanos(1));
    let parts = span.end.saturating_since(span.start).as_nanos() / step.as_nanos();
    let mut sums = vec![0.0; usize::try_from(parts).unwrap_or(0)];
    for station in stations {
        add_depths(&station.queue, span.start, step, &mut sums);
    }
    (step, sums)
}

/// Adds the mean depths of a queue. A series may have finer parts than others: they count for the part that they lie in.
fn add_depths(queue: &DepthSeries, start: Instant, step: Duration, sums: &mut [f64]) {
    let weight = queue.sample_duration().as_secs_f64() / step.as_secs_f64();
    let samples = queue.samples().filter(|sample| sample.start >= start);
    for sample in samples {
        let part = sample.start.saturating_since(start).as_nanos() / step.as_nanos();
        if let Some(sum) = usize::try_from(part).ok().and_then(|part| sums.get_mut(part)) {
            *sum += sample.mean * weight;
        }
    }
}
