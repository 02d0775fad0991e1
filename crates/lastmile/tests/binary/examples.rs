//! Every example of every help text runs as it is printed, in a folder that has what it names.
//!
//! Examples name ports, so they run in a network namespace of their own, behind `lastmile link`. Shell scripts play the programs that they name and
//! that need another machine, root or a terminal.

mod fixtures;

use crate::browser::chromium;
use crate::sandbox::{LASTMILE, Sandbox};
use crate::verbs::verbs;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// What examples of these verbs need while they run: commands that say where they listen, and go on.
const SERVICES: [(&str, &[&str]); 8] = [
    ("link", &["./server"]),
    ("time", &["./server"]),
    ("record", &["./server"]),
    ("load", &["./server"]),
    (
        "emit",
        &[
            "lastmile monitor kept",
            "lastmile sensor spool --monitor http://127.0.0.1:7878 --socket events.sock",
        ],
    ),
    ("query", &["lastmile monitor kept"]),
    ("subscribe", &["lastmile monitor kept"]),
    ("audit", &["lastmile monitor kept"]),
];

/// Examples that go on until they are ended, and the shell's condition that they do their work.
const ENDLESS: [(&str, &str); 6] = [
    ("lastmile monitor", "grep 'listens at' err"),
    ("lastmile sensor", "grep 'listens at' err"),
    ("lastmile route", "grep 'clients connect to' err"),
    ("lastmile link wpt/3g --listen", "grep 'leads over' err"),
    (
        "lastmile subscribe",
        "lastmile emit run.done cell=2 && grep '\"cell\":2' out",
    ),
    ("tail -f app.events", "lastmile query app.started | grep app.started"),
];

/// Options that make an example cheap, behind what it begins with. Nothing else of it is changed.
const SHORTENED: [(&str, &str); 11] = [
    ("lastmile record", "--timeout 5s"),
    ("lastmile time", "--repeats 1"),
    ("lastmile advise", "--repeats 1"),
    ("lastmile advise shop.har --link wpt/3g --world", "--browser-repeats 1"),
    ("lastmile tune chat.txt --link", "--repeats 1 --pace 500/s"),
    ("lastmile run permessage-deflate", "--dry-run"),
    ("lastmile load http://localhost", "--duration 100ms"),
    ("lastmile load http://localhost:8000/ --slo", "--world sim"),
    ("lastmile load https", "--world sim --duration 100ms"),
    ("lastmile perturb", "--pairs 1"),
    ("lastmile perturb --load", "--duration 100ms"),
];

/// Set for the process behind the link.
const BEHIND_THE_LINK: &str = "EXAMPLES_BEHIND_THE_LINK";

#[test]
fn each_example_of_each_help_runs() {
    let sandbox = Sandbox::new();
    let tests = std::env::current_exe().unwrap();
    let own = tests.to_str().unwrap();
    let words = [
        "link",
        "wpt/cable",
        "--quiet",
        "--",
        own,
        "--ignored",
        "--exact",
        "--nocapture",
        "examples::behind_the_link",
    ];
    let output = sandbox.command(&words).env(BEHIND_THE_LINK, "1").output().unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(3) {
        return eprintln!("skipped: {output_text}");
    }
    eprint!("{output_text}");
    assert!(output.status.success(), "{output_text}");
    assert!(output_text.contains("1 passed"), "{output_text}");
}

