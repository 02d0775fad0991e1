//! The worlds in which programs run: simulated and emulated.
//!
//! [`Host`] is the interface of programs, [`World`] that of studies. [`sim`] is the simulated world: virtual time, one thread,
//! deterministic. [`emu`] is the emulated world: real kernels in network namespaces, in real time. Both are made from the same
//! [`topology`], and pass every packet through the same [`lastmile_link`] model.

mod air_capture;
#[cfg(target_os = "linux")]
pub mod emu;
mod host;
mod observer;
mod pcapng_writer;
pub mod sim;
pub mod topology;
mod world;

pub use host::{Host, Listener};
pub use observer::{MediumSample, Observer};
pub use topology::{LinkId, MediumId, RadioId};
pub use world::{Halt, MeasuredTimes, World};
