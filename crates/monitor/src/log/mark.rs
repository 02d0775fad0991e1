//! The mark: how far the log was acknowledged, written beside the database before each acknowledgement.
//!
//! SQLite reads its write-ahead log up to the first frame whose checksum fails, and takes that for the end. So a flipped bit there would end
//! the log early, without a word. The mark says where the end was. It is never ahead of what was committed; after a power failure it may be
//! behind, which claims less.
//!
//! The file has two slots of 64 bytes, 512 apart, which are written in turn: `LMA1`, the CRC-32 of what follows, the turn, the acknowledged
//! end, the part of it that was acknowledged for power failures, and the machine's boot id (36 bytes).

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

const MAGIC: [u8; 4] = *b"LMA1";
const SLOT: usize = 512;
const RECORD: usize = 68;
const BOOT: usize = 36;

/// How far a log was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Acknowledged {
    /// All positions before this one were.
    pub(super) end: u64,
    /// Those before this one for power failures.
    pub(super) power_end: u64,
    /// In which life of the machine.
    pub(super) boot: String,
    turn: u64,
}

/// What the file said when it was opened.
#[derive(Debug)]
pub(super) enum Found {
    /// There was none.
    Absent,
    /// Neither slot can be read.
    Damaged,
    /// The later slot that can be read.
    Acknowledged(Acknowledged),
}

#[derive(Debug)]
pub(super) struct Mark {
    file: File,
    last: Acknowledged,
}

impl Mark {
    /// Opens the mark's file, and makes it where there is none.
    pub(super) fn open(path: &Path, boot: String) -> io::Result<(Self, Found)> {
        let is_there = path.exists();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let slots = [0, SLOT].map(|at| bytes.get(at..at + RECORD).and_then(decode));
        let latest = slots.into_iter().flatten().max_by_key(|slot| slot.turn);
        if bytes.len() < 2 * SLOT {
            // So that later writes need no room on the disk.
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            bytes.resize(2 * SLOT, 0);
            file.write_all(&bytes)?;
        }
        let last = Acknowledged {
            end: 0,
            power_end: 0,
            boot,
            turn: latest.as_ref().map_or(0, |latest| latest.turn),
        };
        let found = match latest {
            Some(latest) => Found::Acknowledged(latest),
            None if is_there && bytes.iter().any(|byte| *byte != 0) => Found::Damaged,
            None => Found::Absent,
        };
        Ok((Self { file, last }, found))
    }

    /// States what is acknowledged now that the log was opened, whatever the file says.
    pub(super) fn begin(&mut self, end: u64, power_end: u64) -> io::Result<()> {
        self.last.power_end = power_end;
        self.last.end = end;
        self.put()
    }

    /// States that all before `end` is acknowledged, and safe from power failures where `power` holds.
    pub(super) fn write(&mut self, end: u64, power: bool) -> io::Result<()> {
        let power_end = if power { end } else { self.last.power_end };
        if (end, power_end) == (self.last.end, self.last.power_end) {
            return Ok(());
        }
        self.last.end = end;
        self.last.power_end = power_end;
        self.put()
    }

    fn put(&mut self) -> io::Result<()> {
        self.last.turn += 1;
        let at = SLOT * (self.last.turn % 2) as usize;
        self.file.seek(SeekFrom::Start(at as u64))?;
        self.file.write_all(&encode(&self.last))
    }
}

fn encode(mark: &Acknowledged) -> [u8; RECORD] {
    let mut bytes = [0; RECORD];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[8..16].copy_from_slice(&mark.turn.to_le_bytes());
    bytes[16..24].copy_from_slice(&mark.end.to_le_bytes());
    bytes[24..32].copy_from_slice(&mark.power_end.to_le_bytes());
    let boot = &mark.boot.as_bytes()[..mark.boot.len().min(BOOT)];
    bytes[32..32 + boot.len()].copy_from_slice(boot);
    let sum = crc32fast::hash(&bytes[8..]);
    bytes[4..8].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<Acknowledged> {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let sum = u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes"));
    if bytes[..4] != MAGIC || sum != crc32fast::hash(&bytes[8..]) {
        return None;
    }
    let boot = std::str::from_utf8(&bytes[32..]).ok()?;
    Some(Acknowledged {
        turn: number(8),
        end: number(16),
        power_end: number(24),
        boot: boot.trim_end_matches('\0').to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mark_is_found_and_a_damaged_slot_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("acknowledged");
        let (mut mark, found) = Mark::open(&path, "boot".to_owned()).unwrap();
        assert!(matches!(found, Found::Absent));
        mark.write(5, false).unwrap();
        mark.write(9, true).unwrap();
        mark.write(12, false).unwrap();
        let found = |path: &Path| Mark::open(path, String::new()).unwrap().1;
        let Found::Acknowledged(last) = found(&path) else {
            panic!()
        };
        assert_eq!((last.end, last.power_end, last.boot.as_str()), (12, 9, "boot"));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[SLOT + 17] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let Found::Acknowledged(last) = found(&path) else {
            panic!()
        };
        assert_eq!(last.end, 9);
        bytes[9] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert!(matches!(found(&path), Found::Damaged));
    }
}