#[test]
#[ignore = "the process of the other test"]
fn behind_the_link() {
    if std::env::var_os(BEHIND_THE_LINK).is_none() {
        return;
    }
    let sandbox = Sandbox::new();
    fixtures::write(&sandbox);
    let mut failures = Vec::new();
    for verb in verbs(&sandbox) {
        let services = SERVICES
            .iter()
            .find(|(name, _)| *name == verb)
            .map_or(&[][..], |(_, services)| services);
        let _services: Vec<Running> = services
            .iter()
            .map(|service| Running::service(&sandbox, service))
            .collect();
        for example in examples(&sandbox.data(&[&verb, "--help"])) {
            match run(&sandbox, &example) {
                Ok(()) => {}
                Err(Miss::Skipped(why)) => eprintln!("skipped: {example}: {why}"),
                Err(Miss::Failed(why)) => failures.push(format!("{example}\n{why}")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The lines under "Examples:", each without the remark behind it.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let example = |line: &str| line.trim().split("  ").next().expect("one part at least").to_owned();
    lines.map(example).collect()
}

/// Why an example did not run to a good end.
enum Miss {
    Skipped(String),
    Failed(String),
}

fn run(sandbox: &Sandbox, example: &str) -> Result<(), Miss> {
    if example.starts_with("lastmile record") && (example.contains("https:") || chromium().is_none()) {
        return Err(Miss::Skipped("it needs that site, or a Chromium".to_owned()));
    }
    if example.contains("--store nats:") {
        return Err(Miss::Skipped("it needs a NATS server".to_owned()));
    }
    if example.starts_with("lastmile advise") && example.contains("emu") && chromium().is_none() {
        return Err(Miss::Skipped("no Chromium is installed".to_owned()));
    }
    let mut command = example.to_owned();
    for (beginning, options) in SHORTENED {
        if example.starts_with(beginning) {
            let words = beginning.split(' ').take(2).collect::<Vec<_>>().join(" ");
            command = command.replacen(&words, &format!("{words} {options}"), 1);
        }
    }
    let endless = ENDLESS.iter().find(|(beginning, _)| example.starts_with(beginning));
    if endless.is_some() && !command.contains('|') {
        command.insert_str(0, "exec ");
    }
    let mut running = Running::start(sandbox, &command, "");
    let works = endless.is_none_or(|(_, condition)| running.waits_for(sandbox, condition));
    if endless.is_some() {
        running.terminate();
    }
    let status = running.child.wait().unwrap();
    let said = || format!("{status}: {}", sandbox.read("err"));
    match status.code() {
        _ if !works => Err(Miss::Failed(said())),
        Some(0) => Ok(()),
        // A rule was broken, or this machine was too busy to load another: the example ran.
        Some(99) if example.contains("--fail-on") || example.starts_with("lastmile load") => Ok(()),
        Some(3) if example.contains("emu") || example.contains("doctor") => Err(Miss::Skipped(said())),
        None if endless.is_some() => Ok(()),
        _ => Err(Miss::Failed(said())),
    }
}

/// A shell's command in a process group of its own, which ends with it.
struct Running {
    child: Child,
}

impl Running {
    /// Starts it; its output goes to the files `out` and `err` with this ending.
    fn start(sandbox: &Sandbox, command: &str, ending: &str) -> Self {
        let file = |name: &str| File::create(sandbox.path().join(format!("{name}{ending}"))).unwrap();
        let mut shell = shell(sandbox, command);
        shell.stdout(file("out")).stderr(file("err")).process_group(0);
        Self {
            child: shell.spawn().unwrap(),
        }
    }

    /// Starts it, and waits until it says where it listens.
    fn service(sandbox: &Sandbox, command: &str) -> Self {
        let program = command.split(' ').take(2).collect::<String>().replace('/', "");
        let mut running = Self::start(sandbox, &format!("exec {command}"), &format!("-{program}"));
        assert!(
            running.waits_for(sandbox, &format!("grep 'listens at' err-{program}")),
            "{command}"
        );
        running
    }

    /// Whether it fulfils a condition before it ends, and before the shell has asked very often.
    fn waits_for(&mut self, sandbox: &Sandbox, condition: &str) -> bool {
        let is_fulfilled = || {
            shell(sandbox, &format!("{condition} >condition 2>&1"))
                .status()
                .unwrap()
                .success()
        };
        for _ in 0..1000 {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if is_fulfilled() {
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }

    fn terminate(&self) {
        let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.terminate();
            let _ = self.child.wait();
        }
    }
}

/// Bash, with the programs of the folder `bin` before others, and a home in the place.
fn shell(sandbox: &Sandbox, command: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash");
    shell
        .args(["-o", "pipefail", "-c", &format!("fpath=('' ~); {command}")])
        .current_dir(sandbox.path())
        .env("HOME", sandbox.path())
        .env("PATH", format!("{}:{path}", sandbox.path().join("bin").display()))
        .stdin(std::process::Stdio::null());
    shell
}
