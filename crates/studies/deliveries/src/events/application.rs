//! An application: creates events, and submits them to its sensor, one by one or gathered into chunks as an emitter of ours does.

use super::plan::{CHUNK_BYTES, GROUP, Gathering, Plan, Steps, Submission};
use futures_util::future;
use lastmile_events::uplink::{REPLY, Reply};
use lastmile_events::{Chunk, ChunkBuilder, Source, Timestamp, Value};
use lastmile_testbed::failure::Failure;
use lastmile_units::{Instant, Rng, Seed, random};
use lastmile_world::Host;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::ops::Range;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

/// An application with its connection to the sensor.
pub(super) struct Application<H: Host> {
    pub(super) host: H,
    stream: H::Stream,
    source: Source,
    /// The number of its next event.
    next: u64,
}

/// What a repeat of an application was.
#[derive(Debug, Clone)]
pub(super) struct SubmissionFigures {
    /// From its first step to the last acknowledgement.
    pub(super) span: Range<Instant>,
    pub(super) create: Duration,
    pub(super) send: Duration,
    /// The events that it tried to submit.
    pub(super) tried: u64,
}

impl<H: Host> Application<H> {
    /// Connects to the sensor.
    pub(super) async fn open(host: H, sensor: SocketAddrV4, name: String) -> Result<Self, Failure> {
        let stream = host.connect(sensor).await.map_err(broken)?;
        let source = Source::new(&name, 1).map_err(Failure::from_error)?;
        Ok(Self {
            host,
            stream,
            source,
            next: 1,
        })
    }

    /// Takes its steps, with events or without any. Equal seeds draw the same steps.
    pub(super) async fn run(&mut self, plan: &Plan, seed: Seed, submits: bool) -> Result<SubmissionFigures, Failure> {
        let start = self.host.now();
        let (create, send, tried) = match plan.submission {
            _ if !submits => self.take_steps(plan, seed).await,
            Submission::OneByOne => self.submit_one_by_one(plan, seed).await?,
            Submission::Gathered(gathering) => self.submit_gathered(plan, gathering, seed).await?,
        };
        Ok(SubmissionFigures {
            span: start..self.host.now(),
            create,
            send,
            tried,
        })
    }

    /// Takes the steps without their events.
    async fn take_steps(&self, plan: &Plan, seed: Seed) -> (Duration, Duration, u64) {
        let mut stepper = Stepper::new(&self.host, &plan.steps, seed);
        for step in 0..plan.steps.count {
            stepper.begin(step).await;
            stepper.end(step).await;
        }
        (Duration::ZERO, Duration::ZERO, 0)
    }

    async fn submit_one_by_one(&mut self, plan: &Plan, seed: Seed) -> Result<(Duration, Duration, u64), Failure> {
        let Self {
            host,
            stream,
            source,
            next,
        } = self;
        submit_events(host, plan, seed, async |event| {
            let mut builder = ChunkBuilder::new(source.clone(), *next);
            event.push(&mut builder).map_err(Failure::from_error)?;
            let chunk = builder.finish().expect("it has an event");
            let created = host.now();
            exchange(stream, &chunk).await?;
            *next = chunk.end();
            Ok(created)
        })
        .await
    }

    /// Creates events, while another program of the application sends those that are gathered.
    async fn submit_gathered(
        &mut self,
        plan: &Plan,
        gathering: Gathering,
        seed: Seed,
    ) -> Result<(Duration, Duration, u64), Failure> {
        let host = self.host.clone();
        let buffer = Buffer::default();
        let creating = async {
            let submitted = submit_events(&host, plan, seed, async |event| {
                let created = host.now();
                while buffer.held.get() >= gathering.buffer && !gathering.drops {
                    buffer.freed.notified().await;
                }
                buffer.put(event, gathering);
                Ok(created)
            });
            let submitted = submitted.await;
            buffer.ended.set(true);
            buffer.filled.notify_one();
            (submitted, host.now())
        };
        let sending = self.send_gathered(&buffer, gathering);
        let ((submitted, created), sent) = future::join(creating, sending).await;
        sent?;
        let (create, waited, tried) = submitted?;
        Ok((create, waited + host.now().saturating_since(created), tried))
    }

