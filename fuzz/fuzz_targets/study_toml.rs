//! libFuzzer's entry point to the target `study_toml`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::study_toml(input));
