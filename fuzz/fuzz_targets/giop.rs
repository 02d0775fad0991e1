//! libFuzzer's entry point to the target `giop`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::giop(input));
