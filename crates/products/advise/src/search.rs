//! Searches the mix for each link on the page itself, by paired replays.
//!
//! It begins with everything that is the same for all kinds: no compression, as recorded, and each setting for everything that can have it;
//! and with the mix of the settings that are best in isolation. From the best of these on, it replaces the setting of one kind after the
//! other by those that promise most, and keeps what is better beyond the noise. Of everything that was tried, the mixes that may be the
//! best, and the settings that readers know, are replayed more often, twice as often each time, until the choice is clear or the bound is
//! reached.

use super::isolated_transfer::IsolatedTransferTimes;
use super::mix::{KindSetting, Mix};
use super::replays::Replays;
use super::select::{Choice, PairedDifference, Row, choose, least, weighted_cost};
use super::{AdviseError, Phase, PreparedReplay, Progress, candidates};
use lastmile_codec::content::CodecSpec;
use lastmile_report::model_error::ModelError;
use lastmile_traffic::responses::Origin;
use std::collections::BTreeSet;

/// Mixes replayed more often than at first, besides those that readers know: the least burden, and the fastest. Our own choice.
const FINALISTS_BY_BURDEN: usize = 3;
const FINALISTS_BY_TIME: usize = 2;

/// The mixes of a link that are replayed in every repeat, and the one chosen.
#[derive(Debug, Clone)]
pub(super) struct LinkChoice {
    /// At least one.
    pub(super) finalists: Vec<Mix>,
    /// The repeats of each.
    pub(super) repeats: u64,
    /// The choice among them.
    pub(super) choice: Choice,
}

impl LinkChoice {
    /// The chosen mix.
    pub(super) fn mix(&self) -> &Mix {
        &self.finalists[self.choice.chosen]
    }
}

