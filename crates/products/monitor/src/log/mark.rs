//! The mark: how far the log was acknowledged, written beside the database before each acknowledgement.
//!
//! SQLite reads its write-ahead log up to the first frame whose checksum fails, and takes that for the end. So a flipped bit there would end
//! the log early, without a word. The mark says where the end was. It is never ahead of what was committed; after a power failure it may be
//! behind, which claims less.
//!
//! The file has one record: the acknowledged end, the part of it that was acknowledged for power failures, and the machine's boot id (36 bytes).

use super::records::{Record, RecordFile, number};
use std::io;
use std::path::Path;

const MAGIC: [u8; 4] = *b"LMA1";
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
}

/// What the file said when it was opened.
pub(super) type StoredMark = Record<Acknowledged>;

#[derive(Debug)]
pub(super) struct AcknowledgedMark {
    file: RecordFile,
    last: Acknowledged,
}

impl AcknowledgedMark {
    /// Opens the mark's file, and makes it where there is none.
    pub(super) fn open(path: &Path, boot: String) -> io::Result<(Self, StoredMark)> {
        let (file, records) = RecordFile::open(path, MAGIC, 16 + BOOT, 1)?;
        let found = match &records[0] {
            Record::Absent => Record::Absent,
            Record::Damaged => Record::Damaged,
            Record::Content(content) => decode(content).map_or(Record::Damaged, Record::Content),
        };
        let last = Acknowledged {
            end: 0,
            power_end: 0,
            boot,
        };
        Ok((Self { file, last }, found))
    }

    /// States what is acknowledged now that the log was opened, whatever the file says.
    pub(super) fn begin(&mut self, end: u64, power_end: u64) -> io::Result<()> {
        self.last.power_end = power_end;
        self.last.end = end;
        self.put()?;
        self.file.sync()
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
        let Acknowledged { end, power_end, boot } = &self.last;
        let boot = &boot.as_bytes()[..boot.len().min(BOOT)];
        let content = [&end.to_le_bytes()[..], &power_end.to_le_bytes(), boot].concat();
        self.file.write(0, &content)
    }
}

/// The boot ID of the machine; empty if unknown.
pub(super) fn boot_id() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.trim().to_owned()
}

fn decode(content: &[u8]) -> Option<Acknowledged> {
    let boot = std::str::from_utf8(&content[16..]).ok()?;
    Some(Acknowledged {
        end: number(content, 0),
        power_end: number(content, 8),
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
        let (mut mark, found) = AcknowledgedMark::open(&path, "boot".to_owned()).unwrap();
        assert!(matches!(found, StoredMark::Absent));
        mark.write(5, false).unwrap();
        mark.write(9, true).unwrap();
        mark.write(12, false).unwrap();
        let found = |path: &Path| AcknowledgedMark::open(path, String::new()).unwrap().1;
        let StoredMark::Content(last) = found(&path) else {
            panic!()
        };
        assert_eq!((last.end, last.power_end, last.boot.as_str()), (12, 9, "boot"));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[512 + 17] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let StoredMark::Content(last) = found(&path) else {
            panic!()
        };
        assert_eq!(last.end, 9);
        bytes[9] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert!(matches!(found(&path), StoredMark::Damaged));
    }
}
