//! Reads the inputs that fuzzing begins with, and stores those that broke a claim.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// An input, with the name of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The name of its file.
    pub name: String,
    /// Its content.
    pub input: Vec<u8>,
}

/// This crate's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The corpus of a target, by name.
///
/// # Errors
/// When its folder cannot be read.
pub fn read(target: &str) -> io::Result<Vec<Sample>> {
    let folder = root().join("corpus").join(target);
    let mut paths = fs::read_dir(&folder)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<io::Result<Vec<_>>>()
        })
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))?;
    paths.sort();
    let sample = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Sample {
            name,
            input: fs::read(path)?,
        })
    };
    paths.into_iter().map(sample).collect()
}

/// The folder of a target's inputs that are not part of the corpus.
pub fn artifacts(target: &str) -> PathBuf {
    root().join("artifacts").join(target)
}

/// Stores an input that broke a claim, under a name made from its content; returns its path.
///
/// # Errors
/// When it cannot be written.
pub fn keep(target: &str, input: &[u8]) -> io::Result<PathBuf> {
    let folder = artifacts(target);
    fs::create_dir_all(&folder)?;
    // FNV-1a (Fowler, Noll and Vo): a name, not a proof.
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let path = folder.join(format!("crash-{hash:016x}"));
    fs::write(&path, input)?;
    Ok(path)
}
