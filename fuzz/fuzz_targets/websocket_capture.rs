//! libFuzzer's entry point to the target `websocket_capture`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| lastmile_fuzz::target::websocket_capture(input));
