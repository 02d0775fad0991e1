//! libFuzzer's entry point to the target `java_stream`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::java_stream(input));
