//! Times whole verbs and the build of the binary, by the wall clock.

use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The root of the tree.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The lastmile binary, with a folder for its output.
pub(crate) struct Binary {
    path: PathBuf,
    runs: tempfile::TempDir,
}

impl Binary {
    /// Builds it as `cargo run` does.
    ///
    /// # Errors
    /// When it does not build.
    pub(crate) fn build() -> Result<Self> {
        wait(cargo().arg("build"))?;
        let this = std::env::current_exe().context("where is this program?")?;
        let path = this.with_file_name(format!("lastmile{}", std::env::consts::EXE_SUFFIX));
        Ok(Self {
            path,
            runs: tempfile::tempdir()?,
        })
    }

    /// Runs a study from the beginning.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn study(&self, name: &str) -> Result<Duration> {
        self.verb(&["run", name, "--format", "json"])
    }

    /// Advises on traffic over links.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn advise(&self, traffic: &str, links: &str) -> Result<Duration> {
        let traffic = root().join(traffic);
        self.verb(&[
            "advise",
            &traffic.to_string_lossy(),
            "--link",
            links,
            "--format",
            "json",
        ])
    }

    fn verb(&self, arguments: &[&str]) -> Result<Duration> {
        // Run folders go where a verb is run.
        let folder = tempfile::tempdir_in(&self.runs)?;
        wait(Command::new(&self.path).args(arguments).current_dir(&folder))
    }
}

/// Builds the binary into an empty folder. The downloads come first and are not timed.
///
/// # Errors
/// When something cannot be downloaded, or it does not build.
pub(crate) fn cold_build() -> Result<Duration> {
    wait(cargo().args(["fetch", "--locked"]))?;
    let target = tempfile::tempdir()?;
    wait(
        cargo()
            .args(["build", "--locked", "--offline"])
            .env("CARGO_TARGET_DIR", target.path()),
    )
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The duration of a command that must succeed.
fn wait(command: &mut Command) -> Result<Duration> {
    let begun = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{command:?}"))?;
    let took = begun.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "{command:?} ended with {}: {}",
        output.status,
        said.trim()
    );
    Ok(took)
}
