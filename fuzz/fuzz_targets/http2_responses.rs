//! libFuzzer's entry point to the target `http2_responses`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::http2_responses(input));
