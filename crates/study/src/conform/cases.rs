//! What is asked of a server? Every case, in the order in which a reader wants them.
//!
//! Ordinary messages, limits of implementations and TLS are left to others; what is asked here is what goes wrong in servers that pass
//! those: the negotiation of permessage-deflate, what it may send and must take, and what no endpoint may let pass.

mod messages;
mod negotiation;
mod rules;

use super::Case;

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static Case> {
    negotiation::CASES.iter().chain(messages::CASES).chain(rules::CASES)
}
