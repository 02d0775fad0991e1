//! What the readers of traffic and of transcripts share: detecting formats, decoding JSON and base64, errors and notes.
//!
//! What a format means is left to its reader.

pub(crate) mod base64;
mod error;
pub(crate) mod excerpt;
pub(crate) mod json_lines;
pub(crate) mod json_value;
pub(crate) mod lenient;
pub(crate) mod note;
pub(crate) mod sniff;
pub(crate) mod strict;
pub(crate) mod timestamp;

pub use error::{Position, SourceError};
pub use note::Note;
