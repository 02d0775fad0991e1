//! Looks up the figures of this study in the record of a run, and formats them.

use super::reference_values::{BYTES_OF_2013, MESSAGES_OF_2013, Row};
pub(super) use crate::record_lookup::{cell, levels_of, mean};
use lastmile_report::record::{Cell, Finding, Run};
use std::fmt;

/// The cell of a printed row.
pub(super) fn cell_of_row<'a>(run: &'a Run, row: &Row) -> Option<&'a Cell> {
    cell(run, row.part, &[row.level])
}

/// The mean compression ratio in a cell.
pub(super) fn ratio(run: &Run, part: &str, levels: &[(&str, &str)]) -> Option<f64> {
    mean(run, part, levels, "compression_ratio")
}

/// The mean of a ratio that occurs once in the study.
pub(super) fn compared(run: &Run, name: &str) -> Option<f64> {
    Some(run.ratios.iter().find(|ratio| ratio.name == name)?.mean)
}

/// The messages that all parts have in common: their name, number and total size.
pub(super) struct Transcript<'a> {
    name: &'a str,
    pub(super) messages: f64,
    pub(super) bytes: f64,
}

impl<'a> Transcript<'a> {
    pub(super) fn from_run(run: &'a Run) -> Option<Self> {
        let part = "context-takeover";
        let levels = [("context_takeover", "on")];
        Some(Self {
            name: levels_of(run, part, "workload").first().copied().unwrap_or(CHAT),
            messages: mean(run, part, &levels, "messages")?,
            bytes: mean(run, part, &levels, "message_bytes")?,
        })
    }

    /// Whether it is the one of 2013, judging by its numbers of messages and bytes.
    pub(super) fn is_of_2013(&self) -> bool {
        self.messages == f64::from(MESSAGES_OF_2013) && self.bytes == f64::from(BYTES_OF_2013)
    }

    /// Its name within a sentence.
    pub(super) fn name_in_sentence(&self) -> String {
        if self.name == CHAT {
            "the chat".to_owned()
        } else {
            self.name.to_owned()
        }
    }

    /// Whether it is the chat that the study generates.
    pub(super) fn is_ours(&self) -> bool {
        self.name == CHAT
    }
}

/// The name of the generated messages in the study.
const CHAT: &str = "chat";

/// Whether a claim held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Held,
    InPart,
    DidNotHold,
}

impl Verdict {
    /// Held where all parts hold, in part where some do.
    pub(super) fn from_parts(parts: &[bool]) -> Self {
        if parts.iter().all(|holds| *holds) {
            Self::Held
        } else if parts.iter().any(|holds| *holds) {
            Self::InPart
        } else {
            Self::DidNotHold
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "Held",
            Self::InPart => "Held in part",
            Self::DidNotHold => "Did not hold",
        })
    }
}

/// The finding on a claim: its statement as the title, then whether it held.
pub(super) fn claim(says: &str, verdict: Verdict, text: &str) -> Option<Finding> {
    Some(Finding {
        title: format!("Claim: {says}"),
        text: format!("{verdict}. {text}"),
        inferred: false,
    })
}

/// The finding that answers a question.
pub(super) fn answer(asked: &str, text: String) -> Option<Finding> {
    Some(Finding {
        title: asked.to_owned(),
        text,
        inferred: false,
    })
}

/// `1 % slower`, `23 % faster`, `as fast`: a time divided by that of the setting it is compared with.
pub(super) fn slower(quotient: f64) -> String {
    if quotient == 1.0 {
        return "as fast".to_owned();
    }
    let change = lastmile_report::number::percent((quotient - 1.0).abs());
    if quotient > 1.0 {
        format!("{change} slower")
    } else {
        format!("{change} faster")
    }
}

/// A ratio with the number of digits that was printed.
pub(super) fn digits(ratio: f64) -> String {
    format!("{ratio:.3}")
}

/// Bytes in KiB, as memory was printed.
pub(super) fn kib(bytes: f64) -> String {
    let kib = bytes / 1024.0;
    if kib.fract() == 0.0 {
        format!("{kib} KiB")
    } else {
        format!("{kib:.1} KiB")
    }
}
