//! The parts that benchmarks share: a simulated transfer, and the summary of a few runs.
//!
//! This crate reads the machine's clock, as do only the binary and the calibration of cost tables.

pub mod spread;
pub mod transfer;
