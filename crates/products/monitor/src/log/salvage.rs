//! Takes what is whole out of a damaged log, and makes a new one of it.

use super::error::LogError;
use super::{Entry, Log, LogSettings, PROMISES, private};
use crate::log::database::Database;
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Loss, Timestamp};
use std::collections::BTreeSet;
use std::path::Path;

/// What was taken over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Salvage {
    /// The events that the new log has.
    pub events: u64,
    /// How many sources they are of.
    pub sources: usize,
    /// Numbers of these sources that are not in the old log: they are stated as lost in the new one.
    pub lost: u64,
    /// What could not be read.
    pub damaged: Vec<String>,
}

/// Reads every chunk of a log that no process writes, and appends those that are whole to a new log in another folder.
///
/// # Errors
/// When the database cannot be read at all, or the new folder cannot be used or has a log.
pub async fn salvage(from: &Path, to: &Path, settings: LogSettings) -> Result<Salvage, LogError> {
    let old = Database::open_to_salvage(from)?;
    let new = Log::open(to, settings)?;
    if new.end() > 0 {
        return Err(LogError::NotEmpty { path: to.to_owned() });
    }
    let mut found = Salvage::default();
    let mut sources = BTreeSet::new();
    let mut position = 0;
    while let Some((entry, next)) = old.next_chunk(position) {
        position = next;
        match entry {
            Entry::Damaged { position, what, .. } => found.damaged.push(format!("position {position}: {what}")),
            Entry::Chunk { position, chunk } => match append(&new, &chunk).await {
                Ok(lost) => {
                    found.lost += lost;
                    found.events += u64::from(chunk.event_count());
                    sources.insert(chunk.source().clone());
                }
                Err(why) => found.damaged.push(format!("position {position}: {why}")),
            },
        }
    }
    found.sources = sources.len();
    // A sensor states what its log lacks of them.
    let promises = from.join(PROMISES);
    if promises.exists() {
        let path = to.to_owned();
        let copied = std::fs::copy(promises, to.join(PROMISES)).and_then(|_| private::sync_folder(to));
        copied.map_err(|source| LogError::Folder { path, source })?;
    }
    Ok(found)
}

/// Appends a chunk, and before it a statement of the numbers that are missing; how many these are.
async fn append(log: &Log, chunk: &Chunk) -> Result<u64, &'static str> {
    let submit = async |chunk: &Chunk| log.append(vec![chunk.clone()], Durability::Process).await[0];
    let mut lost = 0;
    let mut reply = submit(chunk).await;
    if let Reply::Gap { expected } = reply {
        lost = chunk.first() - expected;
        let loss = Loss::new(expected..chunk.first(), "salvage", "not in the old log");
        submit(&Chunk::of_loss(chunk.source(), Timestamp::now(), &loss)).await;
        reply = submit(chunk).await;
    }
    match reply {
        Reply::Acknowledged { .. } => Ok(lost),
        Reply::Full => Err("the new log has no room for this chunk"),
        Reply::Gap { .. } | Reply::Refused => Err("this chunk contradicts those before it"),
    }
}
