//! A sensor's log with what stands beside it: the numbers that it has answered for. What the log has lost of them is stated as lost.

use super::promises::Promises;
use super::spent::Spent;
use crate::ledger::SourceAccount;
use crate::log::{Log, LogError, LogSettings, PROMISES, private};
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Loss, Source, Timestamp};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// Who states the losses of a sensor.
pub(super) const PLACE: &str = "sensor";
pub(super) const STORE_FULL: &str = "store full";
pub(super) const SPOOL_DAMAGED: &str = "spool damaged";
/// The source of lost events of which nothing is known but how many they are.
const UNKNOWN: &str = "unknown";

const SPENT: &str = "spent";

/// A sensor's log, and what it has answered for.
#[derive(Debug)]
pub struct Spool {
    log: Arc<Log>,
    /// A log in memory has none.
    files: Option<Mutex<Files>>,
    /// Losses that the log had no room for yet.
    unstated: Mutex<Vec<Chunk>>,
    /// The positions that were missing when the log was opened.
    missing: Range<u64>,
}

#[derive(Debug)]
struct Files {
    promises: Promises,
    spent: Spent,
}

impl From<Arc<Log>> for Spool {
    fn from(log: Arc<Log>) -> Self {
        Self {
            log,
            files: None,
            unstated: Mutex::default(),
            missing: 0..0,
        }
    }
}

impl Spool {
    /// Opens the spool in a folder, or makes one. `note` is told what was lost of it.
    ///
    /// # Errors
    /// When the folder cannot be used, another process has the spool, or it is no spool or one that is too damaged.
    pub async fn open(folder: &Path, settings: LogSettings, note: fn(&str)) -> Result<Self, LogError> {
        let log = Log::open(folder, settings)?;
        // A spool that cannot be forwarded must not take more events.
        let (mut position, committed) = (log.start().await, log.end());
        while position < committed {
            position = log.read(position).await?.next.max(position + 1);
        }
        let cannot = |source| LogError::Folder {
            path: folder.to_owned(),
            source,
        };
        let end = log.end();
        let promises = Promises::open(&folder.join(PROMISES), end).map_err(cannot)?;
        let spent = Spent::open(&folder.join(SPENT)).map_err(cannot)?;
        private::sync_folder(folder).map_err(cannot)?;
        let missing = end - log.missing_at_start()..end;
        let mut spool = Self {
            missing,
            ..Self::from(Arc::new(log))
        };
        let (losses, damaged) = spool.find_losses(&promises);
        spool.files = Some(Mutex::new(Files { promises, spent }));
        *spool.unstated.get_mut().expect("no thread panics with it") = losses;
        spool.state_losses().await;
        if damaged > 0 {
            note(&format!(
                "{}: the spool is damaged: {damaged} events that were acknowledged are lost; the monitor is told, and audit counts them under \"{SPOOL_DAMAGED}\"",
                folder.display()
            ));
        }
        Ok(spool)
    }

    /// The losses that are not stated yet, and how many numbers of them were acknowledged.
    fn find_losses(&self, promises: &Promises) -> (Vec<Chunk>, u64) {
        let (mut losses, mut damaged) = (Vec::new(), 0);
        let accounts: BTreeMap<Source, SourceAccount> = self.log.accounts().into_iter().collect();
        let now = Timestamp::now();
        let mut lose = |source: &Source, first: u64, end: u64, cause: &str| {
            if first < end {
                losses.push(loss(source, first, end, cause, now));
            }
            end.saturating_sub(first)
        };
        for promise in promises.iter() {
            let account = accounts.get(&promise.source);
            let next = account.map_or(1, |account| account.next);
            if account.is_none_or(|account| !account.ended) {
                damaged += lose(&promise.source, next, promise.acknowledged, SPOOL_DAMAGED);
                lose(
                    &promise.source,
                    next.max(promise.acknowledged),
                    promise.numbered,
                    STORE_FULL,
                );
            }
        }
        let missing = self.missing.end - self.missing.start;
        if missing > damaged && !promises.are_whole {
            let unknown = Source::new(UNKNOWN, now.unix_nanoseconds() as u64).expect("it is a name");
            damaged += lose(&unknown, 1, 1 + missing - damaged, SPOOL_DAMAGED);
        }
        (losses, damaged)
    }

