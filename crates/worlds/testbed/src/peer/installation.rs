//! Checks whether a peer is installed: its programs, the files that its build makes, and its version.

use super::error::NotInstalled;
use super::spec::{PeerSpec, path};
use std::path::Path;

impl PeerSpec {
    /// The version of an installed peer, as its program prints it.
    ///
    /// # Errors
    /// What is missing, and how to install it.
    pub fn is_installed(&self) -> Result<String, NotInstalled> {
        self.is_present()?;
        let output = self.command(&self.version.command).output();
        let output = output
            .map_err(|error| self.missing(format!("the command that prints its version could not be run: {error}")))?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if !output.status.success() {
            return Err(self.missing(format!(
                "the command that prints its version ended with {}: {first}",
                output.status
            )));
        }
        Ok(first.rsplit(": ").next().unwrap_or_default().trim().to_owned())
    }

    /// Whether its programs and files are there; cheaper than reading its version.
    pub(super) fn is_present(&self) -> Result<(), NotInstalled> {
        // setpriv, of util-linux, starts every peer.
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

    fn missing(&self, what: String) -> NotInstalled {
        let by_hand = if self.install.files.is_empty() {
            String::new()
        } else {
            format!("; then {}", self.folder().join("build").display())
        };
        let packages = self.install.debian.join(" ");
        let remedy = format!("`make peers` installs it (by hand, as root: apt-get install {packages}{by_hand})");
        NotInstalled {
            name: self.name.clone(),
            what,
            remedy,
        }
    }
}

fn is_in_path(program: &str) -> bool {
    std::env::split_paths(&path()).any(|folder| is_executable(&folder.join(program)))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}
