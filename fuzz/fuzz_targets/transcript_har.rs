//! libFuzzer's entry point to the target `transcript_har`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::transcript_har(input));
