//! What each door runs.

use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::process::{cargo, is_strict, root, run, say, with_server};
use crate::suites;

/// Formatting, lints, edges, and the checkers that are installed.
pub(crate) fn check() -> anyhow::Result<()> {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "--deny",
        "warnings",
    ]))?;
    run(&mut cargo(&["test", "--package", "xtask"]))?;
    // What was published about a dependency since yesterday is no fault of a change: advisories are not asked for.
    checker("cargo", &["deny", "check", "bans", "licenses", "sources"])?;
    // By its own name: as `cargo machete` below `cargo run` it takes its own name for a folder.
    checker("cargo-machete", &[])?;
    checker("typos", &[])
}

/// Runs what is no part of the toolchain: left out where it is not installed, and that is a failure in CI.
fn checker(program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let name = arguments.first().map_or_else(|| program.to_owned(), |first| format!("{program} {first}"));
    let asked: Vec<&str> = arguments.first().copied().into_iter().chain(["--version"]).collect();
    if installed(program, &asked) {
        return run(Command::new(program).args(arguments).current_dir(root()));
    }
    ensure!(!is_strict(), "{name} is not installed, and TWINFOLD_TEST_STRICT asks for it");
    say(&format!("SKIPPED: {name} is not installed\n"));
    Ok(())
}

fn installed(program: &str, arguments: &[&str]) -> bool {
    let quiet = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// All tests.
pub(crate) fn test(rest: &[String]) -> anyhow::Result<()> {
    run(cargo(&["test", "--workspace"]).args(rest))
}

/// The server, in release.
pub(crate) fn serve(rest: &[String]) -> anyhow::Result<()> {
    run(cargo(&["run", "--release", "--package", "server", "--", "serve"]).args(rest))
}

/// Rewrites golden transcripts.
pub(crate) fn golden() -> anyhow::Result<()> {
    run(cargo(&["test", "--package", "api-ngsi-ld", "--package", "api-tsm"]).env("UPDATE_GOLDEN", "1"))
}

/// Property tests with many times the usual cases.
pub(crate) fn properties(rest: &[String]) -> anyhow::Result<()> {
    let times: u32 = rest.first().map_or(Ok(100), |times| times.parse()).context("how many times")?;
    let cases = times.saturating_mul(256).to_string();
    run(cargo(&["test", "--workspace", "--release"]).env("PROPTEST_CASES", cases))
}

/// Other people's suites, and ours; transcripts against a server that is started for it, unless a URL is given.
pub(crate) fn conformance(rest: &[String]) -> anyhow::Result<()> {
    let suites = suites::folder()?;
    let run_suites = |arguments: &[String]| {
        let mut conformance = cargo(&["run", "--quiet", "--package", "conformance", "--"]);
        conformance.args(arguments);
        if let Some(suites) = &suites {
            conformance.env("TWINFOLD_CONFORMANCE_SUITES", suites);
        }
        run(&mut conformance)
    };
    if rest.is_empty() {
        return with_server(&[], |url| run_suites(&["--url".to_owned(), url.to_owned()]));
    }
    run_suites(rest)
}

/// Benchmarks.
pub(crate) fn bench(rest: &[String]) -> anyhow::Result<()> {
    match rest.first() {
        Some(name) => run(&mut cargo(&["bench", "--workspace", "--bench", name])),
        None => run(&mut cargo(&["bench", "--workspace", "--benches"])),
    }
}

/// Kills, power cuts and failing disks; arguments choose (`--rounds N`, `--seed S`, `kill`, `power`, `failing`).
pub(crate) fn torture(rest: &[String]) -> anyhow::Result<()> {
    let mut torture = cargo(&["test", "--release", "--package", "store", "--test", "torture", "--"]);
    if rest.is_empty() { run(torture.args(["--rounds", "5000", "kill"])) } else { run(torture.args(rest)) }
}
