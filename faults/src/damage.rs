//! Damage to the files of a folder: a flipped bit, a file that is cut off, or one that is gone.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Which file and which place of it: numbers that are scaled to what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    Flip {
        workspace: u64,
        bit: u64,
        /// All bytes are alike; otherwise all files are.
        by_size: bool,
        /// Bytes that are 0 are left out, of which a database has many.
        written_only: bool,
    },
    Cut {
        file: u64,
        per_mille: u64,
    },
    Remove {
        file: u64,
    },
}

impl Damage {
    pub(crate) fn draw(flip: bool, mut below: impl FnMut(u64) -> u64) -> Self {
        let file = below(1 << 40);
        if flip {
            Self::Flip {
                workspace: file,
                bit: below(8),
                by_size: below(2) == 0,
                written_only: below(2) == 0,
            }
        } else if below(3) == 0 {
            Self::Remove { file }
        } else {
            Self::Cut {
                file,
                per_mille: below(1000),
            }
        }
    }

    /// Damages a folder; what it did, in a sentence.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub(crate) fn apply(self, folder: &Path) -> io::Result<String> {
        let mut files: Vec<PathBuf> = fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?;
        files.retain(|file| fs::metadata(file).is_ok_and(|metadata| metadata.len() > 0));
        files.sort();
        if files.is_empty() {
            return Ok("there is no file to damage".to_owned());
        }
        let choose = |file: u64| &files[file as usize % files.len()];
        match self {
            Self::Flip {
                workspace,
                bit,
                by_size,
                written_only,
            } => {
                let chosen = if by_size {
                    &files[..]
                } else {
                    std::slice::from_ref(choose(workspace))
                };
                let mut candidates = Vec::new();
                for file in chosen {
                    let bytes = fs::read(file)?;
                    let offsets = (0..bytes.len()).filter(|at| !written_only || bytes[*at] != 0);
                    candidates.extend(offsets.map(|at| (file, at)));
                }
                if candidates.is_empty() {
                    return Ok("there is no byte to damage".to_owned());
                }
                let (file, at) = candidates[(workspace / 8) as usize % candidates.len()];
                let mut bytes = fs::read(file)?;
                bytes[at] ^= 1 << bit;
                fs::write(file, bytes)?;
                Ok(format!("bit {bit} of byte {at} of {} flipped", file.display()))
            }
            Self::Cut { file, per_mille } => {
                let file = choose(file);
                let length = fs::metadata(file)?.len() * per_mille / 1000;
                OpenOptions::new().write(true).open(file)?.set_len(length)?;
                Ok(format!("{} cut off after {length} bytes", file.display()))
            }
            Self::Remove { file } => {
                fs::remove_file(choose(file))?;
                Ok(format!("{} removed", choose(file).display()))
            }
        }
    }
}
