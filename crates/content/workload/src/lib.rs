//! Workloads: objects or messages generated from a seed, and the decoder that counts objects as their bytes arrive.
//!
//! A [`WorkloadSpec`] comes from a study file. [`WorkloadSpec::generate`] returns an [`ObjectStream`], which a server writes object by
//! object; a client feeds the bytes that arrive to the [`ObjectDecoder`] of the same spec, which counts complete objects. For message
//! workloads, [`WorkloadSpec::messages`] returns the messages. Recorded traffic is read elsewhere.

pub mod access_log;
pub mod bibliography;
pub mod call_values;
mod faulty_meter;
pub mod messages;
pub mod prose;
pub mod report_text;
mod request_response;
mod stored_object;
pub mod test_executions;
pub mod ticks;
pub mod tm_packets;
mod vocabulary;
pub mod web_pages;

pub use faulty_meter::faulty_meter;
pub use request_response::RequestResponse;

use bytes::Bytes;
use lastmile_traffic::messages::{Message, TranscriptError};
use lastmile_units::{ByteCount, Seed};
use lastmile_wire_formats::ccsds::{PacketError, SequenceCheck, SequenceGap};
use lastmile_wire_formats::java::{CastError, ObjectStreamReader, ReadError, Value};
use messages::{Chat, Documents, Media, Mix, Recorded, Telemetry, Ticker};
use rand_core::Rng as _;
use test_executions::{TestExecution, TestExecutions};
use tm_packets::{HousekeepingError, TmPacket, TmPackets};
use web_pages::Page;

/// Why a workload could not be generated or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// The description is impossible.
    #[error("workload {kind:?}: {problem}")]
    Spec {
        /// The workload's kind.
        kind: &'static str,
        /// The problem and its remedy.
        problem: String,
    },
    /// More bytes arrived than the workload has.
    #[error("{bytes} bytes arrived after the end of the workload; does the response belong to another workload?")]
    Surplus {
        /// The number of surplus bytes.
        bytes: u64,
    },
    /// The bytes ended too early.
    #[error("{bytes} bytes of the workload did not arrive; was the response cut off?")]
    Missing {
        /// The number of missing bytes.
        bytes: u64,
    },
    /// A transcript could not be read.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// The bytes are not an object stream.
    #[error(transparent)]
    Stream(#[from] ReadError),
    /// An object is not one of this workload.
    #[error("object {index}: {error}")]
    Object {
        /// The object's index, from 0.
        index: usize,
        /// The difference.
        error: ObjectError,
    },
}

impl WorkloadError {
    fn spec(kind: &'static str, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self::Spec { kind, problem }
    }
}

