//! Tests of `lastmile inspect` on what was on the air of a simulated radio: its figures are those of the world that made it, and tshark's
//! where it is installed.

use crate::sandbox::Sandbox;
use lastmile_link::radio::{Beacons, FrameCounters, RadioCounters, RadioSpec};
use lastmile_load::measurement::Measurement;
use lastmile_load::on_testbed::measure;
use lastmile_load::plan::{Demand, Plan};
use lastmile_load::rate::RequestRate;
use lastmile_load::request::Request;
use lastmile_load::schedule::Arrivals;
use lastmile_load::server_model::ServerModel;
use lastmile_testbed::testbed::{HostSetup, Testbed};
use lastmile_units::{Metres, Seed};
use lastmile_world::Host as _;
use lastmile_world::sim::World;
use lastmile_world::topology::Topology;
use serde_json::Value;
use std::num::NonZeroU32;
use std::process::Command;
use std::time::Duration;

const AIR: &str = "load-air-radio.pcapng";
const HOSTS: [&str; 3] = ["server", "client-1", "client-2"];

/// What the world itself knows.
struct KnownFrames {
    counters: RadioCounters,
    measured: Vec<Measurement>,
    retransmissions: u64,
}

/// Loads a server from two clients at the limit of their range, beacons and all, and captures the air.
fn recorded(sandbox: &Sandbox) -> KnownFrames {
    let spec = RadioSpec {
        beacons: Some(Beacons::default()),
        distance: Metres::new(112.0),
        ..RadioSpec::dot11b()
    };
    let topology = Topology::builder()
        .hosts(HOSTS)
        .radio("radio", spec, HOSTS)
        .build()
        .unwrap();
    let mut testbed = Testbed::<World>::build(&topology, Seed::new(2), |_| HostSetup::default()).unwrap();
    testbed.capture(sandbox.path(), "load").unwrap();
    let server = testbed.host("server");
    let model = ServerModel {
        keep_alive: false,
        ..ServerModel::default()
    };
    model.start(server, 80, Seed::new(3)).unwrap();
    let demand = Demand::open(Arrivals::Constant(RequestRate::new(10.0).unwrap()));
    let plan = Plan {
        requests_per_connection: Some(NonZeroU32::MIN),
        ..Plan::new(demand, Duration::from_secs(4), Request::get("server", "/object"))
    };
    let clients = [testbed.host("client-1").clone(), testbed.host("client-2").clone()];
    let address = server.address(80);
    let measured = measure(&testbed, &clients, address, &plan, Seed::new(4), &Default::default()).unwrap();
    testbed.idle(Duration::from_secs(5));
    testbed.flush_captures().unwrap();
    let retransmitted = HOSTS.map(|name| testbed.host(name).tcp_counters().retransmissions);
    let counters = testbed.radio_counters().next().unwrap().1;
    KnownFrames {
        counters,
        measured,
        retransmissions: retransmitted.iter().sum(),
    }
}

/// The sum of a figure over some objects.
fn sum<'a>(of: impl IntoIterator<Item = &'a Value>, figure: impl Fn(&Value) -> u64) -> u64 {
    of.into_iter().map(figure).sum()
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a count"))
}

#[test]
fn what_inspect_counts_on_the_air_is_what_the_world_counted() {
    let sandbox = Sandbox::new();
    let KnownFrames {
        counters,
        measured,
        retransmissions,
    } = recorded(&sandbox);
    let record = sandbox.json(&["inspect", AIR, "--format", "json"]);
    let total = |of: fn(&FrameCounters) -> u64| counters.total(of);
    let kinds = record["wireless"]["kinds"].as_array().unwrap();
    let of_kind = |name: &str, figure: &str| {
        let of = kinds.iter().filter(|kind| kind["kind"] == name);
        sum(of, |kind| count(&kind[figure]))
    };
    // The MAC: each attempt, each ACK and each beacon.
    assert_eq!(of_kind("data", "frames"), total(|of| of.data_sent));
    assert_eq!(of_kind("data", "retries"), total(|of| of.retries));
    assert_eq!(of_kind("ACK", "frames"), total(|of| of.acks_sent));
    // It lasts 9 s, with a beacon each 102.4 ms; the last may not have ended.
    let beacons = total(|of| of.beacons_sent);
    assert!(beacons > 85 && beacons - of_kind("beacon", "frames") <= 1, "{beacons}");
    assert!(
        total(|of| of.retries) > 50,
        "the clients are at the limit of their range"
    );
    // IP and TCP: every packet once, however often the MAC sent it.
    let connections = record["connections"].as_array().unwrap();
    let in_both = |figure: &str| {
        sum(connections, |one| {
            count(&one["up"][figure]) + count(&one["down"][figure])
        })
    };
    let sent_packets = total(|of| of.packets_offered) - total(|of| of.dropped_by_full_queue);
    assert_eq!(in_both("packets"), sent_packets);
    assert_eq!(in_both("retransmissions"), retransmissions);
    let opened: u64 = measured.iter().map(|one| one.connections).sum();
    assert_eq!(connections.len() as u64, opened);
    // HTTP: what the clients completed.
    let completed: u64 = measured.iter().map(|one| one.completed).sum();
    assert_eq!((count(&record["http"]["whole"]), completed), (completed, 80));
    // The segments one by one.
    let listed = sandbox.data(&["inspect", AIR, "--segments"]);
    assert_eq!(listed.lines().skip(1).count() as u64, sent_packets);
    let tells = |line: &&str| line.contains("resent");
    assert_eq!(listed.lines().skip(1).filter(tells).count() as u64, retransmissions);
    compare_with_tshark(&sandbox, &counters);
}

/// tshark reads the capture without a complaint, and counts the same frames.
fn compare_with_tshark(sandbox: &Sandbox, counters: &RadioCounters) {
    let count = |filter: &str| {
        let file = sandbox.path().join(AIR);
        let output = Command::new("tshark")
            .arg("-r")
            .arg(file)
            .args(["-Y", filter])
            .output()
            .ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8_lossy(&output.stdout).lines().count() as u64)
    };
    let Some(malformed) = count("_ws.malformed || wlan.fcs.status == 0") else {
        eprintln!("tshark is not installed: the capture of the air was not read with it");
        return;
    };
    assert_eq!(malformed, 0);
    assert_eq!(count("wlan.fc.type == 2"), Some(counters.total(|of| of.data_sent)));
    assert_eq!(
        count("wlan.fc.type == 2 && wlan.fc.retry == 1"),
        Some(counters.total(|of| of.retries))
    );
    assert_eq!(
        count("wlan.fc.type_subtype == 0x1d"),
        Some(counters.total(|of| of.acks_sent))
    );
}
