//! Runs everything that is replayed: each response in isolation, the search of each link, the snippets as pasted, and the break-even.

use super::break_even::{self, BreakEvenResult};
use super::isolated_transfer::IsolatedTransferTimes;
use super::mix::Mix;
use super::replays::Replays;
use super::search::{self, LinkChoice};
use super::select::{ChosenSetting, MeasuredCandidate};
use super::snippets::{self, SnippetPlan};
use super::{AdviseError, PreparedReplay, Progress, prose};
use lastmile_codec::content::CodecSpec;
use lastmile_link::{Jitter, LinkSpec, Loss, Reordering};
use lastmile_page::replay::PageLoad;
use lastmile_units::workers::Workers;

/// Everything that was measured.
pub(super) struct Measurement {
    /// One per link.
    pub(super) links: Vec<LinkMeasurement>,
    /// One per server.
    pub(super) snippets: Vec<SnippetPlan>,
}

/// One link, measured.
#[derive(Debug)]
pub(super) struct LinkMeasurement {
    /// The mixes replayed in every repeat, with the repeats in which all of them loaded, so that they are paired.
    pub(super) pages: Vec<(Mix, Vec<PageLoad>)>,
    /// The recommended one, among `pages`.
    pub(super) recommended: usize,
    /// Those among `pages` that are neither faster nor slower than it, beyond the noise.
    pub(super) as_good: Vec<usize>,
    /// Whether more repeats could not change much.
    pub(super) clear: bool,
    /// How often each of `pages` was replayed.
    pub(super) repeats: u64,
    /// The mixes replayed in the first repeats only, paired with the recommended one in these.
    pub(super) screened: Vec<(Mix, [Vec<PageLoad>; 2])>,
    /// The number of failed repeats, and the first failure.
    pub(super) failed: Option<(u64, String)>,
    /// For each group whose setting changes how it is sent: the page with this group as it is today, and as recommended, in pairs.
    pub(super) without: Vec<Option<[Vec<PageLoad>; 2]>>,
    /// For each group, the settings that were tried, in their order.
    pub(super) tried: Vec<Vec<MeasuredCandidate>>,
    /// For each group, the chosen setting.
    pub(super) chosen: Vec<ChosenSetting>,
    /// For each group, the break-even of the chosen setting; none where nothing is compressed.
    pub(super) break_even: Vec<Option<BreakEvenResult>>,
}

impl LinkMeasurement {
    /// The page loads of a mix; none where it was not replayed in every repeat.
    pub(super) fn loads(&self, mix: &Mix) -> Option<&[PageLoad]> {
        let page = self.pages.iter().find(|(of, _)| of == mix);
        page.map(|(_, loads)| loads.as_slice())
    }

    /// The recommended mix and its page loads.
    pub(super) fn recommended(&self) -> &(Mix, Vec<PageLoad>) {
        &self.pages[self.recommended]
    }
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
    let searches = break_even::search_all(prepared, &measured, workers, progress)?;
    for (link, break_even) in measured.iter_mut().zip(searches) {
        link.break_even = break_even;
    }
    Ok(Measurement {
        links: measured,
        snippets,
    })
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

/// A link without random losses, jitter and reordering, so that one run is enough.
pub(super) fn without_impairments(link: &LinkSpec) -> LinkSpec {
    link.clone()
        .with_loss(Loss::NONE)
        .with_jitter(Jitter::None)
        .with_reordering(Reordering::None)
}
