//! Measures one direction: the points of the grid, the trials beyond it, the CPU time of both; then policies, on the settings that would be
//! chosen without them.

use super::alternative_codecs::{self, Trial};
use super::broadcast::Broadcast;
use super::candidate::{Candidate, ZLIB_DEFAULT};
use super::context_memory::ContextMemory;
use super::message_range::MessageRange;
use super::recording::Stream;
use super::select::choose;
use super::timing::{Interference, Timed};
use super::trial_results::TrialResult;
use super::{TIMING, TRYING_CODECS, TRYING_POLICIES, TuneContext, TuneError, grid_results, shortlist};
use lastmile_codec::message::{Deflate, MessageCodec};
use lastmile_sweep::{Point, SweepResult};
use lastmile_units::ByteCount;
use std::collections::{BTreeMap, BTreeSet};

/// The measurements of a direction.
pub(super) struct Direction<'a> {
    pub(super) stream: Stream<'a>,
    pub(super) points: Vec<Point>,
    /// The size of the sample that points rest on; none if they rest on the whole stream.
    pub(super) sampled: Option<ByteCount>,
    /// How many different compressed streams the points have.
    pub(super) distinct_streams: usize,
    /// Trials of codecs and dictionaries.
    pub(super) results: Vec<TrialResult>,
    /// Per setting, the trial without a policy, then those under every policy that matters.
    pub(super) under_policies: Vec<Vec<TrialResult>>,
    /// The points that were timed.
    pub(super) timed: BTreeMap<Deflate, Timed>,
    pub(super) interference: Interference,
    /// The memory of the shortlisted points' contexts, both directions.
    pub(super) contexts: BTreeMap<Deflate, ContextMemory>,
    /// How many connections messages go to.
    pub(super) broadcast: Option<Broadcast>,
}

impl<'a> Direction<'a> {
    /// Measures everything requested, or finds it in the journal.
    pub(super) fn measure(stream: Stream<'a>, work: &mut TuneContext<'_>) -> Result<Self, TuneError> {
        let options = work.options;
        let SweepResult {
            points,
            sampled,
            distinct_streams,
        } = grid_results::points(&stream, work)?;
        let shortlist = shortlist::shortlist(&points, &options.limits());
        let trials = if options.beyond {
            alternative_codecs::trials(stream.messages)
        } else {
            Vec::new()
        };
        // The timed points are measured again on a part: the sweep neither measures decompressors' memory nor checks round trips.
        let part = MessageRange::first_bytes(stream.messages, CHECKED_BYTES_MAX);
        let again = shortlist
            .iter()
            .map(|setting| Trial::plain(MessageCodec::Deflate(*setting), &part));
        let wanted: Vec<Trial> = again.chain(trials).collect();
        let measured = work.measured(&stream, &wanted, TRYING_CODECS)?;
        let (mut tried, meanwhile) = work.timed(&stream, wanted, measured, options.timing, TIMING)?;
        let beyond = tried.split_off(shortlist.len());
        let of_points = || shortlist.iter().copied().zip(&tried);
        let mut own = Self {
            contexts: of_points()
                .map(|(setting, own)| (setting, own.measured.contexts))
                .collect(),
            timed: of_points().map(|(setting, own)| (setting, own.timed.clone())).collect(),
            results: beyond,
            under_policies: Vec::new(),
            interference: meanwhile,
            broadcast: Broadcast::find(&stream, options.receivers),
            stream,
            points,
            sampled,
            distinct_streams,
        };
        if options.beyond {
            own.try_policies(work)?;
        }
        Ok(own)
    }

    /// Tries the policies that matter on the settings that would be chosen without them, and on zlib's default. Each is timed next to the
    /// setting itself, and scaled by that setting's earlier CPU time.
    fn try_policies(&mut self, work: &mut TuneContext<'_>) -> Result<(), TuneError> {
        let limits = work.options.limits();
        let (own, all) = (self.candidates(), self.all_candidates());
        let usual = own.iter().find(|candidate| candidate.same_as(ZLIB_DEFAULT));
        let bases = usual
            .into_iter()
            .chain([&own[choose(&own, &limits)], &all[choose(&all, &limits)]])
            .filter(|base| base.codec != MessageCodec::Identity);
        let mut reported = BTreeSet::new();
        let groups: Vec<Vec<Trial>> = bases
            .filter(|base| reported.insert((base.codec, base.dictionary.clone())))
            .map(|base| alternative_codecs::under_policies(&self.trial(base), self.stream.messages))
            .filter(|group| !group.is_empty())
            .collect();
        let wanted = groups.concat();
        if wanted.is_empty() {
            return Ok(());
        }
        let measured = work.measured(&self.stream, &wanted, TRYING_POLICIES)?;
        let time = work.options.timing / TIMING_SHARE;
        let (mut tried, _) = work.timed(&self.stream, wanted, measured, time, TRYING_POLICIES)?;
        for group in groups {
            let rest = tried.split_off(group.len());
            let reference = all.iter().find(|candidate| tried[0].same_as(candidate));
            let reference = reference.map_or_else(Timed::default, |candidate| candidate.timed.clone());
            let base = tried[0].timed.clone();
            for own in &mut tried {
                own.timed = own.timed.rescaled(&reference, &base);
            }
            self.under_policies.push(std::mem::replace(&mut tried, rest));
        }
        Ok(())
    }

    /// The trial of a candidate, made before or new.
    fn trial(&self, candidate: &Candidate) -> Trial {
        let part = alternative_codecs::trial_part(self.stream.messages);
        // The trials that dictionaries are compared with are on other parts.
        let of_it = |tried: &&TrialResult| {
            tried.same_as(candidate) && (tried.trial.dictionary.is_some() || tried.trial.part == part)
        };
        self.results
            .iter()
            .find(of_it)
            .map_or_else(|| Trial::plain(candidate.codec, &part), |tried| tried.trial.clone())
    }
}

/// Policies are timed for this fraction of the time for timing, in addition: our own choice, an eighth, as they are few.
const TIMING_SHARE: u32 = 8;

/// Settings of the grid are decompressed again on this many bytes at the beginning of a stream: our own choice.
const CHECKED_BYTES_MAX: u64 = 1_000_000;
