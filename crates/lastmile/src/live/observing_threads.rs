//! The threads of this process that observe, and their CPU time as the kernel counts it.

use super::Moment;
use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

/// The threads that were started after a moment.
#[derive(Debug)]
pub(super) struct ObservingThreads {
    others: BTreeSet<String>,
    threads: Vec<String>,
}

/// The kernel's folder of this process's threads.
const THREADS: &str = "/proc/self/task";

impl ObservingThreads {
    /// Notes the threads that do not observe: those that run now.
    pub(super) fn of_others() -> Self {
        Self {
            others: running(),
            threads: Vec::new(),
        }
    }

    /// Takes all that have been started since for observing threads.
    pub(super) fn find_new(&mut self) {
        self.threads = running().difference(&self.others).cloned().collect();
    }

    /// Now, with their CPU time until now.
    pub(super) fn moment(&self) -> Moment {
        Moment {
            at: Instant::now(),
            observing: self.threads.iter().filter_map(|thread| cpu_time(thread)).sum(),
        }
    }
}

fn running() -> BTreeSet<String> {
    let threads = fs::read_dir(THREADS).into_iter().flatten().flatten();
    threads
        .map(|thread| thread.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The first number of `schedstat`: the nanoseconds that a thread has spent on a CPU (Linux, Documentation/scheduler/sched-stats.rst).
fn cpu_time(thread: &str) -> Option<Duration> {
    let text = fs::read_to_string(format!("{THREADS}/{thread}/schedstat")).ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}
