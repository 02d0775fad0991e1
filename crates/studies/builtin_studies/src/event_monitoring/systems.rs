//! Other systems beside ours: the original channels, and brokers.

use super::printed_rows;
use crate::record_lookup::{cell, levels_of, mean};
use lastmile_report::number::quantity;
use lastmile_report::record::Run;

/// What people call the peers.
const NAMES: [(&str, &str); 6] = [
    ("lastmile", "ours"),
    ("java-events", "Java RMI"),
    ("ice-events", "Ice"),
    ("nats-events", "NATS JetStream"),
    ("redis-events", "Redis"),
    ("mosquitto-events", "mosquitto"),
];

/// What people call a peer.
pub(super) fn name(peer: &str) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == peer).map(|(_, name)| *name)
}

/// A figure of each system in a part, divided by `events`: "ours 0.4 ms, Java RMI 0.2 ms". Those whose cells are invalid are named, and have no
/// figure; none where fewer than two have one.
fn each(run: &Run, part: &str, levels: &[(&str, &str)], figure: &str, unit: &str, events: f64) -> Option<String> {
    let (mut values, mut invalid) = (Vec::new(), Vec::new());
    for (server, name) in NAMES {
        let mut levels = levels.to_vec();
        levels.push(("server", server));
        match mean(run, part, &levels, figure) {
            Some(mean) => values.push(format!("{name} {}", quantity(mean / events, unit))),
            None if levels_of(run, part, "server").contains(&server) => invalid.push(name),
            None => {}
        }
    }
    let mut text = values.join(", ");
    if !invalid.is_empty() {
        text += &format!(" (not {}, whose figures were invalid)", invalid.join(", "));
    }
    (values.len() > 1).then_some(text)
}

/// What it takes to submit an event.
pub(super) fn submission(run: &Run) -> Option<String> {
    const NEAR: f64 = 1000.0;
    const FAR: f64 = 10.0;
    let test = [("test", "sustained")];
    let near = each(run, "systems", &test, "submission_time", "s", NEAR);
    let kept = each(run, "systems-kept", &test, "submission_time", "s", NEAR);
    let far = each(run, "systems-slow-submission", &test, "submission_time", "s", FAR);
    let parts = [
        near.map(|near| {
            format!(
                "Over no link: {near}; the slides print 24 ms, by Java RMI on a machine of their time. Ours is acknowledged once it is on the sensor's disk, all others are kept in memory."
            )
        }),
        kept.map(|kept| format!("Where events survive the end of the server: {kept}.")),
        far.map(|far| {
            format!("Behind a link of 256 kbit/s and a round trip of 100 ms: {far}. Each waits for one round trip, so the link decides, and not the system.")
        }),
    ];
    sentences(
        "Creating an event, sending it and waiting for its acknowledgement.",
        parts,
    )
}

/// What it takes an event to its subscriber.
pub(super) fn delivery(run: &Run) -> Option<String> {
    const FAR: f64 = 40.0;
    let test = [("test", "subscription")];
    let near = each(run, "systems", &test, "delivery_time", "s", 1.0);
    let far = each(run, "systems-slow-delivery", &test, "delivery_time", "s", 1.0);
    let bytes = each(run, "systems-slow-delivery", &test, "link_bytes_down", "B", FAR);
    let parts = [
        near.map(|near| format!("Over no link: {near}.")),
        far.map(|far| {
            format!("50 events per second, behind a link of 256 kbit/s and 50 ms: {far}. Java RMI's callbacks wait for their return: ten events per second over such a link, whatever its rate. Redis is asked again after each answer.")
        }),
        bytes.map(|bytes| format!("An event takes on that link, with all headers and uncompressed: {bytes}.")),
    ];
    sentences("From the creation of an event to its subscriber.", parts)
}

/// The sentences that there are, after an introduction; none where there are none.
fn sentences<const N: usize>(introduction: &str, parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{introduction} {}", parts.join(" ")))
}

/// Whether the printed trend within a test is that of a virtual machine which warms up.
pub(super) fn warm_up(run: &Run) -> Option<String> {
    let printed = printed_rows::printed("sustained", "create_time")?;
    let [first, rest] = first_against_rest(run, "java-events", "create_time")?;
    let others: Vec<String> = levels_of(run, "systems", "server")
        .into_iter()
        .filter(|server| *server != "java-events")
        .filter_map(|server| {
            let name = name(server)?;
            let [first, rest] = first_against_rest(run, server, "create_time")?;
            Some(format!("{name} {:.1}", first / rest))
        })
        .collect();
    let mut text = format!(
        "The first printed run took {:.1} times as long to create its events as the mean of the others. In a new Java program of today the first run takes {} and the others {} ({:.1} times): code that is interpreted, then compiled.",
        printed[0] / lastmile_statistics::mean(&printed[1..])?,
        quantity(first, "s"),
        quantity(rest, "s"),
        first / rest,
    );
    if !others.is_empty() {
        text += &format!(
            " The same ratio of programs without such a start: {}.",
            others.join(", ")
        );
    }
    Some(text)
}

fn first_against_rest(run: &Run, server: &str, figure: &str) -> Option<[f64; 2]> {
    let cell = cell(run, "systems", &[("test", "sustained"), ("server", server)])?;
    cell.figures.get(figure)?.first_against_rest
}
