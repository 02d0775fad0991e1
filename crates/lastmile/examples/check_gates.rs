//! Checks that a gate of `lastmile compare` rarely breaks between two runs of equal programs, and that a change is found.
//!
//! ```text
//! cargo run -p lastmile --example check_gates [-- --pairs 20 --repeats 5 --part request-rate STUDY ...]
//! ```
//!
//! Each study runs twice as often as there are pairs, always in the simulated world and with another seed: the built-in ones as they are, and
//! those that would leave gates between seeds undecided (`fresh = "cell"`) with `fresh = "repeat"` as well; and three of the kinds that users
//! write. Between the runs of each pair, which differ in nothing but their seed, every gate is tried on the means of the study's main figures:
//! in both directions, with a bound of no change and with one of 5 %. Then figures are made 10 % larger, which a gate of 5 % should find: those
//! of the other run, and those of the same run, as where two programs run with one seed. It prints one line per study with Wilson's intervals,
//! as if the gates of a pair were independent, and ends with an error where more than 3 % of a study's gates break beyond what chance explains.

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use lastmile_builtin_studies::STUDIES;
use lastmile_report::compare::compare;
use lastmile_report::compare::rule::Rule;
use lastmile_report::number::percent;
use lastmile_report::record::Run;
use lastmile_study::cell::expand;
use lastmile_study::delivery::Deliveries;
use lastmile_study::file::{Fresh, Study};
use lastmile_study::journal::Journal;
use lastmile_study::run_folder::Meta;
use lastmile_study::runner;
use lastmile_study::summary::summarise;
use lastmile_testbed::cpu_cost_model::{Choice, CostTable};
use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;

const DELIVERIES: Deliveries = Deliveries::new(&[lastmile_deliveries::DELIVERIES]);

/// The share of gates that may break: what docs/studies.md promises.
const SHARE_MAX: f64 = 0.03;
const CHANGE: f64 = 1.1;

/// The built-in studies with chance in them, and the figures that a gate would be set on.
const BUILT_IN: [(&str, &[&str]); 5] = [
    ("gzip-filter", &["extract_time", "response_bytes", "transfer_rate"]),
    (
        "slow-connections",
        &["transfer_time", "delivery_time", "link_bytes_down"],
    ),
    (
        "permessage-deflate",
        &["compression_ratio", "compress_time", "compressed_bytes"],
    ),
    (
        "event-monitoring",
        &["submission_time", "delivery_time", "query_time", "event_rate"],
    ),
    ("wireless-web", &["transaction_rate", "response_time", "goodput"]),
];

/// Studies as users write them: a factorial, a load sweep and events.
const OWN: [(&str, &[&str], &str); 3] = [
    (
        "own-factorial",
        &["extract_time", "response_bytes"],
        r#"
            name = "own-factorial"
            question = ""
            repeats = 10
            [fixed]
            delivery = "http/1.1"
            workload = { kind = "tm-packets", packets = 250 }
            [factors]
            codec = ["identity", "gzip:6"]
            round_trip = ["20 ms", "50 ms", "200 ms"]
            link = [
                { name = "lossless", rate = "10 Mbit/s", one_way_delay = "10 ms" },
                { name = "lossy", rate = "10 Mbit/s", one_way_delay = "10 ms", loss = "2 %" },
            ]
        "#,
    ),
    (
        "own-load",
        &["response_time", "transaction_rate", "goodput"],
        r#"
            name = "own-load"
            question = ""
            repeats = 5
            [fixed]
            delivery = "load"
            radio = "802.11b+fading=rayleigh+distance=60m"
            transfer_size = "2 kB"
            load_time = "10 s"
            arrivals = "poisson"
            [factors]
            rate = [10, 40, 70, 100]
            clients = [1, 3]
        "#,
    ),
    (
        "own-events",
        &["delivery_time", "application_time", "link_bytes_down"],
        r#"
            name = "own-events"
            question = ""
            repeats = 5
            [fixed]
            delivery = "events"
            test = "subscription"
            channel = "sensor-client"
            events = 200
            message_interval = "20 ms"
            call = "pipelined"
            [factors]
            codec = ["identity", "zstd:1"]
            link = ["wpt/3g+loss=1%", "wpt/dsl+loss=2%", "wpt/cable+loss=1%"]
        "#,
    ),
];

#[derive(Parser)]
struct Args {
    /// The studies, by name; all by default.
    studies: Vec<String>,
    /// How many pairs of runs.
    #[arg(long, default_value_t = 20)]
    pairs: u64,
    /// The repeats of every cell, in place of the study's.
    #[arg(long)]
    repeats: Option<NonZeroU64>,
    /// Only these parts of the studies; may be given several times.
    #[arg(long)]
    part: Vec<String>,
}

/// How many of some gates did what is counted.
#[derive(Default)]
struct Share {
    count: u64,
    of: u64,
}

impl Share {
    fn add(&mut self, counts: bool) {
        self.count += u64::from(counts);
        self.of += 1;
    }

    /// Wilson's interval of 95 % (JASA 22, 1927) of the share that it is a sample of.
    fn interval(&self) -> [f64; 2] {
        const Z: f64 = 1.96;
        let (n, share) = (self.of as f64, self.count as f64 / self.of as f64);
        let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        [(middle - half).max(0.0), middle + half]
    }

    fn describe(&self) -> String {
        let [low, high] = self.interval().map(percent);
        format!("{} of {} ({low} to {high})", self.count, self.of)
    }
}

/// What became of the gates of a study.
#[derive(Default)]
struct Gates {
    broken_at_0: Share,
    broken_at_5: Share,
    undecided_at_5: Share,
    found_between_seeds: Share,
    found_with_one_seed: Share,
}

