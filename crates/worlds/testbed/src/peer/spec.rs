//! Reads the `peer.toml` of a peer, and finds the folder of peers.
//!
//! Reading is strict, as with studies: an unknown key is an error that names its line and the most similar known key.

use super::error::PeerError;
use crate::toml_error::toml_problem;
use lastmile_codec::content::CodecSpec;
use lastmile_units::suggest::suggestion;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A real program that a study can drive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerSpec {
    /// Its name, which is also its folder's.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// What it is compared with.
    pub purpose: String,
    /// How it is installed.
    pub install: Install,
    /// How its version is read.
    pub version: VersionCommand,
    /// How it runs as a server.
    pub server: Option<Program>,
    /// How it runs as a client, or as a program without a network.
    pub client: Option<Program>,
    #[serde(skip)]
    folder: PathBuf,
}

/// How a peer is installed, and the files and programs that are there afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The Debian packages it needs.
    #[serde(default)]
    pub debian: Vec<String>,
    /// The programs it needs to run, in `PATH` or `/usr/sbin`.
    pub programs: Vec<String>,
    /// Further programs that its script `build` needs.
    #[serde(default)]
    pub build_programs: Vec<String>,
    /// The files that its script `build` makes, relative to its folder.
    #[serde(default)]
    pub files: Vec<PathBuf>,
}

/// The command that prints the version: the text after the last ": " of its first line.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionCommand {
    /// The command.
    pub command: Vec<String>,
}

/// A peer's role as a server or a client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The command, run in the peer's folder.
    pub command: Vec<String>,
    /// The operations it supports.
    pub operations: Vec<String>,
    /// The options that it has, by name.
    #[serde(default)]
    pub options: BTreeMap<String, PeerOption>,
}

/// The option for the content coding of responses: `identity`, or a coding with its level, such as `gzip:6`.
pub(super) const COMPRESSION: &str = "compression";

/// An option of a peer. Without `values` and `at_least`, every text is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerOption {
    /// Its value where the caller sets none.
    pub default: String,
    /// The values that it supports.
    pub values: Option<Vec<String>>,
    /// The smallest number that it supports.
    pub at_least: Option<u64>,
}

/// `peers/` of the source tree. A reproducible build, which sets SOURCE_DATE_EPOCH (reproducible-builds.org), names no folder of the machine
/// that it is made on, and its users have no such folder.
const SOURCE: Option<&str> = match option_env!("SOURCE_DATE_EPOCH") {
    Some(_) => None,
    None => Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../peers")),
};

/// The folder of peers: the one that `LASTMILE_PEERS` names; otherwise `peers/` in the working directory; otherwise `peers/` of the
/// source tree, unless this is a reproducible build. A folder counts only if it contains a peer.
///
/// # Errors
/// When there is no such folder.
pub fn folder() -> Result<PathBuf, PeerError> {
    let candidates: Vec<PathBuf> = match std::env::var_os("LASTMILE_PEERS") {
        Some(named) => vec![named.into()],
        None => [Some("peers"), SOURCE]
            .into_iter()
            .flatten()
            .map(PathBuf::from)
            .collect(),
    };
    let has_peers = |folder: &PathBuf| folders(folder).is_ok_and(|peers| !peers.is_empty());
    let found = candidates.iter().find(|candidate| has_peers(candidate));
    let found = found.and_then(|folder| folder.canonicalize().ok());
    found.ok_or_else(|| PeerError::NoFolder {
        tried: candidates
            .iter()
            .map(|tried| tried.display().to_string())
            .collect::<Vec<_>>()
            .join(" or "),
    })
}

/// The folders in `folder` that contain a peer.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let within: io::Result<Vec<_>> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    let mut within = within?;
    within.retain(|path| path.join("peer.toml").exists());
    Ok(within)
}

/// The search path of programs: the caller's `PATH`, and where Debian puts servers, which an ordinary user's `PATH` lacks.
pub(super) fn path() -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    path.push(":/usr/sbin:/sbin");
    path
}

