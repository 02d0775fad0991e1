//! The experiments that the slides plan, and slow links.

use super::finding;
use crate::record_lookup::{levels_of, mean};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Finding, Run};

/// The loss of performance that counts as acceptable: our own choice, as the slides name none.
const ACCEPTABLE: f64 = 0.05;

/// How many events an application can mix with its work.
pub(super) fn work_ratio(run: &Run) -> Option<Finding> {
    let mut parts = Vec::new();
    for link in levels_of(run, "work-ratio", "link") {
        for call in levels_of(run, "work-ratio", "call") {
            let slowdown = |ratio| {
                mean(
                    run,
                    "work-ratio",
                    &[("link", link), ("call", call), ("event_ratio", ratio)],
                    "slowdown_ratio",
                )
            };
            let ratios = levels_of(run, "work-ratio", "event_ratio");
            let acceptable = ratios
                .into_iter()
                .rfind(|ratio| slowdown(ratio).is_some_and(|loss| loss <= ACCEPTABLE));
            let wait = if call == "two-way" {
                "waiting for each"
            } else {
                "without waiting"
            };
            parts.push(match acceptable {
                Some(ratio) => format!(
                    "{wait}, link {link}: {ratio} of the steps ({} slower)",
                    percent(slowdown(ratio)?)
                ),
                None => format!("{wait}, link {link}: not even 1 %"),
            });
        }
    }
    if parts.is_empty() {
        return None;
    }
    let text = format!(
        "The slides ask for an acceptable loss of performance and name none; with {} the greatest share of events among steps of 1 ms is, {}.",
        percent(ACCEPTABLE),
        parts.join("; "),
    );
    Some(finding("Events mixed with work", text, true))
}

/// What many clients, sensors and applications do to each other.
pub(super) fn scale(run: &Run) -> Option<Finding> {
    let delay = |clients| {
        mean(
            run,
            "subscribers",
            &[("clients", clients), ("link", "none")],
            "delivery_time",
        )
    };
    let query = |clients| mean(run, "queriers", &[("clients", clients)], "query_time");
    let rate = |part, factor, number| mean(run, part, &[("call", "two-way"), (factor, number)], "event_rate");
    let text = format!(
        "From 1 to 100 subscribers, the mean delay of an event goes from {} to {}; from 1 to 100 clients that query 1,000 events at once, a query's from {} to {}. Applications that wait for each acknowledgement submit {} events per second through 100 sensors and {} through one; 100 applications of one sensor {}: as many as the stated CPU times allow.",
        quantity(delay("1")?, "s"),
        quantity(delay("100")?, "s"),
        quantity(query("1")?, "s"),
        quantity(query("100")?, "s"),
        quantity(rate("sensors", "sensors", "100")?, ""),
        quantity(rate("sensors", "sensors", "1")?, ""),
        quantity(rate("applications", "applications", "100")?, ""),
    );
    Some(finding("Many clients, sensors and applications", text, false))
}

/// Delays behind slow links, and what compression does to them.
pub(super) fn slow_links(run: &Run) -> Option<Finding> {
    let of = |link, codec, figure| {
        let levels = [("channel", "sensor-client"), ("link", link), ("codec", codec)];
        mean(run, "links", &levels, figure)
    };
    let mut parts = Vec::new();
    for link in ["56k", "9.6k"] {
        let (plain, compressed) = (
            of(link, "identity", "delivery_time")?,
            of(link, "zstd:1", "delivery_time")?,
        );
        let bytes = of(link, "zstd:1", "link_bytes_down")? / of(link, "identity", "link_bytes_down")?;
        parts.push(format!(
            "{link}: {}, compressed {} ({} of the bytes)",
            quantity(plain, "s"),
            quantity(compressed, "s"),
            percent(bytes)
        ));
    }
    let text = format!(
        "10 events per second take to a subscriber, on average, behind {}. Every event arrives: a slow link costs time, and no event.",
        parts.join("; ")
    );
    Some(finding("Slow links to a client", text, false))
}

/// What is lost, and whether all of it is accounted for.
pub(super) fn losses(run: &Run) -> Option<Finding> {
    let of = |policy, figure| {
        mean(
            run,
            "losses",
            &[("full_buffer", policy), ("event_buffer", "100")],
            figure,
        )
    };
    let unexplained: f64 = run
        .cells
        .iter()
        .filter_map(|cell| Some(cell.figures.get("losses_unexplained")?.mean))
        .sum();
    let text = format!(
        "Where 1,000 events per second do not fit the link, a buffer of 100 that drops loses {} of 10,000 events and the application takes {}; one that blocks loses {} and makes it take {}. \
         In all {} cells together {} lost events have no loss event that says where and why.",
        quantity(of("drop", "events_lost")?, ""),
        quantity(of("drop", "application_time")?, "s"),
        quantity(of("block", "events_lost")?, ""),
        quantity(of("block", "application_time")?, "s"),
        run.cells.len(),
        unexplained,
    );
    Some(finding("Losses add up", text, false))
}
