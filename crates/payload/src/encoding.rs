//! How do values become bytes?
//!
//! One module an encoding, each with a writer and a reader. What is encoded is the business of [`workload`](crate::workload);
//! making the bytes fewer is that of codecs.

pub mod ccsds;
pub mod java;
