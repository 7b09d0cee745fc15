//! The targets of `fuzz`, guided by coverage: libFuzzer through `libfuzzer-sys`, without a sanitizer, since our code has no `unsafe`.
//!
//! The toolchain of every other build is enough: this program wraps the compiler for the crates of the workspace
//! (`RUSTC_WORKSPACE_WRAPPER`) and adds the flags of coverage. Dependencies are those that the tests have built.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::process::{cargo, root, run, say, target};

/// Seconds of a target, if nobody says.
const SECONDS: &str = "60";
/// What the compiler is given for our crates: counters at every edge, values of comparisons, and code that is not slow.
/// (A build of the tests has debug assertions and overflow checks, which stay.)
const FLAGS: [&str; 7] = [
    "-Copt-level=2",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=8",
];
/// Variable under which this program wraps the compiler.
const WRAPPER: &str = "TWINFOLD_FUZZ_COMPILER";

/// Runs a target, or one after the other, for so many seconds each. What is found stays in `target/fuzz`, what fails in
/// `fuzz/artifacts`; `keep` adds to `fuzz/corpus` the short inputs that reach something new.
///
/// # Errors
///
/// If the program cannot be built, or a target fails.
pub(crate) fn guided(rest: &[String]) -> anyhow::Result<()> {
    let keep = rest.iter().any(|argument| argument == "keep");
    let (names, numbers): (Vec<&String>, Vec<&String>) =
        rest.iter().filter(|argument| *argument != "keep").partition(|word| word.parse::<u64>().is_err());
    let seconds = numbers.first().map_or(SECONDS, |number| number.as_str());
    let known = targets()?;
    let wanted: Vec<&String> = if names.is_empty() { known.iter().collect() } else { names };
    for name in &wanted {
        ensure!(known.contains(name), "{name} is none of {}", known.join(", "));
    }
    let program = build()?;
    let mut failed = Vec::new();
    for name in wanted {
        say(&format!("== {name}\n"));
        if let Err(error) = fuzz(&program, name, seconds, keep) {
            say(&format!("{error:#}\n"));
            failed.push(name.as_str());
        }
    }
    ensure!(failed.is_empty(), "these fail, with inputs in fuzz/artifacts: {}", failed.join(", "));
    Ok(())
}

fn fuzz(program: &PathBuf, name: &str, seconds: &str, keep: bool) -> anyhow::Result<()> {
    let found = target().join("fuzz").join(name);
    let (inputs, corpus) = (found.join("inputs"), root().join("fuzz/corpus").join(name));
    let artifacts = root().join("fuzz/artifacts");
    for folder in [&inputs, &artifacts] {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    let fuzzer = |flags: &[&str]| {
        let mut fuzzer = Command::new(program);
        fuzzer.env("TWINFOLD_FUZZ_TARGET", name).env("TWINFOLD_FUZZ_FOLDER", &found).args(flags);
        fuzzer.arg(format!("-artifact_prefix={}/{name}-", artifacts.display()));
        fuzzer
    };
    let time = format!("-max_total_time={seconds}");
    let words = format!("-dict={}", found.join("words").display());
    let mut running =
        fuzzer(&[&time, &words, "-timeout=10", "-max_len=4096", "-print_final_stats=1", "-verbosity=0"]);
    running.arg(&inputs).arg(found.join("seeds"));
    if corpus.is_dir() {
        running.arg(&corpus);
    }
    run(&mut running)?;
    if keep {
        fs::create_dir_all(&corpus).with_context(|| format!("making {}", corpus.display()))?;
        run(fuzzer(&["-merge=1", "-max_len=256", "-verbosity=0"]).args([&corpus, &inputs]))?;
    }
    Ok(())
}

/// The names of all targets, as the tests of `fuzz` list them.
fn targets() -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(root().join("fuzz/tests/it/main.rs")).context("the tests of fuzz")?;
    let listed = text.rsplit_once("targets! {").map(|(_, listed)| listed).context("no list of targets")?;
    Ok(listed.split_whitespace().take_while(|word| *word != "}").map(str::to_owned).collect())
}

/// Builds the program that has all targets.
fn build() -> anyhow::Result<PathBuf> {
    let this = std::env::current_exe().context("where this program is")?;
    let mut cargo = cargo(&["build", "--package", "fuzz", "--features", "guided", "--bin", "guided"]);
    cargo.env("RUSTC_WORKSPACE_WRAPPER", this).env(WRAPPER, "1").env("CARGO_INCREMENTAL", "0");
    run(&mut cargo)?;
    Ok(target().join("debug/guided"))
}

/// Whether cargo started this program to compile a crate of ours, with the compiler and its arguments.
pub(crate) fn is_compiler() -> bool {
    #[expect(clippy::disallowed_methods, reason = "how cargo's child knows what it is")]
    std::env::var_os(WRAPPER).is_some()
}

/// Compiles a crate of ours with the flags of coverage. Programs that run while others are built have none of them: nothing would
/// take what they count.
pub(crate) fn compile(arguments: &[String]) -> anyhow::Result<()> {
    let (compiler, arguments) = arguments.split_first().context("no compiler")?;
    let mut command = Command::new(compiler);
    command.args(arguments);
    let is_built_to_build =
        arguments.iter().any(|argument| argument == "build_script_build" || argument == "proc-macro");
    let is_a_crate = arguments.iter().any(|argument| argument == "--crate-type");
    if is_a_crate && !is_built_to_build {
        command.args(FLAGS);
    }
    let status = command.status().with_context(|| format!("starting {compiler}"))?;
    ensure!(status.success(), "{compiler}: {status}");
    Ok(())
}
