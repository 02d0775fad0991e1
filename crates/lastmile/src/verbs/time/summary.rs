//! The record of timed runs, with the shape of a study's run: a cell for each link.

use crate::run_store;
use anyhow::anyhow;
use lastmile_report::link_summary::{Direction, LinkRunSummary};
use lastmile_report::number::{interval, quantity, with_decimals};
use lastmile_report::record::{
    Axis, Cell, Chart, Doubt, DoubtKind, Figure, Finding, Levels, Point, Ratio, Run, Scale, Series, Source, Threshold,
};
use lastmile_report::rules::{Comparison, RuleText, Statistic, in_base_unit, split_brackets};
use lastmile_report::screen::shell_word;
use lastmile_study::doubt;
use lastmile_testbed::cpu_cost_model::this_machine;
use lastmile_units::Seed;
use lastmile_units::suggest::suggestion;
use std::fmt;

/// The figures of a run: name, unit, and value.
type Value = fn(&LinkRunSummary) -> f64;
const FIGURES: [(&str, &str, Value); 4] = [
    (TIME, "s", |run| run.took.unwrap_or_default()),
    ("bytes_down", "B", |run| run.down.bytes_delivered as f64),
    ("bytes_up", "B", |run| run.up.bytes_delivered as f64),
    ("dropped_packets", "", |run| {
        [&run.down, &run.up].map(Direction::dropped).iter().sum::<u64>() as f64
    }),
];
const TIME: &str = "time";

/// What differs between runs of one command behind one link.
const VARIED: &str = "real time";

/// The runs behind a link, in their order.
pub(super) struct LinkRuns {
    link: String,
    runs: Vec<LinkRunSummary>,
}

impl LinkRuns {
    pub(super) fn new(link: &str) -> Self {
        let link = link.to_owned();
        Self { link, runs: Vec::new() }
    }

