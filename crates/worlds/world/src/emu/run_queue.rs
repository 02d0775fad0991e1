//! Reads how long threads have waited on run queues, and how much CPU time the machine and processes have used, from `/proc`.
//!
//! Any user may read all of it, also of processes of others. The kernel adds a wait when it ends, to the thread that waited; those of a
//! thread that has ended are in no file. Times that a hypervisor runs other machines are not waits, but they are CPU time of the machine.

use nix::unistd::{SysconfVar, sysconf};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

/// The times of a thread, from `/proc/PID/task/TID/schedstat` (Linux Documentation/scheduler/sched-stats.rst).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RunQueueTimes {
    /// Ready, but without a CPU.
    pub(super) waited: Duration,
    /// On a CPU.
    pub(super) ran: Duration,
    /// How often it was given a CPU.
    pub(super) turns: u64,
}

/// The time that an idle machine takes to give a thread a CPU: part of each wait, and no sign that another program had the CPU. Our own
/// choice, above what a virtual machine takes to wake a core.
pub(super) const WAKE_UP: Duration = Duration::from_micros(100);

impl RunQueueTimes {
    fn parse(line: &str) -> Option<Self> {
        let mut numbers = line.split_ascii_whitespace().map(str::parse);
        let mut next = || numbers.next()?.ok();
        let (ran, waited, turns) = (next()?, next()?, next()?);
        Some(Self {
            waited: Duration::from_nanos(waited),
            ran: Duration::from_nanos(ran),
            turns,
        })
    }

    /// Those of a thread of a process, if both are there.
    pub(super) fn of(process: i32, thread: i32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/task/{thread}/schedstat")).ok()?)
    }

    /// The time that it has waited since `earlier` for other programs: [`WAKE_UP`] of each turn is left out.
    pub(super) fn waited_for_others_since(&self, earlier: &Self) -> Duration {
        let turns = u32::try_from(self.turns.saturating_sub(earlier.turns)).unwrap_or(u32::MAX);
        let waited = self.waited.saturating_sub(earlier.waited);
        waited.saturating_sub(WAKE_UP.saturating_mul(turns))
    }
}

/// The open file of a thread's times, for frequent reading.
#[derive(Debug)]
pub(super) struct RunQueueFile(File);

impl RunQueueFile {
    /// That of the calling thread.
    ///
    /// # Errors
    /// When there is no `/proc`, or the kernel does not count these times (`CONFIG_SCHED_INFO`).
    pub(super) fn of_this_thread() -> io::Result<Self> {
        Ok(Self(File::open("/proc/thread-self/schedstat")?))
    }

    /// The times so far; none where the thread has ended.
    pub(super) fn read(&self) -> Option<RunQueueTimes> {
        // Three numbers of up to 20 digits.
        let mut line = [0; 64];
        let length = self.0.read_at(&mut line, 0).ok()?;
        RunQueueTimes::parse(std::str::from_utf8(&line[..length]).ok()?)
    }
}

/// The threads of a process; none where it has ended.
pub(super) fn threads_of(process: i32) -> Vec<i32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{process}/task")) else {
        return Vec::new();
    };
    let number = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    entries.filter_map(number).collect()
}

/// The processes that a thread has started and that have not been waited for (proc_tid_children(5)).
pub(super) fn children_of(process: i32, thread: i32) -> Vec<i32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{thread}/children")).unwrap_or_default();
    children
        .split_ascii_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect()
}

/// The CPU time of a process, with its children that have ended and were waited for.
pub(super) fn cpu_time_of(process: i32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    ticks(process_ticks(&stat)?)
}

/// The CPU time of the machine so far, which includes time that its hypervisor gave to others.
pub(super) fn cpu_time_of_machine() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    ticks(machine_ticks(&stat)?)
}

/// The time so far in which some thread of the machine waited for a CPU; none where the kernel does not count it.
pub(super) fn cpu_pressure() -> Option<Duration> {
    pressure(&fs::read_to_string("/proc/pressure/cpu").ok()?)
}

