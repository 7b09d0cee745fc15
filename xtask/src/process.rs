//! Runs commands, says which.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

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

/// A cargo command in the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end and fails if it fails.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let line = line(command);
    say(&format!("+ {line}\n"));
    let status = command.status().with_context(|| format!("starting {line}"))?;
    ensure!(status.success(), "{line}: {status}");
    Ok(())
}

fn line(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    std::iter::once(name)
        .chain(command.get_args().map(|argument| argument.to_string_lossy().into_owned()))
        .collect::<Vec<_>>()
        .join(" ")
}
