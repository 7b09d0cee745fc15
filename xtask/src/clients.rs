//! Public clients against a fresh server: what others wrote must work unchanged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::kafka::{self, Broker};
use crate::process::{is_strict, root, run, say, target, with_server};

/// A client of a registry of packages, and the script in `xtask/clients` that uses it.
struct Client {
    /// Name and version of its package.
    package: (&'static str, &'static str),
    script: &'static str,
    registry: Registry,
}

/// Where a client comes from, and so what runs it.
#[derive(Clone, Copy)]
enum Registry {
    Python,
    Npm,
}

/// Each has an environment of its own: two of them do not agree about what they need.
const CLIENTS: [Client; 4] = [
    Client { package: ("ngsildclient", "0.5.2"), script: "ngsi_ld.py", registry: Registry::Python },
    Client { package: ("filip", "0.8.1"), script: "filip_ld.py", registry: Registry::Python },
    Client { package: ("hugegraph-python", "1.7.1"), script: "huge_graph.py", registry: Registry::Python },
    Client { package: ("ngsijs", "1.4.1"), script: "ngsijs.js", registry: Registry::Npm },
];
/// Reads change events of configuration.
const CONSUMER: Client =
    Client { package: ("kafka-python", "3.0.12"), script: "cps_events.py", registry: Registry::Python };
/// Origin that the server lets in, for what a script asks as a browser does.
const ORIGIN: &str = "https://app.example.org";

/// Installs each client into the target folder, and runs its script. What cannot be installed is not tried: that is said, and with
/// `TWINFOLD_TEST_STRICT`, as in CI, it is a failure.
///
/// # Errors
///
/// A client that does not work as its users expect.
pub(crate) fn check() -> anyhow::Result<()> {
    let mut installed = Vec::new();
    for client in &CLIENTS {
        let folder = unless_missing(client.package.0, client.install())?;
        installed.extend(folder.map(|folder| (client, folder)));
    }
    let consumer = unless_missing(CONSUMER.package.0, CONSUMER.install())?;
    let broker = unless_missing("Kafka", kafka::install())?;
    if !installed.is_empty() {
        with_server(&["--cors-origins", ORIGIN], |url| {
            installed.iter().try_for_each(|(client, folder)| client.run(folder, &[url, ORIGIN]))
        })?;
    }
    match (consumer, broker) {
        (Some(consumer), Some(broker)) => check_events(&consumer, &broker),
        _ => Ok(()),
    }
}

/// What was installed, or that it was not, which is said.
fn unless_missing(name: &str, installed: anyhow::Result<PathBuf>) -> anyhow::Result<Option<PathBuf>> {
    match installed {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if is_strict() => {
            Err(error.context(format!("{name} cannot be installed, and TWINFOLD_TEST_STRICT asks for it")))
        }
        Err(error) => {
            say(&format!("SKIPPED: {name} was not tried: {error:#}\n"));
            Ok(None)
        }
    }
}

/// Change events of configuration reach a consumer of Kafka, also those of a time without a broker.
fn check_events(consumer: &Path, package: &Path) -> anyhow::Result<()> {
    let mut broker = Broker::start(package)?;
    let address = broker.address();
    // A broker that was away is tried again soon.
    let settings = ["--config-event-kafka", &address, "--config-event-pause-max", "1s"];
    with_server(&settings, |url| {
        CONSUMER.run(consumer, &[url, &address, "write"])?;
        broker.stop()?;
        CONSUMER.run(consumer, &[url, &address, "write-more"])?;
        broker.go_on()?;
        CONSUMER.run(consumer, &[url, &address, "read"])
    })
}

impl Client {
    /// The folder that it is installed in, once.
    fn install(&self) -> anyhow::Result<PathBuf> {
        let (name, version) = self.package;
        let folder = target().join("clients").join(format!("{name}-{version}"));
        // Written last: a folder without it is half done.
        let done = folder.join("installed");
        if done.is_file() {
            return Ok(folder);
        }
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        match self.registry {
            Registry::Python => {
                run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
                let mut pip = Command::new(folder.join("bin/python"));
                pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
                run(pip.arg(format!("{name}=={version}")))?;
            }
            Registry::Npm => {
                let mut npm = Command::new("npm");
                npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
                run(npm.arg(&folder).arg(format!("{name}@{version}")))?;
            }
        }
        fs::write(&done, "").with_context(|| format!("writing {}", done.display()))?;
        Ok(folder)
    }

    fn run(&self, folder: &Path, arguments: &[&str]) -> anyhow::Result<()> {
        let mut script = match self.registry {
            Registry::Python => Command::new(folder.join("bin/python")),
            Registry::Npm => Command::new("node"),
        };
        script.env("PYTHONDONTWRITEBYTECODE", "1").env("NODE_PATH", folder.join("node_modules"));
        script.arg(root().join("xtask/clients").join(self.script)).args(arguments);
        // The server is on this machine, whatever proxy is between it and others.
        run(script.env("no_proxy", "*").env("NO_PROXY", "*"))
    }
}
