//! The CPU time of a process and its descendants.
//!
//! A process's CPU-time clock counts all its threads, including ended ones, in nanoseconds (clock_getcpuclockid(3)); the total is the
//! sum over a process and its descendants. For children that ended, proc(5) gives the time in ticks only (`cutime` and `cstime` of
//! /proc/PID/stat), so that part is rounded down to 10 ms on common kernels. A server whose processes do not end has no such part.

use nix::errno::Errno;
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};
use std::io;
use std::time::Duration;

/// The CPU time, user and system, of `root` and all its descendants.
///
/// # Errors
/// When `root` has ended.
pub(super) fn cpu_time(root: Pid) -> io::Result<Duration> {
    let processes = Process::all()?;
    let mut tree = vec![root];
    let mut at = 0;
    while let Some(&parent) = tree.get(at) {
        tree.extend(
            processes
                .iter()
                .filter(|child| child.parent == parent)
                .map(|child| child.id),
        );
        at += 1;
    }
    let tick = ticks_per_second()?;
    let mut time = own_time(root)?;
    for &id in &tree {
        if id != root {
            // A process that ended since the list was made counts with its parent from now on.
            time += own_time(id).unwrap_or_default();
        }
        let ended = processes.iter().find(|process| process.id == id);
        time += Duration::from_secs_f64(ended.map_or(0, |process| process.ticks_of_children) as f64 / tick);
    }
    Ok(time)
}

/// The processes of a group that have not ended; zombies, which have ended but were not waited for, are left out.
pub(super) fn living_in_group(group: Pid) -> io::Result<Vec<Pid>> {
    let mut processes = Process::all()?;
    processes.retain(|process| process.group == group && !process.ended);
    Ok(processes.into_iter().map(|process| process.id).collect())
}

fn own_time(process: Pid) -> io::Result<Duration> {
    let clock = clock_getcpuclockid(process)?;
    Ok(Duration::from(clock_gettime(clock)?))
}

fn ticks_per_second() -> io::Result<f64> {
    let ticks = sysconf(SysconfVar::CLK_TCK)?.ok_or(Errno::EINVAL)?;
    Ok(ticks as f64)
}

/// A process as /proc/PID/stat describes it.
struct Process {
    id: Pid,
    ended: bool,
    parent: Pid,
    group: Pid,
    /// CPU time of children that ended and were waited for.
    ticks_of_children: u64,
}

impl Process {
    /// Every process that is visible; those that end meanwhile are left out.
    fn all() -> io::Result<Vec<Self>> {
        let mut processes = Vec::new();
        for entry in std::fs::read_dir("/proc")? {
            let path = entry?.path();
            let id = path.file_name().and_then(|name| name.to_str()?.parse().ok());
            if let Some(id) = id
                && let Ok(stat) = std::fs::read_to_string(path.join("stat"))
                && let Some(process) = Self::parse(Pid::from_raw(id), &stat)
            {
                processes.push(process);
            }
        }
        Ok(processes)
    }

    /// Reads a line of `pid (comm) state ppid pgrp ...` (proc(5)); the name may contain spaces and parentheses.
    fn parse(id: Pid, stat: &str) -> Option<Self> {
        let after_name = stat.get(stat.rfind(')')? + 1..)?;
        let fields: Vec<_> = after_name.split_ascii_whitespace().collect();
        // proc(5) counts from 1, and the third field is the first after the name.
        let field = |number: usize| fields.get(number - 3);
        let number = |at| field(at)?.parse::<u64>().ok();
        let process = |at| Some(Pid::from_raw(field(at)?.parse().ok()?));
        Some(Self {
            id,
            ended: matches!(*field(3)?, "Z" | "X"),
            parent: process(4)?,
            group: process(5)?,
            ticks_of_children: number(16)? + number(17)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_parentheses_moves_no_field() {
        let stat = "42 (a) b) R 7 41 41 0 -1 4194560 1 2 3 4 10 20 30 12 20 0 1 0 5 6 7";
        let process = Process::parse(Pid::from_raw(42), stat).unwrap();
        assert_eq!((process.parent, process.group), (Pid::from_raw(7), Pid::from_raw(41)));
        assert_eq!(process.ticks_of_children, 42);
        assert!(!process.ended);
        assert!(Process::parse(Pid::from_raw(42), "42 (a) R 7").is_none());
    }

    #[test]
    fn the_time_of_a_child_is_its_parents() {
        let before = cpu_time(Pid::this()).unwrap();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "i=0; while :; do i=$((i+1)); done"])
            .spawn()
            .unwrap();
        let child_id = Pid::from_raw(child.id().cast_signed());
        let wanted = Duration::from_millis(50);
        while own_time(child_id).unwrap() < wanted {
            std::thread::sleep(Duration::from_millis(5));
        }
        let living = cpu_time(Pid::this()).unwrap() - before;
        child.kill().unwrap();
        child.wait().unwrap();
        let ended = cpu_time(Pid::this()).unwrap() - before;
        assert!(living >= wanted, "{living:?}");
        // The child's user and system time were each rounded down to a tick of 10 ms.
        assert!(ended >= wanted - Duration::from_millis(20), "{ended:?}");
    }
}
