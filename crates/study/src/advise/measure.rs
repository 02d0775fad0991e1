//! What do the replays show? Every link under every setting, then under the recommended mix, repeat by repeat.

use super::alone::Alone;
use super::break_even::{self, Search};
use super::candidates::{as_seen, delivery, delivery_today};
use super::choose::{Chosen, Tried, choose};
use super::figures::Runs;
use super::order::Delivery;
use super::parallel::Workers;
use super::replay::{Replayed, Scene, replay};
use super::{AdviseError, Phase, Progress, Study};
use lastmile_link::{Jitter, LinkSpec, Loss, Reordering};
use lastmile_payload::codec::CodecSpec;
use std::collections::BTreeMap;

/// What all responses of a page are sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Setting {
    /// What was recommended for each.
    Recommended,
    /// What each was recorded with.
    Today,
    /// One for all that can be coded.
    All(CodecSpec),
}

/// One link, measured.
#[derive(Debug)]
pub(super) struct Measured {
    /// Of each setting, the repeats that loaded under every setting; the others are left out everywhere, to keep pairs.
    pub(super) pages: Pages,
    /// The first failure, and of how many repeats.
    pub(super) failed: Option<(u64, String)>,
    /// Of each group, what was tried on it, in the order of settings.
    pub(super) tried: Vec<Vec<Tried>>,
    /// Of each group, what was chosen among those.
    pub(super) chosen: Vec<Chosen>,
    /// Of each group, where that stops paying; none where nothing is compressed.
    pub(super) break_even: Vec<Option<Search>>,
}

type Outcome = Result<Replayed, String>;

/// Of each setting, the page in each repeat.
type Pages = BTreeMap<Setting, Vec<Replayed>>;

