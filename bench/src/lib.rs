//! What do benchmarks share? One simulated transfer, and how a handful of runs is summed up.
//!
//! Here the clock of this machine is read, and nowhere else but in the binary and in the calibration of cost tables.

pub mod spread;
pub mod transfer;
