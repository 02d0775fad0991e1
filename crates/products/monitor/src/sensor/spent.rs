//! The bytes that a sensor has spent of its budget, in a file: a sensor that is killed and started again does not spend them twice.

use super::budget::WINDOW;
use crate::log::records::{Record, RecordFile, number};
use lastmile_events::Timestamp;
use std::io;
use std::path::Path;

const MAGIC: [u8; 4] = *b"LMS1";
/// The time, the bytes, and whether a post was on its way.
const LENGTH: usize = 24;

/// The file, and what it said when it was opened.
#[derive(Debug)]
pub(super) struct Spent {
    file: RecordFile,
    before: Record,
}

impl Spent {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let (file, mut records) = RecordFile::open(path, MAGIC, LENGTH, 1)?;
        let before = records.swap_remove(0);
        Ok(Self { file, before })
    }

    /// What may have been on the wire within the window before `now`, in the life before; a whole window where the file cannot tell.
    pub(super) fn lately(&self, now: Timestamp, window_bytes: u64) -> u64 {
        let content = match &self.before {
            Record::Absent => return 0,
            Record::Damaged => return window_bytes,
            Record::Content(content) => content,
        };
        let (time, bytes, is_open) = (number(content, 0) as i64, number(content, 8), number(content, 16) != 0);
        let silence = now.unix_nanoseconds().saturating_sub(time);
        // A clock that was set back tells nothing.
        let is_over = !is_open && silence > WINDOW.as_nanos() as i64;
        if is_over { 0 } else { bytes.min(window_bytes) }
    }

    /// States what is spent of the window that ends now, before it is sent, and when it is answered.
    pub(super) fn write(&mut self, now: Timestamp, bytes: u64, is_open: bool) -> io::Result<()> {
        let numbers = [now.unix_nanoseconds() as u64, bytes, u64::from(is_open)];
        self.file.write(0, &numbers.map(u64::to_le_bytes).concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_spent_counts_for_a_window_and_what_was_on_its_way_counts_from_now_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spent");
        let now = Timestamp::from_unix_nanoseconds(1 << 60);
        let second = Duration::from_secs(1);
        let lately = |now| Spent::open(&path).unwrap().lately(now, 900);
        assert_eq!(lately(now), 0);
        let mut spent = Spent::open(&path).unwrap();
        spent.write(now.saturating_sub(WINDOW - second), 500, false).unwrap();
        assert_eq!(lately(now), 500);
        spent.write(now.saturating_sub(WINDOW + second), 500, false).unwrap();
        assert_eq!(lately(now), 0);
        assert_eq!(lately(now.saturating_sub(WINDOW * 3)), 500, "the clock was set back");
        spent.write(now.saturating_sub(WINDOW * 9), 700, true).unwrap();
        assert_eq!(lately(now), 700);
        std::fs::write(&path, [7; 1024]).unwrap();
        assert_eq!(lately(now), 900);
    }
}
