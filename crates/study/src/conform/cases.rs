//! What is asked of a server? Every case, in the order in which a reader wants them.
//!
//! Limits of implementations and TLS are left to others. What is asked here is how a connection begins and ends, the negotiation of
//! permessage-deflate, what it may send and must take, and what no endpoint may let pass.

mod closing;
mod messages;
mod negotiation;
mod requests;
mod rules;
mod text;

use super::Case;

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static Case> {
    [
        requests::CASES,
        negotiation::CASES,
        messages::CASES,
        rules::CASES,
        text::CASES,
        closing::CASES,
    ]
    .into_iter()
    .flatten()
}
