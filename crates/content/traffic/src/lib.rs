//! The traffic that a user recorded, read from files of foreign origin.
//!
//! - [`responses`]: HTTP responses from a HAR, a folder or JSON lines.
//! - [`messages`]: messages of a connection from text, JSON lines, length-prefixed bytes or a HAR.
//! - [`reading`]: what both share: errors that name their place, lenient and strict JSON, packed files.

pub mod messages;
pub mod reading;
pub mod responses;
