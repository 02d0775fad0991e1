//! Tests that a bulk transfer takes as long as with a kernel: the eight profiles, by the built-in study and by a user's own files.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// A profile, and how long the transfer took over it: from connect() to the last byte read. Figures: kernel 6.18 Cubic, measured over
/// an emulated link; one run each, timestamps on, MTU 1500, the same rate and delay in both directions.
struct Profile {
    /// Its link in the built-in study.
    builtin: &'static str,
    bytes: &'static str,
    rate: &'static str,
    one_way_delay: &'static str,
    queue: &'static str,
    kernel_s: f64,
    /// Whether the queue is long enough for the whole transfer.
    drops: bool,
}

const fn profile(
    builtin: &'static str,
    bytes: &'static str,
    [rate, one_way_delay, queue]: [&'static str; 3],
    kernel_s: f64,
    drops: bool,
) -> Profile {
    Profile {
        builtin,
        bytes,
        rate,
        one_way_delay,
        queue,
        kernel_s,
        drops,
    }
}

const PROFILES: [Profile; 8] = [
    profile(
        "512k-50ms-unlimited",
        "1 MB",
        ["512 kbit/s", "50 ms", "unlimited"],
        16.390,
        false,
    ),
    profile(
        "512k-50ms-q64",
        "1 MB",
        ["512 kbit/s", "50 ms", "64 packets"],
        16.390,
        true,
    ),
    profile(
        "512k-50ms-q20",
        "1 MB",
        ["512 kbit/s", "50 ms", "20 packets"],
        16.390,
        true,
    ),
    profile(
        "512k-50ms-q10",
        "1 MB",
        ["512 kbit/s", "50 ms", "10 packets"],
        16.390,
        true,
    ),
    profile(
        "56k-75ms-q10",
        "100 kB",
        ["56 kbit/s", "75 ms", "10 packets"],
        15.290,
        true,
    ),
    profile(
        "2M-150ms-q50",
        "3 MB",
        ["2 Mbit/s", "150 ms", "50 packets"],
        13.54,
        true,
    ),
    profile(
        "2M-300ms-q30",
        "2 MB",
        ["2 Mbit/s", "300 ms", "30 packets"],
        11.361,
        true,
    ),
    profile(
        "11M-2ms-q100",
        "10 MB",
        ["11 Mbit/s", "2 ms", "100 packets"],
        7.548,
        true,
    ),
];

/// Compares a cell with the kernel: within 1 % where nothing is dropped, within 10 % elsewhere.
#[track_caller]
fn held(profile: &Profile, cell: &Value) {
    let mean = |figure: &str| {
        cell["figures"][figure]["mean"]
            .as_f64()
            .unwrap_or_else(|| panic!("no {figure}: {cell}"))
    };
    let name = profile.builtin;
    assert_eq!(
        mean("queue_drops") > 0.0,
        profile.drops,
        "{name}: {} drops",
        mean("queue_drops")
    );
    assert_eq!(
        mean("retransmissions") > 0.0,
        profile.drops,
        "{name}: {} retransmissions",
        mean("retransmissions")
    );
    let tolerance = if profile.drops { 0.1 } else { 0.01 };
    let (took, kernel) = (mean("transfer_time"), profile.kernel_s);
    assert!(
        (took / kernel - 1.0).abs() <= tolerance,
        "{name}: {took} s, and the kernel {kernel} s"
    );
    // A handshake is one round trip; serialising its two segments (60 B, with options) adds less than a tenth.
    let delay_ms: f64 = profile.one_way_delay.trim_end_matches(" ms").parse().unwrap();
    let round_trips = mean("handshake_time") / (2.0 * delay_ms / 1e3);
    assert!(
        (1.0..1.15).contains(&round_trips),
        "{name}: a handshake of {round_trips} round trips"
    );
}

#[test]
fn the_bulk_study_takes_as_long_as_a_kernel_over_each_of_the_eight_profiles() {
    let sandbox = Sandbox::new();
    let run = sandbox.json(&["run", "bulk", "--format", "json"]);
    let cells = run["cells"].as_array().unwrap();
    assert_eq!(cells.len(), PROFILES.len());
    for profile in &PROFILES {
        let cell = cells.iter().find(|cell| cell["levels"]["link"] == profile.builtin);
        held(profile, cell.unwrap_or_else(|| panic!("no cell {}", profile.builtin)));
    }
}

#[test]
fn so_does_a_study_of_ones_own_with_links_written_inline() {
    let sandbox = Sandbox::new();
    for profile in &PROFILES {
        let Profile {
            builtin,
            bytes,
            rate,
            one_way_delay,
            queue,
            ..
        } = profile;
        let study = sandbox.file(
            "mine.toml",
            format!(
                r#"
                name = "mine"
                question = "How long does a bulk transfer take?"
                repeats = 1
                seed = 1
                world = "sim"

                [fixed]
                workload = {{ kind = "bulk", bytes = "{bytes}" }}
                delivery = "tcp"

                [factors]
                link = [
                    "wpt/3g",
                    {{ name = "own", rate = "{rate}", one_way_delay = "{one_way_delay}", queue = "{queue}", loss = "0 %" }},
                ]

                [measure]
                figures = ["handshake_time", "transfer_time", "retransmissions", "queue_drops"]

                [emu]
                repeats = 3

                [thresholds]
                "p95(transfer_time)" = "< 60 s"
                "#
            ),
        );
        let run = sandbox.json(&["run", study, "--format", "json", "--no-report"]);
        let cell = run["cells"]
            .as_array()
            .unwrap()
            .iter()
            .find(|cell| cell["levels"]["link"] == "own");
        held(profile, cell.unwrap_or_else(|| panic!("no cell for {builtin}")));
        assert_eq!(run["thresholds"].as_array().unwrap().len(), 2, "one a cell");
    }
}
