//! The emitter that an application links: events go to a ring of their thread, and one thread a process makes chunks of them.
//!
//! Emitting reads the clock, writes the event's bytes to the thread's ring, and returns: no lock, no allocation once the ring is there. A
//! full ring drops the event and counts it, or blocks, as the settings say. The flusher numbers the events; dropped ones get numbers too,
//! and a loss event in their place. Events of one thread keep their order. Until a chunk is acknowledged the flusher holds it, so an
//! uplink that is down fills the rings and nothing else.

pub mod environment;
mod flusher;
mod kind;
mod ring_event;

pub use kind::{Kind, KindError};

use crate::uplink::Uplink;
use crate::{Source, Subject, Timestamp, Value};
use kind::KindContent;
use ring_event::Scratch;
use rtrb::{Consumer, Producer, RingBuffer};
use std::cell::RefCell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What an emitter does with an event for which its ring has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FullRing {
    /// Drops it; a loss event says so.
    DropAndCount,
    /// Waits for room: the application stands still while the uplink is down.
    Block,
}

/// How an emitter works.
#[derive(Debug, Clone, Copy)]
pub struct EmitterSettings {
    /// The bytes of each thread's ring.
    pub ring_bytes: usize,
    /// What happens when it is full.
    pub full_ring: FullRing,
    /// How long events wait for others to share their chunk.
    pub linger: Duration,
    /// A chunk is sent when it has so many bytes.
    pub chunk_bytes: usize,
    /// How long the uplink may go without taking a chunk, an event may wait for room, and [`Emitter::close`] may take, before the emitter gives up.
    /// It tries for ever without one.
    pub patience: Option<Duration>,
}

impl Default for EmitterSettings {
    /// 1 MiB a thread, drop and count, 5 ms, chunks of 64 KiB, no end of trying: our own choice.
    fn default() -> Self {
        Self {
            ring_bytes: 1 << 20,
            full_ring: FullRing::DropAndCount,
            linger: Duration::from_millis(5),
            chunk_bytes: 1 << 16,
            patience: None,
        }
    }
}

/// What became of the events of an emitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmitterAccount {
    /// The numbers that were given out: events, lost ones and the end.
    pub numbered: u64,
    /// Events dropped because a ring was full.
    pub dropped_full: u64,
    /// Events dropped because they pass a limit of the format.
    pub dropped_large: u64,
    /// The numbers that are acknowledged: all below the first that is not. Those in `lost` are acknowledged as a stated loss.
    pub acknowledged: u64,
    /// Numbered events that the uplink refused for good, or has forgotten.
    pub lost: u64,
}

/// Emits the events of one source. Cheap to clone; any thread may use it.
#[derive(Debug, Clone)]
pub struct Emitter {
    shared: Arc<Shared>,
    flusher: Arc<Mutex<Option<FlusherThread>>>,
}

#[derive(Debug)]
struct FlusherThread {
    thread: JoinHandle<()>,
    /// Disconnected once it has ended.
    running: Receiver<()>,
}

#[derive(Debug)]
struct Shared {
    id: u64,
    settings: EmitterSettings,
    new_lanes: Mutex<Vec<LaneEnd>>,
    /// By number, which is their place.
    kinds: Mutex<Vec<Arc<KindContent>>>,
    closing: AtomicBool,
    /// Patience ended: nothing more is submitted.
    given_up: AtomicBool,
    numbered: AtomicU64,
    dropped_full: AtomicU64,
    dropped_large: AtomicU64,
    acknowledged: AtomicU64,
    lost: AtomicU64,
}

/// A thread's end of its ring.
#[derive(Debug)]
struct Lane {
    emitter: u64,
    ring: Producer<u8>,
    drops: Arc<LaneDrops>,
    scratch: Scratch,
}

/// The flusher's end.
#[derive(Debug)]
struct LaneEnd {
    ring: Consumer<u8>,
    drops: Arc<LaneDrops>,
    stated_full: u64,
    stated_large: u64,
    /// Its thread ended, and all that it emitted is taken.
    is_over: bool,
}

#[derive(Debug, Default)]
struct LaneDrops {
    full: AtomicU64,
    large: AtomicU64,
}

