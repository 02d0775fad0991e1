//! libFuzzer's entry point: feeds its inputs to the target that the environment variable `FUZZ_TARGET` names.
#![no_main]

use lastmile_fuzz::target::{self, Target};
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
    target::find(&name).unwrap_or_else(|| panic!("there is no target {name:?}"))
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| (TARGET.run)(input));
