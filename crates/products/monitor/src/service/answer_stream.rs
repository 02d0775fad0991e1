//! The answer to a query or a subscription: a page at a time, made when the client has taken the one before.

use super::clients::ClientSlot;
use super::compression;
use super::parameters::{From, Parameters};
use super::rendering::{Key, Rendered};
use super::{AnswerBody, Monitor};
use crate::cursor::Cursor;
use crate::event_json::{AnswerEnd, write_event};
use crate::log::{Entry, LogError};
use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use lastmile_codec::content::Coding;
use lastmile_events::EventView;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A client's place in the log, and what it asks for. That is all that a slow client costs.
pub(super) struct AnswerStream {
    monitor: Arc<Monitor>,
    parameters: Parameters,
    position: u64,
    /// A query ends here; a subscription never does.
    end: Option<u64>,
    delivered: u64,
    damaged: u64,
    server_sent: bool,
    /// A line to begin with.
    notice: Option<Value>,
    /// Whether events before the position must be there, since a cursor asks for them.
    resumes: bool,
    ended: bool,
    slot: ClientSlot,
    question: Arc<str>,
}

/// A subscriber to the latest events that is further behind skips to the newest: our own choice.
const LATEST_LAG: u64 = 1000;

impl AnswerStream {
    pub(super) fn begin(
        monitor: Arc<Monitor>,
        parameters: Parameters,
        slot: ClientSlot,
        live: bool,
        server_sent: bool,
    ) -> Result<Self, LogError> {
        let end = monitor.log.end();
        let (mut notice, mut lost) = (None, 0);
        let position = match parameters.from {
            From::Start => 0,
            From::Now => end,
            From::At(cursor) => {
                let resumption = monitor.log.resume(cursor)?;
                lost = resumption.lost_since;
                if resumption.lost_since > 0 {
                    notice = Some(
                        json!({"lost_since": resumption.lost_since, "cursor": monitor.log.cursor(resumption.position).to_string()}),
                    );
                }
                resumption.position
            }
        };
        if live {
            monitor.subscribers.fetch_add(1, Ordering::Relaxed);
        }
        let question = format!("{server_sent} {}", parameters.question).into();
        Ok(Self {
            monitor,
            resumes: matches!(parameters.from, From::At(_)),
            parameters,
            position,
            end: (!live).then_some(end),
            delivered: 0,
            damaged: lost,
            server_sent,
            notice,
            ended: false,
            slot,
            question,
        })
    }

    pub(super) fn into_body(self, coding: Coding) -> AnswerBody {
        let begun = (self, compression::encoder(coding));
        let pages = stream::unfold(Some(begun), |begun| async move {
            let (mut reading, mut encoder) = begun?;
            let page = reading.next_bytes().await;
            let Some(encoder_of_stream) = &mut encoder else {
                return page.map(|bytes| (Ok::<_, Infallible>(Frame::data(bytes)), Some((reading, encoder))));
            };
            let mut coded = Vec::new();
            match page {
                Some(bytes) => {
                    encoder_of_stream.write(&bytes, &mut coded);
                    // A subscriber can read each page when it comes.
                    encoder_of_stream.flush(&mut coded);
                    Some((Ok(Frame::data(coded.into())), Some((reading, encoder))))
                }
                None => {
                    encoder.take()?.finish(&mut coded);
                    Some((Ok(Frame::data(coded.into())), None))
                }
            }
        });
        StreamBody::new(pages).boxed_unsync()
    }

    async fn next_bytes(&mut self) -> Option<Bytes> {
        let mut out = Vec::new();
        if let Some(notice) = self.notice.take() {
            self.write_line(&mut out, &notice);
            return Some(out.into());
        }
        if std::mem::take(&mut self.resumes) {
            self.skip_deleted(&mut out).await;
        }
        while !self.ended && out.is_empty() {
            let end = self.end.unwrap_or_else(|| self.monitor.log.end());
            if self.position < end && self.parameters.limit != Some(self.delivered) {
                if let Some(shared) = self.read_shared_page(end, &mut out).await {
                    return Some(shared);
                }
            } else if self.end.is_none() && self.parameters.limit != Some(self.delivered) {
                self.monitor.log.wait_past(end).await;
            } else {
                self.ended = true;
                let end = AnswerEnd {
                    complete: self.damaged == 0,
                    cursor: self.cursor(),
                    events: self.delivered,
                };
                self.write_line(&mut out, &end.to_json());
            }
        }
        (!out.is_empty()).then(|| out.into())
    }

    /// A cursor may be older than what is kept: a line says how much is gone, and reading goes on after it.
    async fn skip_deleted(&mut self, out: &mut Vec<u8>) {
        let start = self.monitor.log.start().await;
        if self.position < start {
            let deleted = start - self.position;
            self.position = start;
            self.damaged += deleted;
            let line = json!({"deleted": {"events": deleted, "why": "they were older or more than the monitor keeps"}, "cursor": self.cursor()});
            self.write_line(out, &line);
        }
    }

