//! Tests that a command behind a link reads, writes, ends and gets signals as it would without one.

use super::{FAST, User};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

#[test]
fn how_a_command_ends_is_how_lastmile_does() {
    for user in User::all() {
        let ends = |words: &[&str]| {
            let words = [&["link", FAST, "--quiet", "--"], words].concat();
            user.run(&words)
        };
        ends(&["true"]).succeeded();
        assert_eq!(ends(&["sh", "-c", "exit 7"]).code, Some(7));
        assert_eq!(ends(&["sh", "-c", "kill -TERM $$"]).code, Some(128 + 15));
        assert_eq!(ends(&["sh", "-c", "kill -KILL $$"]).code, Some(128 + 9));
        let missing = ends(&["no-such-program"]);
        missing.refused(127, &["lastmile: no-such-program: No such file"]);
        ends(&["./no-such-program"]).refused(127, &["No such file"]);
        std::fs::write(user.file("data"), "no program").unwrap();
        ends(&["./data"]).refused(126, &["lastmile: ./data: Permission denied"]);
    }
}

#[test]
fn a_command_has_the_streams_and_stdout_to_itself() {
    for user in User::all() {
        let mut command = user.command(&["link", FAST, "--", "sh", "-c", "cat; echo aside >&2"]);
        let mut child = piped(&mut command);
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"what is typed").unwrap();
        let mut ended = (String::new(), String::new());
        child.stdout.take().unwrap().read_to_string(&mut ended.0).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut ended.1).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert_eq!(ended.0, "what is typed");
        let said: Vec<_> = ended.1.lines().collect();
        assert_eq!((said.len(), said[0]), (2, "aside"), "{}", ended.1);
        assert!(said[1].starts_with("lastmile: published/local-host: "), "{}", ended.1);
    }
}

#[test]
fn a_command_keeps_its_user_and_gains_nothing() {
    for user in User::all() {
        let status = "id -u; id -g; pwd; grep CapEff /proc/self/status; echo $GREETING; ulimit -n";
        let shown = |command: &mut Command| {
            let output = command.env("GREETING", "hello").output().unwrap();
            assert_eq!(output.status.code(), Some(0));
            String::from_utf8(output.stdout).unwrap()
        };
        let mut before = user.command_of(Path::new("sh"), &["-c", status]);
        let behind = shown(&mut user.command(&["link", FAST, "--", "sh", "-c", status]));
        assert_eq!(behind, shown(&mut before), "uid {}", user.uid);
    }
}

/// Each signal is sent only to lastmile; the command reports that it got it, and continues until SIGTERM.
#[test]
fn signals_are_passed_on() {
    let script =
        "trap 'echo HUP' HUP; trap 'echo INT' INT; trap 'echo QUIT' QUIT; trap 'echo USR1' USR1; trap 'echo USR2' USR2
        trap 'echo TERM; exit 3' TERM; echo ready; while true; do sleep 0.01; done";
    for user in User::all() {
        let mut child = piped(&mut user.command(&["link", FAST, "--quiet", "--", "sh", "-c", script]));
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(said.next().unwrap().unwrap(), "ready");
        for (number, signal) in [
            (1, "HUP"),
            (2, "INT"),
            (3, "QUIT"),
            (10, "USR1"),
            (12, "USR2"),
            (15, "TERM"),
        ] {
            if is_ignored(number) {
                eprintln!("skipped: SIG{signal} is ignored here, as under nohup, and a shell keeps it ignored");
                continue;
            }
            send(signal, &child);
            assert_eq!(said.next().unwrap().unwrap(), signal, "uid {}", user.uid);
        }
        assert_eq!(child.wait().unwrap().code(), Some(3));
    }
}

/// Whether this process ignores a signal, as then do its children.
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 << (signal - 1) != 0
}

fn piped(command: &mut Command) -> Child {
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Sends a signal to one process only.
pub(super) fn send(signal: &str, to: &Child) {
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -{signal} {}", to.id())])
        .status();
    assert!(sent.unwrap().success());
}