/// Why an object is not one of its workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// It is of another class, or a field of another type.
    #[error(transparent)]
    Cast(#[from] CastError),
    /// It has no packet.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// It has a packet of another kind, or a damaged one.
    #[error(transparent)]
    Housekeeping(#[from] HousekeepingError),
    /// Packets before it are missing.
    #[error(transparent)]
    Gap(#[from] SequenceGap),
}

/// Declares [`WorkloadSpec`] with a variant for each kind, and [`KINDS`] with an example of each that states every key.
macro_rules! workloads {
    ($($(#[doc = $about:literal])+ $variant:ident($content:ty) = $kind:literal, $example:literal;)+) => {
        /// The description of a workload in a study file: a table with `kind`.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind")]
        pub enum WorkloadSpec {
            $($(#[doc = $about])+ #[serde(rename = $kind)] $variant($content),)+
        }

        /// Every kind of workload.
        pub const KINDS: &[Kind] = &[
            $(Kind { name: $kind, about: concat!($($about),+).trim_ascii(), example: $example }),+
        ];

        impl WorkloadSpec {
            /// The kind, as a study file writes it.
            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)+ }
            }
        }
    };
}

/// A kind of workload, for those who write a study.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// As a study file writes it.
    pub name: &'static str,
    /// What is delivered.
    pub about: &'static str,
    /// The table in TOML, with every key that the kind has.
    pub example: &'static str,
}

workloads! {
    /// One run of bytes that do not compress.
    Bulk(Bulk) = "bulk", r#"{ kind = "bulk", bytes = "1 MB" }"#;
    /// Requests and responses over a connection that stays open.
    RequestResponse(RequestResponse) = "request-response",
        r#"{ kind = "request-response", requests = 20, request = "200 B", response = "2 kB", pause = "100 ms" }"#;
    /// Objects of Java, all executions of a test: a case of the GZIPFilter report (A to G), or numbers in place of `case`.
    TestExecutions(TestExecutions) = "test-executions",
        r#"{ kind = "test-executions", case = "B", objects = 100, growth = "550 B", total = "1 MB", mixed = true, variation = "id", procedures = 5, quantities = 6 }"#;
    /// Packets of a spacecraft's telemetry: case H of the GZIPFilter report has 100.
    TmPackets(TmPackets) = "tm-packets", r#"{ kind = "tm-packets", packets = 100, walking = "13 %" }"#;
    /// A web page: a shape that is generated, or the path of a recording.
    Page(Page) = "page", r#"{ kind = "page", shape = "gallery", path = "page.har" }"#;
    /// Messages of a chat service. With `speakers`, so many connections also send.
    Chat(Chat) = "chat", r#"{ kind = "chat", messages = 666, speakers = 4 }"#;
    /// Messages of a stock ticker.
    Ticker(Ticker) = "ticker", r#"{ kind = "ticker", messages = 1000, symbols = 40 }"#;
    /// Messages of an instrument, in binary.
    Telemetry(Telemetry) = "telemetry", r#"{ kind = "telemetry", messages = 1000, channels = 24 }"#;
    /// Messages that are compressed already.
    Media(Media) = "media", r#"{ kind = "media", messages = 20, smallest = "1 kB", largest = "64 kB" }"#;
    /// Messages that are long texts.
    Documents(Documents) = "documents", r#"{ kind = "documents", messages = 1, size = "200 kB" }"#;
    /// Messages of several kinds.
    Mix(Mix) = "mix", r#"{ kind = "mix", parts = [{ kind = "chat", messages = 600 }] }"#;
    /// Messages that were recorded.
    Transcript(Recorded) = "transcript",
        r#"{ kind = "transcript", path = "chat.txt", format = "text", direction = "sent" }"#;
}

/// One run of bytes: `{ kind = "bulk", bytes = "1 MB" }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// The number of bytes.
    pub bytes: ByteCount,
}

impl WorkloadSpec {
    /// Generates the objects, as bytes; the same for the same seed.
    ///
    /// # Errors
    /// When the description is contradictory or impossible, or describes messages.
    pub fn generate(&self, seed: Seed) -> Result<ObjectStream, WorkloadError> {
        match self {
            Self::Bulk(bulk) => bulk.generate(seed),
            Self::RequestResponse(exchanges) => exchanges.generate(seed),
            Self::TestExecutions(plan) => Ok(test_executions::stream(&plan.generate(seed)?)),
            Self::TmPackets(plan) => Ok(tm_packets::stream(&plan.generate(seed)?)),
            Self::Page(_) => Err(self.refused("it is a web page, and objects are needed")),
            _ => Err(self.refused("it consists of messages, and objects are needed")),
        }
    }

    /// Generates the messages, in sending order; the same for the same seed.
    ///
    /// # Errors
    /// When the description is contradictory or impossible, or describes objects.
    pub fn messages(&self, seed: Seed) -> Result<Vec<Message>, WorkloadError> {
        match self {
            Self::Chat(chat) => Ok(chat.generate(seed)),
            Self::Ticker(ticker) => Ok(ticker.generate(seed)),
            Self::Telemetry(telemetry) => Ok(telemetry.generate(seed)),
            Self::Media(media) => media.generate(seed),
            Self::Documents(documents) => documents.generate(seed),
            Self::Mix(mix) => mix.generate(seed),
            Self::Transcript(recorded) => recorded.read(),
            Self::Bulk(_) | Self::RequestResponse(_) | Self::TestExecutions(_) | Self::TmPackets(_) | Self::Page(_) => {
                Err(self.refused("it consists of objects, and messages are needed, such as kind \"chat\""))
            }
        }
    }

    fn refused(&self, problem: &str) -> WorkloadError {
        WorkloadError::spec(self.kind(), problem)
    }

    /// A decoder at the start of such a stream. None for messages, whose connections delimit them.
    pub fn decoder(&self) -> Option<ObjectDecoder> {
        let objects = |check| Expected::Objects {
            reader: Box::default(),
            check,
        };
        let expected = match self {
            Self::Bulk(bulk) => Expected::Bytes {
                missing: bulk.bytes.get(),
            },
            Self::RequestResponse(exchanges) => Expected::Bytes {
                missing: exchanges.total().get(),
            },
            Self::TestExecutions(_) => objects(Check::TestExecutions),
            Self::TmPackets(_) => objects(Check::TmPackets(SequenceCheck::default())),
            _ => return None,
        };
        Some(ObjectDecoder { completed: 0, expected })
    }
}

impl Bulk {
    fn generate(&self, seed: Seed) -> Result<ObjectStream, WorkloadError> {
        if self.bytes == ByteCount::ZERO || self.bytes > STREAM_BYTES_MAX {
            let problem = format!("bytes is {}; it must be from 1 B to {STREAM_BYTES_MAX}", self.bytes);
            return Err(WorkloadError::Spec { kind: "bulk", problem });
        }
        let mut bytes = vec![0; self.bytes.get() as usize];
        seed.derive("bulk").rng().fill_bytes(&mut bytes);
        Ok(ObjectStream {
            objects: vec![bytes.into()],
        })
    }
}

/// The largest stream, since streams are generated in memory: our own choice.
const STREAM_BYTES_MAX: ByteCount = ByteCount::new(1_000_000_000);

/// The most objects of a stream, likewise.
const OBJECTS_MAX: usize = 1_000_000;

/// The bytes that each object adds to a stream; the first ones begin with the stream's header and the class descriptors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectStream {
    /// In sending order.
    pub objects: Vec<Bytes>,
}