impl Gates {
    fn try_pair(&mut self, before: &Run, after: &Run, figures: &[&str]) -> Result<()> {
        let larger = [after, before].map(|run| larger(run, figures));
        for figure in figures {
            let rules = [">+0%", "<-0%", ">+5%", "<-5%"].map(|bound| format!("mean({figure}){bound}"));
            let rules = rules.map(|rule| rule.parse::<Rule>());
            let rules: Vec<Rule> = rules.into_iter().collect::<Result<_, _>>()?;
            let outcomes = compare(before, after, &rules, false).rules;
            if outcomes[0].checked == 0 {
                bail!("{}: no valid cell has {figure}", before.study);
            }
            for outcome in &outcomes[..2] {
                self.broken_at_0.add(outcome.is_broken());
            }
            for outcome in &outcomes[2..] {
                self.broken_at_5.add(outcome.is_broken());
                self.undecided_at_5.add(outcome.is_undecided());
            }
            let [between_seeds, with_one_seed] = larger
                .each_ref()
                .map(|larger| compare(before, larger, &rules[2..3], false).breaks_a_rule());
            self.found_between_seeds.add(between_seeds);
            self.found_with_one_seed.add(with_one_seed);
        }
        Ok(())
    }

    fn breaks_too_often(&self) -> bool {
        [&self.broken_at_0, &self.broken_at_5]
            .iter()
            .any(|share| share.interval()[0] > SHARE_MAX)
    }
}

/// The run with these figures larger, as if a program had become slower.
fn larger(run: &Run, figures: &[&str]) -> Run {
    let mut run = run.clone();
    let of_cells = run.cells.iter_mut().flat_map(|cell| cell.figures.iter_mut());
    for (_, figure) in of_cells.filter(|(name, _)| figures.contains(&name.as_str())) {
        figure.mean *= CHANGE;
        figure.run_means.iter_mut().for_each(|mean| *mean *= CHANGE);
        figure.ci95 = figure.ci95.map(|ends| ends.map(|end| end * CHANGE));
    }
    run
}

fn run(study: &Study, costs: &CostTable) -> Result<Run> {
    let folder = tempfile::tempdir()?;
    let (mut journal, mut outcomes) = Journal::open(&folder.path().join("journal.jsonl"))?;
    let expanded = expand(study)?;
    let execution = runner::StudyRunner {
        expanded: &expanded,
        experiment: &DELIVERIES,
        costs,
        captures: None,
        threads: std::thread::available_parallelism()?,
        interrupt: &AtomicBool::new(false),
        observer: None,
    };
    execution.execute(&mut journal, &mut outcomes, &mut |_| ())?;
    let meta = Meta::new(study, costs, "");
    Ok(summarise(&expanded, &outcomes, &meta, ""))
}

/// The studies by the names that are printed, with their main figures.
fn studies(args: &Args) -> Result<Vec<(String, Study, &'static [&'static str])>> {
    let mut all = Vec::new();
    for (name, figures) in BUILT_IN {
        let builtin = STUDIES.iter().find(|builtin| builtin.name == name);
        all.push((builtin.with_context(|| format!("{name} is built in"))?.study(), figures));
    }
    for (name, figures, toml) in OWN {
        all.push((Study::parse(name, toml)?, figures));
    }
    for name in &args.studies {
        if !all.iter().any(|(study, _)| study.name == *name) {
            let names: Vec<&str> = all.iter().map(|(study, _)| study.name.as_str()).collect();
            bail!("there is no study {name:?}; there are {names:?}");
        }
    }
    let mut tried = Vec::new();
    for (mut study, figures) in all {
        if !args.studies.is_empty() && !args.studies.contains(&study.name) {
            continue;
        }
        shorten(&mut study, args);
        if study.fresh == Fresh::Cell {
            tried.push((format!("{}, fresh = cell", study.name), study.clone(), figures));
        }
        study.fresh = Fresh::Repeat;
        tried.push((format!("{}, fresh = repeat", study.name), study, figures));
    }
    Ok(tried)
}

/// Leaves out what no gate needs, and what is not asked for.
fn shorten(study: &mut Study, args: &Args) {
    study.charts.clear();
    study.ratios.clear();
    study.published.clear();
    study
        .parts
        .retain(|part| args.part.is_empty() || args.part.contains(&part.name));
    if let Some(repeats) = args.repeats {
        study.repeats = repeats;
        study.parts.iter_mut().for_each(|part| part.repeats = None);
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let costs = CostTable::load(&Choice::Reference)?;
    let mut too_often = Vec::new();
    for (name, mut study, figures) in studies(&args)? {
        let mut gates = Gates::default();
        for pair in 0..args.pairs {
            let mut of_seed = |seed| {
                study.seed = seed;
                run(&study, &costs)
            };
            let (before, after) = (of_seed(2 * pair + 1)?, of_seed(2 * pair + 2)?);
            gates.try_pair(&before, &after, figures)?;
        }
        println!(
            "{name}: {} pairs; broken at 0 %: {}; at 5 %: {}; undecided at 5 %: {}; +10 % found between seeds: {}, with one seed: {}",
            args.pairs,
            gates.broken_at_0.describe(),
            gates.broken_at_5.describe(),
            gates.undecided_at_5.describe(),
            gates.found_between_seeds.describe(),
            gates.found_with_one_seed.describe(),
        );
        if gates.breaks_too_often() {
            too_often.push(name);
        }
    }
    if !too_often.is_empty() {
        bail!(
            "more than {} of the gates break: {}",
            percent(SHARE_MAX),
            too_often.join("; ")
        );
    }
    Ok(())
}
