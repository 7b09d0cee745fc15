//! What each door runs.

use std::process::{Command, Stdio};

use crate::process::{cargo, root, run, say};

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
    // What was published about a dependency since yesterday is no fault of a change, and needs the network.
    for checker in [&["deny", "check", "bans", "licenses", "sources"][..], &["machete"]] {
        if installed("cargo", &[checker.first().copied().unwrap_or_default(), "--version"]) {
            run(&mut cargo(checker))?;
        } else {
            say(&format!("(cargo {} is not installed: left out)\n", checker.join(" ")));
        }
    }
    if installed("typos", &["--version"]) {
        run(Command::new("typos").current_dir(root()))?;
    } else {
        say("(typos is not installed: left out)\n");
    }
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

/// Property tests with many cases.
pub(crate) fn fuzz(rest: &[String]) -> anyhow::Result<()> {
    let cases = rest.first().map_or("20000", String::as_str);
    run(cargo(&["test", "--workspace", "--release"]).env("PROPTEST_CASES", cases))
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
