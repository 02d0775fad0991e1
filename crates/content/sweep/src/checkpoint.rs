//! Checkpoints. A sweep is done in parts of a few seconds each; an interrupted sweep resumes after the last part that the observer stored.

use super::Interrupted;
use super::distinct_outputs::OutputSize;
use super::workers::Pool;
use lastmile_codec::message::Deflate;
use std::collections::BTreeMap;

impl Pool<'_> {
    /// The `count` figures of a part: those that the observer stored, or else computed by `find` and given to the observer.
    pub(super) fn part(
        &self,
        name: &str,
        count: usize,
        find: impl FnOnce() -> Result<Vec<u64>, Interrupted>,
    ) -> Result<Vec<u64>, Interrupted> {
        if let Some(kept) = self.observer.cached(name).filter(|kept| kept.len() == count) {
            return Ok(kept);
        }
        let found = find()?;
        self.observer.store(name, &found);
        Ok(found)
    }

    /// The output size of a part at each setting, with checkpoints as in [`Self::part`].
    pub(super) fn part_sizes(
        &self,
        name: &str,
        settings: &[Deflate],
        find: impl FnOnce() -> Result<BTreeMap<Deflate, OutputSize>, Interrupted>,
    ) -> Result<BTreeMap<Deflate, OutputSize>, Interrupted> {
        let name = format!("{name} at {} settings", settings.len());
        let figures = || {
            let made = find()?;
            let figures = settings.iter().map(|setting| made[setting]);
            Ok(figures.flat_map(|made| [made.size, made.stream]).collect())
        };
        let figures = self.part(&name, settings.len() * 2, figures)?;
        let made = figures.chunks_exact(2).map(|figures| OutputSize {
            size: figures[0],
            stream: figures[1],
        });
        Ok(settings.iter().copied().zip(made).collect())
    }
}

/// Groups settings by their streams over all shards so far: settings that agree on every shard have the same stream.
#[derive(Default)]
pub(super) struct Streams(BTreeMap<Deflate, usize>);

impl Streams {
    /// Separates settings whose streams differ on a shard.
    pub(super) fn refine(&mut self, made: &BTreeMap<Deflate, OutputSize>) {
        let mut kinds = BTreeMap::new();
        for (setting, made) in made {
            let stream = self.0.entry(*setting).or_default();
            let next = kinds.len();
            *stream = *kinds.entry((*stream, made.stream)).or_insert(next);
        }
    }

    /// The number of different streams.
    pub(super) fn count(&self) -> usize {
        self.0.values().max().map_or(0, |last| last + 1)
    }
}
