//! Watches whether the programs of an emulated world get a CPU when they are ready.
//!
//! The threads that carry packets and run programs of ours read their own waits ([`ThreadWaits`]), each as it ends. One more thread
//! samples those of commands and real servers, which cannot do so; and it sleeps for a known time again and again, and records by how much
//! later it wakes up, so that what keeps any ordinary program from running is seen: real-time programs, a hypervisor, interrupts.

use super::clock::Clock;
use super::cpu_wait::{CpuWaits, MachineLoad, WaitLog, WaitSource};
use super::run_queue::{self, RunQueueFile, RunQueueTimes, WAKE_UP};
use lastmile_units::Instant;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use nix::unistd::gettid;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the timer sleeps. Our own choice: a short handshake has several periods, and a hundred wake-ups per second cost less than
/// 0.2 % of a core.
const TIMER_PERIOD: Duration = Duration::from_millis(10);
/// The time between two looks at other threads, as a multiple of the time that a look takes; at least a period. Our own choice: at most
/// 2 % of a core.
const LOOKS_APART: u32 = 50;

/// The thread, which ends with this.
pub(super) struct CpuWatch {
    pub(super) shared: SharedWatch,
    thread: Option<JoinHandle<()>>,
}

/// What the watched threads share with the thread that watches.
#[derive(Clone)]
pub(super) struct SharedWatch(Arc<Shared>);

struct Shared {
    clock: Clock,
    log: Mutex<WaitLog>,
    watched: Mutex<Watched>,
    stop: AtomicBool,
    wake: EventFd,
}

/// The threads and processes that belong to the world, and what was last read of them.
#[derive(Debug, Default)]
struct Watched {
    /// Threads of ours that observe their own waits.
    own: BTreeSet<i32>,
    /// Threads of ours that do not.
    others: BTreeSet<i32>,
    /// Processes that were started, each the root of a tree, with the CPU time of the tree as last seen.
    trees: BTreeMap<i32, Duration>,
    /// By the thread's number.
    times: BTreeMap<i32, RunQueueTimes>,
}

impl CpuWatch {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has no thread or descriptor left.
    pub(super) fn start(clock: Clock) -> io::Result<Self> {
        let shared = SharedWatch(Arc::new(Shared {
            clock,
            log: Mutex::default(),
            watched: Mutex::default(),
            stop: AtomicBool::new(false),
            wake: EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?,
        }));
        let theirs = shared.clone();
        let thread = std::thread::Builder::new()
            .name("cpu-watch".to_owned())
            .spawn(move || theirs.run())?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }
}

impl Drop for CpuWatch {
    fn drop(&mut self) {
        self.shared.0.stop.store(true, Ordering::Relaxed);
        let _ = self.shared.0.wake.write(1);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed already.
            let _ = thread.join();
        }
    }
}

impl SharedWatch {
    /// Adds the calling thread, which will not observe its own waits.
    pub(super) fn add_this_thread(&self) {
        self.add_thread(gettid().as_raw());
    }

    /// Adds a thread of this process, which will not observe its own waits.
    pub(super) fn add_thread(&self, thread: i32) {
        self.with(|watched| watched.others.insert(thread));
    }

    /// Adds a process and everything that it will start.
    pub(super) fn add_tree(&self, root: i32) {
        self.with(|watched| watched.trees.insert(root, Duration::ZERO));
    }