thread_local! {
    static LANES: RefCell<Vec<Lane>> = const { RefCell::new(Vec::new()) };
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

impl Emitter {
    /// Starts the flusher of a source.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(source: Source, settings: EmitterSettings, uplink: Box<dyn Uplink>) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            settings,
            new_lanes: Mutex::default(),
            kinds: Mutex::default(),
            closing: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
            numbered: AtomicU64::new(0),
            dropped_full: AtomicU64::new(0),
            dropped_large: AtomicU64::new(0),
            acknowledged: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        });
        let flusher = flusher::Flusher::new(Arc::clone(&shared), source, uplink);
        let (runs, running) = mpsc::channel();
        let thread = thread::Builder::new().name("events".to_owned()).spawn(move || {
            let _runs: Sender<()> = runs;
            flusher.run();
        })?;
        Ok(Self {
            shared,
            flusher: Arc::new(Mutex::new(Some(FlusherThread { thread, running }))),
        })
    }

    /// Emits an event now; tells whether there was room for it.
    pub fn emit(&self, subject: &Subject, fields: &[(&str, Value<&str>)]) -> bool {
        self.emit_at(Timestamp::now(), subject, fields)
    }

    /// Emits an event of another time; tells whether there was room for it.
    pub fn emit_at(&self, time: Timestamp, subject: &Subject, fields: &[(&str, Value<&str>)]) -> bool {
        self.put(|scratch| ring_event::write(scratch, time, subject, fields))
    }

    /// Registers a kind of event: its subject and the names of its fields. Emitting its values is cheaper than emitting them with their names.
    ///
    /// # Errors
    /// When there are too many fields or kinds, or a name passes the limit.
    pub fn register(&self, subject: &Subject, names: &[&str]) -> Result<Kind, KindError> {
        let mut kinds = self.shared.kinds.lock().expect("no thread panics with it");
        Kind::add(&mut kinds, self.shared.id, subject, names)
    }

    /// Emits an event of a kind now; tells whether there was room for it.
    ///
    /// # Panics
    /// When another emitter registered the kind, or it has another number of fields.
    pub fn emit_kind(&self, kind: &Kind, values: &[Value<&str>]) -> bool {
        kind.check(self.shared.id, values.len());
        let time = Timestamp::now();
        self.put(|scratch| ring_event::write_values(scratch, time, kind.number(), values))
    }

    fn put(&self, write: impl FnOnce(&mut Scratch) -> bool) -> bool {
        LANES.with_borrow_mut(|lanes| {
            let id = self.shared.id;
            let at = match lanes.iter().position(|lane| lane.emitter == id) {
                Some(at) => at,
                None => {
                    lanes.retain(|lane| !lane.ring.is_abandoned());
                    lanes.push(self.shared.open_lane());
                    lanes.len() - 1
                }
            };
            let lane = &mut lanes[at];
            let written = write(&mut lane.scratch);
            self.shared.put(lane, written)
        })
    }

    /// What became of its events until now.
    pub fn account(&self) -> EmitterAccount {
        let of = |number: &AtomicU64| number.load(Ordering::Acquire);
        EmitterAccount {
            acknowledged: of(&self.shared.acknowledged),
            lost: of(&self.shared.lost),
            numbered: of(&self.shared.numbered),
            dropped_full: of(&self.shared.dropped_full),
            dropped_large: of(&self.shared.dropped_large),
        }
    }

    /// Whether [`EmitterSettings::patience`] ended. Nothing is submitted from then on.
    pub fn has_given_up(&self) -> bool {
        self.shared.given_up.load(Ordering::Acquire)
    }

    /// Sends what is left and the source's end, and waits for the acknowledgement of all of it as long as the settings' patience, whatever the
    /// uplink does meanwhile. Call it once all threads have stopped emitting.
    pub fn close(&self) -> EmitterAccount {
        self.shared.closing.store(true, Ordering::Release);
        if let Some(flusher) = self.flusher.lock().expect("no thread panics with it").take() {
            flusher.thread.thread().unpark();
            let patience = self.shared.settings.patience.unwrap_or(Duration::MAX);
            match flusher.running.recv_timeout(patience) {
                Err(RecvTimeoutError::Timeout) => self.shared.given_up.store(true, Ordering::Release),
                _ => drop(flusher.thread.join()),
            }
        }
        self.account()
    }
}

impl Shared {
    fn open_lane(&self) -> Lane {
        let (ring, consumer) = RingBuffer::new(self.settings.ring_bytes);
        let drops = Arc::new(LaneDrops::default());
        let end = LaneEnd {
            ring: consumer,
            drops: Arc::clone(&drops),
            stated_full: 0,
            stated_large: 0,
            is_over: false,
        };
        self.new_lanes.lock().expect("no thread panics with it").push(end);
        Lane {
            emitter: self.id,
            ring,
            drops,
            scratch: Scratch::new(),
        }
    }

    /// Puts what was written into the ring.
    fn put(&self, lane: &mut Lane, written: bool) -> bool {
        let event = lane.scratch.written();
        if !written || event.len() > self.settings.ring_bytes {
            lane.drops.large.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        let mut waits_since = None;
        loop {
            if lane.ring.push_entire_slice(event).is_ok() {
                return true;
            }
            let patience = self.settings.patience.unwrap_or(Duration::MAX);
            if waits_since.get_or_insert_with(Instant::now).elapsed() >= patience {
                self.given_up.store(true, Ordering::Release);
            }
            let ended = self.closing.load(Ordering::Acquire)
                || self.given_up.load(Ordering::Acquire)
                || lane.ring.is_abandoned();
            if ended || self.settings.full_ring == FullRing::DropAndCount {
                lane.drops.full.fetch_add(1, Ordering::Relaxed);
                return false;
            }
            thread::sleep(POLL);
        }
    }
}

/// How often a blocked thread looks for room: our own choice.
const POLL: Duration = Duration::from_micros(100);

#[cfg(test)]
mod tests;
