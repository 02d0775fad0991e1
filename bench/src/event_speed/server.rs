//! A server's process with a folder and a port of its own.

use anyhow::{Context as _, Result, bail};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Deleted with the server.
    _folder: TempDir,
}

/// How long a server may take until it listens.
const START_POLLS: u32 = 1000;
const START_POLL: Duration = Duration::from_millis(10);

impl Server {
    /// Starts the command that `command` makes for a folder and a port, and waits until it listens.
    pub(crate) fn start(command: impl FnOnce(&Path, u16) -> Result<Command>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let mut command = command(folder.path(), free.port())?;
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = child.with_context(|| format!("{program} cannot be started; make peers installs it"))?;
        let mut server = Self {
            child,
            address: free,
            _folder: folder,
        };
        for _ in 0..START_POLLS {
            if TcpStream::connect(free).is_ok() {
                return Ok(server);
            }
            if let Some(status) = server.child.try_wait()? {
                bail!("{program} ended ({status})");
            }
            thread::sleep(START_POLL);
        }
        bail!("{program} does not listen at {free}")
    }

    /// The CPU time that its process has used, user and system.
    pub(crate) fn cpu_time(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The fields after the program's name, which may have spaces: utime and stime are the 14th and 15th of all (proc_pid_stat(5)).
        let fields = stat.rsplit_once(')').context("/proc/PID/stat has no name")?.1;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks = ticks.sum::<Result<u64, _>>()?;
        // 100 ticks a second, on every Linux that runs today (USER_HZ).
        Ok(Duration::from_millis(ticks * 10))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