    /// Sends what the buffer holds, a chunk at a time, until its end.
    async fn send_gathered(&mut self, buffer: &Buffer, gathering: Gathering) -> Result<(), Failure> {
        loop {
            let first = buffer.waiting.borrow().front().map(|event| event.at);
            let Some(first) = first.or_else(|| (buffer.dropped.get() > 0).then(|| self.host.now())) else {
                if buffer.ended.get() {
                    return Ok(());
                }
                buffer.filled.notified().await;
                continue;
            };
            let due = first + gathering.linger;
            while self.host.now() < due && !buffer.is_ready(gathering) {
                let (sleep, filled) = (pin!(self.host.sleep_until(due)), pin!(buffer.filled.notified()));
                future::select(sleep, filled).await;
            }
            let mut builder = ChunkBuilder::new(self.source.clone(), self.next);
            let mut count = 0;
            while count < gathering.batch && builder.byte_count() < CHUNK_BYTES {
                let Some(event) = buffer.waiting.borrow_mut().pop_front() else {
                    break;
                };
                event.push(&mut builder).map_err(Failure::from_error)?;
                count += 1;
            }
            if buffer.waiting.borrow().is_empty() && buffer.dropped.get() > 0 {
                let dropped = buffer.dropped.take();
                let stated = builder.push_loss(timestamp(self.host.now()), dropped, "emitter", "ring full");
                stated.map_err(Failure::from_error)?;
            }
            let Some(chunk) = builder.finish() else { continue };
            exchange(&mut self.stream, &chunk).await?;
            self.next = chunk.end();
            buffer.held.set(buffer.held.get() - count);
            buffer.freed.notify_one();
        }
    }
}

/// Takes the steps of a repeat, and creates their events. `submit` tells when an event was created, after which it is sent. Returns the time of
/// creating and of sending, and how many events there were.
async fn submit_events<H: Host>(
    host: &H,
    plan: &Plan,
    seed: Seed,
    mut submit: impl AsyncFnMut(NewEvent) -> Result<Instant, Failure>,
) -> Result<(Duration, Duration, u64), Failure> {
    let mut stepper = Stepper::new(host, &plan.steps, seed);
    let (mut create, mut send, mut tried) = (Duration::ZERO, Duration::ZERO, 0);
    for step in 0..plan.steps.count {
        if stepper.begin(step).await {
            let begun = host.now();
            host.compute(plan.settings.create_cpu_time().0).await;
            let created = submit(stepper.create(step, begun)).await?;
            tried += 1;
            create += created.saturating_since(begun);
            send += host.now().saturating_since(created);
        }
        stepper.end(step).await;
    }
    Ok((create, send, tried))
}

/// The pace of an application's steps, and its random choices.
struct Stepper<'a, H> {
    host: &'a H,
    steps: &'a Steps,
    start: Instant,
    choices: Rng,
    values: Rng,
}

impl<'a, H: Host> Stepper<'a, H> {
    fn new(host: &'a H, steps: &'a Steps, seed: Seed) -> Self {
        Self {
            host,
            steps,
            start: host.now(),
            choices: seed.derive("steps").rng(),
            values: seed.derive("values").rng(),
        }
    }

    /// Waits until a step is due, and works where it is work; whether it submits an event.
    async fn begin(&mut self, step: u32) -> bool {
        if !self.steps.interval.is_zero() {
            self.host.sleep_until(self.start + self.steps.interval * step).await;
        }
        let is_event = random::unit_fraction(&mut self.choices) < self.steps.event_ratio.get();
        if !is_event {
            self.host.compute(self.steps.work).await;
        }
        is_event
    }