/// Searches all links, round by round together.
pub(super) fn search(
    replays: &mut Replays<'_>,
    prepared: &PreparedReplay<'_>,
    alone: &IsolatedTransferTimes,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<LinkChoice>, AdviseError> {
    let links = 0..prepared.options.links.len();
    let first = prepared.options.repeats.get();
    let mut same_for_all: BTreeSet<Mix> = prepared.settings.iter().map(|codec| prepared.uniform(*codec)).collect();
    same_for_all.extend(prepared.as_recorded());
    let mut wanted: Vec<(usize, Mix)> = Vec::new();
    for link in links.clone() {
        wanted.extend(same_for_all.iter().map(|mix| (link, mix.clone())));
        wanted.push((link, isolated_best(prepared, alone, link)));
        wanted.push((link, replays.ordinary(link).clone()));
    }
    replays.ensure(wanted, first, Phase::Replaying, progress)?;
    let mut bases = links
        .clone()
        .map(|link| {
            let rows = all_rows(replays, link, first)?;
            let best = least(0..rows.len(), |row| rows[row].burden()).expect("identity was replayed");
            Ok(rows[best].mix.clone())
        })
        .collect::<Result<Vec<Mix>, AdviseError>>()?;
    for group in (0..prepared.groups.len()).filter(|group| !prepared.groups[*group].already_compressed) {
        let alternatives: Vec<Vec<Mix>> = links
            .clone()
            .map(|link| alternatives(prepared, alone, link, group, &bases[link]))
            .collect();
        let wanted = alternatives.iter().enumerate();
        let wanted = wanted.flat_map(|(link, mixes)| mixes.iter().map(move |mix| (link, mix.clone())));
        replays.ensure(wanted, first, Phase::Improving, progress)?;
        for (link, mut mixes) in alternatives.into_iter().enumerate() {
            mixes.insert(0, bases[link].clone());
            let rows = replays.paired(link, &mixes, first).rows(link)?;
            let best = least(0..rows.len(), |row| rows[row].burden()).expect("the base is among them");
            if improves(&rows[best], &rows[0], prepared) {
                bases[link] = rows[best].mix.clone();
            }
        }
    }
    let finalists = links
        .clone()
        .map(|link| {
            Ok(finalists(
                prepared,
                replays.ordinary(link),
                &all_rows(replays, link, first)?,
            ))
        })
        .collect::<Result<Vec<_>, AdviseError>>()?;
    settle(
        replays,
        prepared,
        finalists,
        vec![first; links.len()],
        &known_mixes(prepared),
        progress,
    )
}

/// Whether a row has less burden than another one, beyond the noise.
fn improves(row: &Row, over: &Row, prepared: &PreparedReplay<'_>) -> bool {
    let difference = PairedDifference::of(row, over, prepared.interval_seed());
    difference.interval[0] + over.delay_of_others - row.delay_of_others > 0.0
}

/// Every mix replayed over a link, by its first `repeats` repeats.
fn all_rows(replays: &Replays<'_>, link: usize, repeats: u64) -> Result<Vec<Row>, AdviseError> {
    let mixes: Vec<Mix> = replays.mixes(link).cloned().collect();
    replays.paired(link, &mixes, repeats).rows(link)
}

/// The mix that is simplest to set up and to keep: one setting for all files, the smallest, and one for all responses made on request,
/// the one with the least weighted cost in isolation; a kind that it makes no smaller is not compressed. Both are servers' ordinary settings,
/// unless those are much worse. No random choice takes part in it.
pub(super) fn ordinary_mix(prepared: &PreparedReplay<'_>, alone: &IsolatedTransferTimes, link: usize) -> Mix {
    let [of_files, on_request] = [Origin::Static, Origin::Dynamic].map(|origin| {
        let groups: Vec<usize> = (0..prepared.groups.len())
            .filter(|group| prepared.groups[*group].origin == origin && !prepared.groups[*group].already_compressed)
            .collect();
        let cost = |codec: CodecSpec| {
            let of_group = |group: &usize| {
                let candidate = prepared.candidates[*group]
                    .iter()
                    .find(|candidate| candidate.codec == codec)?;
                let (group, items) = (&prepared.groups[*group], &prepared.groups[*group].items);
                let time = alone.mean(link, codec, items)?;
                Some(match origin {
                    Origin::Static => candidate.size.as_f64(),
                    Origin::Dynamic => weighted_cost(time, candidate, group, prepared.options) * items.len() as f64,
                })
            };
            groups.iter().map(of_group).sum::<Option<f64>>()
        };
        let usable = prepared
            .settings
            .iter()
            .filter(|codec| prepared.options.can(origin, **codec));
        let costs: Vec<(CodecSpec, f64)> = usable.filter_map(|codec| Some((*codec, cost(*codec)?))).collect();
        let cheapest = |costs: &mut dyn Iterator<Item = &(CodecSpec, f64)>| {
            costs.min_by(|(_, cost), (_, other)| cost.total_cmp(other)).copied()
        };
        let best = cheapest(&mut costs.iter())?;
        let ordinary: Vec<CodecSpec> = candidates::common_defaults().collect();
        let ordinary = cheapest(&mut costs.iter().filter(|(codec, _)| ordinary.contains(codec)));
        Some(
            ordinary
                .filter(|(_, cost)| *cost <= best.1 * (1.0 + ModelError::OF_RATIOS))
                .unwrap_or(best)
                .0,
        )
    });
    let mut mix = prepared.by_origin(of_files, on_request);
    for (group, setting) in mix.0.iter_mut().enumerate() {
        let candidate = prepared.candidates[group]
            .iter()
            .find(|candidate| setting.codec() == Some(candidate.codec));
        if candidate.is_some_and(|candidate| candidate.size >= prepared.groups[group].plain) {
            *setting = KindSetting::IDENTITY;
        }
    }
    mix
}

/// The setting of each kind that is best in isolation.
fn isolated_best(prepared: &PreparedReplay<'_>, alone: &IsolatedTransferTimes, link: usize) -> Mix {
    let mut mix = prepared.uniform(CodecSpec::IDENTITY);
    for group in 0..prepared.groups.len() {
        if let Some((codec, _)) = by_isolated_cost(prepared, alone, link, group).first() {
            mix.0[group] = KindSetting::Codec(*codec);
        }
    }
    mix
}

/// The settings of a group, the one with the least weighted cost in isolation first; none where its format is already compressed.
pub(super) fn by_isolated_cost(
    prepared: &PreparedReplay<'_>,
    alone: &IsolatedTransferTimes,
    link: usize,
    index: usize,
) -> Vec<(CodecSpec, f64)> {
    let group = &prepared.groups[index];
    let usable = prepared.candidates[index].iter().filter(|candidate| {
        !group.already_compressed
            && prepared.settings.contains(&candidate.codec)
            && prepared.options.can(group.origin, candidate.codec)
    });
    let mut costs: Vec<(CodecSpec, f64)> = usable
        .filter_map(|candidate| {
            let time = alone.mean(link, candidate.codec, &group.items)?;
            Some((candidate.codec, weighted_cost(time, candidate, group, prepared.options)))
        })
        .collect();
    costs.sort_by(|(a, cost), (b, other)| cost.total_cmp(other).then(a.cmp(b)));
    costs
}

/// Mixes that differ from `base` in one group: the settings that are best in isolation, the smallest, and as recorded.
fn alternatives(
    prepared: &PreparedReplay<'_>,
    alone: &IsolatedTransferTimes,
    link: usize,
    group: usize,
    base: &Mix,
) -> Vec<Mix> {
    let costs = by_isolated_cost(prepared, alone, link, group);
    let mut settings: BTreeSet<KindSetting> = costs
        .iter()
        .take(2)
        .map(|(codec, _)| KindSetting::Codec(*codec))
        .collect();
    let usable = prepared.candidates[group]
        .iter()
        .filter(|candidate| costs.iter().any(|(codec, _)| *codec == candidate.codec));
    let smallest = usable.min_by_key(|candidate| (candidate.size, candidate.server));
    settings.extend(smallest.map(|candidate| KindSetting::Codec(candidate.codec)));
    if prepared.recorded_cpu[group].is_some() {
        settings.insert(KindSetting::AsRecorded);
    }
    let mixes = settings.into_iter().map(|setting| base.with(group, setting));
    mixes.filter(|mix| mix != base).collect()
}

/// The mixes that readers know: no compression, as recorded, and common defaults for everything.
pub(super) fn known_mixes(prepared: &PreparedReplay<'_>) -> BTreeSet<Mix> {
    let known = candidates::common_defaults().filter(|codec| prepared.settings.contains(codec));
    let mut mixes: BTreeSet<Mix> = known.map(|codec| prepared.uniform(codec)).collect();
    mixes.insert(prepared.uniform(CodecSpec::IDENTITY));
    mixes.extend(prepared.as_recorded());
    mixes
}

/// The mixes to replay more often: those that readers know, the ordinary one, and those that may be the best.
fn finalists(prepared: &PreparedReplay<'_>, ordinary: &Mix, rows: &[Row]) -> Vec<Mix> {
    let mut mixes = known_mixes(prepared);
    mixes.insert(ordinary.clone());
    mixes.insert(rows[choose(rows, prepared.interval_seed()).chosen].mix.clone());
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by(|a, b| a.burden().total_cmp(&b.burden()));
    mixes.extend(sorted.iter().take(FINALISTS_BY_BURDEN).map(|row| row.mix.clone()));
    sorted.sort_by(|a, b| a.mean().total_cmp(&b.mean()));
    mixes.extend(sorted.iter().take(FINALISTS_BY_TIME).map(|row| row.mix.clone()));
    mixes.into_iter().collect()
}

/// Chooses on each link among its finalists, with more repeats where the choice is not clear. What is slower than the chosen one by then is
/// not replayed again, unless it is in `keep`; a mix that beats the chosen one in its fewer repeats becomes a finalist.
pub(super) fn settle(
    replays: &mut Replays<'_>,
    prepared: &PreparedReplay<'_>,
    mut finalists: Vec<Vec<Mix>>,
    mut repeats: Vec<u64>,
    keep: &BTreeSet<Mix>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<LinkChoice>, AdviseError> {
    loop {
        for repeats_now in repeats.iter().copied().collect::<BTreeSet<u64>>() {
            let links = (0..finalists.len()).filter(|link| repeats[*link] == repeats_now);
            let wanted = links.flat_map(|link| finalists[link].iter().map(move |mix| (link, mix.clone())));
            replays.ensure(wanted, repeats_now, Phase::Checking, progress)?;
        }
        let mut settled = Vec::new();
        let mut again = false;
        for link in 0..finalists.len() {
            let rows = replays.paired(link, &finalists[link], repeats[link]).rows(link)?;
            let choice = choose(&rows, prepared.interval_seed());
            let beating = beating(replays, prepared, link, &finalists[link], choice.chosen);
            let most = prepared.options.repeats_max.get();
            if !beating.is_empty() {
                finalists[link].extend(beating);
                again = true;
            } else if !choice.clear && repeats[link] < most {
                repeats[link] = (2 * repeats[link]).min(most);
                let open = |at: &usize| {
                    let row = &rows[*at];
                    *at == choice.chosen || choice.as_good.contains(at) || row.is_ordinary || keep.contains(&row.mix)
                };
                finalists[link] = (0..rows.len()).filter(open).map(|at| rows[at].mix.clone()).collect();
                again = true;
            }
            settled.push(choice);
        }
        if !again {
            let links = finalists.into_iter().zip(repeats).zip(settled);
            return Ok(links
                .map(|((finalists, repeats), choice)| LinkChoice {
                    finalists,
                    repeats,
                    choice,
                })
                .collect());
        }
    }
}

/// Replays each chosen mix without each of its settings, as often as itself, so that what a setting saves can be told. Where the page is
/// faster without one, the choice changes, until it stays.
pub(super) fn settle_without(
    replays: &mut Replays<'_>,
    prepared: &PreparedReplay<'_>,
    mut choices: Vec<LinkChoice>,
    keep: &BTreeSet<Mix>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<LinkChoice>, AdviseError> {
    loop {
        let chosen: Vec<Mix> = choices.iter().map(|choice| choice.mix().clone()).collect();
        for (link, choice) in choices.iter().enumerate() {
            let groups = 0..prepared.groups.len();
            let without = groups.filter_map(|group| prepared.with_today(choice.mix(), group));
            let wanted: Vec<(usize, Mix)> = without.map(|mix| (link, mix)).collect();
            replays.ensure(wanted, choice.repeats, Phase::Checking, progress)?;
        }
        let repeats = choices.iter().map(|choice| choice.repeats).collect();
        let finalists = choices.into_iter().map(|choice| choice.finalists).collect();
        choices = settle(replays, prepared, finalists, repeats, keep, progress)?;
        if choices.iter().map(LinkChoice::mix).eq(&chosen) {
            return Ok(choices);
        }
    }
}

/// The other mixes of a link that are faster than the chosen finalist beyond the noise of the repeats that they have.
fn beating(
    replays: &Replays<'_>,
    prepared: &PreparedReplay<'_>,
    link: usize,
    finalists: &[Mix],
    chosen: usize,
) -> Vec<Mix> {
    let others = replays.mixes(link).filter(|mix| !finalists.contains(mix));
    others
        .filter(|mix| {
            let pair = [finalists[chosen].clone(), (*mix).clone()];
            let rows = replays.paired(link, &pair, u64::MAX).rows(link);
            rows.is_ok_and(|rows| PairedDifference::is_beaten(&rows[0], &rows[1], prepared.interval_seed()))
        })
        .cloned()
        .collect()
}
