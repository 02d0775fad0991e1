//! The init process of a command's PID namespace. It is this binary under another name: it starts the command, forwards signals to
//! it, and reaps the processes that the command leaves behind.
//!
//! When the first process of a PID namespace ends, the kernel kills all others in it (pid_namespaces(7)). So all processes of the
//! command end with this one: when the command ends, or when the process that started this one is killed.

use super::super::signals::{Signals, WakeReason};
use super::spawn;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The name (argv[0]) under which the binary runs as an init process; no file has it.
pub(super) const NAME: &str = "lastmile-init";

/// The exit codes of shells for a command that does not exist, or cannot be run (POSIX.1-2024, XCU 2.8.2).
const NOT_FOUND: u8 = 127;
const CANNOT_RUN: u8 = 126;
/// The number that shells add to that of the signal that ended a command (as above: the sum is more than 128).
const SIGNALLED: u8 = 128;

/// Runs as an init process if this process was started as one. A program that starts [commands](super::ProcessTree)
/// calls this before anything else, and exits with the code that it returns.
pub fn become_init() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    if words.next()? != NAME {
        return None;
    }
    let program = words.next()?;
    Some(run(&program, words).into())
}

fn run(program: &OsStr, arguments: impl Iterator<Item = OsString>) -> u8 {
    let say = |error: &io::Error| {
        let _ = writeln!(io::stderr(), "lastmile: {}: {error}", program.display());
    };
    let signals = match Signals::hold_with(&[Signal::SIGCHLD]) {
        Ok(signals) => signals,
        Err(error) => {
            say(&error);
            return CANNOT_RUN;
        }
    };
    let mut command = Command::new(program);
    command.args(arguments);
    spawn::release_signals(&mut command);
    let command = match command.spawn() {
        Ok(child) => Pid::from_raw(child.id().cast_signed()),
        Err(error) => {
            // A folder of PATH without search permission hides that the program is in none of the others.
            let missing = error.kind() == io::ErrorKind::NotFound || !program_exists(program);
            let error = if missing { Errno::ENOENT.into() } else { error };
            say(&error);
            return if missing { NOT_FOUND } else { CANNOT_RUN };
        }
    };
    loop {
        match signals.wait(None, None) {
            Ok(WakeReason::Signal(Signal::SIGCHLD)) => {
                if let Some(code) = reap_children(command) {
                    return code;
                }
            }
            // The command can be signalled: it was not reaped yet.
            Ok(WakeReason::Signal(signal)) => drop(kill(command, signal)),
            Ok(_) => {}
            Err(error) => {
                say(&error);
                return CANNOT_RUN;
            }
        }
    }
}

/// Whether the program's file can be found: at its path, or in a folder of `PATH`.
fn program_exists(program: &OsStr) -> bool {
    if program.as_bytes().contains(&b'/') {
        return Path::new(program).exists();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).exists())
}

/// Reaps every process that has ended; returns the exit code of the command, if it was among them.
fn reap_children(command: Pid) -> Option<u8> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == command => return Some(code as u8),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == command => return Some(SIGNALLED + signal as u8),
            Ok(WaitStatus::StillAlive) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}
