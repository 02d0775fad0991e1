//! Where programs run.
//!
//! [`Host`] is what a program sees of a world. [`sim`] is the simulated one: virtual time, one thread, deterministic. Both
//! worlds of the design pass every packet through the same [`lastmile_link`] model.

pub mod capture;
mod host;
pub mod sim;
pub mod tcp;

pub use host::{Host, Listener};
