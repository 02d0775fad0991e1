//! Tests that nothing is left behind, whatever is killed and whenever.

use super::{FAST, User};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How many kills there are per user.
const TIMES: u32 = 100;
/// From the start of lastmile to the latest kill: by then the command runs.
const LATEST: Duration = Duration::from_millis(30);
/// How long a kernel may take to clean up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A variable in the environment of every process that lastmile starts, with a different value each time.
const MARK: &str = "LASTMILE_TEST_MARK";

static MARKS: AtomicU32 = AtomicU32::new(0);

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Lastmile,
    Command,
}

#[test]
fn a_hundred_kills_leave_no_process_no_namespace_no_interface_no_mount_and_no_file() {
    for user in User::all() {
        let before = seen_by_all(&user);
        for time in 0..TIMES {
            let victim = if time % 2 == 0 {
                Victim::Lastmile
            } else {
                Victim::Command
            };
            // Every second pair is killed once the command is known to run.
            let moment = (time % 4 < 2).then(|| LATEST * time / TIMES);
            kill_and_look(&user, victim, moment);
        }
        assert_eq!(seen_by_all(&user), before, "uid {}", user.uid);
    }
}

fn kill_and_look(user: &User, victim: Victim, moment: Option<Duration>) {
    let mark = format!("{}-{}", std::process::id(), MARKS.fetch_add(1, Ordering::Relaxed));
    let script = "sleep 1000 & sleep 1000";
    let mut command = user.command(&["link", FAST, "--quiet", "--", "sh", "-c", script]);
    let mut lastmile = command.env(MARK, &mark).stderr(Stdio::null()).spawn().unwrap();
    // The processes in each of its namespaces. The kernel reuses the namespaces' numbers at once, for those of other tests.
    let mut inside = BTreeSet::new();
    match moment {
        Some(moment) => std::thread::sleep(moment),
        None => {
            until("the command runs", || {
                let sleeping = marked(&mark).filter(|process| name(process) == "sleep").count();
                sleeping == 2
            });
            let seen: BTreeSet<_> = marked(&mark).filter_map(|process| namespace(&process)).collect();
            assert_eq!(seen.len(), 2, "that of the world, and that of the command: {seen:?}");
            let with_namespace = |process: PathBuf| Some((namespace(&process)?, process));
            inside = processes().filter_map(with_namespace).collect();
            inside.retain(|(namespace, _)| seen.contains(namespace));
        }
    }
    match victim {
        Victim::Lastmile => lastmile.kill().unwrap(),
        Victim::Command => kill_command(&mark),
    }
    let code = end(&mut lastmile);
    if victim == Victim::Command {
        assert_eq!(code, Some(128 + 9), "uid {}, after {moment:?}", user.uid);
    }
    until("all its processes are gone", || marked(&mark).count() == 0);
    // A process that ends has no environment any more while the kernel takes its interfaces down, for some milliseconds.
    until("nobody is left in its namespaces", || {
        inside.retain(|(was_in, process)| namespace(process).as_ref() == Some(was_in));
        inside.is_empty()
    });
}

/// Kills the command as soon as it exists.
fn kill_command(mark: &str) {
    let mut found = None;
    until("there is a command", || {
        found = marked(mark).find(|process| name(process) == "sh");
        found.is_some()
    });
    let pid = found.unwrap().file_name().unwrap().to_owned();
    let killed = std::process::Command::new("kill").arg("-9").arg(pid).status();
    assert!(killed.unwrap().success());
}

fn end(lastmile: &mut Child) -> Option<i32> {
    let mut ended = None;
    until("lastmile ends", || {
        ended = lastmile.try_wait().unwrap();
        ended.is_some()
    });
    ended.unwrap().code()
}

#[track_caller]
fn until(what: &str, is_so: impl FnMut() -> bool) {
    let mut is_so = is_so;
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it takes too long until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn processes() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/proc").unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().as_encoded_bytes()[0].is_ascii_digit())
}

/// Processes with a mark, except zombies: they hold nothing.
fn marked(mark: &str) -> impl Iterator<Item = PathBuf> {
    let mark = format!("{MARK}={mark}");
    processes().filter(move |process| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment
            .split(|&byte| byte == 0)
            .any(|variable| variable == mark.as_bytes())
    })
}

fn name(process: &std::path::Path) -> String {
    let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

/// The network namespace of a process.
fn namespace(process: &std::path::Path) -> Option<PathBuf> {
    fs::read_link(process.join("ns/net")).ok()
}

/// What every user would see if it were left: mounts, interfaces, files.
fn seen_by_all(user: &User) -> (String, Vec<String>, Vec<PathBuf>) {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let interfaces = fs::read_to_string("/proc/self/net/dev").unwrap();
    // Their counters change.
    let interfaces = interfaces
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0.to_owned()));
    let files = |folder: &std::path::Path| {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let mut left = files(user.path());
    // Where the hosts files would be if they were made outside the mounts.
    left.extend(
        ["hosts", "resolv.conf", "nsswitch.conf"]
            .map(|name| PathBuf::from("/tmp").join(name))
            .into_iter()
            .filter(|path| path.exists()),
    );
    left.sort();
    (mounts, interfaces.collect(), left)
}
