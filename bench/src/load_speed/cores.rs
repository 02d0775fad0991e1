//! A core for the generator and another for the server: on a machine of few cores, the scheduler's choice between them moves a server's capacity
//! by tens of per cent from run to run.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::panic::resume_unwind;
use std::thread;

/// Who gets a core of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Core {
    Generator,
    Server,
}

/// Runs `work` on a core, with all the threads and processes that it starts. Where there is one core only, on that.
pub(crate) fn on<T: Send>(core: Core, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let working = scope.spawn(|| {
            // Without the core, the figures are less steady, and no less true.
            let _ = pin(core);
            work()
        });
        working.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Moves this thread to the first of its cores, or to the second.
fn pin(core: Core) -> nix::Result<()> {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this)?;
    let mut cores = (0..CpuSet::count()).filter(|index| allowed.is_set(*index).unwrap_or(false));
    let (first, second) = (cores.next(), cores.next());
    let chosen = match core {
        Core::Generator => first,
        Core::Server => second.or(first),
    };
    let mut own = CpuSet::new();
    if let Some(chosen) = chosen {
        own.set(chosen)?;
        sched_setaffinity(this, &own)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::available_parallelism;

    #[test]
    fn what_runs_on_a_core_has_one_and_its_caller_keeps_all() {
        let before = available_parallelism().unwrap();
        for core in [Core::Generator, Core::Server] {
            let within = on(core, || {
                thread::spawn(|| available_parallelism().unwrap()).join().unwrap()
            });
            assert_eq!(within.get(), 1);
        }
        assert_eq!(available_parallelism().unwrap(), before);
    }
}
