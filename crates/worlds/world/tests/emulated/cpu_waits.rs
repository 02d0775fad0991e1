//! Claims about programs that wait for a CPU: what they measured meanwhile does not count.

use lastmile_units::{Instant, Seed};
use lastmile_world::emu::{EmuHost, HostSpec, InvalidReason, World};
use lastmile_world::{Host as _, MeasuredTimes, World as _};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use std::ops::Range;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The calling thread.
const THIS: Pid = Pid::from_raw(0);

/// Threads that compute all the time, on the one CPU that the thread that started them is then bound to.
struct BusyCpu {
    before: CpuSet,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl BusyCpu {
    fn start(threads: usize) -> Self {
        let before = sched_getaffinity(THIS).unwrap();
        let allowed = (0..CpuSet::count()).find(|cpu| before.is_set(*cpu).unwrap()).unwrap();
        let mut one = CpuSet::new();
        one.set(allowed).unwrap();
        // Threads that start from now on are bound, too.
        sched_setaffinity(THIS, &one).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let spin = || {
            let stop = Arc::clone(&stop);
            let spin = move || while !stop.load(Ordering::Relaxed) {};
            std::thread::Builder::new().spawn(spin).unwrap()
        };
        Self {
            threads: (0..threads).map(|_| spin()).collect(),
            before,
            stop,
        }
    }
}

impl Drop for BusyCpu {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        sched_setaffinity(THIS, &self.before).unwrap();
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// Computes for this CPU time.
fn compute(host: &EmuHost, work: Duration) -> Range<Instant> {
    let used = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
    let (start, before) = (host.now(), used());
    while used() - before < work {}
    start..host.now()
}

fn times(figure: &str, span: Range<Instant>) -> MeasuredTimes {
    MeasuredTimes::from([(figure.to_owned(), vec![span])])
}

pub(crate) fn a_time_in_which_its_program_waited_does_not_count() {
    let world = World::new(Seed::new(1)).unwrap();
    let host = world.host(HostSpec::default()).unwrap();
    let early = Instant::START..host.now();
    let mark = world.disturbance();
    let busy = BusyCpu::start(3);
    let program = host.clone();
    let late = world
        .run_for(Duration::from_secs(60), async move {
            compute(&program, Duration::from_millis(50))
        })
        .unwrap();
    drop(busy);
    let since = world.disturbance().since(&mark);
    let Err(InvalidReason::Waited(why)) = since.verdict_on(&times("response_time", late.clone())) else {
        panic!("{late:?} has no waits: {since:?}");
    };
    // Three of four turns are others'.
    assert!(why.waited > Duration::from_millis(50), "{why}");
    assert!(why.to_string().contains("so response_time may be "), "{why}");
    // What was measured before it counts.
    assert_eq!(since.verdict_on(&times("handshake_time", early)), Ok(()));
}

pub(crate) fn a_time_in_which_a_real_server_waited_does_not_count() {
    let world = World::new(Seed::new(1)).unwrap();
    let host = world.host(HostSpec::default()).unwrap();
    let mark = world.disturbance();
    let busy = BusyCpu::start(3);
    let start = host.now();
    // It has a child of its own that computes.
    let compute = "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); :";
    let status = Command::new("sh").args(["-c", compute]).status().unwrap();
    let end = host.now();
    drop(busy);
    assert!(status.success());
    let since = world.disturbance().since(&mark);
    let verdict = since.verdict_on(&times("response_time", start..end));
    assert!(matches!(verdict, Err(InvalidReason::Waited(_))), "{verdict:?}");
}
