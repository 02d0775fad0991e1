//! Chooses among mixes by paired replays of the page: one that is not slower than any other, and among those the simplest.
//!
//! 1. **Not slower.** A mix *holds* if no other one that was tried loads the page faster beyond the noise: the 95 % interval of the paired
//!    difference contains 0, or is on its side. The fastest mix always holds, so there is a choice.
//! 2. **Others wait too.** Dynamic responses are compressed on every request. The page's time already contains the client's wait for that,
//!    but other requests wait as well. On a processor-sharing CPU of load `rho` (M/M/1-PS; Kleinrock, *Queueing Systems*, volume 2, section
//!    4.4) a second of work delays all requests by `1 / (1 - rho)^2` seconds in total, including `1 / (1 - rho)` for the request itself.
//!    The rest, `rho / (1 - rho)^2`, is added to the page's time for each second of CPU time; at the default load of one half that is 2.
//!    Among the mixes that hold, those whose sum is more than one per cent of the page's time above the least are left out (our own choice;
//!    a cost table's samples spread by more). So the delay of others decides between mixes that are equal for the page, and never makes the
//!    page slower.
//! 3. **The simplest.** The rest count as equal. The one with the fewest distinct settings wins, then the one with the fewest unusual ones
//!    (those that are no server's ordinary setting), then the one with the least CPU time on the server, then the fastest.
//! 4. **The model's error.** Simulated ratios of page times are off by some per cent, so a mix that is faster by less is no reason for
//!    one setting here and another one there: it yields to the ordinary mix, one setting for files and one for responses made on request
//!    (`search::ordinary_mix`), unless leaving everything as it is does as well.

use super::Options;
use super::candidates::Candidate;
use super::mix::{KindSetting, Mix, Simplicity, queueing_delay_factor};
use super::response_classes::Group;
use lastmile_codec::content::CodecSpec;
use lastmile_report::model_error::ModelError;
use lastmile_statistics::interval::interval_95;
use lastmile_statistics::mean;
use lastmile_traffic::responses::Origin;
use lastmile_units::Seed;

/// A setting on a group over a link.
#[derive(Debug, Clone)]
pub(super) struct MeasuredCandidate {
    pub(super) candidate: Candidate,
    /// A response's mean time in seconds on an idle link.
    pub(super) isolated_time: f64,
}

impl MeasuredCandidate {
    /// Whether `self` is at least as good as `other` in isolated time, size and CPU time on either side, and better in one.
    pub(super) fn dominates(&self, other: &Self) -> bool {
        let key = |tried: &Self| {
            let Candidate {
                size, server, client, ..
            } = tried.candidate;
            [
                tried.isolated_time,
                size.as_f64(),
                server.as_secs_f64(),
                client.as_secs_f64(),
            ]
        };
        let (own, others) = (key(self), key(other));
        own.iter().zip(&others).all(|(a, b)| a <= b) && own != others
    }
}

/// The seconds that a response makes its client and other requests wait, when it arrives in isolation within `time`.
pub(super) fn weighted_cost(time: f64, candidate: &Candidate, group: &Group, options: &Options) -> f64 {
    let computing = candidate.server.as_secs_f64() / group.items.len() as f64;
    match group.origin {
        Origin::Static => time,
        Origin::Dynamic => time + queueing_delay_factor(options.load.server.load) * computing,
    }
}

/// A mix with its replays.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) mix: Mix,
    /// The page's time in each repeat, in seconds; repeats of the same index share their random choices.
    pub(super) times: Vec<f64>,
    /// The seconds that a page delays other requests.
    pub(super) delay_of_others: f64,
    pub(super) simplicity: Simplicity,
    /// Whether it is the link's ordinary mix.
    pub(super) is_ordinary: bool,
}

/// Differences below this share of the page's time count as none, once repeats tell them so closely: our own choice.
pub(super) const SAME_TIME: f64 = 0.01;

impl Row {
    /// The mean page time.
    pub(super) fn mean(&self) -> f64 {
        mean(&self.times).unwrap_or(f64::INFINITY)
    }

    /// Whether it is slower than another one by no more than the model's error, with the delay of others and without.
    fn is_within_model_error(&self, of: &Self) -> bool {
        let error = ModelError::OF_RATIOS * of.mean();
        self.mean() <= of.mean() + error && self.burden() <= of.burden() + error
    }