    pub(super) fn push(&mut self, run: LinkRunSummary) {
        self.runs.push(run);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    fn levels(&self) -> Levels {
        Levels::from([("link".to_owned(), self.link.clone())])
    }

    fn times(&self) -> Vec<f64> {
        self.runs.iter().map(FIGURES[0].2).collect()
    }

    fn cell(&self, seed: Seed, is_interrupted: bool) -> Cell {
        let figure = |(name, unit, value): &(&str, &str, Value)| {
            let samples: Vec<Vec<f64>> = self.runs.iter().map(|run| vec![value(run)]).collect();
            let figure = Figure::of_runs(unit, "run", &samples, &[VARIED.to_owned()], seed)?;
            let run_means = if figure.ci95.is_some() {
                samples.concat()
            } else {
                Vec::new()
            };
            Some(((*name).to_owned(), Figure { run_means, ..figure }))
        };
        let mut doubts = Vec::new();
        let invalid: Vec<&String> = self
            .runs
            .iter()
            .filter(|run| run.doubts.is_empty())
            .filter_map(|run| run.why_invalid.as_ref())
            .collect();
        if let Some(why) = invalid.first() {
            let text = format!("{} of {} runs: {why}", invalid.len(), self.runs.len());
            doubts.push(Doubt::new(DoubtKind::Disturbed, text));
        }
        doubts.extend(self.runs.iter().flat_map(|run| run.doubts.first()).take(1).cloned());
        doubts.extend(doubt::few_runs(self.runs.len(), true));
        doubts.extend(doubt::slow_first_run(TIME, &self.times()));
        if is_interrupted {
            doubts.push(Doubt::new(DoubtKind::Interrupted, "stopped by Ctrl-C"));
        }
        Cell {
            part: None,
            levels: self.levels(),
            repeats: self.runs.len() as u64,
            failed: 0,
            figures: FIGURES.iter().filter_map(figure).collect(),
            valid: invalid.is_empty(),
            doubts,
        }
    }

    /// How many times as long as behind `first` the command takes, pair by pair of rounds.
    fn ratio(&self, first: &Self, seed: Seed) -> Option<Ratio> {
        let pairs = self.times().into_iter().zip(first.times());
        let pairs: Vec<Vec<f64>> = pairs
            .filter(|(_, base)| *base > 0.0)
            .map(|(time, base)| vec![time / base])
            .collect();
        let figure = Figure::of_runs("1", "pair", &pairs, &[VARIED.to_owned()], seed)?;
        Some(Ratio {
            name: "times_as_long".to_owned(),
            levels: self.levels(),
            n: figure.n,
            mean: figure.mean,
            population_sd: figure.population_sd,
            population_sd_ratio: figure.population_sd_ratio,
            ci95: figure.ci95,
            varied: figure.varied,
            published: None,
        })
    }
}

/// The record; runs behind the first link are what the others' times are divided by.
pub(super) fn run(all: &[LinkRuns], command: &[String], seed: u64, rules: &[Rule], is_interrupted: bool) -> Run {
    let bootstrap = Seed::new(seed);
    let measured: Vec<&LinkRuns> = all.iter().filter(|runs| !runs.is_empty()).collect();
    let cells: Vec<Cell> = measured
        .iter()
        .map(|runs| runs.cell(bootstrap, is_interrupted))
        .collect();
    let (first, others) = measured.split_first().expect("one link has a run");
    let ratios: Vec<Ratio> = others.iter().filter_map(|runs| runs.ratio(first, bootstrap)).collect();
    let thresholds = rules
        .iter()
        .flat_map(|rule| cells.iter().filter_map(|cell| rule.check(cell)))
        .collect();
    let words: Vec<String> = command.iter().map(|word| shell_word(word)).collect();
    let chart = chart(&cells);
    Run {
        schema: Run::SCHEMA.to_owned(),
        study: "time".to_owned(),
        question: format!("How long does `{}` take behind each link?", words.join(" ")),
        world: "emu".to_owned(),
        cpu: "measured".to_owned(),
        cpu_machine: this_machine(),
        seed,
        fresh: "repeat".to_owned(),
        version: run_store::VERSION.to_owned(),
        run: String::new(),
        findings: vec![Finding::new("Times", answer(first, &ratios, &cells))],
        charts: vec![chart],
        cells,
        ratios,
        exhibits: Vec::new(),
        thresholds,
    }
}

/// `wpt/3g takes 4.1 (3.9 to 4.3) times as long as none.`
fn answer(first: &LinkRuns, ratios: &[Ratio], cells: &[Cell]) -> String {
    let decimals = |value: f64| with_decimals(value, if value < 10.0 { 2 } else { 1 });
    let sentence = |ratio: &Ratio| {
        let within = ratio.ci95.map_or_else(String::new, |[low, high]| {
            format!(" ({} to {})", decimals(low), decimals(high))
        });
        format!(
            "{} takes {}{within} times as long as {}.",
            ratio.levels["link"],
            decimals(ratio.mean),
            first.link
        )
    };
    if ratios.is_empty() {
        let time = &cells[0].figures[TIME];
        let within = time
            .ci95
            .map_or_else(String::new, |ci| format!(" ({})", interval(ci, "s")));
        return format!("It takes {}{within} behind {}.", quantity(time.mean, "s"), first.link);
    }
    ratios.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

fn chart(cells: &[Cell]) -> Chart {
    let links = cells.iter().map(|cell| cell.levels["link"].clone()).collect();
    let point = |(at, cell): (usize, &Cell)| {
        let time = cell.figures.get(TIME)?;
        Some(Point {
            spread: time.ci95,
            ..Point::new(at as f64, time.mean)
        })
    };
    Chart {
        title: "Time by link".to_owned(),
        note: "Means of the runs, with their 95 % intervals.".to_owned(),
        x: Axis::new("link", "1", Scale::Named(links)),
        y: Axis::new("Time", "s", Scale::Linear),
        series: vec![Series {
            name: "time".to_owned(),
            source: Source::Measured,
            joined: false,
            points: cells.iter().enumerate().filter_map(point).collect(),
        }],
        marks: Vec::new(),
        limits: Vec::new(),
        below: None,
    }
}

/// A bound on a statistic of a figure, which must hold behind each link.
pub(super) struct Rule {
    subject: String,
    bound_written: String,
    figure: &'static str,
    unit: &'static str,
    statistic: Statistic,
    comparison: Comparison,
    bound: f64,
}

impl Rule {
    /// Reads what must not happen, `mean(time)>2s`, as what must hold.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let refused = |problem: String| anyhow!("--fail-on {text:?}: {problem}; write it like 'mean(time)>2s'");
        let rule = RuleText::parse(text).map_err(|error| refused(error.to_string()))?;
        let (statistic, name) = split_brackets(rule.subject).map_err(|error| refused(error.to_string()))?;
        let name = name.ok_or_else(|| refused("it names no figure in brackets".to_owned()))?;
        let known = FIGURES.iter().find(|(figure, _, _)| *figure == name);
        let (figure, unit, _) = known.ok_or_else(|| {
            let names = FIGURES.map(|(figure, _, _)| figure);
            refused(format!("unknown figure {name:?}{}", suggestion(name, names)))
        })?;
        let comparison = rule.comparison.opposite();
        Ok(Self {
            subject: rule.subject.to_owned(),
            bound_written: rule.bound.to_owned(),
            figure,
            unit,
            statistic: Statistic::parse_recorded(statistic).map_err(|error| refused(error.to_string()))?,
            comparison,
            bound: in_base_unit(unit, rule.bound).map_err(refused)?,
        })
    }

    pub(super) fn unit(&self) -> &'static str {
        self.unit
    }

    fn check(&self, cell: &Cell) -> Option<Threshold> {
        let found = self.statistic.of_figure(cell.figures.get(self.figure)?)?;
        Some(Threshold {
            rule: self.to_string(),
            part: None,
            levels: cell.levels.clone(),
            found,
            held: self.comparison.holds(found, self.bound),
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.subject, self.comparison, self.bound_written)
    }
}
