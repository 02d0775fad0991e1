//! Tests that a command works behind a link as without one, and that nothing is left afterwards. With real namespaces, as the user that
//! the tests run as, and also as an ordinary user where that is root.
//!
//! Where this machine has no network namespaces for a user, the tests are skipped for that user with a note.

mod behind;
mod client;
mod leftovers;
mod passed_on;
mod timed;
mod ways;

use crate::sandbox::{Ended, LASTMILE};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A user id without privileges, which no system assigns.
const NOBODY: u32 = 65_534;
/// A link that adds almost no delay.
const FAST: &str = "published/local-host";

/// A user, with a folder and binaries that they may use.
struct User {
    uid: u32,
    /// Whether the tests run as another user.
    other: bool,
    folder: TempDir,
}

impl User {
    /// All users that commands can be run as.
    fn all() -> Vec<Self> {
        let uid = fs::metadata("/proc/self").unwrap().uid();
        let users = if uid == 0 { vec![uid, NOBODY] } else { vec![uid] };
        users
            .into_iter()
            .map(|user| Self::new(user, user != uid))
            .filter(|user| {
                let tried = user.run(&["link", FAST, "--quiet", "--", "true"]);
                if tried.code == Some(3) {
                    eprintln!("skipped as uid {}: {}", user.uid, tried.stderr);
                }
                tried.code != Some(3)
            })
            .collect()
    }

    fn new(uid: u32, other: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The binaries may be in a folder that others may not enter.
        fs::copy(LASTMILE, folder.path().join("lastmile")).unwrap();
        fs::copy(std::env::current_exe().unwrap(), folder.path().join("client")).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        Self { uid, other, folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// lastmile, to be run by this user with these words.
    fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        self.command_of(&self.file("lastmile"), words)
    }

    /// Any program, likewise.
    fn command_of(&self, program: &Path, words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(self.path())
            .env("TMPDIR", self.path())
            .stdin(Stdio::null());
        if self.other {
            command.uid(self.uid).gid(self.uid);
        }
        command
    }

    fn run(&self, words: &[&str]) -> Ended {
        Ended::of(self.command(words).output().unwrap())
    }

    /// A client behind a link, with more words for lastmile before it.
    fn client(&self, link: &[&str], client: &[&str]) -> Ended {
        let mut words = vec!["link"];
        words.extend(link);
        words.extend(["--", "./client", "--exact", client::TEST, "--nocapture"]);
        let mut command = self.command(&words);
        command.env(client::ORDERS, client.join(" "));
        Ended::of(command.output().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

/// Passes every connection to a port of the loopback address to `serve`, each in a thread of its own, for as long as the tests run.
fn service(serve: impl Fn(TcpStream) + Clone + Send + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (serve, stream) = (serve.clone(), stream.unwrap());
            std::thread::spawn(move || serve(stream));
        }
    });
    port
}

/// Sends back what it receives.
fn echo(mut stream: TcpStream) {
    let mut other = stream.try_clone().unwrap();
    let _ = std::io::copy(&mut stream, &mut other);
    let _ = other.shutdown(Shutdown::Write);
}

/// A port that no program listens on.
fn nobodys_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Bytes in which every run of a few is different from every other.
fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64)
        .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect()
}

/// Sends a pattern and ends, whatever it receives.
fn send_pattern(mut stream: TcpStream, length: usize) {
    stream.write_all(&pattern(length)).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    // A socket that is dropped with something unread would reset the connection.
    let _ = stream.read_to_end(&mut Vec::new());
}
