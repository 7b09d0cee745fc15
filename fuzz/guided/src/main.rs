//! Runs the target that `TWINFOLD_FUZZ_TARGET` names, with inputs of libFuzzer.

#![no_main]

use std::sync::LazyLock;

use fuzz::{Target, target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("TWINFOLD_FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|| panic!("TWINFOLD_FUZZ_TARGET: {name:?} is no target"))
});

fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