    /// The next page of a subscription, which others at this place may have made already; without one, it is made in `out`.
    async fn read_shared_page(&mut self, end: u64, out: &mut Vec<u8>) -> Option<Bytes> {
        let is_shared = self.end.is_none() && self.parameters.limit.is_none() && !self.parameters.latest;
        if !is_shared {
            self.read_page(end, out).await;
            return None;
        }
        let key = Key {
            question: Arc::clone(&self.question),
            position: self.position,
            end,
        };
        if let Some(page) = self.monitor.rendered.get(&key) {
            let before = self.delivered;
            self.position = page.next;
            self.delivered += page.delivered;
            self.count_delivered(before);
            return Some(page.bytes);
        }
        let before = self.delivered;
        self.read_page(end, out).await;
        if self.ended {
            return None;
        }
        let bytes = Bytes::from(std::mem::take(out));
        let page = Rendered {
            bytes: bytes.clone(),
            next: self.position,
            delivered: self.delivered - before,
        };
        self.monitor.rendered.put(key, page);
        (!bytes.is_empty()).then_some(bytes)
    }

    async fn read_page(&mut self, end: u64, out: &mut Vec<u8>) {
        if self.parameters.latest && self.end.is_none() && end - self.position > LATEST_LAG {
            let skipped = end - 1 - self.position;
            self.position = end - 1;
            let line = json!({"skipped": skipped, "cursor": self.cursor()});
            self.write_line(out, &line);
        }
        let page = match self
            .monitor
            .log
            .read_matching(self.position, &self.parameters.filter)
            .await
        {
            Ok(page) => page,
            Err(error) => {
                self.ended = true;
                let line = json!({"error": error.to_string(), "cursor": self.cursor()});
                self.write_line(out, &line);
                return;
            }
        };
        let before = self.delivered;
        let epoch = self.monitor.log.epoch();
        let cursor = |position| Cursor { epoch, position };
        for entry in page.entries {
            match entry {
                Entry::Chunk { position, chunk } => {
                    if !self.parameters.filter.may_match(&chunk) {
                        continue;
                    }
                    let mut next = position;
                    let mut limit_at = None;
                    chunk.look_at_events(|event| {
                        let position = next;
                        next += 1;
                        if position >= end {
                            return ControlFlow::Break(());
                        }
                        if position < self.position || !self.parameters.filter.matches(event) {
                            return ControlFlow::Continue(());
                        }
                        self.write_event(out, event, cursor(position + 1));
                        self.delivered += 1;
                        if self.parameters.limit == Some(self.delivered) {
                            limit_at = Some(position + 1);
                            return ControlFlow::Break(());
                        }
                        ControlFlow::Continue(())
                    });
                    if let Some(position) = limit_at {
                        self.position = position;
                        self.count_delivered(before);
                        return;
                    }
                }
                Entry::Damaged { position, end, what } => {
                    self.damaged += (end - position).max(1);
                    let cursor = cursor(end).to_string();
                    let line = json!({"damaged": {"events": end - position, "position": position, "what": what}, "cursor": cursor});
                    self.write_line(out, &line);
                }
            }
        }
        self.position = page.next.clamp(self.position + 1, end.max(self.position + 1));
        self.count_delivered(before);
        if out.is_empty() && self.end.is_none() {
            // So a subscriber that no event concerns can resume here.
            let line = json!({"cursor": self.cursor()});
            self.write_line(out, &line);
        }
    }

    fn count_delivered(&self, before: u64) {
        let new = self.delivered - before;
        self.monitor.delivered.fetch_add(new, Ordering::Relaxed);
        self.slot.deliver(new);
    }

    fn cursor(&self) -> String {
        self.monitor.log.cursor(self.position).to_string()
    }

    fn write_line(&self, out: &mut Vec<u8>, line: &Value) {
        // Writing to memory does not fail, here and below.
        let _ = if self.server_sent {
            if let Some(cursor) = line.get("cursor").and_then(Value::as_str) {
                let _ = writeln!(out, "id: {cursor}");
            }
            write!(out, "data: {line}\n\n")
        } else {
            writeln!(out, "{line}")
        };
    }

    fn write_event(&self, out: &mut Vec<u8>, event: &EventView<'_>, cursor: Cursor) {
        if self.server_sent {
            let _ = write!(out, "id: {cursor}\ndata: ");
        }
        write_event(out, event, cursor);
        out.extend_from_slice(if self.server_sent { b"\n\n" } else { b"\n" });
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        if self.end.is_none() {
            self.monitor.subscribers.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
