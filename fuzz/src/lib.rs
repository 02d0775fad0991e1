//! Does any reader of foreign bytes panic, hang or contradict itself? One target for each, and what drives them.
//!
//! A [`target`] is a plain function of bytes that panics where a claim about its reader does not hold. Two things call it: the
//! runner of this crate, on any Rust, with every file of the corpus and a fixed number of seeded [`mutation`]s of them; and
//! libFuzzer, which is led by coverage and goes on for as long as it is let (`fuzz_targets/`, behind the feature
//! `libfuzzer`).

pub mod corpus;
pub mod mutation;
pub mod target;
