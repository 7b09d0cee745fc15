//! Public clients against a fresh server: what others wrote must work unchanged.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use crate::process::{is_strict, root, run, say, target, with_server};

/// What is installed.
const PACKAGES: [&str; 1] = ["ngsildclient==0.5.2"];
/// Origin that the server is told to let in, for what the script asks as a browser does.
const ORIGIN: &str = "https://app.example.org";

/// Installs the client from the registry of Python packages into the target folder, and runs `xtask/clients/ngsi_ld.py`
/// with it. Without Python or the registry nothing is shown: that is said, and with `TWINFOLD_TEST_STRICT`, as in CI, it is a failure.
pub(crate) fn check() -> anyhow::Result<()> {
    let strict = is_strict();
    let python = match install() {
        Ok(python) => python,
        Err(error) if strict => {
            return Err(
                error.context("public clients cannot be installed, and TWINFOLD_TEST_STRICT asks for them")
            );
        }
        Err(error) => {
            say(&format!("SKIPPED: public clients were not tried: {error:#}\n"));
            return Ok(());
        }
    };
    with_server(&["--cors-origins", ORIGIN], |url| {
        let mut script = Command::new(&python);
        script.arg(root().join("xtask/clients/ngsi_ld.py")).args([url, ORIGIN]);
        // The server is on this machine, whatever stands between it and others.
        run(script.env("no_proxy", "*").env("NO_PROXY", "*").env("PYTHONDONTWRITEBYTECODE", "1"))
    })
}

/// The Python of an environment that has the client.
fn install() -> anyhow::Result<PathBuf> {
    let folder = target().join("clients");
    let python = folder.join("bin/python");
    if !works(&python) {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut pip = Command::new(&python);
        run(pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES))?;
    }
    if !works(&python) {
        bail!("ngsildclient is installed in {} and cannot be imported", folder.display());
    }
    Ok(python)
}

fn works(python: &Path) -> bool {
    let imported = Command::new(python).args(["-c", "import ngsildclient"]).output();
    imported.is_ok_and(|output| output.status.success())
}