    /// The pause after a step.
    async fn end(&self, step: u32) {
        if !self.steps.pause.is_zero() && !(step + 1).is_multiple_of(GROUP) {
            self.host.sleep_until(self.host.now() + self.steps.pause).await;
        }
    }

    /// The event of a step: its text is that of the published tests, and as long as the plan says.
    fn create(&mut self, step: u32, at: Instant) -> NewEvent {
        let mut text = format!("Test event {step}");
        text.extend(std::iter::repeat_n('.', self.steps.text.saturating_sub(text.len())));
        NewEvent {
            at,
            text,
            value: random::up_to(&mut self.values, VALUE_MAX) as i64,
        }
    }
}

/// An event that was created.
struct NewEvent {
    at: Instant,
    text: String,
    value: i64,
}

/// The subject of every event, and its greatest value.
const SUBJECT: &str = "test.event";
const VALUE_MAX: u64 = 1_000_000;

impl NewEvent {
    fn push(&self, builder: &mut ChunkBuilder) -> Result<(), lastmile_events::chunk::EncodeError> {
        let fields = [
            ("text", Value::Text(&*self.text)),
            ("value", Value::Integer(self.value)),
        ];
        builder.push(timestamp(self.at), SUBJECT, fields)
    }
}

/// Events between their creation and their acknowledgement.
#[derive(Default)]
struct Buffer {
    waiting: RefCell<VecDeque<NewEvent>>,
    /// The events that wait or are under way.
    held: Cell<usize>,
    /// Those that were dropped and are not stated as lost yet.
    dropped: Cell<u64>,
    ended: Cell<bool>,
    filled: Notify,
    freed: Notify,
}

impl Buffer {
    fn put(&self, event: NewEvent, gathering: Gathering) {
        if self.held.get() < gathering.buffer {
            self.held.set(self.held.get() + 1);
            self.waiting.borrow_mut().push_back(event);
        } else {
            self.dropped.set(self.dropped.get() + 1);
        }
        self.filled.notify_one();
    }

    /// Whether nothing is gained by waiting for more events.
    fn is_ready(&self, gathering: Gathering) -> bool {
        self.ended.get() || self.waiting.borrow().len() >= gathering.batch || self.held.get() >= gathering.buffer
    }
}

/// Sends a chunk, and awaits its acknowledgement.
async fn exchange<S>(stream: &mut S, chunk: &Chunk) -> Result<(), Failure>
where
    S: AsyncReadExt + AsyncWriteExt + Unpin,
{
    stream.write_all(chunk.bytes()).await.map_err(broken)?;
    stream.flush().await.map_err(broken)?;
    let mut answer = [0; REPLY];
    stream.read_exact(&mut answer).await.map_err(broken)?;
    match Reply::from_bytes(answer) {
        Some(Reply::Acknowledged { next, .. }) if next == chunk.end() => Ok(()),
        other => Err(Failure::new(format!("the sensor did not take a chunk: {other:?}"))),
    }
}

fn broken(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!(
        "the connection from an application to its sensor is broken: {error}"
    ))
}

/// An instant of a world as the time of an event.
pub(super) fn timestamp(at: Instant) -> Timestamp {
    Timestamp::from_unix_nanoseconds(i64::try_from(at.as_nanos() + EPOCH_NANOSECONDS).unwrap_or(i64::MAX))
}

/// The instant that the time of an event, in nanoseconds of Unix time, stands for.
pub(super) fn instant(time: i64) -> Instant {
    Instant::from_nanos(u64::try_from(time).unwrap_or(0).saturating_sub(EPOCH_NANOSECONDS))
}

/// The start of virtual time, 1 January 2026, 00:00 UTC, in nanoseconds of Unix time: so times have as many digits as those of today.
const EPOCH_NANOSECONDS: u64 = 1_767_225_600_000_000_000;
