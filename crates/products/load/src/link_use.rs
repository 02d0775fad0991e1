//! What a run used of its link, by the link's own counters before and after it.

use crate::record::{DirectionUse, LinkUse};
use lastmile_link::{Counters, DirectionSpec, LinkSpec};
use std::time::Duration;

/// The use of a link over `time`, from its counters (down, up) at the beginning and at the end; none of a link that is none.
pub fn link_use(
    link: &LinkSpec,
    before: &(Counters, Counters),
    after: &(Counters, Counters),
    time: Duration,
) -> Option<LinkUse> {
    let is_ideal = link.down == DirectionSpec::IDEAL && link.up == DirectionSpec::IDEAL;
    (!is_ideal).then(|| LinkUse {
        down: direction_use(&link.down, &before.0, &after.0, time),
        up: direction_use(&link.up, &before.1, &after.1, time),
    })
}

fn direction_use(direction: &DirectionSpec, before: &Counters, after: &Counters, time: Duration) -> DirectionUse {
    let delivered = after.delivered - before.delivered;
    let lost = after.dropped_by_random_loss - before.dropped_by_random_loss;
    let bytes =
        after.bytes_delivered.get() - before.bytes_delivered.get() + delivered * direction.framing_overhead.get();
    // A frame that the wire lost was sent: it counts as a mean one.
    let sent_bits = 8.0 * bytes as f64 * (delivered + lost) as f64 / delivered.max(1) as f64;
    let rate = direction.rate_mean().map(|rate| rate.bits_per_second() as f64);
    let queue_drops =
        |counters: &Counters| counters.dropped_by_full_queue + counters.dropped_by_active_queue_management;
    DirectionUse {
        rate_bit_per_s: rate,
        utilisation: rate
            .filter(|_| !time.is_zero())
            .map(|rate| sent_bits / (rate * time.as_secs_f64())),
        dropped_by_queue: queue_drops(after) - queue_drops(before),
        lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_link::Capacity;
    use lastmile_units::{BitRate, ByteCount};

    #[test]
    fn utilisation_counts_framing_and_what_was_lost() {
        let direction = DirectionSpec {
            capacity: Capacity::Rate(BitRate::new(100_000).unwrap()),
            framing_overhead: ByteCount::new(50),
            ..DirectionSpec::IDEAL
        };
        let before = Counters {
            delivered: 5,
            bytes_delivered: ByteCount::new(100),
            dropped_by_full_queue: 1,
            ..Counters::default()
        };
        let after = Counters {
            delivered: 13,
            bytes_delivered: ByteCount::new(7_700),
            dropped_by_full_queue: 4,
            dropped_by_random_loss: 2,
            ..Counters::default()
        };
        // 8 frames of 1,000 bytes and 2 lost ones are 80,000 bits.
        let found = direction_use(&direction, &before, &after, Duration::from_secs(1));
        assert!((found.utilisation.unwrap() - 0.8).abs() < 1e-12, "{found:?}");
        assert_eq!((found.dropped_by_queue, found.lost), (3, 2));
    }
}
