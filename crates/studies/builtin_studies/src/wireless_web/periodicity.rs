//! What gives connection durations at 100 m a period: experiment 6's open question.

use super::listed;
use crate::record_lookup;
use lastmile_report::number::quantity;
use lastmile_report::record::{Cell, Run, Table};

/// A period counts where chance gives such a one in fewer than one of a thousand series: our own choice, for some dozens of cells.
const CHANCE_MAX: f64 = 0.001;

/// The periodicity of a cell.
#[derive(Debug)]
pub(super) struct Periodicity<'a> {
    cell: &'a Cell,
    /// Fisher's g, its chance and its period in seconds: medians over the repeats.
    share: f64,
    chance: f64,
    period: f64,
    /// The share of the repeats whose period is the same.
    agreement: f64,
    /// The known period, in seconds, on whose phase the durations depend, where they depend on one.
    pub(super) known: Option<f64>,
}

/// Periods within this of each other are the same, and this share of the repeats must have the same. Our own choices. Queues make durations
/// alike that follow each other, and so peaks where there is no period, but at another place in each repeat.
const SAME: f64 = 0.05;
const AGREEMENT_MIN: f64 = 0.8;

impl Periodicity<'_> {
    /// Whether there is a period.
    pub(super) fn is_significant(&self) -> bool {
        self.chance < CHANCE_MAX && self.agreement >= AGREEMENT_MIN
    }

    fn level(&self, key: &str) -> &str {
        self.cell.levels.get(key).map_or("", String::as_str)
    }

    fn part(&self) -> &str {
        self.cell.part.as_deref().unwrap_or_default()
    }

    /// What is switched on in the radio and the place, as its settings say.
    pub(super) fn mechanism(&self) -> String {
        let mut on: Vec<&str> = Vec::new();
        for (part, name) in [
            ("beacons", "beacons"),
            ("rate=arf", "rate fallback"),
            ("interferer", "an oven"),
        ] {
            if self.level("radio").contains(part) {
                on.push(name);
            }
        }
        if self.level("environment").contains("no strong path") {
            on.push("fading");
        }
        if on.is_empty() {
            "nothing".to_owned()
        } else {
            on.join(" with ")
        }
    }

    fn has_random_arrivals(&self) -> bool {
        self.part() == "periodicity-arrivals"
    }

    /// How its requests and the timers of its TCP differ from those of most cells; empty where they do not.
    fn condition(&self) -> String {
        if self.has_random_arrivals() {
            return "requests at random times".to_owned();
        }
        if self.part() == "periodicity-timers" {
            let (delay, timeout) = (self.level("delayed_acknowledgement"), self.level("syn_timeout"));
            return format!("delayed ACK {delay} and SYN timeout {timeout}");
        }
        String::new()
    }

    /// Its mechanism and its condition: what tells it from the other cells of its rate.
    fn name(&self) -> String {
        let condition = self.condition();
        if condition.is_empty() {
            self.mechanism()
        } else {
            format!("{}, {condition}", self.mechanism())
        }
    }

    fn name_with_rate(&self) -> String {
        format!("{} at {}/s", self.name(), self.level("rate"))
    }
}

/// The share of the repeats in which a figure is about `period`.
fn agreement(cell: &Cell, name: &str, period: f64) -> f64 {
    let repeats = cell.figures.get(name).map_or(&[][..], |figure| &figure.run_means);
    let same = repeats.iter().filter(|other| (*other / period - 1.0).abs() < SAME);
    if repeats.is_empty() {
        1.0
    } else {
        same.count() as f64 / repeats.len() as f64
    }
}

/// The time in which requests at intervals of `interval` seconds meet every phase of `period`: their beat.
fn beat(interval: f64, period: f64) -> f64 {
    let step = (interval - (interval / period).round() * period).abs();
    interval * period / step
}

pub(super) fn all<'a>(run: &'a Run) -> Vec<Periodicity<'a>> {
    let is_it = |cell: &&Cell| {
        let part = cell.part.as_deref().unwrap_or_default();
        cell.valid && part.starts_with("periodicity")
    };
    let of = |cell: &'a Cell| {
        let median = |name: &str| cell.figures.get(name)?.quantiles.get("0.5").copied();
        let period = median("period")?;
        Some(Periodicity {
            cell,
            share: median("periodicity")?,
            chance: median("periodicity_chance")?,
            period,
            agreement: agreement(cell, "period", period),
            known: median("phase_period").filter(|known| {
                let chance = median("phase_chance").unwrap_or(1.0);
                chance < CHANCE_MAX && agreement(cell, "phase_period", *known) >= AGREEMENT_MIN
            }),
        })
    };
    run.cells.iter().filter(is_it).filter_map(of).collect()
}

