//! A measured direction with its candidates, and those that sentences compare.

use super::Options;
use super::candidate::{Candidate, ZLIB_DEFAULT};
use super::context_memory::CompressorCount;
use super::measure_direction::Direction;
use super::select::choose;
use super::timing::Timed;
use lastmile_codec::message::{Deflate, MessageCodec, Policy};
use lastmile_report::paired_statistics::Figures;
use lastmile_report::record::Figure;

/// A direction with its candidates.
pub(super) struct DirectionReport<'a> {
    pub(super) direction: &'a Direction<'a>,
    pub(super) options: &'a Options,
    /// The points that were timed.
    pub(super) timed_points: Vec<Candidate>,
    /// The candidates of permessage-deflate.
    pub(super) candidates: Vec<Candidate>,
    /// The candidates of all codecs.
    pub(super) all: Vec<Candidate>,
    figures: Figures,
}

impl<'a> DirectionReport<'a> {
    pub(super) fn new(direction: &'a Direction<'a>, options: &'a Options) -> Self {
        Self {
            direction,
            options,
            timed_points: direction.timed_points(),
            candidates: direction.candidates(),
            all: direction.all_candidates(),
            figures: Figures {
                varied: vec!["round of timing".to_owned()],
                seed: options.root().derive("intervals"),
            },
        }
    }

    /// The setting of permessage-deflate to use, or identity.
    pub(super) fn chosen(&self) -> &Candidate {
        &self.candidates[choose(&self.candidates, &self.options.limits())]
    }

    /// The setting of permessage-deflate to use; none where messages are left uncompressed.
    pub(super) fn chosen_deflate(&self) -> Option<Deflate> {
        match self.chosen().codec {
            MessageCodec::Deflate(deflate) => Some(deflate),
            _ => None,
        }
    }

    /// The setting to use by a user who controls both ends.
    pub(super) fn chosen_any_codec(&self) -> &Candidate {
        &self.all[choose(&self.all, &self.options.limits())]
    }

    /// The best setting that compresses a message to many once, without other policies; none if each message goes to one receiver.
    pub(super) fn best_shared(&self) -> Option<&Candidate> {
        let once: Vec<&Candidate> = self
            .candidates
            .iter()
            .filter(|candidate| {
                candidate.compressors == CompressorCount::Shared && candidate.policy == Policy::default()
            })
            .collect();
        self.best(&once)
    }

    /// The best setting with one context per connection, by the same rule.
    pub(super) fn best_with_takeover(&self) -> Option<&Candidate> {
        let own = self.candidates.iter().filter(|candidate| candidate.contexts.takeover);
        self.best(&own.collect::<Vec<_>>())
    }

    /// The best of these candidates by the rule of [`choose`].
    pub(super) fn best<'b>(&self, among: &[&'b Candidate]) -> Option<&'b Candidate> {
        let candidates: Vec<Candidate> = among.iter().map(|candidate| (*candidate).clone()).collect();
        (!among.is_empty()).then(|| among[choose(&candidates, &self.options.limits())])
    }

    /// zlib's default, if it is in the grid.
    pub(super) fn zlib_default(&self) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.same_as(ZLIB_DEFAULT))
    }

    /// The ratio of any setting of the grid.
    pub(super) fn ratio(&self, setting: Deflate) -> Option<f64> {
        let mut points = self.direction.points.iter();
        points.find(|point| point.setting == setting).map(|point| point.ratio)
    }

    /// The direction's name in JSON.
    pub(super) fn name(&self) -> &'static str {
        self.direction.stream.direction.name()
    }

    pub(super) fn computing(&self, timed: &Timed) -> Option<Figure> {
        let rounds = timed.compressing.iter().map(|seconds| vec![*seconds]).collect();
        (!timed.compressing.is_empty()).then(|| self.figures.figure("s", "round", &rounds))
    }
}
