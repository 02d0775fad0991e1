//! libFuzzer's entry point to the target `http_response`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::http_response(input));
