//! The two streams of a NATS server: the chunks, a message each, and the checkpoints of the ledger.

use crate::log::LogSettings;
use crate::log::store_url::StoreUrl;
use async_nats::header::{HeaderMap, NATS_EXPECTED_LAST_SEQUENCE};
use async_nats::jetstream::Context;
use async_nats::jetstream::context::{ContextBuilder, PublishAckFuture};
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{Config, DirectGetError, DirectGetErrorKind, DiscardPolicy, StorageType, Stream};
use bytes::Bytes;
use lastmile_events::Chunk;
use lastmile_events::uplink::Durability;
use std::error::Error;
use std::time::Duration;

/// The header with the position of a chunk's first event.
const POSITION: &str = "Lastmile-Position";
/// The header with the number of a chunk's events.
const EVENTS: &str = "Lastmile-Events";
/// The header with the checksum of a checkpoint.
const SUM: &str = "Lastmile-Sum";
/// How many checkpoints are kept, so that one is left that is older than what a server lost: our own choice.
const CHECKPOINTS_MAX: i64 = 32;
/// How long the server may take for an answer: our own choice.
const PATIENCE: Duration = Duration::from_secs(5);
/// The room that the headers of a message take at most.
const HEADERS: usize = 256;

/// A connection to the server, and its streams.
#[derive(Debug)]
pub(super) struct Store {
    context: Context,
    chunks: Stream,
    chunk_subject: String,
    checkpoints: Stream,
    checkpoint_subject: String,
    /// The most bytes of a chunk.
    pub(super) largest: usize,
}

/// How far a stream reaches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) bytes: u64,
}

/// A message of the stream of chunks.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) sequence: u64,
    /// The position of its first event.
    pub(super) position: u64,
    /// How many events it has.
    pub(super) events: u64,
    /// The chunk, or what is wrong with it.
    pub(super) chunk: Result<Chunk, String>,
}

impl Message {
    /// The position after its last event.
    pub(super) const fn end(&self) -> u64 {
        self.position + self.events
    }
}

impl Store {
    /// Connects, and makes the streams where there are none.
    pub(super) async fn open(url: &StoreUrl, settings: &LogSettings) -> Result<Self, String> {
        let options = async_nats::ConnectOptions::new()
            .name("lastmile monitor")
            .connection_timeout(PATIENCE)
            .request_timeout(Some(PATIENCE));
        let client = options.connect(&url.server).await.map_err(|error| {
            let why = explain(&error);
            format!("{why}; is a NATS server with JetStream (nats-server -js) there?")
        })?;
        let largest = client.server_info().max_payload.saturating_sub(HEADERS);
        let context = ContextBuilder::new()
            .timeout(PATIENCE)
            .ack_timeout(PATIENCE)
            .build(client);
        let storage = match settings.durability {
            Durability::Memory => StorageType::Memory,
            Durability::Process | Durability::Power => StorageType::File,
        };
        let chunk_subject = format!("{}.chunks", url.stream);
        let checkpoint_subject = format!("{}.ledger", url.stream);
        let chunks = Config {
            name: url.stream.clone(),
            description: Some("Chunks of events that a lastmile monitor keeps".to_owned()),
            subjects: vec![chunk_subject.clone()],
            max_bytes: i64::try_from(settings.most_bytes).unwrap_or(i64::MAX),
            discard: DiscardPolicy::New,
            storage,
            num_replicas: 1,
            allow_direct: true,
            ..Config::default()
        };
        let checkpoints = Config {
            name: format!("{}_LEDGER", url.stream),
            description: Some("What became of each source's events".to_owned()),
            subjects: vec![checkpoint_subject.clone()],
            max_messages: CHECKPOINTS_MAX,
            storage,
            num_replicas: 1,
            allow_direct: true,
            ..Config::default()
        };
        let chunks = open_stream(&context, chunks).await?;
        let checkpoints = open_stream(&context, checkpoints).await?;
        Ok(Self {
            context,
            chunks,
            chunk_subject,
            checkpoints,
            checkpoint_subject,
            largest,
        })
    }

    pub(super) async fn extent(&self) -> Result<Extent, String> {
        let state = self.chunks.get_info().await.map_err(|error| explain(&error))?.state;
        Ok(Extent {
            first: state.first_sequence,
            last: state.last_sequence,
            bytes: state.bytes,
        })
    }

