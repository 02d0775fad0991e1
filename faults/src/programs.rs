//! The programs of a case: where they run, how they start, and how they end.

use crate::plan::Program;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Whatever takes longer than this hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(20);

/// The binary, and what the programs of a case share.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    pub(crate) binary: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) monitor: SocketAddr,
    pub(crate) otlp: SocketAddr,
    /// The process whose mounts the programs see, where there is a small disk.
    namespace: Option<u32>,
}

impl Workspace {
    /// Takes ports of an address that no other case has, below those that systems give away, so that a program that starts again finds its port free.
    pub(crate) fn new(binary: &Path, folder: &Path, case: u64) -> io::Result<Self> {
        let [.., high, low] = case.to_be_bytes();
        let address = Ipv4Addr::new(127, 1 + (std::process::id() % 250) as u8, high, low);
        let free_port = |first: u16| {
            let mut free = (first..).filter_map(|port| TcpListener::bind((address, port)).ok());
            free.next().ok_or(io::ErrorKind::AddrInUse)?.local_addr()
        };
        Ok(Self {
            binary: binary.to_owned(),
            folder: folder.to_owned(),
            monitor: free_port(20_000)?,
            otlp: free_port(21_000)?,
            namespace: None,
        })
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join("s")
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.monitor)
    }

    /// A program that sees the small disk, where there is one.
    fn command(&self, program: &Path) -> Command {
        let mut command = match self.namespace {
            None => Command::new(program),
            Some(process) => {
                let mut command = Command::new("nsenter");
                command.args(["--preserve-credentials", "--user", "--mount", "--target"]);
                command.arg(process.to_string()).arg(program);
                command
            }
        };
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a verb with these lines on its standard input.
    ///
    /// # Errors
    /// When it cannot run, or hangs.
    pub(crate) fn run(&self, words: &[&str], input: &str) -> io::Result<Output> {
        let mut command = self.command(Path::new("timeout"));
        command.arg(HANGS.as_secs().to_string()).arg(&self.binary).args(words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().expect("it is a pipe");
        let input = input.to_owned();
        let writer = thread::spawn(move || {
            // A verb that has given up reads no further.
            let _ = stdin.write_all(input.as_bytes());
        });
        let output = child.wait_with_output()?;
        writer.join().expect("writing does not panic");
        if output.status.code() == Some(124) {
            return Err(io::Error::other(format!("lastmile {} hangs", words.join(" "))));
        }
        Ok(output)
    }
}

/// Whether this machine lets its users mount small disks in namespaces of their own.
pub fn has_namespaces() -> bool {
    let mounted = Command::new("unshare")
        .args(["--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
        .stderr(Stdio::null())
        .status();
    mounted.is_ok_and(|status| status.success())
}

/// A small disk, which is there until it is dropped.
#[derive(Debug)]
pub(crate) struct Disk {
    holder: Child,
    path: PathBuf,
}

impl Disk {
    /// Mounts a disk of so many KiB in a namespace, in which the programs of this place run from now on.
    ///
    /// # Errors
    /// When the machine does not allow it.
    pub(crate) fn mount(workspace: &mut Workspace, kib: u64) -> io::Result<Self> {
        let path = workspace.folder.join("disk");
        std::fs::create_dir(&path)?;
        let script = r#"mount -t tmpfs -o size="$1"k none "$2" && echo ready && exec sleep infinity"#;
        let mut holder = Command::new("unshare")
            .args(["--map-root-user", "--mount", "sh", "-c", script, "sh", &kib.to_string()])
            .arg(&path)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut said = String::new();
        BufReader::new(holder.stdout.take().expect("it is a pipe")).read_line(&mut said)?;
        workspace.namespace = Some(holder.id());
        let disk = Self { holder, path };
        if said.is_empty() {
            return Err(io::Error::other("no disk can be mounted in a namespace"));
        }
        Ok(disk)
    }

    /// Makes it large.
    pub(crate) fn grow(&self, workspace: &Workspace) -> io::Result<()> {
        let mut command = workspace.command(Path::new("mount"));
        let status = command.args(["-o", "remount,size=256m"]).arg(&self.path).status()?;
        status
            .success()
            .then_some(())
            .ok_or_else(|| io::Error::other("the disk does not grow"))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A monitor or a sensor that runs. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    said: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

/// How a program started.
#[derive(Debug)]
pub(crate) enum Start {
    Running(Running),
    /// It ended at once, with this code and these words.
    Refused(Option<i32>, String),
}

impl Running {
    /// Starts a program, and waits until it listens.
    ///
    /// # Errors
    /// When it cannot run, or hangs.
    pub(crate) fn start(workspace: &Workspace, words: &[&str]) -> io::Result<Start> {
        let mut child = workspace.command(&workspace.binary).args(words).spawn()?;
        let stderr = BufReader::new(child.stderr.take().expect("it is a pipe"));
        let said = Arc::new(Mutex::new(String::new()));
        let (ready, listens) = mpsc::channel();
        let all = Arc::clone(&said);
        let reader = thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let mut all = all.lock().expect("nobody panics with it");
                all.push_str(&line);
                all.push('\n');
                if line.contains("listens at") {
                    let _ = ready.send(());
                }
            }
        });
        let mut running = Self {
            child,
            said,
            reader: Some(reader),
        };
        match listens.recv_timeout(HANGS) {
            Ok(()) => Ok(Start::Running(running)),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let code = running.child.wait()?.code();
                Ok(Start::Refused(code, running.end()))
            }
            Err(mpsc::RecvTimeoutError::Timeout) => Err(io::Error::other(format!(
                "lastmile {} does not listen",
                words.join(" ")
            ))),
        }
    }

    /// Kills it; what it said.
    pub(crate) fn kill(mut self) -> String {
        self.end()
    }

    /// Ends it in good order; what it said.
    ///
    /// # Errors
    /// When it hangs or fails.
    pub(crate) fn stop(mut self) -> io::Result<String> {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM)?;
        let begin = Instant::now();
        while begin.elapsed() < HANGS {
            if let Some(status) = self.child.try_wait()? {
                let said = self.end();
                return if status.success() {
                    Ok(said)
                } else {
                    Err(io::Error::other(format!("it ended with {status}: {said}")))
                };
            }
            thread::sleep(Duration::from_millis(2));
        }
        Err(io::Error::other(format!("it does not end: {}", self.end())))
    }

    fn end(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            reader.join().expect("reading does not panic");
        }
        self.said.lock().expect("nobody panics with it").clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

impl Program {
    /// The words that start it, with its folder.
    pub(crate) fn words(
        self,
        workspace: &Workspace,
        folder: &Path,
        durability: &str,
        most: Option<u64>,
    ) -> Vec<String> {
        let folder = folder.display().to_string();
        let mut words = match self {
            Self::Monitor => vec![
                "monitor".to_owned(),
                folder,
                "--listen".to_owned(),
                workspace.monitor.to_string(),
                "--durability".to_owned(),
                durability.to_owned(),
            ],
            Self::Sensor => vec![
                "sensor".to_owned(),
                folder,
                "--monitor".to_owned(),
                workspace.url(),
                "--socket".to_owned(),
                workspace.socket().display().to_string(),
                "--otlp".to_owned(),
                workspace.otlp.to_string(),
            ],
        };
        if let Some(bytes) = most {
            words.extend(["--most".to_owned(), format!("{bytes}B")]);
        }
        words
    }
}
