//! Where programs run.
//!
//! [`Host`] is what a program sees of a world, [`World`] what a study does. [`sim`] is the simulated one: virtual time, one thread,
//! deterministic. [`emu`] is the emulated one: real kernels in network namespaces, in real time. Both pass every packet through
//! the same [`lastmile_link`] model.

pub mod capture;
#[cfg(target_os = "linux")]
pub mod emu;
mod host;
pub mod sim;
pub mod tcp;
mod world;

pub use host::{Host, Listener};
pub use world::{Halt, LinkId, World};
