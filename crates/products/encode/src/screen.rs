//! The answer of a comparison of encodings on one screen.

use crate::link_run::SOONER;
use crate::record::{EncodingComparison, EncodingDelivery, EncodingOutcome};
use crate::summary::in_two_digits;
use lastmile_report::document::Grid;
use lastmile_report::number::{counted, mean_bytes, percent, quantity, signed_percent};
use lastmile_report::screen::{Bar, BarGroup, STANDARD_INPUT, Screen, Tile, shell_word};

/// Settings that take at most this much longer than the fastest count as equally fast.
const NEARLY: f64 = 1.02;

pub(crate) fn screen(comparison: &EncodingComparison) -> Screen {
    let source = &comparison.source;
    let decided: Vec<(&EncodingDelivery, Option<Decision>)> =
        comparison.links.iter().map(|link| (link, Decision::of(link))).collect();
    let bars: Vec<BarGroup> = decided
        .iter()
        .filter_map(|(link, decision)| Some(decision.as_ref()?.bars(&link.name)))
        .collect();
    Screen {
        question: format!(
            "{source}: {}, {} as JSON, {} per second. Bars: bytes on the link per message.",
            counted(comparison.documents, "document"),
            quantity(comparison.json_bytes as f64, "B"),
            comparison.rate,
        ),
        tiles: decided
            .iter()
            .filter_map(|(link, decision)| Some(decision.as_ref()?.tile(&link.name)))
            .collect(),
        bars,
        table: (!decided.is_empty()).then(|| delays(&decided)),
        doubts: Screen::doubt_texts(&comparison.doubts),
        answer: if decided.is_empty() {
            comparison.answer.clone()
        } else {
            answer(&decided)
        },
        next: if decided.is_empty() && source != STANDARD_INPUT {
            format!("lastmile encode {} --link wpt/3g", shell_word(source))
        } else {
            String::new()
        },
        ..Screen::default()
    }
}

/// What to use on a link.
struct Decision<'a> {
    plain: &'a EncodingOutcome,
    /// What arrives noticeably before plain JSON, with the smallest change.
    sooner: Option<&'a EncodingOutcome>,
    /// What has the fewest bytes within the wait that is allowed.
    smallest: &'a EncodingOutcome,
}

impl<'a> Decision<'a> {
    /// None where nothing fits the link.
    fn of(link: &'a EncodingDelivery) -> Option<Self> {
        let plain = link.outcomes.iter().find(|outcome| outcome.is_plain_json())?;
        let smallest = link
            .outcomes
            .iter()
            .find(|outcome| outcome.to_use && outcome.delay_s().is_some())?;
        let timed = || {
            let framed = link.outcomes.iter().filter(|outcome| outcome.framing == plain.framing);
            framed.filter_map(|outcome| Some((outcome, outcome.delay_s()?)))
        };
        let soonest = timed().map(|(_, delay)| delay).fold(f64::INFINITY, f64::min);
        let enough = plain
            .delay_s()
            .map_or(f64::INFINITY, |delay| SOONER * delay)
            .min(soonest * NEARLY);
        let sooner = timed().filter(|(_, delay)| *delay <= enough);
        let sooner = sooner.min_by(|(one, _), (other, _)| {
            let is_changed = |outcome: &EncodingOutcome| outcome.encoding != plain.encoding;
            let bytes = |outcome: &EncodingOutcome| outcome.link_bytes_per_message;
            is_changed(one)
                .cmp(&is_changed(other))
                .then(bytes(one).total_cmp(&bytes(other)))
        });
        Some(Self {
            plain,
            sooner: sooner.map(|(outcome, _)| outcome),
            smallest,
        })
    }

    /// The share of plain JSON's bytes that a setting saves.
    fn saves(&self, outcome: &EncodingOutcome) -> f64 {
        1.0 - outcome.link_bytes_per_message / self.plain.link_bytes_per_message
    }

    fn bars(&self, link: &str) -> BarGroup {
        let bar = |outcome: &EncodingOutcome| Bar {
            label: setting(outcome),
            length: outcome.link_bytes_per_message,
            figure: format!("{} B", mean_bytes(outcome.link_bytes_per_message.round())),
            change: if outcome.is_plain_json() {
                String::new()
            } else {
                signed_percent(-self.saves(outcome))
            },
            interval: String::new(),
        };
        let mut outcomes = vec![self.plain];
        outcomes.extend(self.sooner);
        if !outcomes
            .iter()
            .any(|outcome| setting(outcome) == setting(self.smallest))
        {
            outcomes.push(self.smallest);
        }
        BarGroup {
            name: link.to_owned(),
            detail: String::new(),
            bars: outcomes.into_iter().map(bar).collect(),
        }
    }

