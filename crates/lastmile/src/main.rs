//! The binary: verbs and flags only.
fn main() {}
