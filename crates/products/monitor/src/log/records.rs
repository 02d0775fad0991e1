//! Small files of records that are overwritten in place, so that writing one needs no room on the disk and is never half done.
//!
//! Each record has two slots of 512 bytes, which are written in turn: a magic number, the CRC-32 of what follows, the turn, and the content. Of two
//! slots that can be read the later one counts.

use super::private;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

const SLOT: usize = 512;
/// Before the content: the magic number, the checksum and the turn.
const HEAD: usize = 16;

/// A file of records.
#[derive(Debug)]
pub(crate) struct RecordFile {
    file: File,
    magic: [u8; 4],
    /// The bytes of a record's content.
    length: usize,
    /// The turn of each record's last slot.
    turns: Vec<u64>,
}

/// What a file says of a record when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Record<T = Vec<u8>> {
    /// It was never written.
    Absent,
    /// Neither slot can be read.
    Damaged,
    /// The content of the later slot that can be read.
    Content(T),
}

/// The number that a content has at a place.
pub(crate) fn number(content: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(content[at..at + 8].try_into().expect("eight bytes"))
}

impl RecordFile {
    /// Opens a file, makes it where there is none, and gives its records: `least` of them, or as many as it has.
    pub(crate) fn open(path: &Path, magic: [u8; 4], length: usize, least: usize) -> io::Result<(Self, Vec<Record>)> {
        let mut opened = Self {
            file: private::create_file(path)?,
            magic,
            length,
            turns: Vec::new(),
        };
        let mut bytes = Vec::new();
        opened.file.read_to_end(&mut bytes)?;
        let wanted = bytes.len().next_multiple_of(2 * SLOT).max(2 * SLOT * least);
        private::write_at(&opened.file, bytes.len() as u64, &vec![0; wanted - bytes.len()])?;
        bytes.resize(wanted, 0);
        let records = bytes.chunks(2 * SLOT).map(|slots| opened.read(slots)).collect();
        Ok((opened, records))
    }

    fn read(&mut self, slots: &[u8]) -> Record {
        let read = slots.chunks(SLOT).filter_map(|slot| self.decode(slot));
        let latest = read.max_by_key(|(turn, _)| *turn);
        self.turns.push(latest.as_ref().map_or(0, |(turn, _)| *turn));
        match latest {
            Some((_, content)) => Record::Content(content),
            None if slots.iter().all(|byte| *byte == 0) => Record::Absent,
            None => Record::Damaged,
        }
    }

    fn decode(&self, slot: &[u8]) -> Option<(u64, Vec<u8>)> {
        let record = &slot[..HEAD + self.length];
        let sum = u32::from_le_bytes(record[4..8].try_into().expect("four bytes"));
        if record[..4] != self.magic || sum != crc32fast::hash(&record[8..]) {
            return None;
        }
        Some((number(record, 8), record[HEAD..].to_vec()))
    }

    /// Appends room for records that were never written.
    pub(crate) fn grow(&mut self, records: usize) -> io::Result<()> {
        let end = 2 * SLOT * self.turns.len();
        private::write_at(&self.file, end as u64, &vec![0; 2 * SLOT * records])?;
        self.turns.resize(self.turns.len() + records, 0);
        Ok(())
    }

    /// Writes a record. A shorter content is filled up with zeros.
    pub(crate) fn write(&mut self, record: usize, content: &[u8]) -> io::Result<()> {
        let turn = self.turns[record] + 1;
        let mut bytes = vec![0; HEAD + self.length];
        bytes[..4].copy_from_slice(&self.magic);
        bytes[8..HEAD].copy_from_slice(&turn.to_le_bytes());
        bytes[HEAD..HEAD + content.len()].copy_from_slice(content);
        let sum = crc32fast::hash(&bytes[8..]);
        bytes[4..8].copy_from_slice(&sum.to_le_bytes());
        let slot = 2 * record + (turn % 2) as usize;
        private::write_at(&self.file, (SLOT * slot) as u64, &bytes)?;
        self.turns[record] = turn;
        Ok(())
    }

    /// Makes what was written survive a power failure.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_slot_leaves_the_record_before_and_other_records_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        let open = || RecordFile::open(&path, *b"TEST", 4, 1).unwrap();
        let content = |bytes: &[u8; 4]| Record::Content(bytes.to_vec());
        let (mut file, records) = open();
        assert_eq!(records, [Record::Absent]);
        file.grow(2).unwrap();
        file.write(0, b"once").unwrap();
        file.write(2, b"more").unwrap();
        file.write(0, b"then").unwrap();
        assert_eq!(open().1, [content(b"then"), Record::Absent, content(b"more")]);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[HEAD] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(open().1, [content(b"once"), Record::Absent, content(b"more")]);
        bytes[SLOT + HEAD] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(open().1, [Record::Damaged, Record::Absent, content(b"more")]);
    }
}
