//! What is measured of a direction, in which order? Its points, what is tried beyond them, what both compute; then policies, on what would
//! be used without them.

use super::beyond::{self, Trial};
use super::broadcast::Broadcast;
use super::candidate::{Candidate, USUAL};
use super::choose::choose;
use super::memory::Contexts;
use super::part::Part;
use super::recording::Stream;
use super::timing::{Meanwhile, Timed};
use super::tried::Tried;
use super::{Phase, TuneError, Work, points, shortlist};
use lastmile_payload::message_codec::{Deflate, MessageCodec};
use lastmile_payload::sweep::{Point, Swept};
use lastmile_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// A direction, measured.
pub(super) struct Direction<'a> {
    pub(super) stream: Stream<'a>,
    pub(super) points: Vec<Point>,
    /// How much of the stream points rest on, where they do not rest on all of it.
    pub(super) sampled: Option<Bytes>,
    /// How many different streams the points stand for.
    pub(super) distinct_streams: usize,
    /// Codecs and dictionaries.
    pub(super) tried: Vec<Tried>,
    /// Settings that may be used under every policy that matters, each behind itself without one.
    pub(super) under_policies: Vec<Vec<Tried>>,
    /// Of the points that were timed.
    pub(super) timed: BTreeMap<Deflate, Timed>,
    pub(super) meanwhile: Meanwhile,
    /// What the shortlisted points' contexts take, both ways.
    pub(super) contexts: BTreeMap<Deflate, Contexts>,
    /// What goes to several connections.
    pub(super) broadcast: Option<Broadcast>,
}

/// What a codec's octets depend on beside its settings.
pub(super) fn build(codec: &MessageCodec) -> String {
    codec.back_end().map_or_else(
        || "identity".to_owned(),
        |back_end| format!("{} {}", back_end.name, back_end.version),
    )
}

impl<'a> Direction<'a> {
    /// Measures everything that is asked for, or finds it where it is kept.
    pub(super) fn measure(stream: Stream<'a>, work: &mut Work<'_>) -> Result<Self, TuneError> {
        let options = work.options;
        let Swept {
            points,
            sampled,
            distinct_streams,
        } = points::points(&stream, work)?;
        let shortlist = shortlist::shortlist(&points, &options.limits());
        let trials = if options.beyond {
            beyond::trials(stream.messages)
        } else {
            Vec::new()
        };
        // The points that are timed are measured again on a part: what decoding takes, and that it gives back the same, is not swept.
        let part = Part::first_octets(stream.messages, CHECKED_MOST);
        let again = shortlist
            .iter()
            .map(|setting| Trial::plain(MessageCodec::Deflate(*setting), &part));
        let wanted: Vec<Trial> = again.chain(trials).collect();
        let measured = work.measured(&stream, &wanted, Phase::Beyond)?;
        let (mut tried, meanwhile) = work.timed(&stream, wanted, measured, options.timing, Phase::Timing)?;
        let beyond = tried.split_off(shortlist.len());
        let of_points = || shortlist.iter().copied().zip(&tried);
        let mut own = Self {
            contexts: of_points()
                .map(|(setting, own)| (setting, own.measured.contexts))
                .collect(),
            timed: of_points().map(|(setting, own)| (setting, own.timed.clone())).collect(),
            tried: beyond,
            under_policies: Vec::new(),
            meanwhile,
            broadcast: Broadcast::of(&stream, options.receivers),
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

    /// Tries the policies that matter on what would be used without them, and on zlib's usual setting. All are timed beside the setting
    /// itself, and told in proportion to what that took before.
    fn try_policies(&mut self, work: &mut Work<'_>) -> Result<(), TuneError> {
        let limits = work.options.limits();
        let (own, all) = (self.candidates(), self.all_candidates());
        let usual = own.iter().find(|candidate| candidate.is(USUAL));
        let bases = usual
            .into_iter()
            .chain([&own[choose(&own, &limits)], &all[choose(&all, &limits)]])
            .filter(|base| base.codec != MessageCodec::Identity);
        let mut told = BTreeSet::new();
        let groups: Vec<Vec<Trial>> = bases
            .filter(|base| told.insert((base.codec, base.dictionary.clone())))
            .map(|base| beyond::under_policies(&self.trial(base), self.stream.messages))
            .filter(|group| !group.is_empty())
            .collect();
        let wanted = groups.concat();
        if wanted.is_empty() {
            return Ok(());
        }
        let measured = work.measured(&self.stream, &wanted, Phase::Policies)?;
        let time = work.options.timing / TIMING_SHARE;
        let (mut tried, _) = work.timed(&self.stream, wanted, measured, time, Phase::Policies)?;
        for group in groups {
            let rest = tried.split_off(group.len());
            let reference = all.iter().find(|candidate| tried[0].is(candidate));
            let reference = reference.map_or_else(Timed::default, |candidate| candidate.timed.clone());
            let base = tried[0].timed.clone();
            for own in &mut tried {
                own.timed = own.timed.in_proportion(&reference, &base);
            }
            self.under_policies.push(std::mem::replace(&mut tried, rest));
        }
        Ok(())
    }

    /// What a candidate was, or is to be, tried as.
    fn trial(&self, candidate: &Candidate) -> Trial {
        let part = beyond::tried(self.stream.messages);
        // What stands beside a dictionary is on another part.
        let of_it =
            |tried: &&Tried| tried.is(candidate) && (tried.trial.dictionary.is_some() || tried.trial.part == part);
        self.tried
            .iter()
            .find(of_it)
            .map_or_else(|| Trial::plain(candidate.codec, &part), |tried| tried.trial.clone())
    }
}

/// How much of the time for timing is added for policies: our own choice, an eighth of it, as they are few.
const TIMING_SHARE: u32 = 8;

/// Settings of the grid are decoded again on so much of the beginning of a stream: our own choice.
const CHECKED_MOST: u64 = 1_000_000;
