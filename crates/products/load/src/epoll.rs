//! Load over real sockets: one thread per core, each with its share of the plan, raw epoll, and absolute deadlines in nanoseconds.
//!
//! `event_loop` is what one thread does, `socket` the system calls on sockets, `secure` TLS over them.
// Its clock and its sockets are this machine's.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod event_loop;
mod secure;
mod socket;
#[cfg(test)]
mod tests;

use crate::client::{Client, Share};
use crate::live::LiveFigures;
use crate::measurement::Measurement;
use crate::plan::Plan;
use crate::self_check::GeneratorCost;
use crate::tls::ClientTls;
use event_loop::EventLoop;
use lastmile_units::{Instant, Seed};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, SystemTime};

/// What a run over real sockets needs beside its plan.
#[derive(Debug, Clone)]
pub struct Generator {
    /// The server.
    pub server: SocketAddr,
    /// The number of threads; fewer where there are fewer connections.
    pub threads: NonZeroU32,
    /// Stops the run when it is set.
    pub interrupt: Arc<AtomicBool>,
    /// How connections are secured, where the plan asks for that.
    pub tls: Option<ClientTls>,
    /// Where recent figures go while a run goes on, if anybody looks.
    pub live: Option<Arc<LiveFigures>>,
}

/// A run over real sockets.
#[derive(Debug, Clone)]
pub struct GeneratorRun {
    /// The figures.
    pub measurement: Measurement,
    /// What the generator used.
    pub cost: GeneratorCost,
    /// When the first request could start, since the Unix epoch by this machine's clock.
    pub start: Duration,
}

/// From the start of the threads to the first request: time for all to be ready. Our own choice.
const LEAD_TIME: Duration = Duration::from_millis(20);

impl Generator {
    /// A generator for a server without TLS.
    pub fn new(server: SocketAddr, threads: NonZeroU32, interrupt: Arc<AtomicBool>) -> Self {
        Self {
            server,
            threads,
            interrupt,
            tls: None,
            live: None,
        }
    }

    /// Carries out a plan. Returns when every request has ended.
    ///
    /// # Errors
    /// When the system gives no thread, or no epoll instance; when the plan asks for TLS, and the generator has none.
    pub fn run(&self, plan: &Plan, seed: Seed) -> io::Result<GeneratorRun> {
        if plan.tls && self.tls.is_none() {
            return Err(io::Error::other("the plan asks for TLS, and the generator has none"));
        }
        let plan = Arc::new(plan.clone());
        let threads = thread_count(&plan, self.threads);
        let (clock, wall) = (Clock(std::time::Instant::now()), SystemTime::now());
        let start = clock.now() + LEAD_TIME;
        let shares: Vec<io::Result<(Measurement, GeneratorCost)>> = thread::scope(|scope| {
            let running: Vec<_> = (0..threads)
                .map(|index| {
                    let share = Share { index, of: threads };
                    let plan = Arc::clone(&plan);
                    let run = move || self.run_share(&plan, share, clock, start, seed);
                    thread::Builder::new()
                        .name(format!("load-{index}"))
                        .spawn_scoped(scope, run)
                })
                .collect();
            running
                .into_iter()
                .map(|thread| match thread?.join() {
                    Ok(ended) => ended,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
                .collect()
        });
        let mut sum: Option<(Measurement, GeneratorCost)> = None;
        for share in shares {
            let (measurement, cost) = share?;
            match &mut sum {
                None => sum = Some((measurement, cost)),
                Some((measurements, costs)) => {
                    measurements.add(&measurement);
                    costs.cpu += cost.cpu;
                    costs.elapsed = costs.elapsed.max(cost.elapsed);
                    costs.threads += cost.threads;
                }
            }
        }
        let (measurement, cost) = sum.ok_or_else(|| io::Error::other("a plan has at least one thread"))?;
        let since_epoch = wall.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(GeneratorRun {
            measurement,
            cost,
            start: since_epoch + (start - Instant::START),
        })
    }

    fn run_share(
        &self,
        plan: &Arc<Plan>,
        share: Share,
        clock: Clock,
        start: Instant,
        seed: Seed,
    ) -> io::Result<(Measurement, GeneratorCost)> {
        let tls = self.tls.as_ref().filter(|_| plan.tls);
        let mut client = Client::new(Arc::clone(plan), share, start, seed);
        EventLoop::new(self, tls, clock)?.run(&mut client)?;
        let elapsed = clock.now().saturating_since(start);
        let cost = GeneratorCost {
            cpu: thread_cpu_time(),
            elapsed,
            threads: 1,
        };
        Ok((client.into_measurement(), cost))
    }
}

/// The clients are shared by the threads, or one client's connections are.
fn thread_count(plan: &Plan, threads: NonZeroU32) -> u32 {
    let parts = match plan.clients.get() {
        1 if matches!(plan.demand, crate::plan::Demand::Open { .. }) => plan.connections_per_client.get(),
        clients => clients,
    };
    threads.get().min(parts)
}

/// Time since the start of a run.
#[derive(Debug, Clone, Copy)]
struct Clock(std::time::Instant);

impl Clock {
    fn now(self) -> Instant {
        Instant::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}

/// The CPU time of the calling thread, user and system.
fn thread_cpu_time() -> Duration {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;
    getrusage(UsageWho::RUSAGE_THREAD).map_or(Duration::ZERO, |usage| {
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    })
}
