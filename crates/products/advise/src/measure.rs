//! Runs everything that is replayed: each response in isolation, the search of each link, the snippets as pasted, and the break-even.

use super::break_even;
use super::isolated_transfer::IsolatedTransferTimes;
use super::link_measurement::LinkMeasurement;
use super::mix::Mix;
use super::replays::{PairedLoads, Replays};
use super::search::{self, LinkChoice};
use super::select::{ChosenSetting, MeasuredCandidate};
use super::snippets::{self, SnippetPlan};
use super::{AdviseError, PreparedReplay, Progress, prose, waterfall};
use lastmile_codec::content::CodecSpec;
use lastmile_units::workers::Workers;

/// Everything that was measured.
pub(super) struct Measurement {
    /// One per link.
    pub(super) links: Vec<LinkMeasurement>,
    /// One per server.
    pub(super) snippets: Vec<SnippetPlan>,
}

/// Replays everything.
pub(super) fn measure(
    prepared: &PreparedReplay<'_>,
    workers: &Workers<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Measurement, AdviseError> {
    let alone = IsolatedTransferTimes::measure(prepared, workers, progress)?;
    let links = 0..prepared.options.links.len();
    let ordinary = links.map(|link| search::ordinary_mix(prepared, &alone, link)).collect();
    let mut replays = Replays::new(prepared, workers, ordinary);
    let mut choices = search::search(&mut replays, prepared, &alone, progress)?;
    let snippets = snippets::plans(&mut replays, prepared, &alone, &choices, progress)?;
    // A snippet's mix is compared with the recommended one like any other.
    let with_snippets = |choice: &LinkChoice| {
        let mut finalists = choice.finalists.clone();
        for plan in &snippets {
            if !finalists.contains(&plan.mix) {
                finalists.push(plan.mix.clone());
            }
        }
        finalists
    };
    let finalists = choices.iter().map(with_snippets).collect();
    let repeats = choices.iter().map(|choice| choice.repeats).collect();
    let mut keep = search::known_mixes(prepared);
    keep.extend(snippets.iter().map(|plan| plan.mix.clone()));
    choices = search::settle(&mut replays, prepared, finalists, repeats, &keep, progress)?;
    choices = search::settle_without(&mut replays, prepared, choices, &keep, progress)?;
    let links = choices.iter().enumerate();
    let mut measured = links
        .map(|(link, choice)| prepared.measured(link, choice, &replays, &alone))
        .collect::<Result<Vec<LinkMeasurement>, AdviseError>>()?;
    let chosen: Vec<&[ChosenSetting]> = measured.iter().map(|link| &*link.chosen).collect();
    let searches = break_even::search_all(prepared, &chosen, workers, progress)?;
    for (link, break_even) in measured.iter_mut().zip(searches) {
        link.break_even = break_even;
    }
    let waterfalls = waterfall::replay_all(prepared, &measured, workers, progress)?;
    for (link, waterfall) in measured.iter_mut().zip(waterfalls) {
        link.waterfall = Some(waterfall);
    }
    Ok(Measurement {
        links: measured,
        snippets,
    })
}

/// The repeat of the median page time under a mix, by its index among the loads; of an even number, the lower one.
fn median_repeat(loads: &PairedLoads<'_>, mix: usize) -> u64 {
    let times = loads.loads[mix].iter().map(|load| load.page_time);
    let mut repeats: Vec<_> = times.zip(&loads.repeats).collect();
    repeats.sort();
    *repeats[(repeats.len() - 1) / 2].1
}

impl PreparedReplay<'_> {
    /// A link's measurements, without the break-even.
    fn measured(
        &self,
        link: usize,
        choice: &LinkChoice,
        replays: &Replays<'_>,
        alone: &IsolatedTransferTimes,
    ) -> Result<LinkMeasurement, AdviseError> {
        let kept = replays.paired(link, &choice.finalists, choice.repeats);
        // Refuses a link over which nothing loads.
        kept.rows(link)?;
        let recommended = choice.mix().clone();
        let beside_recommended = |mix: &Mix| {
            let pair = [mix.clone(), recommended.clone()];
            let mut loads = replays.paired(link, &pair, u64::MAX).loads.into_iter();
            [(); 2].map(|()| loads.next().unwrap_or_default())
        };
        let without: Vec<Option<Mix>> = (0..self.groups.len())
            .map(|group| self.with_today(&recommended, group))
            .collect();
        let shown = |mix: &&Mix| !choice.finalists.contains(mix) && !without.iter().flatten().any(|left| left == *mix);
        let screened = replays.mixes(link).filter(shown);
        let screened = screened.map(|mix| (mix.clone(), beside_recommended(mix)));
        let tried: Vec<Vec<MeasuredCandidate>> = (0..self.groups.len())
            .map(|group| self.tried(link, group, alone))
            .collect();
        let chosen = (0..self.groups.len()).map(|group| ChosenSetting {
            setting: recommended.0[group],
            why: prose::why(&tried[group], recommended.0[group], &self.groups[group]),
        });
        Ok(LinkMeasurement {
            recommended: choice.choice.chosen,
            as_good: choice.choice.as_good.clone(),
            clear: choice.choice.clear,
            repeats: choice.repeats,
            median_repeat: median_repeat(&kept, choice.choice.chosen),
            waterfall: None,
            screened: screened.collect(),
            without: without.iter().map(|mix| mix.as_ref().map(beside_recommended)).collect(),
            chosen: chosen.collect(),
            tried,
            break_even: Vec::new(),
            failed: kept.failed.clone(),
            pages: choice.finalists.iter().cloned().zip(kept.loads).collect(),
        })
    }

    /// The settings that were replayed on a group; only identity where its format is already compressed.
    fn tried(&self, link: usize, index: usize, alone: &IsolatedTransferTimes) -> Vec<MeasuredCandidate> {
        let group = &self.groups[index];
        let can = |codec| {
            codec == CodecSpec::IDENTITY || (!group.already_compressed && self.options.can(group.origin, codec))
        };
        let wanted = self.candidates[index].iter().filter(|candidate| can(candidate.codec));
        wanted
            .filter_map(|candidate| {
                Some(MeasuredCandidate {
                    candidate: *candidate,
                    isolated_time: alone.mean(link, candidate.codec, &group.items)?,
                })
            })
            .collect()
    }
}
