//! Records how well the simulated world agrees with the emulated one: summarises a run of the study `fidelity` or `fidelity-pages`.
//!
//! `make fidelity` runs `lastmile run fidelity --format json | cargo run -p lastmile-deliveries --example record_fidelity >
//! crates/studies/deliveries/src/fidelity/recorded.toml`; `make fidelity-pages` does so for pages.

use lastmile_builtin_studies::fidelity::{RecordedRun, pages};
use lastmile_report::record::Run;
use lastmile_testbed::cpu_cost_model::this_machine;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let run: Run = serde_json::from_reader(std::io::stdin().lock())?;
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // The part after a hyphen is the distribution's.
    let kernel = release.trim().split('-').next().unwrap_or_default();
    let machine = format!("{}, Linux {kernel}", this_machine());
    let recorded = if run.study == pages::STUDY {
        toml::to_string(&pages::RecordedPages::from_run(&run, machine))?
    } else {
        toml::to_string(&RecordedRun::from_run(&run, machine))?
    };
    println!(
        "# What a run of the study `{0}` found; made by `make {0}`.\n{recorded}",
        run.study
    );
    Ok(())
}
