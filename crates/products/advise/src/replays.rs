//! The page's replays: every mix that was asked for over every link, each repeat once.

use super::mix::Mix;
use super::select::Row;
use super::{AdviseError, Phase, PreparedReplay, Progress};
use lastmile_page::replay::{PageLoad, ReplayContext, replay};
use lastmile_page::scripted_response::EncodedResponse;
use lastmile_units::workers::Workers;
use std::collections::BTreeMap;

/// A page that loaded, or the reason why it did not.
pub(super) type Outcome = Result<PageLoad, String>;

/// All replays so far.
pub(super) struct Replays<'a> {
    prepared: &'a PreparedReplay<'a>,
    workers: &'a Workers<'a>,
    /// The ordinary mix of each link.
    ordinary: Vec<Mix>,
    /// For each link and mix, one outcome per repeat.
    outcomes: BTreeMap<(usize, Mix), Vec<Outcome>>,
}

impl<'a> Replays<'a> {
    /// None yet.
    pub(super) fn new(prepared: &'a PreparedReplay<'a>, workers: &'a Workers<'a>, ordinary: Vec<Mix>) -> Self {
        Self {
            prepared,
            workers,
            ordinary,
            outcomes: BTreeMap::new(),
        }
    }

    /// Replays each of `wanted` (a link and a mix) until it has `repeats` outcomes. A repeat has the same random choices under every mix.
    pub(super) fn ensure(
        &mut self,
        wanted: impl IntoIterator<Item = (usize, Mix)>,
        repeats: u64,
        phase: Phase,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), AdviseError> {
        let prepared = self.prepared;
        let mut missing: BTreeMap<(usize, Mix), (Vec<EncodedResponse>, u64)> = BTreeMap::new();
        for (link, mix) in wanted {
            let done = self.outcomes.get(&(link, mix.clone())).map_or(0, Vec::len) as u64;
            if done < repeats {
                let deliveries = prepared.deliveries(&mix);
                missing.insert((link, mix), (deliveries, done));
            }
        }
        let jobs: Vec<(usize, &[EncodedResponse], u64)> = missing
            .iter()
            .flat_map(|((link, _), (sent, done))| (*done..repeats).map(move |repeat| (*link, &**sent, repeat)))
            .collect();
        let scene = ReplayContext {
            page: &prepared.page,
            options: &prepared.options.load,
            costs: prepared.costs,
        };
        let one = |&(link, sent, repeat): &(usize, &[EncodedResponse], u64)| {
            let seed = prepared.options.root().derive_index(repeat);
            let replayed = replay(&scene, &prepared.options.links[link].1, sent, seed);
            // The times of requests are dropped: there may be thousands of replays of thousands of requests.
            let without_requests = |load| PageLoad {
                requests: Vec::new(),
                ..load
            };
            replayed.map(without_requests).map_err(|error| error.to_string())
        };
        let mut on_done = Progress::counter(phase, jobs.len(), progress);
        let mut outcomes = self.workers.run(&jobs, one, &mut on_done)?.into_iter();
        for (key, (_, done)) in missing {
            let own = outcomes.by_ref().take((repeats - done) as usize);
            self.outcomes.entry(key).or_default().extend(own);
        }
        Ok(())
    }

    /// The ordinary mix of a link.
    pub(super) fn ordinary(&self, link: usize) -> &Mix {
        &self.ordinary[link]
    }

    /// Every mix that was replayed over a link.
    pub(super) fn mixes(&self, link: usize) -> impl Iterator<Item = &Mix> {
        let on_link = self.outcomes.keys().filter(move |(of, _)| *of == link);
        on_link.map(|(_, mix)| mix)
    }

    /// The outcomes of a mix over a link; none where it was not replayed.
    pub(super) fn outcomes(&self, link: usize, mix: &Mix) -> &[Outcome] {
        self.outcomes.get(&(link, mix.clone())).map_or(&[], Vec::as_slice)
    }

    /// The first `repeats` repeats of `mixes` over a link, without those in which one of them did not load, so that they stay paired.
    pub(super) fn paired(&self, link: usize, mixes: &[Mix], repeats: u64) -> PairedLoads<'_> {
        let outcomes: Vec<&[Outcome]> = mixes.iter().map(|mix| self.outcomes(link, mix)).collect();
        let common = outcomes.iter().map(|outcomes| outcomes.len()).min().unwrap_or_default();
        let common = common.min(repeats as usize);
        let loaded = |repeat: &usize| outcomes.iter().all(|outcomes| outcomes[*repeat].is_ok());
        let kept: Vec<usize> = (0..common).filter(loaded).collect();
        let why = outcomes.iter().flat_map(|outcomes| &outcomes[..common]);
        let why = why.filter_map(|outcome| outcome.as_ref().err().cloned()).next();
        let of_kept = |outcomes: &&'_ [Outcome]| {
            let loads = kept.iter().map(|repeat| &outcomes[*repeat]);
            loads.filter_map(|outcome| outcome.as_ref().ok().cloned()).collect()
        };
        PairedLoads {
            loads: outcomes.iter().map(of_kept).collect(),
            repeats: kept.iter().map(|repeat| *repeat as u64).collect(),
            failed: why.map(|why| ((common - kept.len()) as u64, why)),
            replays: self,
            mixes: mixes.to_vec(),
        }
    }
}

/// The repeats of some mixes in which all of them loaded.
pub(super) struct PairedLoads<'a> {
    /// For each mix, its page loads.
    pub(super) loads: Vec<Vec<PageLoad>>,
    /// The repeats that these are.
    pub(super) repeats: Vec<u64>,
    /// The number of repeats left out, and the first failure.
    pub(super) failed: Option<(u64, String)>,
    replays: &'a Replays<'a>,
    mixes: Vec<Mix>,
}

impl PairedLoads<'_> {
    /// A row per mix; refused where no repeat is left.
    pub(super) fn rows(&self, link: usize) -> Result<Vec<Row>, AdviseError> {
        let prepared = self.replays.prepared;
        if let (true, Some((_, why))) = (self.loads.iter().any(Vec::is_empty), &self.failed) {
            return Err(AdviseError::Link {
                link: prepared.options.links[link].0.clone(),
                why: why.clone(),
            });
        }
        let row = |(mix, loads): (&Mix, &Vec<PageLoad>)| Row {
            mix: mix.clone(),
            times: loads.iter().map(|load| load.page_time.as_secs_f64()).collect(),
            delay_of_others: prepared.delay_of_others(mix),
            simplicity: prepared.simplicity(mix),
            is_ordinary: self.replays.ordinary(link) == mix,
        };
        Ok(self.mixes.iter().zip(&self.loads).map(row).collect())
    }
}