/// Replays everything.
pub(super) fn measure(
    study: &Study<'_>,
    workers: &Workers<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Measured>, AdviseError> {
    let mut alike: Vec<(Setting, Vec<Delivery>)> = study
        .settings
        .iter()
        .map(|codec| (Setting::All(*codec), study.deliveries(|_| *codec)))
        .collect();
    if study.knows_today() {
        alike.push((Setting::Today, study.deliveries_today()));
    }
    let asked: Vec<_> = (0..study.options.links.len())
        .flat_map(|link| alike.iter().map(move |(_, sent)| (link, &**sent)))
        .collect();
    let alone = Alone::measure(study, workers, progress)?;
    let mut outcomes = study
        .replay_all(&asked, workers, Phase::Replaying, progress)?
        .into_iter();
    let mut measured = Vec::new();
    for link in 0..study.options.links.len() {
        let pages = alike
            .iter()
            .map(|(setting, _)| *setting)
            .zip(outcomes.by_ref())
            .collect();
        measured.push(study.chosen(link, pages, &alone)?);
    }
    let mixes: Vec<Vec<Delivery>> = measured.iter().map(|(_, _, chosen)| study.mix(chosen)).collect();
    let asked: Vec<_> = mixes.iter().enumerate().map(|(link, sent)| (link, &**sent)).collect();
    let checked = study.replay_all(&asked, workers, Phase::Checking, progress)?;
    let searches = break_even::search_all(study, &measured, workers, progress)?;
    let links = study.options.links.iter().zip(measured).zip(checked).zip(searches);
    links
        .map(|((((name, _), (mut pages, tried, chosen)), mix), break_even)| {
            pages.insert(Setting::Recommended, mix);
            let (pages, failed) = paired(name, pages)?;
            Ok(Measured {
                pages,
                failed,
                tried,
                chosen,
                break_even,
            })
        })
        .collect()
}

/// A link after the first round: its pages, and of each group what was tried and chosen.
pub(super) type FirstRound = (BTreeMap<Setting, Vec<Outcome>>, Vec<Vec<Tried>>, Vec<Chosen>);

impl Study<'_> {
    /// Whether the traffic says how it was carried when it was recorded.
    pub(super) fn knows_today(&self) -> bool {
        self.traffic
            .responses
            .iter()
            .any(|response| response.transferred.is_some() || response.content_encoding.is_some())
    }

    /// What is sent where the group of an item decides its codec, by the group's place.
    fn deliveries(&self, codec: impl Fn(usize) -> CodecSpec) -> Vec<Delivery> {
        let mut sent: Vec<Delivery> = (0..self.page.items.len())
            .map(|item| as_seen(item, self.traffic, &self.page))
            .collect();
        for (place, group) in self.groups.iter().enumerate().filter(|(_, group)| !group.left_as_is) {
            for item in &group.items {
                sent[*item] = delivery(*item, codec(place), &self.page, &self.sizes);
            }
        }
        for item in self
            .groups
            .iter()
            .filter(|group| group.left_as_is)
            .flat_map(|group| &group.items)
        {
            sent[*item] = Delivery::identity(self.page.items[*item].plain);
        }
        sent
    }

    fn deliveries_today(&self) -> Vec<Delivery> {
        (0..self.page.items.len())
            .map(|item| delivery_today(item, self.traffic, &self.page, &self.sizes))
            .collect()
    }

    fn mix(&self, chosen: &[Chosen]) -> Vec<Delivery> {
        self.deliveries(|group| chosen[group].codec)
    }

    /// Replays each of `asked` (a link's place, and what is sent) as often as there are repeats.
    fn replay_all(
        &self,
        asked: &[(usize, &[Delivery])],
        workers: &Workers<'_>,
        phase: Phase,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Vec<Outcome>>, AdviseError> {
        let repeats = self.options.repeats.get();
        let jobs: Vec<_> = asked
            .iter()
            .flat_map(|asked| (0..repeats).map(move |repeat| (asked, repeat)))
            .collect();
        let scene = Scene {
            page: &self.page,
            options: self.options,
            costs: self.costs,
        };
        let one = |&(&(link, sent), repeat): &(&(usize, &[Delivery]), u64)| {
            let seed = self.options.root().derive_index(repeat);
            replay(&scene, &self.options.links[link].1, sent, seed).map_err(|error| error.to_string())
        };
        let mut on_done = |done| {
            progress(Progress {
                phase,
                done,
                total: jobs.len(),
            });
        };
        let mut outcomes = workers.run(&jobs, one, &mut on_done)?.into_iter();
        Ok(asked
            .iter()
            .map(|_| outcomes.by_ref().take(repeats as usize).collect())
            .collect())
    }

    fn chosen(
        &self,
        link: usize,
        pages: BTreeMap<Setting, Vec<Outcome>>,
        alone: &Alone,
    ) -> Result<FirstRound, AdviseError> {
        let (kept, _) = paired(&self.options.links[link].0, pages.clone())?;
        let tried: Vec<Vec<Tried>> = (0..self.groups.len())
            .map(|group| self.tried(link, group, &kept, alone))
            .collect();
        let chosen = self
            .groups
            .iter()
            .zip(&tried)
            .map(|(group, tried)| choose(tried, group, self.options))
            .collect();
        Ok((pages, tried, chosen))
    }

    /// The settings that were replayed on a group; of what is left as it is, identity alone.
    fn tried(&self, link: usize, place: usize, pages: &Pages, alone: &Alone) -> Vec<Tried> {
        let group = &self.groups[place];
        let wanted = self.candidates[place]
            .iter()
            .filter(|candidate| candidate.codec.is_identity() || !group.left_as_is);
        wanted
            .filter_map(|candidate| {
                let times = transfer_times(pages.get(&Setting::All(candidate.codec))?, &group.items);
                let alone = alone.mean(link, candidate.codec, &group.items)?;
                Some(Tried {
                    candidate: *candidate,
                    alone,
                    times,
                })
            })
            .collect()
    }
}

/// A link without random losses, jitter and reordering, so that one run says what it does.
pub(super) fn calm(link: &LinkSpec) -> LinkSpec {
    link.clone()
        .with_loss(Loss::NONE)
        .with_jitter(Jitter::None)
        .with_reordering(Reordering::None)
}

/// Of some items, their transfer times in seconds, repeat by repeat.
pub(super) fn transfer_times(pages: &[Replayed], items: &[usize]) -> Runs {
    let of_page = |page: &Replayed| {
        items
            .iter()
            .map(|item| page.transfer_times[*item].as_secs_f64())
            .collect()
    };
    pages.iter().map(of_page).collect()
}

/// The repeats that loaded under every setting, and how many did not, with the first reason.
fn paired(link: &str, pages: BTreeMap<Setting, Vec<Outcome>>) -> Result<(Pages, Option<(u64, String)>), AdviseError> {
    let repeats = pages.values().map(Vec::len).min().unwrap_or_default();
    let loads = |repeat: &usize| pages.values().all(|outcomes| outcomes[*repeat].is_ok());
    let kept: Vec<usize> = (0..repeats).filter(loads).collect();
    let why = pages
        .values()
        .flatten()
        .find_map(|outcome| outcome.as_ref().err().cloned());
    match why {
        Some(why) if kept.is_empty() => {
            return Err(AdviseError::Link {
                link: link.to_owned(),
                why,
            });
        }
        _ => {}
    }
    let failed = why.map(|why| ((repeats - kept.len()) as u64, why));
    let of_kept = |outcomes: Vec<Outcome>| {
        let whole = outcomes
            .into_iter()
            .enumerate()
            .filter(|(repeat, _)| kept.contains(repeat));
        whole.filter_map(|(_, outcome)| outcome.ok()).collect()
    };
    Ok((
        pages
            .into_iter()
            .map(|(setting, outcomes)| (setting, of_kept(outcomes)))
            .collect(),
        failed,
    ))
}
