//! How does an unmodified command run on a host? In the host's network namespace, with a PID namespace of its own that takes
//! its whole tree of processes along when it ends, and with names for the hosts of its world.
//!
//! A thread starts the first process and stays for as long as it lives: its death, with this process or alone, is the death of
//! that process (`PR_SET_PDEATHSIG`), and so of all the others.

mod init;
mod names;
mod spawn;

pub use init::become_init;
pub use names::Names;

use super::host::EmuHost;
use super::privilege::Unavailable;
use nix::sched::{CloneFlags, unshare};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use spawn::FirstProcess;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A command that runs, with every process that it started. All of them end with it, and with this process.
#[derive(Debug)]
pub struct Tree {
    first: Arc<Mutex<First>>,
    /// Readable once the command has ended.
    ended: Arc<EventFd>,
    keeper: JoinHandle<io::Result<u8>>,
}

/// The first process, for as long as its number is its own.
#[derive(Debug, Clone, Copy)]
enum First {
    Alive(Pid),
    Ended,
}

/// How many descriptors a process may open, softly and at all (setrlimit(2)).
#[derive(Debug, Clone, Copy)]
pub struct DescriptorLimit {
    soft: rlim_t,
    hard: rlim_t,
}

impl DescriptorLimit {
    /// Raises this process's limit as far as it goes. What is given back is what it was, and what a command is to have.
    ///
    /// # Errors
    /// None that a correct program meets.
    pub fn raise() -> io::Result<Self> {
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
        Ok(Self { soft, hard })
    }
}

/// What is told of a command once it runs: why it has no names, where it has none.
type Started = Result<Option<Unavailable>, Unavailable>;

impl Tree {
    /// Starts `command`, a program and its arguments, on `host`. Its user, standard streams, environment and directory are those
    /// of this process. The binary must begin with [`become_init`].
    ///
    /// Where `names` cannot be told to it, it runs without, and the reason is given back beside it.
    ///
    /// # Errors
    /// When this machine allows no PID namespace.
    pub fn start(
        host: &EmuHost,
        names: Names,
        limit: DescriptorLimit,
        command: &[OsString],
    ) -> Result<(Self, Option<Unavailable>), Unavailable> {
        let ended = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC).map_err(|error| refused(&error))?);
        let first = Arc::new(Mutex::new(First::Ended));
        let (told, started) = channel();
        let mut keeper = Keeper {
            first: Arc::clone(&first),
            names,
            limit,
            command: command.to_vec(),
        };
        let namespace = host.namespace().clone();
        let theirs = Arc::clone(&ended);
        let keeper = std::thread::Builder::new()
            .name("command".to_owned())
            .spawn(move || {
                let code = namespace.move_into().and_then(|()| keeper.keep(&told));
                let _ = theirs.write(1);
                code
            })
            .map_err(|error| refused(&error))?;
        let remark = started.recv().unwrap_or_else(|_| {
            // It ended without a word: its own error says why.
            Err(refused(
                &"the thread that starts it could not enter the host's network namespace",
            ))
        })?;
        Ok((Self { first, ended, keeper }, remark))
    }

    /// Sends `signal` to the command, unless it has ended.
    pub fn signal(&self, signal: Signal) {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if let First::Alive(pid) = *first {
            // The first process passes it on.
            let _ = kill(pid, signal);
        }
    }

    /// Waits for the command's end: its exit code, or 128 and the number of the signal that ended it; 127 where there is no such
    /// program, 126 where it cannot be run.
    ///
    /// # Errors
    /// Those of the system.
    pub fn wait(self) -> io::Result<u8> {
        self.keeper
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl AsFd for Tree {
    /// Can be read from once the command has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}

/// Starts a command in the namespaces of the calling thread, and waits for it.
struct Keeper {
    first: Arc<Mutex<First>>,
    names: Names,
    limit: DescriptorLimit,
    command: Vec<OsString>,
}

impl Keeper {
    fn keep(&mut self, told: &Sender<Started>) -> io::Result<u8> {
        let (mut child, remark) = match self.start() {
            Ok(started) => started,
            Err(error) => {
                let _ = told.send(Err(error));
                return Ok(0);
            }
        };
        let pid = Pid::from_raw(child.id().cast_signed());
        self.set(First::Alive(pid));
        let _ = told.send(Ok(remark));
        // While it is not buried, its number is nobody else's.
        while let Err(nix::Error::EINTR) = waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {}
        self.set(First::Ended);
        let status = child.wait()?;
        let signalled = || 128 + status.signal().unwrap_or_default();
        Ok(status.code().unwrap_or_else(signalled) as u8)
    }

    fn start(&self) -> Result<(Child, Option<Unavailable>), Unavailable> {
        unshare(CloneFlags::CLONE_NEWPID).map_err(|error| refused(&error))?;
        let own_mounts = names::own_mounts();
        let named = match &own_mounts {
            Ok(()) => names::lay_over(&self.names),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        };
        let remark = named.err().map(|error| {
            Unavailable::new(
                "names for the hosts of the link",
                &error,
                "use their addresses, or allow mounts in a user namespace",
            )
        });
        let mut init = Command::new("/proc/self/exe");
        init.arg0(init::NAME).args(&self.command);
        let first = FirstProcess {
            own_proc: own_mounts.is_ok(),
            descriptors: (self.limit.soft, self.limit.hard),
        };
        spawn::tie_to_this_thread(&mut init, first)
            .and_then(|()| init.spawn())
            .map_err(|error| refused(&error))
            .map(|child| (child, remark))
    }

    fn set(&self, state: First) {
        *self.first.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

fn refused(error: &dyn std::fmt::Display) -> Unavailable {
    Unavailable::new(
        "starting a command in a PID namespace of its own",
        error,
        "`lastmile doctor` says what this machine can do",
    )
}