pub(super) fn table(run: &Run) -> Option<Table> {
    let row = |of: &Periodicity<'_>| {
        let period = if of.is_significant() {
            quantity(of.period, "s")
        } else {
            "none".to_owned()
        };
        let known = of.known.map_or_else(|| "none".to_owned(), |known| quantity(known, "s"));
        let tail = super::curves::tail(of.cell).map_or_else(String::new, |tail| quantity(tail, "1"));
        vec![
            of.name(),
            of.level("rate").to_owned(),
            quantity(of.share, "1"),
            period,
            known,
            tail,
        ]
    };
    record_lookup::table(
        "Periods of connection durations at 100 m",
        "By the periodogram of their ranks, in the order of opening, and Fisher's test: g is the share of the greatest peak. A period is named where chance gives such a peak in fewer than 1 of 1,000 series (median of the repeats), and at least 80 % of the repeats have the same within 5 %. A known period (beacons each 102.4 ms, mains of 60 and of 50 Hz) is named where durations depend on its phase, by the same rule: Kruskal and Wallis's test of 20 phases.",
        &["Switched on", "Rate", "Fisher's g", "Period", "Known period", "p99/p50"],
        all(run).iter().map(row).collect(),
    )
}

/// The known period of a cell, and the longer one as which its requests at constant intervals show it.
fn describe_phase(of: &Periodicity<'_>) -> Option<String> {
    let known = of.known?;
    let mut text = format!("{} ({}", of.name_with_rate(), quantity(known, "s"));
    let beat = beat(1.0 / of.level("rate").parse::<f64>().ok()?, known);
    if !of.has_random_arrivals() && beat.is_finite() && beat > 1.5 * known {
        text += &format!(", which requests at this rate show as one of {}", quantity(beat, "s"));
    }
    Some(text + ")")
}

/// The mechanisms, each once, in groups of one condition.
fn listed_by_condition<'a>(cells: impl Iterator<Item = &'a Periodicity<'a>>) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for of in cells {
        let (condition, mechanism) = (of.condition(), of.mechanism());
        match groups.iter_mut().find(|(known, _)| *known == condition) {
            Some((_, mechanisms)) if mechanisms.contains(&mechanism) => (),
            Some((_, mechanisms)) => mechanisms.push(mechanism),
            None => groups.push((condition, vec![mechanism])),
        }
    }
    let describe = |(condition, mechanisms): &(String, Vec<String>)| {
        let listed = listed(mechanisms);
        if condition.is_empty() {
            listed
        } else {
            format!("with {condition}: {listed}")
        }
    };
    let described: Vec<String> = groups.iter().map(describe).collect();
    if described.is_empty() {
        listed(&[])
    } else {
        described.join("; ")
    }
}

pub(super) fn finding(run: &Run) -> Option<String> {
    let all = all(run);
    let describe = |of: &Periodicity<'_>| format!("{} ({})", of.name_with_rate(), quantity(of.period, "s"));
    let (with, without): (Vec<_>, Vec<_>) = all.iter().partition(|of| of.is_significant());
    (!all.is_empty()).then_some(())?;
    let never = without
        .into_iter()
        .filter(|of| with.iter().all(|other| other.name() != of.name()));
    let periodic: Vec<String> = with.iter().map(|of| describe(of)).collect();
    let mut text = format!(
        "Connection durations at 100 m have a period with: {}. They have none with: {}.",
        if periodic.is_empty() {
            "nothing that was tried".to_owned()
        } else {
            periodic.join("; ")
        },
        listed_by_condition(never)
    );
    let phases: Vec<String> = all.iter().filter_map(describe_phase).collect();
    text += &format!(
        " Fisher's test looks for one wave, and misses rare delays. Folded at the periods of beacons and of the mains, durations depend on the phase with: {}.",
        if phases.is_empty() {
            "nothing that was tried".to_owned()
        } else {
            phases.join("; ")
        }
    );
    Some(text)
}