    fn with<T>(&self, act: impl FnOnce(&mut Watched) -> T) -> T {
        act(&mut self.0.watched.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn record(&self, source: WaitSource, until: Instant, waited: Duration) {
        if !waited.is_zero() {
            let mut log = self.0.log.lock().unwrap_or_else(PoisonError::into_inner);
            log.add(source, until, waited);
        }
    }

    fn run(&self) {
        // Timers may otherwise be 50 us late on purpose (prctl(2), PR_SET_TIMERSLACK).
        let _ = nix::sys::prctl::set_timerslack(1);
        let clock = self.0.clock;
        let mut next_look = clock.now() + TIMER_PERIOD;
        while !self.0.stop.load(Ordering::Relaxed) {
            let due = clock.now() + TIMER_PERIOD;
            let mut woken = [PollFd::new(self.0.wake.as_fd(), PollFlags::POLLIN)];
            if ppoll(&mut woken, Some(TimeSpec::from(TIMER_PERIOD)), None) == Ok(0) {
                let now = clock.now();
                let late = now.saturating_since(due).saturating_sub(WAKE_UP);
                self.record(WaitSource::Sampled, now, late);
            }
            if clock.now() >= next_look {
                let before = clock.now();
                self.look();
                let after = clock.now();
                next_look = after + ((after - before) * LOOKS_APART).max(TIMER_PERIOD);
            }
        }
    }

    /// Looks at the threads that do not observe their own waits. Of those that waited since the last look the one that waited longest
    /// counts: a request is with one thread at a time, while many threads of a server or browser wait for nothing that matters.
    fn look(&self) {
        let waited = self.with(Watched::longest_wait_since_last_look);
        self.record(WaitSource::Sampled, self.0.clock.now(), waited);
    }

    /// The waits so far.
    pub(super) fn waits(&self) -> CpuWaits {
        self.look();
        let load = MachineLoad {
            foreign_cpu: self.with(|watched| watched.foreign_cpu()),
            pressure: run_queue::cpu_pressure(),
        };
        let log = self.0.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.waits(self.0.clock.now(), load)
    }
}

impl Watched {
    fn longest_wait_since_last_look(&mut self) -> Duration {
        let this = std::process::id().cast_signed();
        for root in self.own.iter().flat_map(|thread| run_queue::children_of(this, *thread)) {
            self.trees.entry(root).or_default();
        }
        let mut threads: Vec<(i32, i32)> = self.others.iter().map(|thread| (this, *thread)).collect();
        for (root, cpu_time) in &mut self.trees {
            let mut tree = vec![*root];
            let mut used = Duration::ZERO;
            while let Some(process) = tree.pop() {
                used += run_queue::cpu_time_of(process).unwrap_or_default();
                for thread in run_queue::threads_of(process) {
                    tree.extend(run_queue::children_of(process, thread));
                    threads.push((process, thread));
                }
            }
            // What has ended is in no file any more, unless its parent waited for it.
            *cpu_time = used.max(*cpu_time);
        }
        let mut longest = Duration::ZERO;
        let mut times = BTreeMap::new();
        for (process, thread) in threads {
            let Some(now) = RunQueueTimes::of(process, thread) else {
                continue;
            };
            // A thread that is new has waited since it was started.
            let before = self.times.get(&thread).copied().unwrap_or_default();
            longest = longest.max(now.waited_for_others_since(&before));
            times.insert(thread, now);
        }
        self.times = times;
        longest
    }

    /// The CPU time that everything else on this machine has used so far.
    fn foreign_cpu(&self) -> Duration {
        let this = std::process::id().cast_signed();
        let of_thread = |thread: &i32| RunQueueTimes::of(this, *thread).unwrap_or_default().ran;
        let ours: Duration = self.own.iter().chain(&self.others).map(of_thread).sum();
        let of_trees: Duration = self.trees.values().sum();
        run_queue::cpu_time_of_machine()
            .unwrap_or_default()
            .saturating_sub(ours + of_trees)
    }
}

/// Records the waits of the thread that made it.
pub(super) struct ThreadWaits {
    watch: SharedWatch,
    /// None where the kernel does not count waits.
    file: Option<RunQueueFile>,
    last: RunQueueTimes,
    read_at: Instant,
}

impl ThreadWaits {
    /// Of the calling thread, from now on.
    pub(super) fn of_this_thread(watch: &SharedWatch) -> Self {
        watch.with(|watched| watched.own.insert(gettid().as_raw()));
        let file = RunQueueFile::of_this_thread().ok();
        Self {
            last: file.as_ref().and_then(RunQueueFile::read).unwrap_or_default(),
            file,
            read_at: watch.0.clock.now(),
            watch: watch.clone(),
        }
    }

    /// Records what the thread has waited since the last call. It reads no file where there was no time to wait.
    pub(super) fn record(&mut self) {
        let now = self.watch.0.clock.now();
        if now.saturating_since(self.read_at) <= WAKE_UP {
            return;
        }
        if let Some(times) = self.file.as_ref().and_then(RunQueueFile::read) {
            let waited = times.waited_for_others_since(&self.last);
            self.watch.record(WaitSource::Observed, now, waited);
            (self.last, self.read_at) = (times, now);
        }
    }
}
