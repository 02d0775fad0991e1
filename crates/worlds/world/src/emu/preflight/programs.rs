//! Looks for the programs that are used together with emulated worlds.

use super::Check;
use crate::emu::Namespace;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// The programs, with the purpose and the Debian package of each.
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("ip", "benchmarks configure the kernel's own links with it", "iproute2"),
    ("tcpdump", "captures inside a link's namespace", "tcpdump"),
    ("tshark", "tests compare captures with its output", "tshark"),
    (
        "tcptrace",
        "tests compare the analysis of captures with its output",
        "tcptrace",
    ),
];

pub(super) fn all() -> impl Iterator<Item = Check> {
    PROGRAMS.into_iter().map(program).chain([token_bucket()])
}

fn program((name, purpose, package): (&str, &str, &str)) -> Check {
    match path_of(name) {
        Some(path) => Check::ready(name, path.display()),
        None => Check::limited(
            name,
            format!("not installed: {purpose}"),
            format!("`apt install {package}`"),
        ),
    }
}

/// The path of a program.
fn path_of(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Whether the kernel's own shaper can be compared with ours.
fn token_bucket() -> Check {
    const NAME: &str = "tc and TBF";
    let tried = Namespace::new().and_then(|namespace| {
        namespace.enter(|| {
            Command::new("tc")
                .args("qdisc add dev lo root tbf rate 1mbit burst 1540 limit 15400".split(' '))
                .output()
        })?
    });
    match tried {
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("not permitted") => Check::limited(
            NAME,
            "tc is not permitted in a user namespace: benchmarks skip the kernel's own shaper",
            "run benchmarks as root",
        ),
        Ok(output) if output.status.success() => Check::ready(NAME, "the kernel's own shaper works in a namespace"),
        Ok(output) => Check::limited(
            NAME,
            String::from_utf8_lossy(&output.stderr).trim(),
            "`modprobe sch_tbf` as root; without it, benchmarks skip the kernel's own shaper",
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Check::limited(
            NAME,
            "not installed: benchmarks skip the kernel's own shaper",
            "`apt install iproute2`",
        ),
        Err(error) => Check::limited(NAME, error, "run on a machine that allows network namespaces"),
    }
}
