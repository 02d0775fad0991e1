//! libFuzzer's entry point to the target `frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::frames(input));
