//! Deadlines of which there may be none.

use lastmile_units::Instant;

/// The earlier of two deadlines, where there are any.
#[inline]
pub(super) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