    /// When a message arrives with what to use, and what that is.
    fn tile(&self, link: &str) -> Tile {
        let plain = delay(self.plain);
        let (used, mut detail) = match self.sooner {
            Some(sooner) => (
                sooner,
                format!("until arrival with {}; plain JSON {plain}", setting(sooner)),
            ),
            None => (
                self.plain,
                "until arrival with plain JSON: nothing is sooner".to_owned(),
            ),
        };
        if setting(self.smallest) != setting(used) {
            detail += &format!(
                "; {} fewer bytes with {}",
                fewer(self.saves(self.smallest)),
                setting(self.smallest)
            );
        }
        Tile::new(link, delay(used), detail)
    }

    /// What to do, without the link.
    fn advice(&self) -> String {
        let paid = |outcome: &EncodingOutcome| {
            let is_later = outcome.delay_s() > self.sooner.unwrap_or(self.plain).delay_s();
            let later = if is_later { ", later" } else { "" };
            format!(
                "where bytes are paid for, {} ({} fewer{later})",
                setting(outcome),
                fewer(self.saves(outcome))
            )
        };
        match (self.sooner, self.smallest) {
            (None, smallest) if smallest.is_plain_json() => "keep plain JSON".to_owned(),
            (None, smallest) => format!("keep plain JSON, since nothing arrives sooner; {}", paid(smallest)),
            (Some(sooner), smallest) => {
                let why = if self.plain.delay_s().is_none() {
                    "which fits the link"
                } else {
                    "which arrives sooner"
                };
                let mut text = format!("use {}, {why}", setting(sooner));
                if setting(smallest) != setting(sooner) {
                    text += &format!("; {}", paid(smallest));
                }
                text
            }
        }
    }
}

/// `stream deflate:6, by 10`: JSON, unless another encoding is named, in batches of so many.
fn setting(outcome: &EncodingOutcome) -> String {
    if outcome.is_plain_json() {
        return "plain JSON".to_owned();
    }
    let is_compressed = outcome.codec != "none";
    let mut words = match outcome.encoding.as_str() {
        "json" if is_compressed => Vec::new(),
        "json" => vec!["JSON".to_owned()],
        encoding => vec![encoding.to_owned()],
    };
    if is_compressed {
        words.push(outcome.codec.clone());
    }
    if outcome.batch > 1 {
        words.push(format!("by {}", outcome.batch));
    }
    words.join(", ")
}

/// A share of bytes that is saved, in whole percent.
fn fewer(share: f64) -> String {
    percent((share * 100.0).round() / 100.0)
}

/// How long after it arose a message arrives, where the setting fits the link.
fn delay(outcome: &EncodingOutcome) -> String {
    outcome
        .delay_s()
        .map_or_else(|| "does not fit".to_owned(), |delay| quantity(delay, "s"))
}

/// How long after it arose a message arrives.
fn delays(decided: &[(&EncodingDelivery, Option<Decision<'_>>)]) -> Grid {
    let row = |(link, decision): &(&EncodingDelivery, Option<Decision<'_>>)| {
        let decision = decision.as_ref()?;
        let sooner = decision.sooner.map_or_else(|| "nothing".to_owned(), delay);
        Some(vec![
            link.name.clone(),
            delay(decision.plain),
            sooner,
            delay(decision.smallest),
        ])
    };
    Grid::new("", "")
        .word_columns(["a message arrives after"])
        .figure_columns(["plain JSON", "sooner", "fewest bytes"])
        .plain_rows(decided.iter().filter_map(row))
}

/// A sentence for the links on which the same is to be done.
fn answer(decided: &[(&EncodingDelivery, Option<Decision<'_>>)]) -> String {
    let mut advices: Vec<(String, Vec<&str>)> = Vec::new();
    for (link, decision) in decided {
        let advice = decision.as_ref().map_or_else(|| link.summary.clone(), Decision::advice);
        match advices.iter_mut().find(|(known, _)| *known == advice) {
            Some((_, links)) => links.push(&link.name),
            None => advices.push((advice, vec![&link.name])),
        }
    }
    let sentence =
        |(advice, links): &(String, Vec<&str>)| format!("On {}: {}.", links.join(", "), advice.trim_end_matches('.'));
    let mut sentences: Vec<String> = advices.iter().map(sentence).collect();
    sentences.extend(gains(decided));
    sentences.join(" ")
}

/// From which rate on something else would arrive sooner than plain JSON, on the links where nothing does.
fn gains(decided: &[(&EncodingDelivery, Option<Decision<'_>>)]) -> Option<String> {
    let rate = |(link, decision): &(&EncodingDelivery, Option<Decision<'_>>)| {
        let rate = link.rate_of_gain_per_second.filter(|rate| rate.is_finite())?;
        let keeps = decision.as_ref().is_some_and(|decision| decision.sooner.is_none());
        keeps.then(|| format!("about {} on {}", in_two_digits(rate), link.name))
    };
    let rates: Vec<String> = decided.iter().filter_map(rate).collect();
    (!rates.is_empty()).then(|| {
        format!(
            "Below so many messages per second nothing arrives sooner: {}.",
            rates.join(", ")
        )
    })
}
