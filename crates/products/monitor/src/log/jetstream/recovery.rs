//! How a log is found again: the last checkpoint that the stream reaches, then the messages after it, held against what was acknowledged.

use super::state::{Committed, State};
use super::store::Store;
use crate::ledger::Admission;
use lastmile_events::Timestamp;

/// What is known of how far the log was acknowledged.
#[derive(Debug, Clone, Copy)]
pub(super) enum KnownEnd {
    /// So far.
    Position(u64),
    /// Nothing is: another folder is used with this stream than before, or its mark is damaged.
    Unknown,
}

pub(super) async fn recover(store: &Store, known_end: KnownEnd) -> Result<Committed, String> {
    let extent = store.extent().await?;
    let checkpoints = store.checkpoints().await?;
    let mut known: Vec<State> = checkpoints
        .iter()
        .filter_map(|bytes| State::from_bytes(bytes))
        .collect();
    let latest = known.last().cloned();
    known.retain(|state| state.sequence <= extent.last);
    let mut state = known.pop().unwrap_or_default();
    if let Some(latest) = latest {
        // What was deleted and what is missing stays so, even where the chunks that the ledger counts are gone.
        (state.epochs, state.start) = (latest.epochs, latest.start);
        (state.holes, state.deletions) = (latest.holes, latest.deletions);
    }
    let mut sequences = Vec::new();
    while let Some(message) = store.next(state.sequence + 1).await? {
        state.sequence = message.sequence;
        let expected = state.ledger.next_position;
        if message.end() <= state.start || message.position < expected {
            continue;
        }
        if message.position > expected.max(state.start) {
            let what = "they were acknowledged, and the stream has lost their messages";
            state.add_hole(expected.max(state.start), message.position, what);
        }
        sequences.push((message.position, message.sequence));
        state.ledger.next_position = message.position;
        let Ok(chunk) = &message.chunk else {
            state.ledger.next_position = message.end();
            continue;
        };
        if !matches!(state.ledger.admit(chunk), Admission::Append { .. }) {
            // The source's numbers before it are gone, and their accounts with them.
            state.ledger.skip_to(chunk.source(), chunk.first());
            state.ledger.admit(chunk);
            state.ledger.next_position = message.end();
        }
    }
    state.sequence = state.sequence.max(extent.last);
    let end = state.ledger.next_position.max(state.start);
    state.ledger.next_position = end;
    match known_end {
        KnownEnd::Position(known_end) if known_end > end => {
            let what = "they were acknowledged, and the stream ends before them";
            state.add_hole(end, known_end, what);
            state.ledger.next_position = known_end;
        }
        KnownEnd::Unknown if end > 0 || state.epochs.is_empty() => {
            // More may have been acknowledged: the cursors of before hold up to here.
            state.epochs.push((end, Timestamp::now().unix_nanoseconds() as u64));
        }
        KnownEnd::Position(_) | KnownEnd::Unknown => {}
    }
    if state.epochs.is_empty() {
        state.epochs.push((0, Timestamp::now().unix_nanoseconds() as u64));
    }
    Ok(Committed {
        state,
        sequences: sequences.into(),
    })
}
