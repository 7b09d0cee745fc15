//! Runs `examples/` against a fresh server and compares its answers with those recorded.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::process::{root, say, with_server};

/// Folders of `examples/` that load, ask and know the answers.
const EXAMPLES: [&str; 2] = ["city", "meters"];

/// Builds the server, loads each example, asks, compares; then runs the program that needs no server. `UPDATE_GOLDEN=1` records the
/// answers instead.
pub(crate) fn load_and_compare() -> anyhow::Result<()> {
    with_server(&[], |url| EXAMPLES.iter().try_for_each(|example| load_and_ask(url, example)))?;
    run_embedded("model-config", "config-embedded")
}

/// Runs an example of a crate with a folder for its store.
fn run_embedded(of: &str, example: &str) -> anyhow::Result<()> {
    let folder = tempfile::tempdir().context("making a folder for the store")?;
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--locked", "-p", of, "--example", example, "--"]);
    let output = command.arg(folder.path()).current_dir(root()).output();
    let output = output.with_context(|| format!("running {example}"))?;
    ensure!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    compare(example, &String::from_utf8_lossy(&output.stdout))
}

fn load_and_ask(url: &str, example: &str) -> anyhow::Result<()> {
    let script = |name: &str| {
        let path = format!("examples/{example}/{name}");
        let mut command = Command::new("sh");
        // The server is on this machine, whatever proxy is between it and others.
        command.arg(path).arg(url).current_dir(root()).env("no_proxy", "*").env("NO_PROXY", "*");
        let output = command.output();
        let output = output.with_context(|| format!("running {example}/{name}"))?;
        ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        anyhow::Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    say(&script("load.sh")?);
    compare(example, &script("ask.sh")?)
}

fn compare(example: &str, answers: &str) -> anyhow::Result<()> {
    let path = root().join(format!("examples/{example}/expected.txt"));
    #[expect(clippy::disallowed_methods, reason = "a switch of this tool, as in the crates' golden tests")]
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    if update {
        return std::fs::write(&path, answers).context("recording the answers");
    }
    let expected = std::fs::read_to_string(&path).context("reading the recorded answers")?;
    ensure!(answers == expected, "the answers differ from {}:\n{answers}", path.display());
    say(&format!("examples/{example} answers as recorded\n"));
    Ok(())
}
