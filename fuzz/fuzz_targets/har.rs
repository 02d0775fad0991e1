//! libFuzzer's entry point to the target `har`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::har(input));
