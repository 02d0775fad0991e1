//! Receives signals that are meant for another program. A process that runs a command does not obey signals such as SIGTERM, but
//! forwards them to the command.

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Signals that are read from a descriptor instead of having their default effect.
#[derive(Debug)]
pub struct Signals(SignalFd);

/// The signals that users, shells, terminals and service managers send to a program.
pub(super) const FORWARDED_SIGNALS: [Signal; 6] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// The reason why [`Signals::wait`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// A signal was sent to this process alone.
    Signal(Signal),
    /// A signal came from the terminal (Ctrl-C), which sends it to every process in the foreground: a command in the
    /// foreground has received it already.
    FromTerminal(Signal),
    /// The other descriptor is readable.
    Readable,
    /// The limit is reached.
    TimeOver,
}

impl Signals {
    /// Blocks SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2 in the calling thread and in those that it starts later: call
    /// it before any thread is started.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn hold() -> io::Result<Self> {
        Self::hold_with(&[])
    }

    /// Like [`Signals::hold`], and blocks `more` too.
    pub(super) fn hold_with(more: &[Signal]) -> io::Result<Self> {
        let held: SigSet = FORWARDED_SIGNALS.iter().chain(more).copied().collect();
        held.thread_block()?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        Ok(Self(SignalFd::with_flags(&held, flags)?))
    }

    /// Waits until a signal arrives, `other` is readable, or `limit` has passed; without a limit, as long as it takes.
    ///
    /// # Errors
    /// None that a correct program meets.
    pub fn wait(&self, other: Option<BorrowedFd<'_>>, limit: Option<std::time::Duration>) -> io::Result<WakeReason> {
        let limit = limit.map_or(PollTimeout::NONE, |limit| {
            PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX)
        });
        loop {
            if let Some(signal) = self.0.read_signal()? {
                return Ok(wake_reason(&signal));
            }
            let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
            let mut waited_for: Vec<_> = std::iter::once(self.0.as_fd()).chain(other).map(readable).collect();
            match poll(&mut waited_for, limit) {
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
                Ok(0) => return Ok(WakeReason::TimeOver),
                // Signals first: they may have caused the end of the command.
                Ok(_) if waited_for[0].any() == Some(true) => {}
                Ok(_) => return Ok(WakeReason::Readable),
            }
        }
    }
}

fn wake_reason(signal: &siginfo) -> WakeReason {
    let number = Signal::try_from(signal.ssi_signo as libc::c_int).expect("the kernel sends only blocked signals");
    if signal.ssi_code == libc::SI_KERNEL && matches!(number, Signal::SIGINT | Signal::SIGQUIT) {
        WakeReason::FromTerminal(number)
    } else {
        WakeReason::Signal(number)
    }
}
