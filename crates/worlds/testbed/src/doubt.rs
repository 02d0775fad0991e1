//! The doubts that a world itself raises about what ran in it.

use lastmile_report::record::{Doubt, DoubtKind};

/// The kinds of doubts that a world raises.
pub const DOUBTS: &[DoubtKind] = &[DoubtKind::Disturbed];

/// `disturbed`: in a run in real time, packets were late, or were lost where no link lost them, or programs waited for a CPU.
pub fn disturbed(how: &impl std::fmt::Display) -> Doubt {
    Doubt::new(DoubtKind::Disturbed, how.to_string())
}

/// Whether a doubt makes figures meaningless.
pub fn invalidates(doubt: &Doubt) -> bool {
    doubt.kind == DoubtKind::Disturbed
}
