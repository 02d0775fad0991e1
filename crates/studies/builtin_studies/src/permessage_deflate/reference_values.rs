//! The printed rows: Peter Thorson on the hybi list, 15 October 2013.
//!
//! They are of 666 JSON messages of a chat service, 87,904 B in total, compressed by zlib's deflate; one setting is varied at a time, and
//! the others are zlib's defaults. The study's file has the printed figures.

use crate::record_lookup::cell;
use lastmile_codec::message::Deflate;
use lastmile_report::record::{Cell, Published, Run};

/// The parts that have printed rows, with the factor and its levels.
const ROWS: [(&str, &str, &[&str]); 4] = [
    ("context-takeover", "context_takeover", &["off", "on"]),
    (
        "window-bits",
        "window_bits",
        &["8", "9", "10", "11", "12", "13", "14", "15"],
    ),
    ("mem-level", "mem_level", &["1", "2", "3", "4", "5", "6", "7", "8", "9"]),
    ("balanced", "message_codec", &["deflate:6/w15/m8", SMALL, SMALLEST]),
];

/// The two balances that were proposed.
const SMALL: &str = "deflate:6/w11/m4";
const SMALLEST: &str = "deflate:6/w11/m1";

/// A printed row: a factor, its level, and the cell that has what was printed of it and what was measured.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) key: &'static str,
    pub(super) level: &'static str,
    pub(super) cell: &'a Cell,
}

/// The printed rows whose cells the run has.
pub(super) fn rows(run: &Run) -> Vec<Row<'_>> {
    let of_part = |(part, key, levels): (&'static str, &'static str, &'static [&'static str])| {
        let row = move |level: &&'static str| {
            let cell = cell(run, part, &[(key, level)])?;
            Some(Row { key, level, cell })
        };
        levels.iter().filter_map(row)
    };
    ROWS.into_iter().flat_map(of_part).collect()
}

impl Row<'_> {
    /// The printed value of a figure, in its base unit.
    pub(super) fn printed(&self, figure: &str) -> Option<f64> {
        match self.cell.figures.get(figure)?.published? {
            Published::Value(value) => Some(value),
            Published::Range(_) => None,
        }
    }

    /// Printed memory per connection, in KiB.
    pub(super) fn printed_kib(&self) -> Option<f64> {
        Some(self.printed("memory_bytes")? / 1024.0)
    }

    pub(super) fn measured(&self, figure: &str) -> Option<f64> {
        Some(self.cell.figures.get(figure)?.mean)
    }

    /// The printed words about the time.
    pub(super) fn time_in_words(&self) -> &'static str {
        match (self.key, self.level) {
            ("window_bits", "8" | "9") => "40 to 50 % slower",
            ("window_bits", "10") => "less slow",
            ("window_bits", _) => "about the same",
            (_, SMALL) => "no penalty",
            (_, SMALLEST) => "about 15 % slower",
            _ => "",
        }
    }

    /// log2 of the window, and the mem level, as asked for.
    pub(super) fn settings(&self) -> (u32, u32) {
        match (self.key, self.level) {
            ("window_bits", bits) => (bits.parse().unwrap_or(15), 8),
            ("mem_level", level) => (15, level.parse().unwrap_or(8)),
            (_, SMALL) => (11, 4),
            (_, SMALLEST) => (11, 1),
            _ => (15, 8),
        }
    }

    /// The memory by the formula that was printed with the rows, in KiB.
    pub(super) fn formula_kib(&self) -> f64 {
        let (window, mem_level) = self.settings();
        formula_kib(window, mem_level)
    }

    /// The same for the settings that zlib runs: with 8 bits it allocates the memory of 9.
    pub(super) fn formula_kib_as_run(&self) -> f64 {
        let (window, mem_level) = self.settings();
        formula_kib(window.max(9), mem_level)
    }
}

/// A window and its chains (2^(w + 2) B), a hash table and the symbols of a block (2^(m + 9) B; zconf.h).
fn formula_kib(window: u32, mem_level: u32) -> f64 {
    f64::from(((1 << (window + 2)) + (1 << (mem_level + 9))) >> 10)
}

/// The size of zlib's state in bytes, which the formula leaves out.
pub(super) fn zlib_state_bytes() -> f64 {
    let usual = Deflate::default();
    usual.zlib_memory().as_f64() - f64::from((1 << 17) + (1 << 17))
}
