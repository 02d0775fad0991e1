//! Quantities that carry their unit, so that no bare number crosses a function boundary.
//!
//! [`ByteCount`] counts bytes, [`BitRate`] is bits per second, [`Instant`] a point in virtual time, [`Probability`] a ratio
//! from 0 to 1, [`Seed`] the root of every random choice. Of radio, [`Dbm`] is a power level, [`Decibels`] a ratio of powers, [`Metres`] a distance. All of them are written and read as a person writes them
//! (`"512 kbit/s"`, `"50 ms"`, `"1 MB"`, `"2 %"`): K is 1000, KiB is 1024, and a number without its unit is refused.
//!
//! Durations are [`std::time::Duration`]; [`duration`] parses and prints them. [`number`] writes figures for a person. [`random`] draws from the generator of a seed.
//! [`workers`] does independent jobs on several threads.

mod byte_count;
mod decibels;
pub mod duration;
mod instant;
mod metres;
pub mod number;
mod power_level;
mod probability;
mod quantity;
pub mod random;
mod rate;
mod seed;
pub mod suggest;
pub mod workers;

pub use byte_count::ByteCount;
pub use decibels::Decibels;
pub use instant::Instant;
pub use metres::Metres;
pub use power_level::Dbm;
pub use probability::Probability;
pub use quantity::ParseQuantityError;
pub use rate::BitRate;
pub use seed::{Rng, Seed};
