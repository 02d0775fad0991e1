//! What the slides leave open, and what our cells say about it.

use super::finding;
use crate::record_lookup::{cell, levels_of, mean};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Figure, Finding, Run};
use lastmile_statistics::quantile;

/// The published subscription test measures the sender: its time per event, and its falling trend.
pub(super) fn subscription(run: &Run) -> Option<Finding> {
    let (mut within, mut beyond) = (Vec::new(), Vec::new());
    let mut worst: f64 = 0.0;
    for link in levels_of(run, "push-channel", "link") {
        let of = |figure| {
            mean(
                run,
                "push-channel",
                &[("channel", "sensor-client"), ("link", link)],
                figure,
            )
        };
        let (received, submitted) = (of("subscription_time")?, of("application_time")?);
        let difference = (received / submitted - 1.0).abs();
        if difference < SAME {
            worst = worst.max(difference);
            within.push(link);
        } else {
            beyond.push(format!(
                "{link} ({} for {})",
                quantity(received, "s"),
                quantity(submitted, "s")
            ));
        }
    }
    if within.is_empty() {
        return None;
    }
    let across = [("channel", "application-sensor"), ("link", "10ms")];
    let slow_sender = mean(run, "push-channel", &across, "subscription_time")?;
    let fast_sender = [("channel", "sensor-client"), ("link", "10ms")];
    let fast_sender = mean(run, "push-channel", &fast_sender, "subscription_time")?;
    let text = format!(
        "The time to receive 1,000 events is that of submitting them, within {}, for the links {} to the client{}. The same 5 ms of delay before the sensor make it {}, and before the client {}: \
         each event waits for the acknowledgement of the one before. So the printed 26 ms an event are the sender's and say little of the channel to the client; its last runs (21.5 s) are the printed time to send (21.7 s), and the falling trend is that of the sender.",
        percent(worst),
        within.join(", "),
        if beyond.is_empty() {
            String::new()
        } else {
            format!("; a link that is slower than the sender decides: {}", beyond.join(", "))
        },
        quantity(slow_sender, "s"),
        quantity(fast_sender, "s"),
    );
    Some(finding("What the subscription test measures", text, true))
}

/// Times that differ by less are called the same: our own choice.
const SAME: f64 = 0.05;

/// Why sustained submission takes longer per event than delayed submission.
pub(super) fn sustained_and_delayed(run: &Run) -> Option<Finding> {
    const EVENTS: f64 = 200.0;
    let per_event = |part, hosts| Some(mean(run, part, &[("hosts", hosts)], "submission_time")? / EVENTS);
    let [shared_sustained, shared_delayed] = [
        per_event("put-off-sustained", "one")?,
        per_event("put-off-delayed", "one")?,
    ];
    let [own_sustained, own_delayed] = [
        per_event("put-off-sustained", "two")?,
        per_event("put-off-delayed", "two")?,
    ];
    let text = format!(
        "The slides print 24 ms an event for sustained submission (22 ms without creating it) and 18 ms for delayed submission, and do not say why. Where a sensor and a monitor need 2 ms each for an event, and the monitor's \
         come after the acknowledgement, sustained submission takes {} an event and delayed {} on one shared CPU ({} more), but {} and {} where each host has a CPU: pauses let work be done that else delays the next event.",
        quantity(shared_sustained, "s"),
        quantity(shared_delayed, "s"),
        percent(shared_sustained / shared_delayed - 1.0),
        quantity(own_sustained, "s"),
        quantity(own_delayed, "s"),
    );
    Some(finding("Why sustained submission takes longer per event", text, true))
}

/// What of a first query's time a connection explains, beside the printed first query and the median of its others.
pub(super) fn first_query(run: &Run) -> Option<Finding> {
    const PRINTED: (f64, f64) = (4.549, 0.203);
    let mut parts = Vec::new();
    let mut costliest = (f64::MIN, "");
    for link in levels_of(run, "first-query", "link") {
        let cell = cell(run, "first-query", &[("link", link), ("persistent", "on")])?;
        let [first, later] = first_and_later(cell.figures.get("query_time")?)?;
        if first - later > costliest.0 {
            costliest = (first - later, link);
        }
        parts.push(format!(
            "{} and a later one {} ({link})",
            quantity(first, "s"),
            quantity(later, "s")
        ));
    }
    if parts.is_empty() {
        return None;
    }
    let text = format!(
        "Over a connection that stays open, the first query takes {}; later ones by their median. Opening a connection and TCP's slow start cost most over {}: {}, of the {} by which the printed first query took longer than the median of the others. What remains is of the programs: classes that are loaded, code that is compiled, and data that was pulled from the sensor for the first time.",
        parts.join(", "),
        costliest.1,
        quantity(costliest.0, "s"),
        quantity(PRINTED.0 - PRINTED.1, "s"),
    );
    Some(finding("The first query", text, true))
}

/// The first query's time, and the median of the later ones: their mean would be that of one which was slow.
fn first_and_later(query_time: &Figure) -> Option<[f64; 2]> {
    match query_time.run_means.split_first() {
        Some((first, later)) => Some([*first, quantile(later, 0.5)?]),
        // Queries that are all alike have no means of their own in the record.
        None => query_time.first_against_rest,
    }
}

/// Whom durability costs something.
pub(super) fn durability(run: &Run) -> Option<Finding> {
    let mut parts = Vec::new();
    for sync in levels_of(run, "durability", "sync_time") {
        let of = |durability, figure| {
            mean(
                run,
                "durability",
                &[("durability", durability), ("sync_time", sync)],
                figure,
            )
        };
        parts.push(format!(
            "{} in place of {} where a sync takes {sync}, and {} of the rate",
            quantity(of("power", "delivery_time")?, "s"),
            quantity(of("memory", "delivery_time")?, "s"),
            percent(of("power", "event_rate")? / of("memory", "event_rate")?),
        ));
    }
    if parts.is_empty() {
        return None;
    }
    let text = format!(
        "Events are pushed after they are kept. Where that is to survive a power failure, 10,000 events at full speed take to a subscriber, on average, {}, compared with memory. Events that wait for a sync are kept together, so the rate does not fall by a sync per event.",
        parts.join("; "),
    );
    Some(finding("What durability costs", text, false))
}
