//! The description of a link in a record.

use lastmile_link::{LinkSpec, describe};
use lastmile_report::link_description::LinkDescription;

/// The description of a link in the record.
pub fn description(link: &LinkSpec) -> LinkDescription {
    let rate = |direction: &lastmile_link::DirectionSpec| match direction.capacity {
        lastmile_link::Capacity::Rate(rate) => Some(rate.bits_per_second() as f64),
        lastmile_link::Capacity::Unlimited | lastmile_link::Capacity::Trace(_) => None,
    };
    let queue = describe(link)
        .into_iter()
        .find(|row| row.what == "queue, down")
        .map(|row| row.value);
    LinkDescription {
        rate_down_bit_per_second: rate(&link.down),
        rate_up_bit_per_second: rate(&link.up),
        round_trip_s: link.round_trip().as_secs_f64(),
        loss: link.down.loss.rate().get(),
        queue: queue.unwrap_or_default(),
        source: link
            .profile()
            .map_or_else(|| "as requested".to_owned(), |profile| profile.source.clone()),
    }
}
