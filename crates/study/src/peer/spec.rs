//! What does a `peer.toml` say, and where are they?
//!
//! Reading is strict, as with studies: an unknown key is refused with its line and the nearest known one.

use super::error::PeerError;
use super::inputs::Inputs;
use super::installed::path;
use crate::nearest::{suggestion, toml_problem};
use lastmile_payload::codec::CodecSpec;
use lastmile_units::Bytes;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A real program that a study can drive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerSpec {
    /// Its name, which is its folder's.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// What it is held against.
    pub purpose: String,
    /// How it is had.
    pub install: Install,
    /// What tells its version.
    pub version: VersionCommand,
    /// What it does as a server.
    pub server: Option<Program>,
    /// What it does as a client, or as a program without a network.
    pub client: Option<Program>,
    #[serde(skip)]
    folder: PathBuf,
}

/// How a peer is had, and what is there once it is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The Debian packages that bring it.
    #[serde(default)]
    pub debian: Vec<String>,
    /// The programs it needs to run, to be found in `PATH` or `/usr/sbin`.
    pub programs: Vec<String>,
    /// The programs that its script `build` needs besides.
    #[serde(default)]
    pub build_programs: Vec<String>,
    /// The files, by their place in its folder, that are there once its script `build` has been run.
    #[serde(default)]
    pub files: Vec<PathBuf>,
}

/// What tells a version: what stands after the last ": " of its first line.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionCommand {
    /// The command.
    pub command: Vec<String>,
}

/// What a peer does as a server or a client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The command, run in the peer's folder.
    pub command: Vec<String>,
    /// What can be asked of it.
    pub operations: Vec<String>,
    /// The content codings and levels that it can be set to; all of them where nothing is said.
    #[serde(default)]
    pub compression: Vec<CodecSpec>,
    /// The least size from which it can be told to compress.
    #[serde(default)]
    pub minimum_size: Bytes,
}

/// Where peers are: what `LASTMILE_PEERS` names; else `peers/` in the working directory; else that of the source tree. A folder counts
/// where there is a peer in it.
///
/// # Errors
/// When there is no such folder.
pub fn folder() -> Result<PathBuf, PeerError> {
    let here = Path::new("peers");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers");
    let candidates = match std::env::var_os("LASTMILE_PEERS") {
        Some(named) => vec![PathBuf::from(named)],
        None => vec![here.to_owned(), source],
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

/// The folders within `folder` that hold a peer.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let within: io::Result<Vec<_>> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    let mut within = within?;
    within.retain(|path| path.join("peer.toml").exists());
    Ok(within)
}

impl PeerSpec {
    /// The peer in that folder.
    ///
    /// # Errors
    /// When its `peer.toml` cannot be read, or says what it must not, with the line.
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

    /// The peers in the folders of `folder`, by name.
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

    /// The peer of that name in [`folder`].
    ///
    /// # Errors
    /// When there is none, with the nearest name; or its `peer.toml` cannot be read.
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

    /// The program in a role, where it does what is asked for.
    pub(super) fn program<'a>(
        &self,
        program: Option<&'a Program>,
        role: &str,
        inputs: &Inputs,
    ) -> Result<&'a Program, PeerError> {
        let refused = |problem| PeerError::Refused {
            name: self.name.clone(),
            problem,
        };
        let program = program.ok_or_else(|| refused(format!("it is no {role}")))?;
        program.check(inputs).map_err(refused)?;
        Ok(program)
    }

    /// A command of these words, in the peer's folder, with nothing of the caller's environment but `PATH`. It is told to end, by
    /// SIGTERM, when the thread that starts it has, however that went.
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

    /// Where its `peer.toml` is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn check(&self, folder: &Path) -> Result<(), String> {
        if folder.file_name().is_none_or(|called| called != self.name.as_str()) {
            return Err(format!(
                "name is {:?}; it is the folder's, which is {}",
                self.name,
                folder.display()
            ));
        }
        let roles = [("server", &self.server), ("client", &self.client)];
        let commands = roles
            .iter()
            .filter_map(|(role, program)| Some((*role, &program.as_ref()?.command)));
        for (place, command) in commands.chain([("version", &self.version.command)]) {
            if command.is_empty() {
                return Err(format!("{place}.command is empty; its first word is a program"));
            }
        }
        if self.server.is_none() && self.client.is_none() {
            return Err("it is neither a [server] nor a [client]; it is one at least".to_owned());
        }
        Ok(())
    }
}

impl Program {
    /// Whether that can be asked of it.
    pub fn compresses(&self, compression: CodecSpec) -> bool {
        self.compression.contains(&compression)
    }

    fn check(&self, inputs: &Inputs) -> Result<(), String> {
        if !self.operations.contains(&inputs.operation) {
            return Err(format!(
                "operation {:?} is none of its own: {}",
                inputs.operation,
                self.operations.join(", ")
            ));
        }
        if !self.compresses(inputs.compression) {
            let known: Vec<_> = self.compression.iter().map(ToString::to_string).collect();
            return Err(format!(
                "compression {} is none of its own: {}",
                inputs.compression,
                known.join(", ")
            ));
        }
        if inputs.minimum_size < self.minimum_size {
            return Err(format!(
                "it cannot be told to compress responses below {}, and {} is asked for",
                self.minimum_size, inputs.minimum_size
            ));
        }
        Ok(())
    }
}
