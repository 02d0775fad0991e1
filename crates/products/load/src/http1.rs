//! HTTP/1.1 as a client speaks it, sans-IO: responses read as they arrive.
//!
//! The client stores no body: it checks the framing of a response and counts its bytes.

mod response;

pub use response::{HEAD_MAX, ResponseError, ResponseReader};

#[cfg(test)]
mod tests;
