//! In which places the slides' statements about transmit power and distance hold: experiments 5 and 6.

use super::curves::{mean, tail};
use super::listed;
use crate::record_lookup::{self, cell, levels_of};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Run, Table};

/// A tail of connection durations: the 99th percentile in terms of the median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tail {
    /// None where no connection was established.
    pub(super) ratio: Option<f64>,
    /// The share of requests that failed.
    pub(super) failed: f64,
}

/// What was measured in a place: the tails at 1, 5, 20 and 100 mW at 10 m, and at 100 m with 10 and 50 requests per second.
#[derive(Debug)]
pub(super) struct RadioEnvironment {
    pub(super) name: String,
    pub(super) by_power: Vec<Tail>,
    pub(super) far: Vec<Tail>,
}

/// "Skewed": above this; "acceptable": below the other. The slides have histograms and no numbers, so both are our own choice.
const SKEWED: f64 = 3.0;
const ACCEPTABLE: f64 = 1.5;
/// At 100 m, the slides show durations of connections, so most requests were served: our own choice of what "most" is.
const FAILED_MAX: f64 = 0.5;

impl Tail {
    fn is_skewed(self) -> bool {
        self.failed < FAILED_MAX && self.ratio.is_some_and(|ratio| ratio > SKEWED)
    }

    fn is_acceptable(self) -> bool {
        self.ratio.is_some_and(|ratio| ratio < ACCEPTABLE)
    }

    fn print(self) -> String {
        match self.ratio {
            None => "nothing arrives".to_owned(),
            Some(ratio) if self.failed >= 0.01 => format!("{} ({} fail)", quantity(ratio, "1"), percent(self.failed)),
            Some(ratio) => quantity(ratio, "1"),
        }
    }
}

impl RadioEnvironment {
    /// Whether 1 and 5 mW are unacceptable, and 20 and 100 mW acceptable.
    pub(super) fn holds_power(&self) -> bool {
        let [one, five, twenty, hundred] = self.by_power[..] else {
            return false;
        };
        one.is_skewed() && five.is_skewed() && twenty.is_acceptable() && hundred.is_acceptable()
    }

    /// Whether durations at 100 m are skewed at both rates.
    pub(super) fn holds_distance(&self) -> bool {
        self.far.len() == 2 && self.far.iter().all(|tail| tail.is_skewed())
    }
}

/// Every place of experiments 5 and 6.
pub(super) fn environments(run: &Run) -> Vec<RadioEnvironment> {
    let tail_of = |part: &str, levels: &[(&str, &str)]| {
        let cell = cell(run, part, levels)?;
        Some(Tail {
            ratio: tail(cell),
            failed: mean(cell, "error_rate"),
        })
    };
    let environment = |name: &&str| {
        let power = |power: &&str| tail_of("transmit-power", &[("environment", name), ("transmit_power", power)]);
        let far = |rate: &&str| {
            tail_of(
                "channel",
                &[("environment", name), ("distance", "100 m"), ("rate", rate)],
            )
        };
        RadioEnvironment {
            name: (*name).to_owned(),
            by_power: ["1 mW", "5 mW", "20 mW", "100 mW"].iter().filter_map(power).collect(),
            far: ["10", "50"].iter().filter_map(far).collect(),
        }
    };
    let mut names = levels_of(run, "transmit-power", "environment");
    let others = levels_of(run, "channel", "environment");
    names.extend(
        others
            .into_iter()
            .filter(|name| !names.contains(name))
            .collect::<Vec<_>>(),
    );
    names.iter().map(environment).collect()
}

pub(super) fn table(run: &Run) -> Option<Table> {
    let yes_or_no = |holds: bool| if holds { "holds" } else { "does not hold" }.to_owned();
    let row = |environment: &RadioEnvironment| {
        let tail = |tails: &[Tail], index: usize| tails.get(index).map_or_else(String::new, |tail| tail.print());
        let mut row = vec![environment.name.clone()];
        row.extend((0..4).map(|index| tail(&environment.by_power, index)));
        row.push(yes_or_no(environment.holds_power()));
        row.extend((0..2).map(|index| tail(&environment.far, index)));
        row.push(yes_or_no(environment.holds_distance()));
        row
    };
    record_lookup::table(
        "Connection durations by place: the 99th percentile in terms of the median",
        "At 10 m by transmit power, and at 100 m with 100 mW by requests per second. The slides' statements are taken to hold where it is above 3 at 1 and 5 mW and below 1.5 from 20 mW on, and where it is above 3 at 100 m and less than half of the requests fail.",
        &[
            "Place",
            "1 mW",
            "5 mW",
            "20 mW",
            "100 mW",
            "Experiment 5",
            "100 m, 10/s",
            "100 m, 50/s",
            "Experiment 6",
        ],
        environments(run).iter().map(row).collect(),
    )
}

pub(super) fn finding(run: &Run) -> Option<String> {
    let environments = environments(run);
    let that = |holds: &dyn Fn(&RadioEnvironment) -> bool| -> Vec<String> {
        let those = environments.iter().filter(|environment| holds(environment));
        those.map(|environment| format!("\"{}\"", environment.name)).collect()
    };
    let (power, distance) = (
        that(&RadioEnvironment::holds_power),
        that(&RadioEnvironment::holds_distance),
    );
    let both = that(&|environment| environment.holds_power() && environment.holds_distance());
    (!environments.is_empty()).then_some(())?;
    let mut text = format!(
        "Of {} places, the slides' statements about transmit power at 10 m (skewed durations below 10 mW, acceptable ones from 20 mW on) hold in {}; those about 100 m in {}; all of them together in {}.",
        environments.len(),
        listed(&power),
        listed(&distance),
        listed(&both)
    );
    if !both.is_empty() {
        text += &format!(
            " So a place like {} accounts for everything that they say of power and distance.",
            if both.len() == 1 { "this one" } else { "one of these" }
        );
    }
    if both.is_empty() && !power.is_empty() && !distance.is_empty() {
        text += " So the paths of the two experiments differed. Where 5 mW are too little for 10 m, and 100 mW still reach 100 m, the ten times greater distance costs about the 13 dB between them, which is less than in free space (20 dB): something must have stood in the way of the 10 m, such as walls or people, and the 100 m must have been freer, such as a corridor or open ground.";
    }
    Some(text)
}
