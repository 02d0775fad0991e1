//! Of what is a sweep put together, so that one that was broken off goes on where it was? Of parts that are found one after the other,
//! each in a few seconds, and that an observer may keep.

use super::Interrupted;
use super::measure::Made;
use super::pool::Pool;
use crate::message_codec::Deflate;
use std::collections::BTreeMap;

impl Pool<'_> {
    /// As many figures as a part has, from an observer who has kept them, or found and told to them.
    pub(super) fn part(
        &self,
        name: &str,
        count: usize,
        find: impl FnOnce() -> Result<Vec<u64>, Interrupted>,
    ) -> Result<Vec<u64>, Interrupted> {
        if let Some(kept) = self.observer.kept(name).filter(|kept| kept.len() == count) {
            return Ok(kept);
        }
        let found = find()?;
        self.observer.found(name, &found);
        Ok(found)
    }

    /// What each setting makes of a part, as [`Self::part`].
    pub(super) fn made(
        &self,
        name: &str,
        settings: &[Deflate],
        find: impl FnOnce() -> Result<BTreeMap<Deflate, Made>, Interrupted>,
    ) -> Result<BTreeMap<Deflate, Made>, Interrupted> {
        let name = format!("{name} at {} settings", settings.len());
        let figures = || {
            let made = find()?;
            let figures = settings.iter().map(|setting| made[setting]);
            Ok(figures.flat_map(|made| [made.size, made.stream]).collect())
        };
        let figures = self.part(&name, settings.len() * 2, figures)?;
        let made = figures.chunks_exact(2).map(|figures| Made {
            size: figures[0],
            stream: figures[1],
        });
        Ok(settings.iter().copied().zip(made).collect())
    }
}

/// How many streams settings make of all shards that were looked at: those that make the same of each of them make one.
#[derive(Default)]
pub(super) struct Streams(BTreeMap<Deflate, usize>);

impl Streams {
    /// Tells those apart that make different octets of a shard.
    pub(super) fn part_by(&mut self, made: &BTreeMap<Deflate, Made>) {
        let mut kinds = BTreeMap::new();
        for (setting, made) in made {
            let stream = self.0.entry(*setting).or_default();
            let next = kinds.len();
            *stream = *kinds.entry((*stream, made.stream)).or_insert(next);
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.values().max().map_or(0, |last| last + 1)
    }
}
