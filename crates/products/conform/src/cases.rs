//! All cases, in the order in which a reader wants them.
//!
//! They cover how a connection opens and closes, the negotiation of permessage-deflate, what the server may send and must accept, and
//! what every endpoint must reject. Limits of implementations and TLS are not tested.

mod closing;
mod frames;
mod messages;
mod negotiation;
mod requests;
mod rules;
mod text;

use super::Case;

/// Every case.
pub(super) fn all() -> impl Iterator<Item = &'static Case> {
    [
        requests::CASES,
        negotiation::CASES,
        negotiation::DECLINED,
        negotiation::SEVERAL_OFFERS,
        messages::CASES,
        rules::CASES,
        rules::CONTROL_OPCODES,
        rules::LENGTHS,
        text::CASES,
        closing::CLOSE_CODES,
        closing::CASES,
    ]
    .into_iter()
    .flatten()
}