    /// Whether it leaves everything as it is, or uncompressed.
    const fn changes_nothing(&self) -> bool {
        self.simplicity.settings == 0
    }

    /// The mean page time and the delay of others.
    pub(super) fn burden(&self) -> f64 {
        self.mean() + self.delay_of_others
    }
}

/// The seconds that a mix saves over another one, in pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairedDifference {
    /// The 95 % interval of their mean; the mean itself where nothing varied.
    pub(super) interval: [f64; 2],
}

impl PairedDifference {
    /// What `own` saves over `other`, in the repeats that both have.
    pub(super) fn of(own: &Row, other: &Row, seed: Seed) -> Self {
        let differences: Vec<f64> = other.times.iter().zip(&own.times).map(|(a, b)| a - b).collect();
        let mean = mean(&differences).unwrap_or_default();
        Self {
            interval: interval_95(&differences, seed).unwrap_or([mean; 2]),
        }
    }

    /// Whether it is slower, beyond the noise.
    pub(super) fn is_slower(&self) -> bool {
        self.interval[1] < 0.0
    }

    /// Whether it is faster, beyond the noise.
    pub(super) fn is_faster(&self) -> bool {
        self.interval[0] > 0.0
    }

    /// Whether a row is beaten by another one, beyond the noise and, where it is the ordinary mix, the model's error.
    pub(super) fn is_beaten(own: &Row, by: &Row, seed: Seed) -> bool {
        Self::of(own, by, seed).is_slower() && !(own.is_ordinary && own.is_within_model_error(by))
    }

    /// Whether more repeats could tell more: it contains 0, and is wider than what counts as no difference.
    fn is_open(&self, time: f64) -> bool {
        let [low, high] = self.interval;
        !self.is_slower() && !self.is_faster() && (high - low) / 2.0 > SAME_TIME * time
    }
}

/// What was chosen among rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// Its index.
    pub(super) chosen: usize,
    /// The rows that are neither faster nor slower than it, beyond the noise.
    pub(super) as_good: Vec<usize>,
    /// Whether more repeats could not change much: every difference is beyond the noise, or known to be small.
    pub(super) clear: bool,
}

/// Chooses one of `rows`, of which there is at least one. The same `seed` as in the record gives the same intervals.
pub(super) fn choose(rows: &[Row], seed: Seed) -> Choice {
    let difference = |own: usize, other: usize| PairedDifference::of(&rows[own], &rows[other], seed);
    let holds = |own: &usize| (0..rows.len()).all(|other| other == *own || !difference(*own, other).is_slower());
    let fastest = least(0..rows.len(), |row| rows[row].mean()).expect("there is a row");
    // The fastest holds, unless a bootstrap's interval leaves its own mean out.
    let holding: Vec<usize> = (0..rows.len()).filter(|row| *row == fastest || holds(row)).collect();
    let easiest = least(holding.iter().copied(), |row| rows[row].burden()).unwrap_or(fastest);
    let limit = rows[easiest].burden() + SAME_TIME * rows[easiest].mean();
    let equals = holding.into_iter().filter(|row| rows[*row].burden() <= limit);
    let simplest = |a: &usize, b: &usize| {
        let (a, b) = (&rows[*a], &rows[*b]);
        a.simplicity.cmp(&b.simplicity).then(a.mean().total_cmp(&b.mean()))
    };
    let simplest = equals.min_by(simplest).unwrap_or(easiest);
    let ordinary = (0..rows.len()).find(|row| rows[*row].is_ordinary);
    let is_worth_it = |row: &usize| {
        let unchanged = |other: &usize| rows[*other].changes_nothing();
        !rows[simplest].changes_nothing()
            && !(0..rows.len())
                .filter(unchanged)
                .any(|other| difference(*row, other).is_slower())
    };
    let chosen = ordinary
        .filter(|row| is_worth_it(row) && rows[*row].is_within_model_error(&rows[simplest]))
        .unwrap_or(simplest);
    let against = |row: &usize| difference(chosen, *row);
    let others: Vec<usize> = (0..rows.len()).filter(|row| *row != chosen).collect();
    let time = rows[chosen].mean();
    Choice {
        chosen,
        clear: !others.iter().any(|row| against(row).is_open(time)),
        as_good: others
            .into_iter()
            .filter(|row| !against(row).is_faster() && !against(row).is_slower())
            .collect(),
    }
}

