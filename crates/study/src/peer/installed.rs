//! Is a peer there? Its programs, what its build leaves behind, and what it says its version is.

use super::spec::PeerSpec;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;

/// A peer's version, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(String);

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A peer is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("peer {name} is not installed: {what}; {remedy}")]
pub struct Missing {
    /// Which.
    pub name: String,
    /// What of it is missing.
    pub what: String,
    /// What brings it.
    pub remedy: String,
}

impl PeerSpec {
    /// Its version, where it is installed; asked of the program itself.
    ///
    /// # Errors
    /// What is missing, and what brings it.
    pub fn is_installed(&self) -> Result<Version, Missing> {
        self.is_present()?;
        let told = self.command(&self.version.command).output();
        let told = told.map_err(|error| self.missing(format!("its version could not be asked for: {error}")))?;
        let said = [told.stdout, told.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if !told.status.success() {
            return Err(self.missing(format!("asked for its version, it ended with {}: {first}", told.status)));
        }
        Ok(Version(first.rsplit(": ").next().unwrap_or_default().trim().to_owned()))
    }

    /// Whether its programs and files are there; cheaper than asking for its version.
    pub(super) fn is_present(&self) -> Result<(), Missing> {
        // That which starts every peer is util-linux's.
        for program in self.install.programs.iter().map(String::as_str).chain(["setpriv"]) {
            if !is_in_path(program) {
                return Err(self.missing(format!("there is no program {program}")));
            }
        }
        for file in &self.install.files {
            if !self.folder().join(file).exists() {
                return Err(self.missing(format!("{} has not been built", file.display())));
            }
        }
        Ok(())
    }

    fn missing(&self, what: String) -> Missing {
        let by_hand = if self.install.files.is_empty() {
            String::new()
        } else {
            format!("; then {}", self.folder().join("build").display())
        };
        let packages = self.install.debian.join(" ");
        let remedy = format!("`make peers` brings it (by hand, as root: apt-get install {packages}{by_hand})");
        Missing {
            name: self.name.clone(),
            what,
            remedy,
        }
    }
}

/// Where programs are looked for: the caller's `PATH`, and where Debian puts servers, which an ordinary user's `PATH` leaves out.
pub(super) fn path() -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    path.push(":/usr/sbin:/sbin");
    path
}

fn is_in_path(program: &str) -> bool {
    std::env::split_paths(&path()).any(|folder| is_executable(&folder.join(program)))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}
