//! libFuzzer's entry point to the target `event_line`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::event_line(input));
