//! What has to happen in a new process before it becomes another program? It is tied to the process that started it, sees the
//! processes of its own namespace, and takes signals again.
//!
//! Between fork and exec a process may do no more than system calls (signal-safety(7)): each closure here does only those.
#![allow(unsafe_code)]

use super::super::signals::PASSED_ON;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, rlim_t, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What a first process of a PID namespace is given.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstProcess {
    /// Whether `/proc` is to show the new PID namespace, where that is allowed. Only in a mount namespace of its own.
    pub(super) own_proc: bool,
    /// How many descriptors it may open, softly and at all (setrlimit(2)).
    pub(super) descriptors: (rlim_t, rlim_t),
}

/// Lets `command` be killed as soon as the thread that starts it is gone, however it went; the thread must stay until then.
///
/// # Errors
/// When the system has no descriptor left.
pub(super) fn tie_to_this_thread(command: &mut Command, first: FirstProcess) -> io::Result<()> {
    let (alive, ours) = io::pipe()?;
    // Dropped by the child, so that what is left are those of this process; `command` holds one until it is started.
    let mut ours: Option<PipeWriter> = Some(ours);
    let tie = move || {
        set_pdeathsig(Signal::SIGKILL)?;
        drop(ours.take());
        // The thread may be gone since before that was said: then nobody is left to write.
        if has_ended(&alive)? {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if first.own_proc {
            let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
            let _ = mount(Some(c"proc"), c"/proc", Some(c"proc"), flags, None::<&std::ffi::CStr>);
        }
        let (soft, hard) = first.descriptors;
        Ok(setrlimit(Resource::RLIMIT_NOFILE, soft, hard)?)
    };
    // SAFETY: the closure does prctl, close, poll, mount and setrlimit, none of which allocates or locks: `mount` is given
    // strings that are terminated already.
    unsafe { command.pre_exec(tie) };
    Ok(())
}

/// Whether nobody is left to write to a pipe.
fn has_ended(pipe: &PipeReader) -> io::Result<bool> {
    let mut pipe = [PollFd::new(pipe.as_fd(), PollFlags::empty())];
    Ok(poll(&mut pipe, PollTimeout::ZERO)? > 0)
}

/// Lets `command` take the signals that are held back here.
pub(super) fn release_signals(command: &mut Command) {
    let held: SigSet = PASSED_ON.into_iter().chain([Signal::SIGCHLD]).collect();
    // SAFETY: the closure does sigprocmask alone.
    unsafe { command.pre_exec(move || Ok(held.thread_unblock()?)) };
}
