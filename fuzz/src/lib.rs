//! Fuzz targets, one for each reader of foreign bytes, and the runner that checks that none panics, hangs or contradicts itself.
//!
//! A [`target`] is a plain function of bytes that panics where a claim about its reader does not hold. It has two callers: the
//! runner of this crate, on any Rust, with every file of the corpus and a fixed number of seeded [`mutation`]s of them; and
//! libFuzzer, which is guided by coverage and runs for as long as it is told to (the program `libfuzzer`,
//! behind the feature of that name).

pub mod corpus;
pub mod mutation;
pub mod target;