fn ticks(count: u64) -> Option<Duration> {
    let per_second = sysconf(SysconfVar::CLK_TCK).ok()??;
    Some(Duration::from_secs_f64(count as f64 / per_second as f64))
}

/// `utime`, `stime`, `cutime` and `cstime` of `/proc/PID/stat` (proc_pid_stat(5)); the name may contain spaces and parentheses.
fn process_ticks(stat: &str) -> Option<u64> {
    let after_name = stat.get(stat.rfind(')')? + 1..)?;
    // The state, the first field after the name, is number 3; the four are 14 to 17.
    let fields = after_name.split_ascii_whitespace().skip(14 - 3).take(4);
    let times: Option<Vec<u64>> = fields.map(|field| field.parse().ok()).collect();
    times.filter(|times| times.len() == 4).map(|times| times.iter().sum())
}

/// The ticks in which the machine's CPUs were not idle, from the first line of `/proc/stat` (proc_stat(5)).
fn machine_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let times: Option<Vec<u64>> = line.split_ascii_whitespace().map(|field| field.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of user and nice.
    match times?.as_slice() {
        [user, nice, system, _, _, irq, softirq, steal, ..] => Some(user + nice + system + irq + softirq + steal),
        _ => None,
    }
}

/// The total of the line `some` (Linux Documentation/accounting/psi.rst).
fn pressure(file: &str) -> Option<Duration> {
    let some = file.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = some
        .split_ascii_whitespace()
        .find_map(|field| field.strip_prefix("total="))?;
    total.parse().ok().map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_the_second_number_of_three() {
        let times = RunQueueTimes::parse("3674280 52000000 12\n").unwrap();
        assert_eq!(times.ran, Duration::from_nanos(3_674_280));
        assert_eq!(times.waited, Duration::from_millis(52));
        assert_eq!(times.turns, 12);
        assert_eq!(RunQueueTimes::parse("1 2"), None);
        assert_eq!(RunQueueTimes::parse(""), None);
    }

    #[test]
    fn waking_up_is_no_wait_for_others() {
        let at = |waited, turns| RunQueueTimes {
            waited: Duration::from_micros(waited),
            turns,
            ran: Duration::ZERO,
        };
        let earlier = at(1000, 10);
        assert_eq!(at(1300, 15).waited_for_others_since(&earlier), Duration::ZERO);
        assert_eq!(
            at(4200, 12).waited_for_others_since(&earlier),
            Duration::from_micros(3000)
        );
        // Another thread has the number of one that ended.
        assert_eq!(at(10, 1).waited_for_others_since(&earlier), Duration::ZERO);
    }

    #[test]
    fn a_process_has_its_own_ticks_and_those_of_ended_children() {
        let stat = "42 (a) b) R 7 41 41 0 -1 4194560 1 2 3 4 10 20 30 12 20 0 1 0 5 6 7";
        assert_eq!(process_ticks(stat), Some(72));
        assert_eq!(process_ticks("42 (a) R 7"), None);
    }

    #[test]
    fn a_machine_is_busy_except_when_idle_or_waiting_for_a_disk() {
        let stat = "cpu  1 20 300 4000 50000 600000 7000000 80000000 900000000 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(machine_ticks(stat), Some(87_600_321));
        assert_eq!(machine_ticks("cpu 1 2 3\n"), None);
    }

    #[test]
    fn pressure_is_the_total_of_some() {
        let file =
            "some avg10=5.25 avg60=6.61 avg300=5.36 total=4661650690\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(pressure(file), Some(Duration::from_micros(4_661_650_690)));
        assert_eq!(pressure("some avg10=0.00\n"), None);
    }

    #[test]
    fn this_thread_was_given_a_cpu() {
        let Ok(file) = RunQueueFile::of_this_thread() else {
            return;
        };
        let process = std::process::id().cast_signed();
        let thread = nix::unistd::gettid().as_raw();
        let times = file.read().unwrap();
        assert!(times.turns > 0, "{times:?}");
        assert!(RunQueueTimes::of(process, thread).unwrap().turns >= times.turns);
        assert!(threads_of(process).contains(&thread));
    }
}
