//! Tests with a closed stdout, a user without a home, and files that cannot be written.

use crate::sandbox::{Ended, LASTMILE, Sandbox};
use std::fmt::Write as _;
use std::io::Read as _;
use std::process::{Command, Stdio};

/// A reader that closes the pipe is not an error: `| head`. The record is longer than a pipe's buffer (64 KiB on Linux), so that writing it
/// must meet the closed end.
#[test]
fn a_reader_that_leaves_is_no_error() {
    let sandbox = Sandbox::new();
    let mut links = String::new();
    for n in 1..=40 {
        write!(
            links,
            "{{ name = 'l{n}', rate = '{n} Mbit/s', one_way_delay = '1 ms' }}, "
        )
        .unwrap();
    }
    let study = sandbox.file(
        "many.toml",
        format!(
            "name = 'many'\nquestion = ''\nrepeats = 1\n[fixed]\nworkload = {{ kind = 'bulk', bytes = '1 kB' }}\n\
             delivery = 'tcp'\n[factors]\nlink = [{links}]"
        ),
    );
    assert!(sandbox.data(&["run", study, "--format", "json"]).len() > 65_536);
    let mut command = sandbox.command(&["run", study, "--format", "json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut head = [0; 10];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut head).unwrap();
    drop(stdout);
    let ended = Ended::of(child.wait_with_output().unwrap());
    ended.succeeded();
    assert!(
        ended.stderr.starts_with("report: ") && ended.stderr.lines().count() == 1,
        "{}",
        ended.stderr
    );
}

#[test]
fn stderr_that_nobody_reads_is_no_error_either() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command(&["run", "bulc"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

/// /dev/full refuses every byte, as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn where_stdout_cannot_be_written_the_run_is_kept_with_its_report() {
    let sandbox = Sandbox::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = sandbox.command(&["run", "bulk", "--out", "kept"]);
    let ended = Ended::of(command.stdout(full).stderr(Stdio::piped()).output().unwrap());
    ended.refused(3, &["report: kept/report.html", "stdout cannot be written"]);
    assert!(sandbox.path().join("kept/report.html").is_file());
}

#[test]
fn no_home_and_no_terminal_are_needed() {
    let sandbox = Sandbox::new();
    let ended = Ended::of(sandbox.command(&["run", "bulk"]).env_clear().output().unwrap());
    ended.succeeded();
    assert!(ended.stdout.contains("16.4 s"));
}

/// Runs as the user nobody where the tests run as root, since root may write everywhere.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_said_with_the_way_out() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65_534;

    let sandbox = Sandbox::new();
    // The binary may be in a folder that the user nobody may not enter.
    let binary = sandbox.path().join("lastmile");
    std::fs::copy(LASTMILE, &binary).unwrap();
    std::fs::set_permissions(sandbox.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let writable = tempfile::tempdir().unwrap();
    std::fs::set_permissions(writable.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let run = |words: &[&str]| {
        let mut command = Command::new(&binary);
        command
            .args(words)
            .current_dir(sandbox.path())
            .env_clear()
            .stdin(Stdio::null());
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        Ended::of(command.output().unwrap())
    };
    run(&["run", "bulk"]).refused(2, &["runs cannot be made", "--out DIR", "ermission denied"]);
    run(&["run", "bulk", "--out", "here"]).refused(2, &["here", "--out DIR", "ermission denied"]);
    assert_eq!(
        run(&["run", "bulk", "--dry-run"]).code,
        Some(0),
        "what writes nothing needs no folder"
    );
    let out = writable.path().join("run").display().to_string();
    let ended = run(&["run", "bulk", "--out", &out]);
    ended.succeeded();
    std::fs::set_permissions(sandbox.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
}
