//! Runs commands, says which.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};

/// Writes to standard error, where progress belongs.
pub(crate) fn say(text: &str) {
    // A closed standard error is no reason to stop.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "cargo's own setting")]
    let chosen = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    chosen.unwrap_or_else(|| root().join("target"))
}

/// The names of all crates of ours, in order.
///
/// # Errors
///
/// A folder that cannot be read.
pub(crate) fn crates() -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in fs::read_dir(root().join("crates")).context("the folder of crates")? {
        let folder = folder?;
        if folder.path().join("Cargo.toml").is_file() {
            names.push(folder.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// What cargo tells the programs that it runs of their package. Build scripts of some crates (`ring`) look at the same names: with
/// them they, and all that needs them, would be built once more than outside of this program.
const OF_PACKAGE: [&str; 14] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_LINKS",
    "CARGO_MANIFEST_PATH",
    "CARGO_PKG_AUTHORS",
    "CARGO_PKG_DESCRIPTION",
    "CARGO_PKG_HOMEPAGE",
    "CARGO_PKG_NAME",
    "CARGO_PKG_REPOSITORY",
    "CARGO_PKG_RUST_VERSION",
    "CARGO_PKG_VERSION",
    "CARGO_PKG_VERSION_MAJOR",
    "CARGO_PKG_VERSION_MINOR",
    "CARGO_PKG_VERSION_PATCH",
    "CARGO_PKG_VERSION_PRE",
];

/// A cargo command in the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).current_dir(root());
    OF_PACKAGE.iter().for_each(|name| _ = command.env_remove(name));
    command
}

/// Whether what a check needs and the machine lacks is a failure, and not only said: in CI it is.
pub(crate) fn is_strict() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a switch of the run itself")]
    std::env::var_os("TWINFOLD_TEST_STRICT").is_some()
}

/// Runs a command to its end and fails if it fails.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let line = line(command);
    say(&format!("+ {line}\n"));
    let status = command.status().with_context(|| format!("starting {line}"))?;
    ensure!(status.success(), "{line}: {status}");
    Ok(())
}

/// Builds the server, starts it with these further arguments, and gives its URL to `work`.
pub(crate) fn with_server(
    arguments: &[&str],
    work: impl FnOnce(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    run(&mut cargo(&["build", "--release", "--package", "server"]))?;
    let (mut server, url) = start(arguments)?;
    let outcome = work(&url);
    // What was found counts, not how the server of this check ended.
    let _ = server.kill();
    let _ = server.wait();
    outcome
}

fn start(arguments: &[&str]) -> anyhow::Result<(Child, String)> {
    let mut child = cargo(&["run", "--quiet", "--release", "--package", "server", "--"])
        .args(["serve", "--listen", "127.0.0.1:0", "--store", "memory"])
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .context("starting the server")?;
    let output = BufReader::new(child.stdout.take().context("the server's output")?);
    for line in output.lines() {
        if let Some(url) = line?.strip_prefix("listening on ") {
            return Ok((child, url.to_owned()));
        }
    }
    anyhow::bail!("the server ended before it was listening")
}

fn line(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    std::iter::once(name)
        .chain(command.get_args().map(|argument| argument.to_string_lossy().into_owned()))
        .collect::<Vec<_>>()
        .join(" ")
}