    /// States what is known as lost and not stated yet, as far as there is room.
    pub(super) async fn state_losses(&self) {
        let unstated = std::mem::take(&mut *self.unstated.lock().expect("no thread panics with it"));
        if unstated.is_empty() {
            return;
        }
        let replies = self.log.append(unstated.clone(), Durability::Process).await;
        let full = unstated.into_iter().zip(replies);
        let full = full.filter_map(|(chunk, reply)| matches!(reply, Reply::Full).then_some(chunk));
        self.unstated.lock().expect("no thread panics with it").extend(full);
    }

    /// Whether the loss of this position was told when the spool was opened.
    pub(super) fn has_stated(&self, position: u64) -> bool {
        self.missing.contains(&position)
    }

    pub(super) const fn log(&self) -> &Arc<Log> {
        &self.log
    }

    fn files(&self) -> Option<MutexGuard<'_, Files>> {
        let files = self.files.as_ref()?;
        Some(files.lock().expect("no thread panics with it"))
    }

    /// Appends chunks, and notes what is acknowledged before anybody learns it.
    pub(super) async fn append(&self, chunks: Vec<Chunk>) -> Vec<Reply> {
        let sources: Vec<Source> = chunks.iter().map(|chunk| chunk.source().clone()).collect();
        if sources.iter().any(|source| self.reserve(source).is_err()) {
            return vec![Reply::Full; chunks.len()];
        }
        let replies = self.log.append(chunks, Durability::Process).await;
        for (reply, source) in replies.iter().zip(&sources) {
            if let Reply::Acknowledged { next, .. } = reply {
                // The log has it. Where this cannot be noted, only a later damage cannot be told.
                let _ = self.promise(source, *next, *next);
            } else if let Some(mut files) = self.files() {
                files.promises.release_slot(source);
            }
        }
        replies
    }

    fn reserve(&self, source: &Source) -> io::Result<()> {
        let Some(mut files) = self.files() else { return Ok(()) };
        files.promises.reserve(source).map(drop)
    }

    /// Notes that a source's numbers before one are acknowledged, and those before another acknowledged or dropped.
    fn promise(&self, source: &Source, acknowledged: u64, numbered: u64) -> io::Result<()> {
        let Some(mut files) = self.files() else { return Ok(()) };
        let before = files.promises.get(source);
        let mut promise = before.clone();
        promise.acknowledged = promise.acknowledged.max(acknowledged);
        promise.numbered = promise.numbered.max(numbered);
        if promise == before {
            return Ok(());
        }
        let end = self.log.end();
        files.promises.write(promise, end)
    }

    /// Notes that numbers of a source were dropped: all before this one that are not acknowledged. They are stated later.
    pub(super) fn drop_numbers(&self, source: &Source, numbered: u64) {
        // A sensor that cannot write this states it as long as it runs.
        let _ = self.promise(source, 0, numbered);
    }

    /// Deletes what the monitor has.
    pub(super) async fn release(&self, before: u64) {
        self.log.release(before).await;
        if let Some(mut files) = self.files() {
            files.promises.forwarded = before;
        }
    }

    /// The sources of which events may wait behind a position, each with its next number.
    pub(super) fn waiting(&self, position: u64) -> Vec<(Source, u64)> {
        let Some(files) = self.files() else { return Vec::new() };
        let waiting = files.promises.waiting(position);
        waiting
            .map(|promise| (promise.source.clone(), promise.acknowledged))
            .collect()
    }

    /// What was sent in the life before, and may have been on the wire within the budget's window.
    pub(super) fn spent_before(&self, now: Timestamp, window_bytes: u64) -> u64 {
        self.files().map_or(0, |files| files.spent.lately(now, window_bytes))
    }

    /// Notes that so many bytes are spent of the budget's window; `is_open` while a post is on its way.
    pub(super) fn spend(&self, now: Timestamp, bytes: u64, is_open: bool) -> io::Result<()> {
        let Some(mut files) = self.files() else { return Ok(()) };
        files.spent.write(now, bytes, is_open)
    }
}

/// A chunk that states the loss of the numbers from `first` to before `end`.
pub(super) fn loss(source: &Source, first: u64, end: u64, cause: &str, now: Timestamp) -> Chunk {
    Chunk::of_loss(source, now, &Loss::new(first..end, PLACE, cause))
}
