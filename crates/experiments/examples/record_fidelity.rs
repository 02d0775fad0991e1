//! Records how well the simulated world agrees with the emulated one.
//!
//! `make fidelity` runs `lastmile run fidelity --format json | cargo run -p lastmile-experiments --example record_fidelity >
//! crates/experiments/src/fidelity/recorded.toml`.

use lastmile_experiments::fidelity::RecordedRun;
use lastmile_lab::cpu_cost_model::this_machine;
use lastmile_report::record::Run;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let run: Run = serde_json::from_reader(std::io::stdin().lock())?;
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // The part after a hyphen is the distribution's.
    let kernel = release.trim().split('-').next().unwrap_or_default();
    let recorded = RecordedRun::from_run(&run, format!("{}, Linux {kernel}", this_machine()));
    println!(
        "# What a run of the study `fidelity` found; made by `make fidelity`.\n{}",
        toml::to_string(&recorded)?
    );
    Ok(())
}
