//! What is the first process of a command's PID namespace? The binary once more, under another name: it starts the command,
//! passes signals on, and buries whatever the command leaves behind.
//!
//! A PID namespace ends with its first process, and takes every process in it along (pid_namespaces(7)). So the command's whole
//! tree is gone as soon as this is: when the command ends, or when the process is killed that started this.

use super::super::signals::{Signals, Woken};
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

/// What the binary is called when it is meant as a first process; it is not the name of any file.
pub(super) const NAME: &str = "lastmile-init";

/// What shells say of a command that is not there, or cannot be run (POSIX.1-2024, XCU 2.8.2).
const NOT_FOUND: u8 = 127;
const CANNOT_RUN: u8 = 126;
/// What shells add to the number of the signal that ended a command (as above: it is more than 128).
const SIGNALLED: u8 = 128;

/// Does the work of a first process, where this process was started to be one. A program that starts [commands](super::Tree)
/// calls this before anything else, and ends with the code it is given.
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
            // A folder of PATH that may not be searched hides that there is nothing in the others.
            let missing = error.kind() == io::ErrorKind::NotFound || !is_there(program);
            let error = if missing { Errno::ENOENT.into() } else { error };
            say(&error);
            return if missing { NOT_FOUND } else { CANNOT_RUN };
        }
    };
    loop {
        match signals.wait(None, None) {
            Ok(Woken::Signal(Signal::SIGCHLD)) => {
                if let Some(code) = bury(command) {
                    return code;
                }
            }
            // It is there to be killed: it was not buried yet.
            Ok(Woken::Signal(signal)) => drop(kill(command, signal)),
            Ok(_) => {}
            Err(error) => {
                say(&error);
                return CANNOT_RUN;
            }
        }
    }
}

/// Whether there is a file of that name, as far as it can be seen: where the path says, or where `PATH` does.
fn is_there(program: &OsStr) -> bool {
    if program.as_bytes().contains(&b'/') {
        return Path::new(program).exists();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).exists())
}

/// Buries every process that has ended; the exit code of the command, where it was among them.
fn bury(command: Pid) -> Option<u8> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == command => return Some(code as u8),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == command => return Some(SIGNALLED + signal as u8),
            Ok(WaitStatus::StillAlive) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}
