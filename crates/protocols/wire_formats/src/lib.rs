//! Encodings of values as bytes, each with a writer and a reader.
//!
//! One module per encoding. What is encoded is left to `lastmile-workload`; compressing the bytes is left to codecs.

pub mod ccsds;
pub mod cdr;
pub mod ice;
pub mod java;
pub mod positional;
