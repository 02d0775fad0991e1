//! Room on the disk that a log keeps for itself in a file of zeros, so that it can delete and move its write-ahead log where nobody has any room left.

use super::private;
use std::io;
use std::path::{Path, PathBuf};

/// The most that is kept, and the share of what is free: our own choice.
const RESERVE_MAX: u64 = 16 << 20;
const SHARE: u64 = 8;
/// It is written in pieces of this size.
const PIECE: usize = 64 << 10;

/// The file.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    /// The most bytes of the log.
    pub(super) most_bytes: u64,
    /// What it holds, or is to.
    pub(super) bytes: u64,
    is_held: bool,
}

impl Reserve {
    /// Opens the file of a log that may have so many bytes. It holds nothing yet, unless it did before.
    pub(super) fn open(path: PathBuf, most_bytes: u64) -> io::Result<Self> {
        let present = private::create_file(&path)?.metadata()?.len();
        let bytes = if present > 0 {
            present
        } else {
            share(free_bytes(&path)?, most_bytes)
        };
        Ok(Self {
            path,
            most_bytes,
            bytes,
            is_held: present > 0,
        })
    }

    /// Takes all of the room, or nothing; whether it is held. It becomes larger where there is more room than before: a commit that needs more than
    /// the reserve would never fit.
    pub(super) fn take(&mut self) -> bool {
        let held = if self.is_held { self.bytes } else { 0 };
        let wanted = free_bytes(&self.path).map_or(0, |free| share(free.saturating_add(held), self.most_bytes));
        let before = self.bytes;
        self.bytes = before.max(wanted);
        if held < self.bytes {
            if self.fill(held).is_ok() {
                self.is_held = true;
            } else {
                self.bytes = before;
                self.cut(held);
            }
        }
        self.is_held
    }

    fn fill(&self, from: u64) -> io::Result<()> {
        let file = private::create_file(&self.path)?;
        let mut at = from;
        while at < self.bytes {
            let piece = (self.bytes - at).min(PIECE as u64);
            private::write_at(&file, at, &[0; PIECE][..piece as usize])?;
            at += piece;
        }
        Ok(())
    }

    /// Gives the room away.
    pub(super) fn release(&mut self) {
        self.cut(0);
    }

    /// Holds no more than so many bytes. A file that cannot be cut stays as it is, which costs nothing but the room.
    fn cut(&mut self, bytes: u64) {
        let cut = private::create_file(&self.path).and_then(|file| file.set_len(bytes));
        self.is_held = bytes > 0 || cut.is_err();
    }

    /// Whether the disk has less room than the log keeps.
    pub(super) fn is_scarce(&self) -> bool {
        free_bytes(&self.path).is_ok_and(|free| free < self.bytes)
    }
}

/// What a log keeps where so many bytes are free.
fn share(free: u64, most_bytes: u64) -> u64 {
    (free.min(most_bytes) / SHARE).min(RESERVE_MAX)
}

/// What an ordinary user may still write to a file's disk.
#[cfg(unix)]
fn free_bytes(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> io::Result<u64> {
    Ok(u64::MAX)
}
