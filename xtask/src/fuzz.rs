//! The targets of `fuzz`, guided by coverage: libFuzzer through cargo-fuzz, without a sanitizer, since our code has no `unsafe`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::process::{root, run, say};

/// Seconds of a target, if nobody says.
const SECONDS: &str = "60";

/// Runs a target, or all in turn, for so many seconds each. What is found is added to the corpus, less what adds nothing; what
/// fails lies in `fuzz/artifacts`.
///
/// # Errors
///
/// If cargo-fuzz is not installed, or a target fails.
pub(crate) fn guided(rest: &[String]) -> anyhow::Result<()> {
    let (names, numbers): (Vec<&String>, Vec<&String>) =
        rest.iter().partition(|argument| argument.parse::<u64>().is_err());
    let seconds = numbers.first().map_or(SECONDS, |number| number.as_str());
    let known = targets()?;
    let wanted: Vec<&String> = if names.is_empty() { known.iter().collect() } else { names };
    for name in &wanted {
        ensure!(known.contains(name), "{name} is none of {}", known.join(", "));
    }
    let program = build()?;
    for name in wanted {
        say(&format!("== {name}\n"));
        let found = root().join("target/fuzz").join(name);
        let (corpus, artifacts) = (root().join("fuzz/corpus").join(name), root().join("fuzz/artifacts"));
        for folder in [&found, &corpus, &artifacts] {
            fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        let mut fuzzer = Command::new(&program);
        fuzzer.env("TWINFOLD_FUZZ_TARGET", name).arg(format!("-max_total_time={seconds}"));
        fuzzer.arg(format!("-artifact_prefix={}/{name}-", artifacts.display()));
        run(fuzzer.args(["-print_final_stats=1", "-max_len=4096"]).arg(&found).arg(&corpus))?;
    }
    Ok(())
}

/// The names of all targets, as the tests of `fuzz` list them.
fn targets() -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(root().join("fuzz/tests/it/main.rs")).context("the tests of fuzz")?;
    let listed = text.rsplit_once("targets! {").map(|(_, listed)| listed).context("no list of targets")?;
    Ok(listed.split_whitespace().take_while(|word| *word != "}").map(str::to_owned).collect())
}

/// Builds the program that has all targets. A compiler that is stable takes the flags of coverage if told so.
fn build() -> anyhow::Result<PathBuf> {
    let folder = root().join("target/guided");
    // The versions that are shipped.
    fs::copy(root().join("Cargo.lock"), root().join("fuzz/guided/Cargo.lock"))
        .context("copying Cargo.lock")?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["fuzz", "build", "--fuzz-dir", "fuzz/guided", "--sanitizer", "none", "--release", "guided"]);
    // As .cargo/config.toml has them, which cargo-fuzz passes over: so the compiler cache knows RocksDB.
    cargo.env("RUSTFLAGS", "-C target-cpu=x86-64-v2 -C target-feature=+pclmulqdq");
    run(cargo.current_dir(root()).env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", &folder))
        .context("cargo-fuzz: `cargo install --locked cargo-fuzz` installs it")?;
    let version = Command::new("rustc").arg("-vV").output().context("the compiler's version")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("the compiler's host")?;
    Ok(folder.join(host).join("release/guided"))
}
