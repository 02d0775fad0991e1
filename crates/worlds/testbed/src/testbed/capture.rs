//! The capture files of a world, one pcapng file per vantage point, and errors of writing them.
//!
//! The world decides what a capture contains: whole packets, their headers, and its times.

use super::world_adapter::TestbedWorld;
use crate::failure::Failure;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The captures of a world.
pub(super) struct Captures {
    folder: PathBuf,
    name: String,
    files: Vec<CaptureFile>,
}

/// A file to which a world writes packets, and which is flushed here. Clones share the file.
#[derive(Clone)]
pub struct CaptureFile {
    path: PathBuf,
    to: Arc<Mutex<BufWriter<File>>>,
}

impl Captures {
    /// No capture yet; those that begin are files of `folder`: `<name>-<vantage point>.pcapng`.
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            files: Vec::new(),
        }
    }

    /// Captures at a vantage point from now on; `begin` lets the world write to the file. A file of an earlier world with that name is
    /// overwritten.
    pub(super) fn begin(
        &mut self,
        vantage_point: &str,
        begin: impl FnOnce(CaptureFile) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let path = self.folder.join(format!("{}-{vantage_point}.pcapng", self.name));
        let begun = || {
            let file = CaptureFile::create(&path)?;
            begin(file.clone())?;
            Ok(file)
        };
        let file = begun().map_err(|error: io::Error| not_written(&path, &error))?;
        self.files.push(file);
        Ok(())
    }

    /// The file of a vantage point, if it is captured.
    pub(super) fn file(&self, vantage_point: &str) -> Option<CaptureFile> {
        let name = format!("{}-{vantage_point}.pcapng", self.name);
        self.files.iter().find(|file| file.path.ends_with(&name)).cloned()
    }

    /// Flushes the captures; the error is the first one since they began.
    pub(super) fn flush(&mut self, world: &impl TestbedWorld) -> Result<(), Failure> {
        if let Some(error) = world.capture_error() {
            return Err(Failure::new(error.to_string()));
        }
        let mut flushed = self.files.iter_mut().map(Write::flush);
        flushed
            .find_map(Result::err)
            .map_or(Ok(()), |error| Err(Failure::new(error.to_string())))
    }
}

impl CaptureFile {
    /// A new file, for a world to write to.
    ///
    /// # Errors
    /// Where it cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            to: Arc::new(Mutex::new(BufWriter::new(File::create(path)?))),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Write for CaptureFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.lock().unwrap_or_else(PoisonError::into_inner).write(bytes);
        written.map_err(|error| io::Error::new(error.kind(), not_written(&self.path, &error)))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.to.lock().unwrap_or_else(PoisonError::into_inner).flush();
        flushed.map_err(|error| io::Error::new(error.kind(), not_written(&self.path, &error)))
    }
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("the capture {} cannot be written: {error}", path.display()))
}
