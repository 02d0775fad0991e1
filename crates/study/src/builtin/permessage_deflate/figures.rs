//! Where in the record of a run does a figure of this study stand, and how is it said?

use super::published::{BYTES_OF_2013, MESSAGES_OF_2013, Row};
pub(super) use crate::builtin::cells::{cell, levels_of, mean};
use lastmile_report::record::{Cell, Finding, Run};
use std::fmt;

/// The cell of a printed row.
pub(super) fn of_row<'a>(run: &'a Run, row: &Row) -> Option<&'a Cell> {
    cell(run, row.part, &[row.level])
}

/// The mean compression ratio in a cell.
pub(super) fn ratio(run: &Run, part: &str, levels: &[(&str, &str)]) -> Option<f64> {
    mean(run, part, levels, "compression_ratio")
}

/// The mean of a comparison that the study makes once.
pub(super) fn compared(run: &Run, name: &str) -> Option<f64> {
    Some(run.ratios.iter().find(|ratio| ratio.name == name)?.mean)
}

/// The messages that all parts have in common: what they are called, and how many and how long they are.
pub(super) struct Transcript<'a> {
    name: &'a str,
    pub(super) messages: f64,
    pub(super) bytes: f64,
}

impl<'a> Transcript<'a> {
    pub(super) fn of(run: &'a Run) -> Option<Self> {
        let part = "context-takeover";
        let levels = [("context_takeover", "on")];
        Some(Self {
            name: levels_of(run, part, "workload").first().copied().unwrap_or(CHAT),
            messages: mean(run, part, &levels, "messages")?,
            bytes: mean(run, part, &levels, "message_bytes")?,
        })
    }

    /// Whether it is the one of 2013, as far as its numbers of messages and bytes tell.
    pub(super) fn is_of_2013(&self) -> bool {
        self.messages == f64::from(MESSAGES_OF_2013) && self.bytes == f64::from(BYTES_OF_2013)
    }

    /// As it is named within a sentence.
    pub(super) fn told(&self) -> String {
        if self.name == CHAT {
            "the chat".to_owned()
        } else {
            self.name.to_owned()
        }
    }

    /// Whether it is what the study generates.
    pub(super) fn is_ours(&self) -> bool {
        self.name == CHAT
    }
}

/// What the study calls its generated messages.
const CHAT: &str = "chat";

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Held,
    InPart,
    DidNotHold,
}

impl Verdict {
    /// Held where all is so, in part where some is.
    pub(super) fn of(parts: &[bool]) -> Self {
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

/// A claim under what it says, and what became of it.
pub(super) fn claim(says: &str, verdict: Verdict, text: &str) -> Option<Finding> {
    Some(Finding {
        title: format!("Claim: {says}"),
        text: format!("{verdict}. {text}"),
        inferred: false,
    })
}

/// An answer to what was asked.
pub(super) fn answer(asked: &str, text: String) -> Option<Finding> {
    Some(Finding {
        title: asked.to_owned(),
        text,
        inferred: false,
    })
}

/// `1 % slower`, `23 % faster`, `as fast`: a time by that of the setting it is compared with.
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

/// A ratio with as many digits as were printed.
pub(super) fn digits(ratio: f64) -> String {
    format!("{ratio:.3}")
}

/// Octets in KiB, as memory was printed.
pub(super) fn kib(bytes: f64) -> String {
    let kib = bytes / 1024.0;
    if kib.fract() == 0.0 {
        format!("{kib} KiB")
    } else {
        format!("{kib:.1} KiB")
    }
}