/// The row with the least figure.
pub(super) fn least(rows: impl Iterator<Item = usize>, figure: impl Fn(usize) -> f64) -> Option<usize> {
    rows.min_by(|a, b| figure(*a).total_cmp(&figure(*b)))
}

/// A setting that was chosen for a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChosenSetting {
    pub(super) setting: KindSetting,
    /// The reason, in a sentence with the figures.
    pub(super) why: String,
}

impl ChosenSetting {
    /// The codec, where it compresses.
    pub(super) fn codec(&self) -> Option<CodecSpec> {
        self.setting.codec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn row(times: &[f64], settings: usize, delay_of_others: f64) -> Row {
        Row {
            mix: Mix(Vec::new()),
            times: times.to_vec(),
            delay_of_others,
            simplicity: Simplicity {
                settings,
                unusual_settings: 0,
                server_cpu: Duration::ZERO,
            },
            is_ordinary: false,
        }
    }

    fn chosen(rows: &[Row]) -> Choice {
        choose(rows, Seed::new(1))
    }

    #[test]
    fn a_row_that_another_beats_beyond_the_noise_is_not_chosen_however_simple_it_is() {
        // 0.5 % slower in every repeat: little, and more than the noise.
        let choice = chosen(&[row(&[10.05, 11.051, 12.05], 1, 0.0), row(&[10.0, 11.0, 12.0], 3, 0.0)]);
        assert_eq!((choice.chosen, choice.as_good.len(), choice.clear), (1, 0, true));
    }

    #[test]
    fn of_rows_that_differ_by_noise_the_simplest_is_chosen_and_the_tie_is_told() {
        let choice = chosen(&[row(&[10.0, 10.1, 10.0], 3, 0.0), row(&[10.05, 10.04, 10.06], 1, 0.0)]);
        assert_eq!((choice.chosen, choice.as_good), (1, vec![0]));
    }

    #[test]
    fn the_delay_of_others_decides_between_rows_that_are_equal_for_the_page_only() {
        let (cheap, dear) = (row(&[10.0, 10.1, 10.0], 3, 0.0), |times| row(times, 1, 0.5));
        assert_eq!(chosen(&[cheap.clone(), dear(&[10.05, 10.04, 10.06])]).chosen, 0);
        assert_eq!(
            chosen(&[cheap, dear(&[9.7, 9.81, 9.7])]).chosen,
            1,
            "the page would be slower"
        );
    }

    #[test]
    fn a_row_that_is_faster_by_less_than_the_models_error_yields_to_the_ordinary_one() {
        let ordinary = |times| Row {
            is_ordinary: true,
            ..row(times, 3, 0.0)
        };
        let fast = row(&[10.0, 11.0, 12.0], 1, 0.0);
        assert_eq!(chosen(&[fast.clone(), ordinary(&[10.8, 11.8, 12.8])]).chosen, 1);
        assert_eq!(chosen(&[fast.clone(), ordinary(&[11.2, 12.2, 13.2])]).chosen, 0, "11 %");
        let unchanged = row(&[10.0, 11.0, 12.0], 0, 0.0);
        assert_eq!(chosen(&[unchanged, ordinary(&[10.0, 11.0, 12.1])]).chosen, 0);
        let between = row(&[10.4, 11.4, 12.4], 0, 0.0);
        let choice = chosen(&[fast.clone(), ordinary(&[10.8, 11.8, 12.8]), between]);
        assert_eq!(choice.chosen, 0, "it would be slower than the page as it is");
        assert!(!PairedDifference::is_beaten(
            &ordinary(&[10.8, 11.8, 12.8]),
            &fast,
            Seed::new(1)
        ));
        assert!(PairedDifference::is_beaten(
            &ordinary(&[11.2, 12.2, 13.2]),
            &fast,
            Seed::new(1)
        ));
    }

    #[test]
    fn a_choice_is_open_while_the_noise_is_wider_than_what_counts_as_no_difference() {
        let noisy = [row(&[10.0, 14.0, 9.0], 1, 0.0), row(&[13.0, 9.0, 10.0], 1, 0.0)];
        assert!(!chosen(&noisy).clear);
        assert!(chosen(&noisy[..1]).clear, "there is nothing else");
    }
}
