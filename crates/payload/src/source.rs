//! How is a file of a user's read, whatever it holds? What readers of traffic and of transcripts have in common.
//!
//! What a format means is for its reader.

pub(crate) mod base64;
mod error;
pub(crate) mod lenient;
pub(crate) mod opening;
pub(crate) mod quoted;
pub(crate) mod remark;
pub(crate) mod strict;

pub use error::{Place, SourceError};
pub use remark::Remark;
