//! A headless Chromium, driven over its debugging pipe (Chrome DevTools Protocol): messages are JSON, with a NUL after each.

use crate::RecordError;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Its names in Debian, elsewhere, and Google's.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The pipe's ends are descriptors 3 and 4; a shell moves ours there.
const SHELL: &str = "exec 3<&0 4>&1 0</dev/null 1>&2; exec \"$@\"";

/// How long Chromium may take for an answer, and to end.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const END_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct Browser {
    process: Child,
    pipe: ChildStdin,
    messages: Receiver<Value>,
    /// Messages that came while an answer was waited for.
    waiting: VecDeque<Value>,
    last_id: u64,
    /// Its profile; removed at the end.
    _profile: TempDir,
}

/// What Chromium says.
pub(super) enum Message {
    Event {
        method: String,
        params: Value,
        session: String,
    },
    Answer {
        id: u64,
        result: Value,
    },
}

impl Browser {
    /// Starts it, by the command `prefix` where that is not empty.
    pub(super) fn start(prefix: &[OsString]) -> Result<Self, RecordError> {
        let Some(program) = NAMES.iter().find(|name| is_there(name)) else {
            return Err(RecordError(format!(
                "no Chromium is installed ({}); or open the page in a browser, F12, Network, reload, and save all as HAR with content",
                NAMES.join(", ")
            )));
        };
        let profile = tempfile::tempdir()
            .map_err(|error| RecordError(format!("a folder for Chromium's profile cannot be made: {error}")))?;
        let folder = format!("--user-data-dir={}", profile.path().display());
        let mut command = match prefix.split_first() {
            None => Command::new("sh"),
            Some((first, words)) => {
                let mut command = Command::new(first);
                command.args(words).arg("sh");
                command
            }
        };
        command.args([
            "-c",
            SHELL,
            "sh",
            program,
            "--headless=new",
            "--remote-debugging-pipe",
            &folder,
        ]);
        // Root has no sandbox, nor has the only user of a user namespace.
        command.args((!prefix.is_empty() || is_root()).then_some("--no-sandbox"));
        command.args([
            "--disable-quic",
            "--no-first-run",
            "--no-default-browser-check",
            "--no-pings",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-default-apps",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            "--disable-gpu",
            "--disable-sync",
            "--metrics-recording-only",
            "--mute-audio",
            "--window-size=1350,940",
            "about:blank",
        ]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command
            .spawn()
            .map_err(|error| RecordError(format!("Chromium cannot be started: {error}")))?;
        let (pipe, output) = (process.stdin.take(), process.stdout.take());
        let (pipe, output) = (pipe.expect("it is piped"), output.expect("it is piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut bytes = Vec::new();
            while output.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
                let message = serde_json::from_slice(bytes.strip_suffix(&[0]).unwrap_or(&bytes));
                bytes.clear();
                if message.is_ok_and(|message| sender.send(message).is_err()) {
                    break;
                }
            }
        });
        Ok(Self {
            process,
            pipe,
            messages,
            waiting: VecDeque::new(),
            last_id: 0,
            _profile: profile,
        })
    }

    /// Sends a command, and returns the number of its answer.
    pub(super) fn send(&mut self, method: &str, params: &Value, session: Option<&str>) -> Result<u64, RecordError> {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = session.filter(|session| !session.is_empty()) {
            message["sessionId"] = session.into();
        }
        let written = self.pipe.write_all(format!("{message}\0").as_bytes());
        written.map_err(|_| ended())?;
        Ok(self.last_id)
    }

    /// Sends a command, and waits for its answer.
    pub(super) fn call(&mut self, method: &str, params: &Value, session: Option<&str>) -> Result<Value, RecordError> {
        let id = self.send(method, params, session)?;
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut message = match self.messages.recv_timeout(left) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(RecordError(format!("Chromium does not answer {method}")));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            };
            if message["id"] != id {
                self.waiting.push_back(message);
            } else if let Some(why) = message["error"]["message"].as_str() {
                return Err(RecordError(format!("Chromium refuses {method}: {why}")));
            } else {
                return Ok(message["result"].take());
            }
        }
    }

    /// The next message; none where none comes in time.
    pub(super) fn receive(&mut self, timeout: Duration) -> Result<Option<Message>, RecordError> {
        let mut message = match self.waiting.pop_front() {
            Some(message) => message,
            None => match self.messages.recv_timeout(timeout) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            },
        };
        Ok(Some(match message["id"].as_u64() {
            Some(id) => Message::Answer {
                id,
                result: message["result"].take(),
            },
            None => Message::Event {
                method: message["method"].as_str().unwrap_or_default().to_owned(),
                session: message["sessionId"].as_str().unwrap_or_default().to_owned(),
                params: message["params"].take(),
            },
        }))
    }

    /// Ends it in good order, or else by force when it is dropped.
    pub(super) fn close(&mut self) {
        let _ = self.send("Browser.close", &json!({}), None);
        let deadline = Instant::now() + END_TIMEOUT;
        while Instant::now() < deadline && matches!(self.process.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn ended() -> RecordError {
    let why = "Chromium ended before the page was recorded; try `chromium --headless --dump-dom URL` to see why";
    RecordError(why.to_owned())
}

fn is_there(program: &str) -> bool {
    let asked = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|ended| ended.success())
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|of_this_process| of_this_process.uid() == 0)
}
