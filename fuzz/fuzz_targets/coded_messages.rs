//! libFuzzer's entry point to the target `coded_messages`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::coded_messages(input));
