//! Measures how many frames per second a simulated radio carries, on one core, by its number of stations.
//!
//! Each prints a line for people, then one for machines.

use lastmile_bench::radio::{RadioRun, STATIONS, run};

/// How often each runs; odd, so that there is a median.
const RUNS: usize = 5;
/// Packets of each run.
const PACKETS: u64 = 200_000;

fn main() {
    let mut runs = STATIONS.map(|_| Vec::new());
    for _ in 0..RUNS {
        for (stations, runs) in STATIONS.iter().zip(&mut runs) {
            runs.push(run(*stations, PACKETS));
        }
    }
    println!(
        "frames per second of a saturated 802.11b radio on one core, ACKs included: median of {RUNS} runs (least to most)"
    );
    for (stations, runs) in STATIONS.iter().zip(&mut runs) {
        runs.sort_by_key(|run| run.wall);
        let rate = |run: &RadioRun| run.frames as f64 / run.wall.as_secs_f64();
        let (fastest, median, slowest) = (&runs[0], &runs[RUNS / 2], &runs[RUNS - 1]);
        println!(
            "{stations:>3} stations {:.2} M/s ({:.2} to {:.2}); {:.0} times real time",
            rate(median) / 1e6,
            rate(slowest) / 1e6,
            rate(fastest) / 1e6,
            median.virtual_time.as_secs_f64() / median.wall.as_secs_f64(),
        );
    }
    for (stations, runs) in STATIONS.iter().zip(&runs) {
        let median = &runs[RUNS / 2];
        println!(
            r#"{{"bench": "radio_speed", "stations": {stations}, "frames": {}, "packets": {}, "wall_seconds": {:.6}, "frames_per_second": {:.0}}}"#,
            median.frames,
            median.packets,
            median.wall.as_secs_f64(),
            median.frames as f64 / median.wall.as_secs_f64(),
        );
    }
}
