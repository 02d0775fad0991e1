//! How do values become bytes?
//!
//! One module an encoding, each with a writer and a reader that is fed bytes as they arrive. What is encoded is the business of
//! [`workload`](crate::workload); making the bytes fewer is that of codecs.

pub mod java;
