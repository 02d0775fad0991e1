//! The parts that benchmarks share: a simulated transfer, a saturated radio, web clients on a radio, and the summary of a few runs.
//!
//! This crate reads the machine's clock, as do only the binary and the calibration of cost tables.

pub mod radio;
pub mod spread;
pub mod transfer;
pub mod wireless_web;
