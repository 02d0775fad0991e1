//! Lines become events of a source that the sensor itself is.

use crate::log::Log;
use lastmile_events::line::Line;
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, ChunkBuilder, Source, Timestamp};
use std::fmt::Write as _;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The source of all lines, whoever sent them.
#[derive(Debug)]
pub(super) struct LineSource {
    log: Arc<Log>,
    source: Source,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The number of the next event.
    next: u64,
    /// Numbers that the full log did not take, to be stated as lost.
    unstated: u64,
}

/// What became of a connection's lines.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Lines {
    pub(super) read: u64,
    pub(super) kept: u64,
    pub(super) refused: u64,
    pub(super) dropped: u64,
}

const PLACE: &str = "sensor";

impl LineSource {
    pub(super) fn new(log: Arc<Log>, source: Source) -> Self {
        let state = Mutex::new(State { next: 1, unstated: 0 });
        Self { log, source, state }
    }

    /// Keeps the events of lines; returns a message for each that is refused.
    pub(super) async fn take(&self, text: &[u8], account: &mut Lines) -> String {
        let mut state = self.state.lock().await;
        let now = Timestamp::now();
        let mut builder = self.begin(&state, now);
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
                    Ok(line) => {
                        let fields = line
                            .fields
                            .iter()
                            .map(|(name, value)| (name.as_str(), value.borrowed()));
                        builder.push_event(line.time.unwrap_or(now), &line.subject, fields)
                    }
                    Err(_) => builder.push_loss(now, 1, PLACE, "line refused"),
                };
                if pushed.is_ok() {
                    break;
                }
                // A line is far shorter than a chunk, so the next chunk has room for it.
                self.keep(&mut state, builder, &mut waiting, account).await;
                builder = self.begin(&state, now);
            }
            match parsed {
                Ok(_) => waiting += 1,
                Err(error) => {
                    account.refused += 1;
                    let _ = writeln!(refusals, "line {}: {error}", account.read);
                }
            }
        }
        self.keep(&mut state, builder, &mut waiting, account).await;
        refusals
    }

    /// A chunk that begins with the loss that is not stated yet.
    fn begin(&self, state: &State, now: Timestamp) -> ChunkBuilder {
        let mut builder = ChunkBuilder::new(self.source.clone(), state.next - state.unstated);
        if state.unstated > 0 {
            let stated = builder.push_loss(now, state.unstated, PLACE, "store full");
            stated.expect("an empty chunk has room for a loss");
        }
        builder
    }

    async fn keep(&self, state: &mut State, builder: ChunkBuilder, waiting: &mut u64, account: &mut Lines) {
        let Some(chunk) = builder.finish() else { return };
        let new = chunk.end() - state.next;
        state.next = chunk.end();
        let kept = self.log.append(vec![chunk], Durability::Process).await;
        if matches!(kept[..], [Reply::Acknowledged { .. }]) {
            state.unstated = 0;
            account.kept += *waiting;
        } else {
            state.unstated += new;
            account.dropped += *waiting;
        }
        *waiting = 0;
    }

    /// Ends the source in good order, where it has emitted.
    pub(super) async fn end(&self, now: Timestamp) {
        let mut state = self.state.lock().await;
        if state.next == 1 {
            return;
        }
        let mut builder = self.begin(&state, now);
        let _ = builder.push_end(now);
        let chunk: Option<Chunk> = builder.finish();
        if let Some(chunk) = chunk {
            state.next = chunk.end();
            self.log.append(vec![chunk], Durability::Process).await;
        }
    }
}