    /// Sends a chunk, which is taken only as the message after `last`.
    pub(super) async fn publish(&self, last: u64, position: u64, chunk: &Chunk) -> Result<PublishAckFuture, String> {
        let mut headers = HeaderMap::new();
        headers.insert(NATS_EXPECTED_LAST_SEQUENCE, last.to_string());
        headers.insert(POSITION, position.to_string());
        headers.insert(EVENTS, chunk.event_count().to_string());
        let payload = Bytes::from_owner(SharedBytes(chunk.bytes().clone()));
        let sent = self
            .context
            .publish_with_headers(self.chunk_subject.clone(), headers, payload);
        sent.await.map_err(|error| explain(&error))
    }

    /// The message of this sequence.
    pub(super) async fn get(&self, sequence: u64) -> Result<Option<Message>, String> {
        found(self.chunks.direct_get(sequence).await).map(|message| message.as_ref().and_then(read_message))
    }

    /// The first message from this sequence on.
    pub(super) async fn next(&self, sequence: u64) -> Result<Option<Message>, String> {
        let next = self
            .chunks
            .direct_get_next_for_subject(self.chunk_subject.clone(), Some(sequence.max(1)));
        found(next.await).map(|message| message.as_ref().and_then(read_message))
    }

    /// Deletes all messages before this sequence.
    pub(super) async fn purge(&self, before: u64) -> Result<(), String> {
        let purged = self.chunks.purge().sequence(before).await;
        purged.map(drop).map_err(|error| explain(&error))
    }

    pub(super) async fn put_checkpoint(&self, bytes: Vec<u8>) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        headers.insert(SUM, crc32fast::hash(&bytes).to_string());
        let sent = self
            .context
            .publish_with_headers(self.checkpoint_subject.clone(), headers, bytes.into());
        let acknowledgement = sent.await.map_err(|error| explain(&error))?;
        acknowledgement.await.map(drop).map_err(|error| explain(&error))
    }

    /// The checkpoints that can be read, the oldest first.
    pub(super) async fn checkpoints(&self) -> Result<Vec<Bytes>, String> {
        let (mut all, mut sequence) = (Vec::new(), 1);
        loop {
            let next = self
                .checkpoints
                .direct_get_next_for_subject(self.checkpoint_subject.clone(), Some(sequence));
            let Some(message) = found(next.await)? else {
                return Ok(all);
            };
            sequence = message.sequence + 1;
            let sum = message.headers.get(SUM).and_then(|sum| sum.as_str().parse().ok());
            if sum == Some(crc32fast::hash(&message.payload)) {
                all.push(message.payload);
            }
        }
    }
}

async fn open_stream(context: &Context, config: Config) -> Result<Stream, String> {
    let name = config.name.clone();
    let wanted = (config.storage, config.subjects.clone());
    let stream = context
        .get_or_create_stream(config)
        .await
        .map_err(|error| format!("stream {name}: {}", explain(&error)))?;
    let found = &stream.cached_info().config;
    if (found.storage, &found.subjects) == (wanted.0, &wanted.1) && found.allow_direct {
        return Ok(stream);
    }
    Err(format!(
        "stream {name} is there with other settings (storage {:?}, subjects {}); name another stream, or the durability that it was made for",
        found.storage,
        found.subjects.join(", ")
    ))
}

/// A message, or none where there is none.
fn found(answer: Result<StreamMessage, DirectGetError>) -> Result<Option<StreamMessage>, String> {
    match answer {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
        Err(error) => Err(explain(&error)),
    }
}

/// A message that a monitor wrote; others are passed over.
fn read_message(message: &StreamMessage) -> Option<Message> {
    let number = |name: &str| message.headers.get(name)?.as_str().parse::<u64>().ok();
    let (position, events) = (number(POSITION)?, number(EVENTS)?);
    let chunk = match Chunk::read(&message.payload) {
        Ok((chunk, length)) if length == message.payload.len() && u64::from(chunk.event_count()) == events => Ok(chunk),
        Ok(_) => Err("the message holds another chunk than its headers say".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    Some(Message {
        sequence: message.sequence,
        position,
        events,
        chunk,
    })
}

/// An error with its sources.
fn explain(error: &(dyn Error + '_)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    text
}

/// The bytes of a chunk, which are not copied.
struct SharedBytes(std::sync::Arc<[u8]>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