impl ObjectStream {
    /// The size of the whole stream.
    pub fn total(&self) -> ByteCount {
        self.objects.iter().map(|object| ByteCount::from(object.len())).sum()
    }

    /// The whole stream in one piece.
    pub fn concat(&self) -> Vec<u8> {
        self.objects.concat()
    }
}

/// Counts objects as their bytes arrive, and checks that each is one of the workload.
pub struct ObjectDecoder {
    completed: usize,
    expected: Expected,
}

enum Expected {
    Bytes {
        missing: u64,
    },
    Objects {
        reader: Box<ObjectStreamReader>,
        check: Check,
    },
}

enum Check {
    TestExecutions,
    TmPackets(SequenceCheck),
}

impl Check {
    fn accept(&mut self, value: &Value) -> Result<(), ObjectError> {
        match self {
            Self::TestExecutions => drop(TestExecution::from_value(value)?),
            Self::TmPackets(sequence) => sequence.accept(&TmPacket::from_value(value)?.packet)?,
        }
        Ok(())
    }
}

impl ObjectDecoder {
    /// Reads the next bytes of the stream; returns how many objects they completed.
    ///
    /// # Errors
    /// When the bytes are not an object stream, an object is of another class, or there are more bytes than the workload has.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<usize, WorkloadError> {
        let before = self.completed;
        match &mut self.expected {
            Expected::Bytes { missing } => {
                let length = bytes.len() as u64;
                let left = missing.checked_sub(length);
                *missing = left.ok_or_else(|| WorkloadError::Surplus {
                    bytes: length - *missing,
                })?;
                self.completed += usize::from(*missing == 0 && length > 0);
            }
            Expected::Objects { reader, check } => {
                reader.feed(bytes);
                while let Some(value) = reader.next_value()? {
                    check.accept(&value).map_err(|error| WorkloadError::Object {
                        index: self.completed,
                        error,
                    })?;
                    self.completed += 1;
                }
            }
        }
        Ok(self.completed - before)
    }

    /// The number of complete objects.
    pub fn completed(&self) -> usize {
        self.completed
    }

    /// Ends the stream: no more bytes will arrive.
    ///
    /// # Errors
    /// When the bytes end within an object.
    pub fn finish(&self) -> Result<(), WorkloadError> {
        match &self.expected {
            Expected::Bytes { missing: 0 } => Ok(()),
            Expected::Bytes { missing } => Err(WorkloadError::Missing { bytes: *missing }),
            Expected::Objects { reader, .. } => Ok(reader.finish()?),
        }
    }
}

#[cfg(test)]
mod tests;
