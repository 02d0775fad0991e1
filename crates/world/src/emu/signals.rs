//! Which signals are somebody else's? Those that ask a program to do something are not obeyed by a process that runs one for
//! another, but passed on.

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Signals that wait to be read instead of having their usual effect.
#[derive(Debug)]
pub struct Signals(SignalFd);

/// What people and their shells, terminals and service managers send to a program.
pub(super) const PASSED_ON: [Signal; 6] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// What [`Signals::wait`] came back for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// A signal was sent to this process alone.
    Signal(Signal),
    /// A signal came from the terminal (Ctrl-C), which sends it to every process in the foreground: a command that shares the
    /// foreground has it already.
    FromTerminal(Signal),
    /// What was also waited for has happened.
    Readable,
    /// The time is over.
    TimeOver,
}

impl Signals {
    /// Holds back SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2, in the calling thread and those that it starts later: to
    /// be called before any is.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn hold() -> io::Result<Self> {
        Self::hold_with(&[])
    }

    /// Holds `more` back besides.
    pub(super) fn hold_with(more: &[Signal]) -> io::Result<Self> {
        let held: SigSet = PASSED_ON.iter().chain(more).copied().collect();
        held.thread_block()?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        Ok(Self(SignalFd::with_flags(&held, flags)?))
    }

    /// Waits for a signal, until `other` can be read from, or for `limit`: without one, as long as it takes.
    ///
    /// # Errors
    /// None that a correct program meets.
    pub fn wait(&self, other: Option<BorrowedFd<'_>>, limit: Option<std::time::Duration>) -> io::Result<Woken> {
        let limit = limit.map_or(PollTimeout::NONE, |limit| {
            PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX)
        });
        loop {
            if let Some(signal) = self.0.read_signal()? {
                return Ok(woken_by(&signal));
            }
            let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
            let mut waited_for: Vec<_> = std::iter::once(self.0.as_fd()).chain(other).map(readable).collect();
            match poll(&mut waited_for, limit) {
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
                Ok(0) => return Ok(Woken::TimeOver),
                // Signals first: they came before the end that they may have brought about.
                Ok(_) if waited_for[0].any() == Some(true) => {}
                Ok(_) => return Ok(Woken::Readable),
            }
        }
    }
}

fn woken_by(signal: &siginfo) -> Woken {
    let number = Signal::try_from(signal.ssi_signo as libc::c_int).expect("the kernel sends the signals that are held");
    if signal.ssi_code == libc::SI_KERNEL && matches!(number, Signal::SIGINT | Signal::SIGQUIT) {
        Woken::FromTerminal(number)
    } else {
        Woken::Signal(number)
    }
}
