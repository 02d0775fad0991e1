//! Measures how many packets per second the simulated world carries, on one core.
//!
//! The transfers run in turns, so that a disturbance does not fall on only one of them. Each prints a line for people, then one for machines.

use lastmile_bench::transfer::{Run, TRANSFERS, run};

/// How often each runs; odd, so that there is a median.
const RUNS: usize = 7;

fn main() {
    let mut runs = TRANSFERS.each_ref().map(|_| Vec::new());
    for _ in 0..RUNS {
        for (transfer, runs) in TRANSFERS.iter().zip(&mut runs) {
            runs.push(run(transfer));
        }
    }
    println!("simulated packets per second on one core: median of {RUNS} runs (least to most)");
    for (transfer, runs) in TRANSFERS.iter().zip(&mut runs) {
        runs.sort_by_key(|run| run.wall);
        let rate = |run: &Run| run.packets as f64 / run.wall.as_secs_f64();
        let (fastest, median, slowest) = (&runs[0], &runs[RUNS / 2], &runs[RUNS - 1]);
        println!(
            "{:<42} {:.2} M/s ({:.2} to {:.2}); {} packets and {:.0} s of virtual time in {:.3} s",
            transfer.name,
            rate(median) / 1e6,
            rate(slowest) / 1e6,
            rate(fastest) / 1e6,
            median.packets,
            median.virtual_time.as_secs_f64(),
            median.wall.as_secs_f64(),
        );
    }
    for (transfer, runs) in TRANSFERS.iter().zip(&runs) {
        let median = &runs[RUNS / 2];
        let packets_per_second = median.packets as f64 / median.wall.as_secs_f64();
        println!(
            r#"{{"bench": "sim_speed", "name": "{}", "packets": {}, "wall_seconds": {:.6}, "packets_per_second": {:.0}}}"#,
            transfer.name,
            median.packets,
            median.wall.as_secs_f64(),
            packets_per_second,
        );
    }
}
