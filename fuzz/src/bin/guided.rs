//! Runs the target that `TWINFOLD_FUZZ_TARGET` names, with inputs of libFuzzer. It begins with what is in `TWINFOLD_FUZZ_FOLDER`:
//! `seeds/*`, and `words` as a dictionary, both of which are written first.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use fuzz::{Target, dictionary, target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = setting("TWINFOLD_FUZZ_TARGET");
    target(&name).unwrap_or_else(|| panic!("TWINFOLD_FUZZ_TARGET: {name:?} is no target"))
});

#[expect(clippy::disallowed_methods, reason = "libFuzzer has the command line")]
fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|error| panic!("{name}: {error}; `cargo xtask fuzz` sets it"))
}

/// libFuzzer reads files.
fn prepare() {
    let folder = PathBuf::from(setting("TWINFOLD_FUZZ_FOLDER"));
    let seeds = folder.join("seeds");
    fs::create_dir_all(&seeds).expect("a folder of seeds");
    for (index, seed) in (TARGET.seeds)().into_iter().enumerate() {
        fs::write(seeds.join(index.to_string()), seed).expect("a seed");
    }
    fs::write(folder.join("words"), dictionary()).expect("the words");
}

fuzz_target!(init: prepare(), |bytes: &[u8]| (TARGET.run)(bytes));
