//! `conformance [--url URL]`: runs the suites of the folder that `TWINFOLD_CONFORMANCE_SUITES` names, and ours. With
//! `TWINFOLD_TEST_STRICT` no public suite may be missing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use conformance::{Expected, SUITES, judge};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("conformance: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn say(text: &str) {
    // A closed standard error is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[expect(clippy::disallowed_methods, reason = "where the suites are")]
fn run() -> anyhow::Result<bool> {
    let mut arguments = std::env::args().skip(1);
    let mut url = None;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--url" => url = Some(arguments.next().context("--url without a URL")?),
            other => bail!("unknown argument {other}"),
        }
    }
    let home = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let is_strict = std::env::var_os("TWINFOLD_TEST_STRICT").is_some();
    let mut is_good = run_suites(&home.join("small"), None, url.as_deref(), is_strict)?;
    match std::env::var_os("TWINFOLD_CONFORMANCE_SUITES") {
        Some(suites) => {
            let lists = home.join("expected");
            is_good &= run_suites(Path::new(&suites), Some(&lists), url.as_deref(), is_strict)?;
        }
        None => {
            say("TWINFOLD_CONFORMANCE_SUITES is not set: only ours were run");
            is_good &= !is_strict;
        }
    }
    Ok(is_good)
}

/// Runs the suites of a folder; without lists all must pass.
fn run_suites(
    suites: &Path,
    lists: Option<&Path>,
    url: Option<&str>,
    is_strict: bool,
) -> anyhow::Result<bool> {
    let mut is_good = true;
    for suite in SUITES {
        let Some(cases) = suite.run(suites, url)? else {
            say(&format!(
                "{}: left out, there is no {} or no --url",
                suite.name,
                suites.join(suite.folder).display()
            ));
            is_good &= !(is_strict && suite.is_public);
            continue;
        };
        let expected = match lists {
            Some(lists) => Expected::read(&lists.join(format!("{}.txt", suite.name)))?,
            None => Expected::default(),
        };
        let judgement = judge(&cases, &expected);
        say(&format!("{}: {} passed, {} failed as listed", suite.name, judgement.passed, judgement.listed));
        for line in judgement.failed.iter().chain(&judgement.outdated) {
            say(&format!("  {line}"));
        }
        is_good &= judgement.is_good();
    }
    Ok(is_good)
}
