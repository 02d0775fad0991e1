//! Describes a link as rows of text, and lists the rows in which two links differ.

use crate::{Capacity, DirectionSpec, LinkSpec, Loss, Queue};
use lastmile_units::duration;

/// One row of a link's description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is about: `rate, down`.
    pub what: String,
    /// The value as text, with its unit.
    pub value: String,
}

/// A row in which two links differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is about: `rate, down`.
    pub what: String,
    /// The first link's value; empty where it has none.
    pub a: String,
    /// The second link's value; empty where it has none.
    pub b: String,
}

/// The full description of a link: the source of its figures, both directions, and what follows from them.
pub fn describe(link: &LinkSpec) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |what: &str, value: String| {
        let what = what.to_owned();
        rows.push(Row { what, value });
    };
    add("link", link.to_string());
    if let Some(profile) = link.profile() {
        add("set", profile.set_title.clone());
        add("source", profile.source.clone());
        add("certainty", profile.certainty.label().to_owned());
        add("K in the source", profile.k.to_string());
        for (what, text) in [("applied by the source", &profile.applied), ("note", &profile.note)] {
            if let Some(text) = text {
                add(what, text.clone());
            }
        }
    } else {
        add("source", "no profile: the user's own link".to_owned());
    }
    let round_trip = duration::print(link.round_trip());
    add("round trip", format!("{round_trip} without serialisation"));
    for (side, direction) in [("down", &link.down), ("up", &link.up)] {
        let overhead = direction.framing_overhead;
        for (what, value) in [
            ("rate", rate(direction)),
            ("framing overhead", format!("{overhead} per packet, serialised with it")),
            ("one-way delay", duration::print(direction.one_way_delay)),
            ("jitter", direction.jitter.to_string()),
            ("reordering", direction.reordering.to_string()),
            ("queue", queue(direction)),
            ("loss", loss(direction)),
        ] {
            add(&format!("{what}, {side}"), value);
        }
    }
    rows
}

/// The link in a line: `2 Mbit/s down and up, round trip 100 ms (50 ms down, 50 ms up), no loss`.
pub fn in_words(link: &LinkSpec) -> String {
    let both = |figure: fn(&DirectionSpec) -> String, unit: &str| match (figure(&link.down), figure(&link.up)) {
        (down, up) if down == up => format!("{down}{unit} down and up"),
        (down, up) => format!("{down}{unit} down, {up}{unit} up"),
    };
    let loss = if link.down.loss == Loss::NONE && link.up.loss == Loss::NONE {
        "no loss".to_owned()
    } else {
        both(loss, " loss")
    };
    let delay = |direction: &DirectionSpec| duration::print(direction.one_way_delay);
    format!(
        "{}, round trip {} ({} down, {} up), {loss}",
        both(rate, ""),
        duration::print(link.round_trip()),
        delay(&link.down),
        delay(&link.up)
    )
}

/// The rows in which two links differ: their figures, and the sources of those.
pub fn diff(a: &LinkSpec, b: &LinkSpec) -> Vec<Difference> {
    let (a, b) = (describe(a), describe(b));
    let value = |rows: &[Row], what: &str| {
        let row = rows.iter().find(|row| row.what == what);
        row.map_or_else(String::new, |row| row.value.clone())
    };
    // All rows of the first, then those that only the second has, in the order of description.
    let only_b = b.iter().filter(|row| !a.iter().any(|other| other.what == row.what));
    let all = a.iter().chain(only_b).map(|row| row.what.clone());
    all.map(|what| Difference {
        a: value(&a, &what),
        b: value(&b, &what),
        what,
    })
    .filter(|row| row.a != row.b)
    .collect()
}

fn rate(direction: &DirectionSpec) -> String {
    match &direction.capacity {
        Capacity::Unlimited => "unlimited".to_owned(),
        Capacity::Rate(rate) => rate.to_string(),
        Capacity::Trace(trace) => {
            let (opportunities, mean) = (trace.opportunities(), trace.rate_mean());
            format!(
                "trace {:?}: {opportunities} opportunities per period, mean rate {mean}",
                trace.name()
            )
        }
    }
}

fn queue(direction: &DirectionSpec) -> String {
    match (direction.queue, direction.queue_packets()) {
        (Queue::Auto, Some(packets)) => {
            format!(
                "{packets} packets besides the one in service (auto: no queue is stated, the length is our own choice)"
            )
        }
        (Queue::Auto, None) => "nothing queues at an unlimited rate".to_owned(),
        (queue @ Queue::Packets(_), _) => format!("{queue} besides the one in service"),
        (queue, _) => queue.to_string(),
    }
}

fn loss(direction: &DirectionSpec) -> String {
    let (loss, rate) = (direction.loss, direction.loss.rate());
    let burst = loss.burst_length_mean();
    match (loss, burst) {
        (Loss::Bernoulli(_), _) | (_, None) => loss.to_string(),
        (_, Some(burst)) => format!("{loss}: long-run rate {rate}, mean burst {burst:.2} frames"),
    }
}

#[cfg(test)]
mod tests;
