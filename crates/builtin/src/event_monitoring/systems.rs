//! Other systems beside ours: the original channels, and brokers.

use super::finding;
use crate::record_lookup::{cell, levels_of, mean};
use lastmile_report::number::quantity;
use lastmile_report::record::{Finding, Run};

/// What people call the peers.
const NAMES: [(&str, &str); 6] = [
    ("lastmile", "ours"),
    ("java-events", "Java RMI"),
    ("ice-events", "Ice"),
    ("nats-events", "NATS JetStream"),
    ("redis-events", "Redis"),
    ("mosquitto-events", "mosquitto"),
];

/// A figure of each system in a part, ours first: "ours 0.4 ms, Java RMI 0.2 ms"; none where there is ours alone, or not even ours.
fn each(run: &Run, part: &str, levels: &[(&str, &str)], figure: &str, events: f64) -> Option<String> {
    let of = |(server, name): (&str, &str)| {
        let mut levels = levels.to_vec();
        levels.push(("server", server));
        let mean = mean(run, part, &levels, figure)?;
        Some(format!("{name} {}", quantity(mean / events, "s")))
    };
    of(NAMES[0])?;
    let all: Vec<String> = NAMES.into_iter().filter_map(of).collect();
    (all.len() > 1).then(|| all.join(", "))
}

/// What it takes to submit an event.
pub(super) fn submission(run: &Run) -> Option<Finding> {
    const EVENTS: f64 = 1000.0;
    let near = each(run, "systems", &[("test", "sustained")], "submission_time", EVENTS)?;
    let kept = each(run, "systems-kept", &[("test", "sustained")], "submission_time", EVENTS);
    let far = each(run, "systems-slow-submission", &[], "submission_time", 20.0);
    let mut text = format!(
        "Creating an event, sending it and waiting for its acknowledgement takes, over no link: {near} (the slides print 24 ms, by Java RMI on a machine of their time). Ours is acknowledged when it is on the sensor's disk; the others keep it in memory."
    );
    if let Some(kept) = kept {
        text += &format!(" Where all survive the end of the server: {kept}.");
    }
    if let Some(far) = far {
        text += &format!(
            " Behind a link of 256 kbit/s with a round trip of 100 ms: {far}. Each waits for one round trip, so the link decides."
        );
    }
    Some(finding("Other systems: submission", text, false))
}

/// What it takes an event to its subscriber.
pub(super) fn delivery(run: &Run) -> Option<Finding> {
    let near = each(run, "systems", &[("test", "subscription")], "delivery_time", 1.0)?;
    let far = each(run, "systems-slow-delivery", &[], "delivery_time", 1.0);
    let bytes = |server| mean(run, "systems-slow-delivery", &[("server", server)], "link_bytes_down");
    let mut text = format!("From its creation to its subscriber an event takes, over no link: {near}.");
    if let Some(far) = far {
        text += &format!(
            " Behind a link of 256 kbit/s with a delay of 50 ms, 50 events per second: {far}. A callback that waits for its return carries ten events per second over such a link, whatever its rate."
        );
    }
    let sizes: Vec<String> = NAMES
        .into_iter()
        .filter_map(|(server, name)| Some(format!("{name} {}", quantity(bytes(server)? / 50.0, "B"))))
        .collect();
    if sizes.len() > 1 {
        text += &format!(" An event is, on the link, with all headers: {}.", sizes.join(", "));
    }
    Some(finding("Other systems: delivery", text, false))
}

/// Whether the printed trend within a test is that of a virtual machine which warms up.
pub(super) fn warm_up(run: &Run) -> Option<Finding> {
    const PRINTED: [f64; 10] = [3.609, 2.180, 1.843, 1.777, 1.753, 1.811, 1.790, 1.769, 1.783, 1.781];
    let [first, rest] = first_against_rest(run, "java-events", "create_time")?;
    let others: Vec<String> = levels_of(run, "systems", "server")
        .into_iter()
        .filter(|server| *server != "java-events")
        .filter_map(|server| {
            let name = NAMES.iter().find(|(known, _)| *known == server)?.1;
            let [first, rest] = first_against_rest(run, server, "create_time")?;
            Some(format!("{name} {:.1}", first / rest))
        })
        .collect();
    let mut text = format!(
        "The first printed run took {:.1} times as long to create its events as the mean of the others. In a new Java program of today the first run takes {} and the others {} ({:.1} times): code that is interpreted, then compiled.",
        PRINTED[0] / lastmile_statistics::mean(&PRINTED[1..])?,
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
    Some(finding("Other systems: the trend within a test", text, true))
}

fn first_against_rest(run: &Run, server: &str, figure: &str) -> Option<[f64; 2]> {
    let cell = cell(run, "systems", &[("test", "sustained"), ("server", server)])?;
    cell.figures.get(figure)?.first_against_rest
}
