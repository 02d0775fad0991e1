//! An nginx of our own, with one worker and a file of 1 KB.

use anyhow::{Context as _, Result, bail};
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A running nginx; it ends with this value.
pub(crate) struct Nginx {
    process: Child,
    address: SocketAddr,
    /// Its files.
    _folder: tempfile::TempDir,
}

impl Nginx {
    /// Starts the `nginx` of the path, as the current user.
    pub(crate) fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().display();
        // Nothing else takes the port between these two lines on a machine that is quiet enough for a benchmark.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|name| format!("{name}_temp_path {root}/{name};\n"))
            .collect();
        let user = if nix::unistd::geteuid().is_root() {
            "user root;\n"
        } else {
            ""
        };
        let configuration = format!(
            "{user}daemon off;\nworker_processes 1;\nworker_rlimit_nofile 30000;\npid {root}/pid;\nerror_log {root}/error.log;\n\
             events {{ worker_connections 20000; }}\n\
             http {{\naccess_log off;\nkeepalive_requests 100000000;\n{temporary}\
             server {{ listen {address} backlog=4096; root {root}; }}\n}}\n"
        );
        fs::write(folder.path().join("nginx.conf"), configuration)?;
        fs::write(folder.path().join("1k.html"), "x".repeat(1024))?;
        let process = Command::new("nginx")
            .args(["-p", &root.to_string(), "-c", "nginx.conf"])
            .stderr(Stdio::null())
            .spawn()
            .context("nginx is not installed")?;
        let nginx = Self {
            process,
            address,
            _folder: folder,
        };
        for _ in 0..100 {
            if TcpStream::connect(address).is_ok() {
                return Ok(nginx);
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("nginx does not listen on {address}")
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/1k.html", self.address)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its master ends its worker on SIGTERM, and not on SIGKILL.
        let master = nix::unistd::Pid::from_raw(self.process.id() as i32);
        let _ = nix::sys::signal::kill(master, nix::sys::signal::Signal::SIGTERM);
        let _ = self.process.wait();
    }
}
