//! libFuzzer's entry point to the target `accept_encoding`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::accept_encoding(input));
