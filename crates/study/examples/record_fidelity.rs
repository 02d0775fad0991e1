//! Records what the simulated world is worth: `lastmile run fidelity --format json | cargo run -p lastmile-study --example
//! record_fidelity > crates/study/src/fidelity/recorded.toml`, which `make fidelity` does.

use lastmile_report::record::Run;
use lastmile_study::cost::this_machine;
use lastmile_study::fidelity::Recorded;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let run: Run = serde_json::from_reader(std::io::stdin().lock())?;
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // What follows a hyphen is whoever built it.
    let kernel = release.trim().split('-').next().unwrap_or_default();
    let recorded = Recorded::of(&run, format!("{}, Linux {kernel}", this_machine()));
    println!(
        "# What a run of the study `fidelity` found; made by `make fidelity`.\n{}",
        toml::to_string(&recorded)?
    );
    Ok(())
}
