//! Which programs are there that work with emulated worlds, and what is each for?

use super::Ability;
use crate::emu::Namespace;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// A program, what it is for, and the Debian package that has it.
struct Program {
    name: &'static str,
    purpose: &'static str,
    package: &'static str,
}

const PROGRAMS: [Program; 4] = [
    Program {
        name: "ip",
        purpose: "benchmarks set up the kernel's own links with it",
        package: "iproute2",
    },
    Program {
        name: "tcpdump",
        purpose: "captures inside a link's namespace",
        package: "tcpdump",
    },
    Program {
        name: "tshark",
        purpose: "tests hold captures against it",
        package: "tshark",
    },
    Program {
        name: "tcptrace",
        purpose: "tests hold the analysis of captures against it",
        package: "tcptrace",
    },
];

pub(super) fn all() -> impl Iterator<Item = Ability> {
    PROGRAMS.iter().map(program).chain([token_bucket()])
}

fn program(program: &Program) -> Ability {
    let Program { name, purpose, package } = program;
    match path_of(name) {
        Some(path) => Ability::ready(*name, path.display()),
        None => Ability::limited(
            *name,
            format!("not installed: {purpose}"),
            format!("`apt install {package}`"),
        ),
    }
}

/// Where a program is.
fn path_of(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Whether the kernel's own shaper can be put beside ours.
fn token_bucket() -> Ability {
    const NAME: &str = "tc and TBF";
    let tried = Namespace::new().and_then(|namespace| {
        namespace.enter(|| {
            Command::new("tc")
                .args("qdisc add dev lo root tbf rate 1mbit burst 1540 limit 15400".split(' '))
                .output()
        })?
    });
    match tried {
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("not permitted") => Ability::limited(
            NAME,
            "tc has no rights in a user namespace: benchmarks leave the kernel's own shaper out",
            "run benchmarks as root",
        ),
        Ok(output) if output.status.success() => Ability::ready(NAME, "the kernel's own shaper works in a namespace"),
        Ok(output) => Ability::limited(
            NAME,
            String::from_utf8_lossy(&output.stderr).trim(),
            "`modprobe sch_tbf` as root; benchmarks leave the kernel's own shaper out",
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ability::limited(
            NAME,
            "not installed: benchmarks leave the kernel's own shaper out",
            "`apt install iproute2`",
        ),
        Err(error) => Ability::limited(NAME, error, "run where network namespaces can be made"),
    }
}
