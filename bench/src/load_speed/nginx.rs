//! An nginx of our own, with one worker: a file of 1 KB over HTTP/1.1 and HTTP/2, and a page that it compresses for each request.

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
    /// Its port for HTTP/2 without TLS.
    http2: SocketAddr,
    /// Its port where it lets [`PACE`] requests per second through.
    paced: SocketAddr,
    /// Its files.
    _folder: tempfile::TempDir,
}

impl Nginx {
    /// Starts the `nginx` of the path, as the current user.
    pub(crate) fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().display();
        // Nothing else takes the port between these two lines on a machine that is quiet enough for a benchmark.
        let free_port = || TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let (address, http2, paced) = (free_port()?, free_port()?, free_port()?);
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
             types {{ text/html html; }}\ngzip on;\ngzip_comp_level 6;\n\
             server {{ listen {address} backlog=4096; root {root}; }}\n\
             server {{ listen {http2} http2 backlog=4096; root {root}; }}\n\
             limit_req_zone $server_name zone=pace:1m rate={PACE}r/s;\n\
             server {{ listen {paced} backlog=4096; server_name paced; root {root}; limit_req zone=pace burst={burst}; }}\n}}\n",
            burst = 2 * PACE,
        );
        fs::write(folder.path().join("nginx.conf"), configuration)?;
        fs::write(folder.path().join("1k.html"), "x".repeat(1024))?;
        fs::write(folder.path().join("page.html"), page())?;
        let process = Command::new("nginx")
            .args(["-p", &root.to_string(), "-c", "nginx.conf"])
            .stderr(Stdio::null())
            .spawn()
            .context("nginx is not installed")?;
        let nginx = Self {
            process,
            address,
            http2,
            paced,
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

    /// Where requests beyond [`PACE`] wait, up to 2 s of them.
    pub(crate) fn paced(&self) -> SocketAddr {
        self.paced
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/1k.html", self.address)
    }

    /// The file of 1 KB over HTTP/2.
    pub(crate) fn http2_url(&self) -> String {
        format!("http://{}/1k.html", self.http2)
    }
}

/// The rate of the paced server: low enough that nothing but this limit decides on its capacity.
pub(crate) const PACE: u32 = 2_000;

/// The size of the page, which takes nginx some 0.3 ms to compress: long enough that its capacity is far below what the generator can send, and
/// short enough that a limit of 50 ms is near that capacity.
const PAGE: usize = 10_000;

/// Words of a fixed sequence, which compress about as text does.
fn page() -> String {
    const WORDS: [&str; 16] = [
        "network", "the", "latency", "of", "a", "request", "server", "and", "queue", "is", "measured", "in", "packets",
        "rate", "which", "loss",
    ];
    let mut text = String::with_capacity(PAGE + 20);
    let mut state: u64 = 1;
    while text.len() < PAGE {
        // A linear congruential generator (Knuth's MMIX).
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(state >> 60) as usize]);
        text.push(if (state >> 50) & 15 == 0 { '\n' } else { ' ' });
    }
    text
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its master ends its worker on SIGTERM, and not on SIGKILL.
        let master = nix::unistd::Pid::from_raw(self.process.id() as i32);
        let _ = nix::sys::signal::kill(master, nix::sys::signal::Signal::SIGTERM);
        let _ = self.process.wait();
    }
}
