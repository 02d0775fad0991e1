//! Lines become events of a source that the sensor itself is.

use super::own_source::{OwnSource, Turn};
use super::spool::PLACE;
use lastmile_events::line::Line;
use lastmile_events::{ChunkBuilder, Timestamp};
use std::fmt::Write as _;

/// What became of a connection's lines.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Lines {
    pub(super) read: u64,
    pub(super) kept: u64,
    pub(super) refused: u64,
    pub(super) dropped: u64,
}

/// Keeps the events of lines; returns a message for each that is refused.
pub(super) async fn append(source: &OwnSource, text: &[u8], account: &mut Lines) -> String {
    let mut turn = source.turn().await;
    let now = Timestamp::now();
    let mut builder = turn.begin(now);
    let mut refusals = String::new();
    let mut waiting = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        account.read += 1;
        let line = line.trim_ascii_end();
        if line.is_empty() {
            continue;
        }
        let parsed = Line::from_bytes(line);
        loop {
            let pushed = match &parsed {
                Ok(line) => line.push(&mut builder, now),
                Err(_) => builder.push_loss(now, 1, PLACE, "line refused"),
            };
            if pushed.is_ok() {
                break;
            }
            // A line is far shorter than a chunk, so the next chunk has room for it.
            keep(&mut turn, builder, &mut waiting, account).await;
            builder = turn.begin(now);
        }
        match parsed {
            Ok(_) => waiting += 1,
            Err(error) => {
                account.refused += 1;
                let _ = writeln!(refusals, "line {}: {error}", account.read);
            }
        }
    }
    keep(&mut turn, builder, &mut waiting, account).await;
    refusals
}

async fn keep(turn: &mut Turn<'_>, builder: ChunkBuilder, waiting: &mut u64, account: &mut Lines) {
    let outcome = if turn.keep_or_drop(builder).await {
        &mut account.kept
    } else {
        &mut account.dropped
    };
    *outcome += std::mem::take(waiting);
}
