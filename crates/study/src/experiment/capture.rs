//! What are the files called that show what passed in a cell?

use crate::cell::Cell;
use lastmile_units::Seed;
use std::ops::Range;

/// The longest part of a name that is for reading: file systems take 255 octets, and the rest of the name and of what they are
/// copied to want some. Our own choice.
const READABLE: usize = 100;

/// What the captures of a world are called: what the cell is, as far as a file's name can say it; a hash of all that is set in it,
/// which no two cells share; and which runs.
pub(super) fn name(cell: &Cell, repeats: &Range<u64>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    let described = cell.describe();
    let words = described.split(|c| !plain(c)).filter(|word| !word.is_empty());
    let mut readable = words.collect::<Vec<_>>().join("-");
    readable.truncate(READABLE);
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
