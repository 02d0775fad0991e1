//! Which files show what passed? One pcapng a vantage point a world; what went wrong in writing them.
//!
//! What a capture holds is the world's affair: whole packets, their headers, and its times.

use super::laboratory::Laboratory;
use crate::observation::Failure;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The captures of a world.
pub(super) struct Captures {
    files: Vec<CaptureFile>,
}

/// A file that a world writes packets to, and that is flushed here. Clones are the same file.
#[derive(Clone)]
pub(crate) struct CaptureFile {
    path: PathBuf,
    to: Arc<Mutex<BufWriter<File>>>,
}

/// What has something captured in a world: it is given the file.
type Begin<'a> = &'a dyn Fn(CaptureFile) -> io::Result<()>;

impl Captures {
    /// Captures at every vantage point, from now on, into `folder`: `<name>-<vantage point>.pcapng`. What an earlier world of
    /// that name wrote is written over.
    pub(super) fn begin(folder: &Path, name: &str, vantage_points: &[(&str, Begin<'_>)]) -> Result<Self, Failure> {
        let mut files = Vec::new();
        for (vantage_point, begin) in vantage_points {
            let path = folder.join(format!("{name}-{vantage_point}.pcapng"));
            let begun = || {
                let to = Arc::new(Mutex::new(BufWriter::new(File::create(&path)?)));
                let file = CaptureFile { path: path.clone(), to };
                begin(file.clone())?;
                Ok(file)
            };
            files.push(begun().map_err(|error: io::Error| not_written(&path, &error))?);
        }
        Ok(Self { files })
    }

    /// Writes out what has been captured so far; otherwise what went wrong since the beginning.
    pub(super) fn flush(&mut self, world: &impl Laboratory) -> Result<(), Failure> {
        if let Some(error) = world.capture_error() {
            return Err(Failure::new(error.to_string()));
        }
        let mut flushed = self.files.iter_mut().map(Write::flush);
        flushed
            .find_map(Result::err)
            .map_or(Ok(()), |error| Err(Failure::new(error.to_string())))
    }
}

impl Write for CaptureFile {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let written = self.to.lock().unwrap_or_else(PoisonError::into_inner).write(octets);
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
