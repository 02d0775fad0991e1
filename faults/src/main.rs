//! Runs cases of faults, several at a time, and says which broke a claim.

use clap::Parser;
use lastmile_faults::{Figures, Kind, Outcome, Plan, has_namespaces, run};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// Kills monitors and sensors, fills their disks and flips bits of their files, and holds what they answer against what they acknowledged.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many cases to run
    #[arg(long, default_value_t = 2000)]
    cases: u64,
    /// The seed of the first case; the others follow
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only cases of this kind
    #[arg(long)]
    only: Option<Kind>,
    /// The binary to try
    #[arg(long, default_value = "target/debug/lastmile")]
    binary: PathBuf,
    /// How many cases run at a time
    #[arg(long, default_value_t = 4)]
    jobs: usize,
    /// Where the folders of cases are made; those of broken ones stay
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    folder: PathBuf,
}

fn main() -> ExitCode {
    match try_cases(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            2.into()
        }
    }
}

/// The cases of a kind.
#[derive(Debug, Default)]
struct Sum {
    cases: u64,
    figures: Figures,
    broken: Vec<u64>,
}

/// Whether every claim held.
fn try_cases(arguments: &Arguments) -> io::Result<bool> {
    let binary = arguments.binary.canonicalize()?;
    let folder = arguments
        .folder
        .canonicalize()?
        .join(format!("lastmile-faults-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let can_mount = has_namespaces();
    let (next, begin) = (AtomicU64::new(arguments.seed), Instant::now());
    let sums: Mutex<BTreeMap<Kind, Sum>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..arguments.jobs {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed - arguments.seed >= arguments.cases {
                        return;
                    }
                    let plan = Plan::of_seed(seed);
                    let is_asked_for = arguments.only.is_none_or(|only| only == plan.kind);
                    if !is_asked_for || plan.kind == Kind::FullDisk && !can_mount {
                        continue;
                    }
                    let outcome = try_case(&binary, &plan, &folder.join(seed.to_string()));
                    if arguments.cases == 1 || !outcome.faults.is_empty() {
                        report(seed, &plan, &outcome);
                    }
                    let mut sums = sums.lock().expect("no thread panics with it");
                    sums.entry(plan.kind).or_default().add(seed, &outcome);
                }
            });
        }
    });
    let sums = sums.into_inner().expect("no thread panics with it");
    println!(
        "kind        cases  broken  submitted  acknowledged = stored + told + by exit code  dropped  audits 99  refusals"
    );
    for (kind, sum) in &sums {
        println!("{}", sum.row(*kind));
    }
    let broken: Vec<u64> = sums.values().flat_map(|sum| sum.broken.iter().copied()).collect();
    if !can_mount {
        println!("no disk can be mounted in a namespace of a user's own: cases with a full disk are skipped");
    }
    println!("{:.0} s; broken seeds: {broken:?}", begin.elapsed().as_secs_f64());
    // It stays where a case left its folder.
    let _ = fs::remove_dir(&folder);
    Ok(broken.is_empty())
}

fn try_case(binary: &Path, plan: &Plan, folder: &Path) -> Outcome {
    let made = fs::create_dir(folder);
    let mut outcome = run(binary, plan, folder);
    if let Err(error) = made {
        outcome.faults.push(error.to_string());
    }
    if outcome.faults.is_empty() {
        let _ = fs::remove_dir_all(folder);
    } else {
        outcome.history.push(format!("its folder is {}", folder.display()));
    }
    outcome
}

/// Prints what happened in a case.
fn report(seed: u64, plan: &Plan, outcome: &Outcome) {
    println!("seed {seed} ({:?}); again: make faults CASES=1 SEED={seed}", plan.kind);
    println!("{plan}");
    for line in &outcome.history {
        println!("  {line}");
    }
    for fault in &outcome.faults {
        println!("  BROKEN: {fault}");
    }
}

impl Sum {
    fn add(&mut self, seed: u64, outcome: &Outcome) {
        self.cases += 1;
        if !outcome.faults.is_empty() {
            self.broken.push(seed);
        }
        self.figures += outcome.figures;
    }

    fn row(&self, kind: Kind) -> String {
        let Figures {
            submitted,
            acknowledged,
            stored,
            reported_lost,
            unreadable,
            dropped,
            broken_audits,
            refusals,
        } = self.figures;
        let (kind, broken) = (format!("{kind:?}"), self.broken.len());
        format!(
            "{kind:10}  {:5}  {broken:6}  {submitted:9}  {acknowledged:12}  {stored:7}  {reported_lost:5}  {unreadable:12}  {dropped:7}  {broken_audits:9}  {refusals:8}",
            self.cases
        )
    }
}
