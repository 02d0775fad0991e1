//! Runs targets over their corpora and seeded mutations of them, on any Rust, and keeps the inputs that break a claim.
//!
//! The number of inputs is fixed, not the time, so that two runs do the same. A reader that overflows the stack or uses up the
//! memory ends the process; its input is then in `artifacts/TARGET/unfinished`.

use clap::Parser;
use lastmile_fuzz::corpus::{self, Sample};
use lastmile_fuzz::mutation::mutate;
use lastmile_fuzz::target::{self, Target};
use lastmile_units::Seed;
use lastmile_units::random::below;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::ExitCode;

/// Feeds the readers of foreign bytes their corpora, and mutations of them.
#[derive(Debug, Parser)]
struct Arguments {
    /// The targets to run [default: all]
    targets: Vec<String>,
    /// How many mutations each target is fed
    #[arg(long, default_value_t = 4000)]
    mutations: u64,
    /// The root of every random choice
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Feed the named target this file, and nothing else
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
}

/// A target stops after this many broken claims.
const KEPT_MAX: usize = 5;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            2.into()
        }
    }
}

/// Whether every claim held.
fn run(arguments: &Arguments) -> io::Result<bool> {
    let targets = chosen(&arguments.targets)?;
    if let Some(path) = &arguments.input {
        let [target] = targets[..] else {
            return Err(io::Error::other("--input needs the name of one target"));
        };
        (target.run)(&fs::read(path)?);
        println!("{}: {} holds", target.name, path.display());
        return Ok(true);
    }
    let mut all_held = true;
    for target in targets {
        let kept = exercise(target, arguments)?;
        let verdict = if kept.is_empty() {
            "held".to_owned()
        } else {
            format!("{} BROKEN", kept.len())
        };
        println!("{verdict}");
        for path in &kept {
            println!(
                "  again: cargo run -p lastmile-fuzz -- {} --input {}",
                target.name,
                path.display()
            );
        }
        all_held &= kept.is_empty();
    }
    Ok(all_held)
}

fn chosen(names: &[String]) -> io::Result<Vec<Target>> {
    let find = |name: &String| {
        target::find(name).ok_or_else(|| {
            let known: Vec<_> = target::ALL.iter().map(|target| target.name).collect();
            io::Error::other(format!(
                "there is no target {name:?}; the targets are {}",
                known.join(", ")
            ))
        })
    };
    if names.is_empty() {
        Ok(target::ALL.to_vec())
    } else {
        names.iter().map(find).collect()
    }
}

/// The inputs that broke a claim.
fn exercise(target: Target, arguments: &Arguments) -> io::Result<Vec<PathBuf>> {
    let samples = corpus::read(target.name)?;
    let words = corpus::words(target.name)?;
    print!(
        "{:<16} {} samples, {} mutations ... ",
        target.name,
        samples.len(),
        arguments.mutations
    );
    io::stdout().flush()?;
    let seed = Seed::new(arguments.seed).derive(target.name);
    let inputs = samples
        .iter()
        .map(|sample| sample.input.clone())
        .chain((0..arguments.mutations).map(|index| mutation_of(&samples, seed.derive_index(index), &words)));
    let mut unfinished = Unfinished::new(target.name)?;
    let mut kept = Vec::new();
    for input in inputs {
        unfinished.holds(&input)?;
        if catch_unwind(|| (target.run)(&input)).is_err() {
            kept.push(corpus::keep(target.name, &input)?);
            if kept.len() == KEPT_MAX {
                break;
            }
        }
    }
    unfinished.done()?;
    Ok(kept)
}

fn mutation_of(samples: &[Sample], seed: Seed, words: &[Vec<u8>]) -> Vec<u8> {
    let mut rng = seed.rng();
    let mut some = || {
        samples
            .get(below(&mut rng, samples.len().max(1)))
            .map_or(&[][..], |sample| &sample.input)
    };
    let (base, other) = (some(), some());
    mutate(&mut rng, base, other, words)
}

/// The current input, in a file, in case the process dies.
struct Unfinished {
    path: PathBuf,
    file: File,
}

impl Unfinished {
    fn new(target: &str) -> io::Result<Self> {
        let folder = corpus::artifacts(target);
        fs::create_dir_all(&folder)?;
        let path = folder.join("unfinished");
        Ok(Self {
            file: File::create(&path)?,
            path,
        })
    }

    fn holds(&mut self, input: &[u8]) -> io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(input)?;
        self.file.set_len(input.len() as u64)
    }

    fn done(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }
}
