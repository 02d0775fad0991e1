//! Runs an unmodified command on a host: in the host's network namespace, with names for the hosts of its world, and with a PID
//! namespace of its own that ends all of its processes when it ends.
//!
//! A thread starts the init process and lives as long as that does: when the thread dies, with this process or alone, the kernel
//! kills the init process (`PR_SET_PDEATHSIG`), and with it all others.

mod hosts_file;
mod init;
mod spawn;

pub use hosts_file::HostsFiles;
pub use init::become_init;

use super::host::EmuHost;
use super::privilege::Unavailable;
use nix::sched::{CloneFlags, unshare};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A running command, with every process that it started. All of them end with the command, and with this process.
#[derive(Debug)]
pub struct ProcessTree {
    first: Arc<Mutex<InitProcess>>,
    /// Readable once the command has ended.
    ended: Arc<EventFd>,
    supervisor: JoinHandle<io::Result<u8>>,
}

/// The PID of the init process, as long as it cannot be reused; none before and after.
type InitProcess = Option<Pid>;

/// The soft and the hard limit of a process's open descriptors (setrlimit(2)).
#[derive(Debug, Clone, Copy)]
pub struct DescriptorLimit {
    soft: rlim_t,
    hard: rlim_t,
}

impl DescriptorLimit {
    /// Raises this process's soft limit to its hard limit. Returns the previous limit, which a command should have.
    ///
    /// # Errors
    /// None that a correct program meets.
    pub fn raise() -> io::Result<Self> {
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
        Ok(Self { soft, hard })
    }
}

/// The result of starting a command; a command that runs may lack names, for the reason given.
type StartResult = Result<Option<Unavailable>, Unavailable>;

impl ProcessTree {
    /// Starts `command`, a program and its arguments, on `host`. Its user, standard streams and directory are those of this
    /// process, and its environment with `environment` added. The binary must begin with [`become_init`].
    ///
    /// If `names` cannot be installed for it, the command runs without them, and the reason is returned beside it.
    ///
    /// # Errors
    /// When this machine allows no PID namespace.
    pub fn start(
        host: &EmuHost,
        names: HostsFiles,
        limit: DescriptorLimit,
        environment: &[(&str, String)],
        command: &[OsString],
    ) -> Result<(Self, Option<Unavailable>), Unavailable> {
        let ended = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC).map_err(|error| refused(&error))?);
        let first = Arc::<Mutex<InitProcess>>::default();
        let (report, started) = channel();
        let mut supervisor = CommandSupervisor {
            first: Arc::clone(&first),
            names,
            limit,
            environment: environment
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            command: command.to_vec(),
        };
        let namespace = host.namespace().clone();
        let theirs = Arc::clone(&ended);
        let supervisor = std::thread::Builder::new()
            .name("command".to_owned())
            .spawn(move || {
                let code = namespace.move_into().and_then(|()| supervisor.supervise(&report));
                let _ = theirs.write(1);
                code
            })
            .map_err(|error| refused(&error))?;
        let warning = started.recv().unwrap_or_else(|_| {
            // It ended without a message: the namespace could not be entered.
            Err(refused(
                &"the thread that starts the command could not enter the host's network namespace",
            ))
        })?;
        if let Some(pid) = *first.lock().unwrap_or_else(PoisonError::into_inner) {
            host.watch.add_tree(pid.as_raw());
        }
        Ok((
            Self {
                first,
                ended,
                supervisor,
            },
            warning,
        ))
    }

    /// Sends `signal` to the command, unless it has ended.
    pub fn signal(&self, signal: Signal) {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pid) = *first {
            // The init process forwards it.
            let _ = kill(pid, signal);
        }
    }

    /// Waits for the command's end. Returns its exit code, or 128 plus the number of the signal that ended it; 127 if there is no such
    /// program, 126 if it cannot be run.
    ///
    /// # Errors
    /// Those of the system.
    pub fn wait(self) -> io::Result<u8> {
        self.supervisor
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl AsFd for ProcessTree {
    /// Can be read from once the command has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}

/// Starts a command in the namespaces of the calling thread, and waits for it.
struct CommandSupervisor {
    first: Arc<Mutex<InitProcess>>,
    names: HostsFiles,
    limit: DescriptorLimit,
    environment: Vec<(String, String)>,
    command: Vec<OsString>,
}

impl CommandSupervisor {
    fn supervise(&mut self, report: &Sender<StartResult>) -> io::Result<u8> {
        let (mut child, warning) = match self.start() {
            Ok(started) => started,
            Err(error) => {
                let _ = report.send(Err(error));
                return Ok(0);
            }
        };
        let pid = Pid::from_raw(child.id().cast_signed());
        self.set(Some(pid));
        let _ = report.send(Ok(warning));
        // Until it is reaped, its PID cannot be reused.
        while let Err(nix::Error::EINTR) = waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {}
        self.set(None);
        let status = child.wait()?;
        let signalled = || 128 + status.signal().unwrap_or_default();
        Ok(status.code().unwrap_or_else(signalled) as u8)
    }

    fn start(&self) -> Result<(Child, Option<Unavailable>), Unavailable> {
        unshare(CloneFlags::CLONE_NEWPID).map_err(|error| refused(&error))?;
        let own_mounts = hosts_file::unshare_mounts();
        let named = match &own_mounts {
            Ok(()) => hosts_file::bind_mount_over(&self.names),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        };
        let warning = named.err().map(|error| {
            Unavailable::new(
                "naming the hosts of the link in /etc/hosts",
                &error,
                "use the addresses of the hosts, or allow mounts in a user namespace",
            )
        });
        let mut init = Command::new("/proc/self/exe");
        init.arg0(init::NAME)
            .args(&self.command)
            .envs(self.environment.iter().cloned());
        spawn::tie_to_this_thread(&mut init, own_mounts.is_ok(), self.limit)
            .and_then(|()| init.spawn())
            .map_err(|error| refused(&error))
            .map(|child| (child, warning))
    }

    fn set(&self, state: InitProcess) {
        *self.first.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

fn refused(error: &dyn std::fmt::Display) -> Unavailable {
    Unavailable::unexplained("starting a command in a PID namespace of its own", error)
}