impl PeerSpec {
    /// Reads the peer in this folder.
    ///
    /// # Errors
    /// When its `peer.toml` cannot be read or is invalid, with the line.
    pub fn load(folder: &Path) -> Result<Self, PeerError> {
        let path = folder.join("peer.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| PeerError::File {
            path: path.clone(),
            error,
        })?;
        let refused = |problem| PeerError::Spec {
            path: path.clone(),
            problem,
        };
        let mut peer: Self = toml::from_str(&text).map_err(|error| refused(toml_problem(&error)))?;
        peer.check(folder).map_err(refused)?;
        folder.clone_into(&mut peer.folder);
        Ok(peer)
    }

    /// All peers in the folders of `folder`, ordered by name.
    ///
    /// # Errors
    /// When the folder or one of its peers cannot be read.
    pub fn all(folder: &Path) -> Result<Vec<Self>, PeerError> {
        let within = folders(folder).map_err(|error| PeerError::File {
            path: folder.to_owned(),
            error,
        })?;
        let mut peers = within
            .iter()
            .map(|folder| Self::load(folder))
            .collect::<Result<Vec<_>, _>>()?;
        peers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(peers)
    }

    /// The peer with this name in [`folder`].
    ///
    /// # Errors
    /// When there is none, with the most similar name; or when its `peer.toml` cannot be read.
    pub fn named(name: &str) -> Result<Self, PeerError> {
        let folder = folder()?;
        let mut peers = Self::all(&folder)?;
        match peers.iter().position(|peer| peer.name == name) {
            Some(at) => Ok(peers.swap_remove(at)),
            None => Err(PeerError::Unknown {
                name: name.to_owned(),
                suggestion: suggestion(name, peers.iter().map(|peer| peer.name.as_str())),
                folder,
            }),
        }
    }

    /// A command of these words, in the peer's folder, with nothing of the caller's environment but `PATH`. The program gets SIGTERM when
    /// the thread that starts it ends for any reason.
    pub(super) fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "TERM", "--"])
            .args(words)
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", path())
            .env("LC_ALL", "C.UTF-8");
        command
    }

    /// The folder of its `peer.toml`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn check(&self, folder: &Path) -> Result<(), String> {
        if folder.file_name().is_none_or(|called| called != self.name.as_str()) {
            return Err(format!(
                "name is {:?}, but must be that of its folder, {}",
                self.name,
                folder.display()
            ));
        }
        let roles = [("server", &self.server), ("client", &self.client)];
        let commands = roles
            .iter()
            .filter_map(|(role, program)| Some((*role, &program.as_ref()?.command)));
        for (name, command) in commands.chain([("version", &self.version.command)]) {
            if command.is_empty() {
                return Err(format!("{name}.command is empty; its first word must be a program"));
            }
        }
        for (role, program) in roles {
            for (name, option) in program.iter().flat_map(|program| &program.options) {
                let wrong = |problem: String| format!("{role}.options.{name}: {problem}");
                option
                    .check(name, &option.default)
                    .map_err(|problem| wrong(format!("its default: {problem}")))?;
                for value in option.values.iter().flatten().filter(|_| name == COMPRESSION) {
                    value.parse::<CodecSpec>().map_err(|error| wrong(error.to_string()))?;
                }
            }
        }
        if self.server.is_none() && self.client.is_none() {
            return Err("it has neither a [server] nor a [client]; it needs at least one of them".to_owned());
        }
        Ok(())
    }
}

impl Program {
    /// The content codings with their levels that it supports, of those that are known here.
    pub fn compressions(&self) -> Vec<CodecSpec> {
        let option = self.options.get(COMPRESSION);
        let values = option.and_then(|option| option.values.as_deref()).unwrap_or_default();
        values.iter().filter_map(|value| value.parse().ok()).collect()
    }

    /// Whether it supports this compression.
    pub fn compresses(&self, compression: CodecSpec) -> bool {
        self.compressions().contains(&compression)
    }
}

impl PeerOption {
    /// Checks a value of this option.
    pub(super) fn check(&self, name: &str, value: &str) -> Result<(), String> {
        if let Some(values) = &self.values
            && !values.iter().any(|known| known == value)
        {
            return Err(format!(
                "it does not support {name} {value}, only {}",
                values.join(", ")
            ));
        }
        if let Some(least) = self.at_least
            && value.parse::<u64>().ok().is_none_or(|number| number < least)
        {
            return Err(format!("it does not support {name} {value}, only {least} and above"));
        }
        Ok(())
    }
}
