//! The printed figures: Peter Thorson on the hybi list, 15 October 2013.
//!
//! They are of 666 JSON messages of a chat service, 87,904 B in total, compressed by zlib's deflate; one setting is varied at a time, and
//! the others are zlib's defaults.

use lastmile_codec::message::Deflate;

/// A printed row: a setting, and what was printed of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// The part of the study that has it.
    pub(super) part: &'static str,
    /// The factor and its level.
    pub(super) level: (&'static str, &'static str),
    /// log2 of the window, and the mem level, as asked for.
    pub(super) settings: (u8, u8),
    /// Compressed by uncompressed size.
    pub(super) ratio: Option<f64>,
    /// Memory per connection, in KiB.
    pub(super) kib: Option<u32>,
    /// The time of a pass over the transcript, in milliseconds.
    pub(super) milliseconds: Option<f64>,
    /// The printed words about the time.
    pub(super) time: &'static str,
}

/// Every row that was printed.
pub(super) const ROWS: [Row; 22] = [
    takeover("off", 0.84),
    takeover("on", 0.30),
    window(8, "8", 0.510, 129, "40 to 50 % slower"),
    window(9, "9", 0.510, 130, "40 to 50 % slower"),
    window(10, "10", 0.435, 132, "less slow"),
    window(11, "11", 0.384, 136, "about the same"),
    window(12, "12", 0.353, 144, "about the same"),
    window(13, "13", 0.330, 160, "about the same"),
    window(14, "14", 0.315, 192, "about the same"),
    window(15, "15", 0.304, 256, "about the same"),
    mem(1, "1", 13.05, 129, Some(0.307)),
    mem(2, "2", 10.41, 130, None),
    mem(3, "3", 10.15, 132, None),
    mem(4, "4", 8.18, 136, None),
    mem(5, "5", 7.63, 144, None),
    mem(6, "6", 7.69, 160, None),
    mem(7, "7", 7.92, 192, None),
    mem(8, "8", 7.69, 256, None),
    mem(9, "9", 7.84, 386, Some(0.304)),
    balanced((15, 8), DEFAULT, 0.304, 256, ""),
    balanced((11, 4), SMALL, 0.384, 16, "no penalty"),
    balanced((11, 1), SMALLEST, 0.385, 5, "about 15 % slower"),
];

/// The default of zlib, and the two balances that were proposed.
pub(super) const DEFAULT: &str = "deflate:6/w15/m8";
pub(super) const SMALL: &str = "deflate:6/w11/m4";
pub(super) const SMALLEST: &str = "deflate:6/w11/m1";

const BLANK: Row = Row {
    part: "",
    level: ("", ""),
    settings: (15, 8),
    ratio: None,
    kib: None,
    milliseconds: None,
    time: "",
};

const fn takeover(level: &'static str, ratio: f64) -> Row {
    Row {
        part: "context-takeover",
        level: ("context_takeover", level),
        ratio: Some(ratio),
        ..BLANK
    }
}

const fn window(bits: u8, level: &'static str, ratio: f64, kib: u32, time: &'static str) -> Row {
    Row {
        part: "window-bits",
        level: ("window_bits", level),
        settings: (bits, 8),
        ratio: Some(ratio),
        kib: Some(kib),
        time,
        ..BLANK
    }
}

const fn mem(mem_level: u8, level: &'static str, milliseconds: f64, kib: u32, ratio: Option<f64>) -> Row {
    Row {
        part: "mem-level",
        level: ("mem_level", level),
        settings: (15, mem_level),
        ratio,
        kib: Some(kib),
        milliseconds: Some(milliseconds),
        ..BLANK
    }
}

const fn balanced(settings: (u8, u8), level: &'static str, ratio: f64, kib: u32, time: &'static str) -> Row {
    Row {
        part: "balanced",
        level: ("message_codec", level),
        settings,
        ratio: Some(ratio),
        kib: Some(kib),
        time,
        ..BLANK
    }
}

impl Row {
    /// The memory by the formula that was printed with the rows, in KiB: a window and its chains (2^(w + 2) B), a hash table and the
    /// symbols of a block (2^(m + 9) B; zconf.h).
    pub(super) const fn formula_kib(&self) -> u32 {
        let (window, mem_level) = self.settings;
        ((1 << (window + 2)) + (1 << (mem_level + 9))) >> 10
    }
}

/// The size of zlib's state in bytes, which the formula leaves out.
pub(super) fn zlib_state_bytes() -> f64 {
    let usual = Deflate::default();
    usual.zlib_memory().as_f64() - f64::from((1 << 17) + (1 << 17))
}

/// The transcript of 2013, and its ratios without and with takeover by stock zlib 1.3, which round to the printed ones.
pub(super) const MESSAGES_OF_2013: u32 = 666;
pub(super) const BYTES_OF_2013: u32 = 87_904;
pub(super) const RATIOS_OF_2013: [f64; 2] = [0.841_202, 0.304_491];
