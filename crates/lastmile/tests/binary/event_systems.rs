//! Tests of studies whose events other systems carry: Java RMI, Ice, and brokers, as far as this machine has them.

use crate::sandbox::{Sandbox, parsed};
use serde_json::Value;

/// A short run of each system, in every test that most of them have.
const SYSTEMS: &str = r#"
name = "systems"
question = "Does every system carry the events?"
repeats = 2
world = "emu"

[fixed]
delivery = "events"
events = 40
event_size = "40 B"
durability = "memory"
link = { name = "256k", rate = "256 kbit/s", one_way_delay = "10 ms", queue = "1000 packets" }

[factors]
server = ["lastmile", "java-events", "ice-events", "nats-events", "redis-events", "mosquitto-events"]
test = ["sustained", "subscription"]
"#;

/// Those that can be asked for what they keep.
const QUERIES: &str = r#"
name = "queries"
question = "Does every system that can be asked for events give all of them?"
repeats = 2
world = "emu"

[fixed]
delivery = "events"
events = 100
test = "query"
durability = "process"
link = { name = "10ms", rate = "unlimited", one_way_delay = "5 ms" }

[factors]
server = ["lastmile", "nats-events", "redis-events"]
persistent = ["off", "on"]
"#;

/// The cells of each system that this machine has; the others are named, as the run names them. None where it has no emulated world.
fn cells_of_each(study: &str) -> Option<Vec<(String, Vec<Value>)>> {
    let sandbox = Sandbox::new();
    let ended = sandbox.run(&["run", sandbox.file("systems.toml", study), "--format", "json"]);
    if ended.code == Some(3) {
        eprintln!("skipped: {}", ended.stderr);
        return None;
    }
    ended.succeeded();
    let run = parsed(&ended.stdout);
    let servers = study.lines().find_map(|line| line.strip_prefix("server = ")).unwrap();
    let servers: Vec<String> = serde_json::from_str(servers).unwrap();
    let mut present = Vec::new();
    for server in servers {
        let cells = run["cells"].as_array().unwrap().iter();
        let cells: Vec<Value> = cells
            .filter(|cell| cell["levels"]["server"] == server.as_str())
            .cloned()
            .collect();
        if cells.is_empty() {
            let line = ended.stderr.lines().find(|line| line.contains(&server));
            let line = line.unwrap_or_else(|| panic!("{server} is neither run nor named: {}", ended.stderr));
            eprintln!("skipped: {line}");
        } else {
            present.push((server, cells));
        }
    }
    Some(present)
}

fn figure(cell: &Value, name: &str) -> f64 {
    let mean = cell["figures"][name]["mean"].as_f64();
    mean.unwrap_or_else(|| panic!("{name} of {cell}"))
}

#[test]
fn every_system_that_is_installed_takes_and_delivers_each_event_over_the_link_of_its_channel() {
    let Some(systems) = cells_of_each(SYSTEMS) else { return };
    assert_eq!(systems[0].0, "lastmile");
    for (server, cells) in systems {
        assert_eq!(cells.len(), 2, "{server}");
        for cell in &cells {
            assert_eq!(cell["failed"], 0, "{cell}");
            assert_eq!(figure(cell, "events_lost"), 0.0, "{cell}");
            assert!(figure(cell, "create_time") > 0.0, "{cell}");
            // Each event has a text of 40 bytes, and crosses the link once.
            let bytes = figure(cell, "link_bytes_up") + figure(cell, "link_bytes_down");
            assert!((40.0 * 80.0..40.0 * 1000.0).contains(&bytes), "{bytes}: {cell}");
            let sends = figure(cell, "send_time");
            if cell["levels"]["test"] == "sustained" {
                // A round trip for each.
                assert!((0.8..4.0).contains(&sends), "{sends}: {cell}");
            } else {
                // The application is near; the subscriber is behind the link.
                assert!(sends < 0.8, "{sends}: {cell}");
                assert_eq!(cell["figures"]["delivery_time"]["n"], 2 * 40, "{cell}");
                assert!(figure(cell, "delivery_time") > 0.01, "{cell}");
            }
        }
    }
}

#[test]
fn every_system_that_can_be_asked_answers_with_all_events_and_a_new_connection_costs_round_trips() {
    let Some(systems) = cells_of_each(QUERIES) else { return };
    for (server, cells) in systems {
        let time = |persistent: &str| {
            let cell = cells
                .iter()
                .find(|cell| cell["levels"]["persistent"] == persistent)
                .unwrap();
            assert_eq!(
                (&cell["failed"], figure(cell, "events_lost")),
                (&0.into(), 0.0),
                "{cell}"
            );
            figure(cell, "query_time")
        };
        let (new, kept) = (time("off"), time("on"));
        assert!(kept > 0.01, "{server}: {kept}");
        if server != "lastmile" {
            // Our first query opens the connection that is kept.
            assert!(new > kept + 0.009, "{server}: {new} {kept}");
        }
    }
}
