//! The names of a cell's capture files.

use lastmile_study::cell::Cell;
use lastmile_units::Seed;
use std::ops::Range;

/// The greatest length of the readable part of a name: file systems allow 255 bytes, some of which the rest of the name and of copies'
/// names need. Our own choice.
const READABLE_LENGTH_MAX: usize = 100;

/// The name of a world's captures: the cell's description, as far as it fits into a file name; a hash of all its settings, which no two
/// cells share; and the runs.
pub(super) fn name(cell: &Cell, repeats: &Range<u64>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    let described = cell.describe();
    let words = described.split(|c| !plain(c)).filter(|word| !word.is_empty());
    let mut readable = words.collect::<Vec<_>>().join("-");
    readable.truncate(READABLE_LENGTH_MAX);
    let key: String = cell
        .key()
        .iter()
        .map(|(key, level)| format!("{key}={level}\n"))
        .collect();
    let hash = Seed::new(0).derive(&key).get() >> 32;
    let runs = match (repeats.start + 1, repeats.end) {
        (first, last) if first >= last => format!("run-{first}"),
        (first, last) => format!("runs-{first}-to-{last}"),
    };
    format!("{readable}-{hash:08x}-{runs}")
}

#[cfg(test)]
mod tests;
