//! Prepares a new process between fork and exec: it dies with the thread that started it, sees the processes of its own namespace,
//! and receives signals again.
//!
//! Between fork and exec a process may only make system calls (signal-safety(7)): the closures here do nothing else.
#![allow(unsafe_code)]

use super::super::signals::FORWARDED_SIGNALS;
use super::DescriptorLimit;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the kernel kill `command`, the init process of a PID namespace, as soon as the thread that starts it has ended, for whatever
/// reason; the thread must live until then. The command has this limit of open descriptors. With `own_proc`, `/proc` of the new PID
/// namespace is mounted, if that is permitted: only in a mount namespace of its own.
///
/// # Errors
/// When the system has no descriptor left.
pub(super) fn tie_to_this_thread(command: &mut Command, own_proc: bool, limit: DescriptorLimit) -> io::Result<()> {
    let (alive, ours) = io::pipe()?;
    // The child drops its copy, so that only those of this process are left; `command` has one until it is started.
    let mut ours: Option<PipeWriter> = Some(ours);
    let tie = move || {
        set_pdeathsig(Signal::SIGKILL)?;
        drop(ours.take());
        // The thread may have ended before the request: then the pipe has no writer left.
        if has_ended(&alive)? {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if own_proc {
            let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
            let _ = mount(Some(c"proc"), c"/proc", Some(c"proc"), flags, None::<&std::ffi::CStr>);
        }
        Ok(setrlimit(Resource::RLIMIT_NOFILE, limit.soft, limit.hard)?)
    };
    // SAFETY: the closure does prctl, close, poll, mount and setrlimit, none of which allocates or locks: `mount` is given
    // strings that are already terminated.
    unsafe { command.pre_exec(tie) };
    Ok(())
}

/// Whether a pipe has no writer left.
fn has_ended(pipe: &PipeReader) -> io::Result<bool> {
    let mut pipe = [PollFd::new(pipe.as_fd(), PollFlags::empty())];
    Ok(poll(&mut pipe, PollTimeout::ZERO)? > 0)
}

/// Unblocks the signals in `command` that are blocked here.
pub(super) fn release_signals(command: &mut Command) {
    let held: SigSet = FORWARDED_SIGNALS.into_iter().chain([Signal::SIGCHLD]).collect();
    // SAFETY: the closure does sigprocmask alone.
    unsafe { command.pre_exec(move || Ok(held.thread_unblock()?)) };
}
