//! Change events of configuration through Apache Kafka itself: a broker as its project publishes it, which is also stopped for a
//! while, and a consumer as its users write one.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use tempfile::TempDir;

use crate::process::{run, target};

const VERSION: &str = "4.1.0";
/// Of the Scala that the broker's package is made for.
const PACKAGE: &str = "kafka_2.13";
/// The name of a cluster: any 16 bytes in base64.
const CLUSTER: &str = "dHdpbmZvbGQtdGVzdHMtMQ";
/// How often, and each tenth of a second, a broker is asked whether it listens.
const LOOKS_MAX: u32 = 600;

/// A broker on this machine, with a folder of its own.
pub(crate) struct Broker {
    package: PathBuf,
    folder: TempDir,
    port: u16,
    child: Option<Child>,
}

/// The folder that Kafka is installed in, once.
///
/// # Errors
///
/// Maven or Java is missing, or the registry cannot be reached.
pub(crate) fn install() -> anyhow::Result<PathBuf> {
    let folder = target().join("clients").join(format!("kafka-{VERSION}"));
    // Written last: a folder without it is half done.
    let done = folder.join("installed");
    if done.is_file() {
        return Ok(folder);
    }
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let project = folder.join("pom.xml");
    fs::write(&project, project_of_maven()).with_context(|| format!("writing {}", project.display()))?;
    let mut maven = Command::new("mvn");
    maven.args(["--quiet", "--batch-mode", "--file"]).arg(&project);
    run(maven.args(["dependency:copy-dependencies", "-DoutputDirectory=libs"]))?;
    fs::write(&done, "").with_context(|| format!("writing {}", done.display()))?;
    Ok(folder)
}

/// A project whose only purpose is what it depends on.
fn project_of_maven() -> String {
    format!(
        r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>twinfold</groupId><artifactId>broker</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.apache.kafka</groupId><artifactId>{PACKAGE}</artifactId><version>{VERSION}</version>
  </dependency><dependency>
    <groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.25.1</version>
  </dependency></dependencies>
</project>
"#
    )
}

impl Broker {
    /// A broker of what is installed there, which listens.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub(crate) fn start(package: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("making a folder for the broker")?;
        let (port, controller) = (free_port()?, free_port()?);
        let data = folder.path().join("data");
        let properties = properties(port, controller, &data);
        fs::write(folder.path().join("server.properties"), properties).context("writing its properties")?;
        let mut broker = Self { package: package.to_owned(), folder, port, child: None };
        let mut format = broker.java("kafka.tools.StorageTool");
        format.args(["format", "--cluster-id", CLUSTER, "--config"]).arg(broker.properties());
        run(format.stdout(Stdio::null()))?;
        broker.go_on()?;
        Ok(broker)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Ends it. What it was given stays in its folder.
    ///
    /// # Errors
    ///
    /// It cannot be ended.
    pub(crate) fn stop(&mut self) -> anyhow::Result<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        child.kill().context("ending the broker")?;
        child.wait().context("waiting for the broker's end")?;
        Ok(())
    }

    /// Starts it again.
    ///
    /// # Errors
    ///
    /// It ends, or does not listen for a minute.
    pub(crate) fn go_on(&mut self) -> anyhow::Result<()> {
        let mut kafka = self.java("kafka.Kafka");
        let child =
            kafka.arg(self.properties()).stdout(Stdio::null()).spawn().context("starting the broker")?;
        let child = self.child.insert(child);
        for _ in 0..LOOKS_MAX {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return Ok(());
            }
            let ended = child.try_wait().context("asking after the broker")?;
            ensure!(ended.is_none(), "the broker ended: {ended:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
        anyhow::bail!("the broker does not listen on port {} after a minute", self.port)
    }

    fn properties(&self) -> PathBuf {
        self.folder.path().join("server.properties")
    }

    fn java(&self, class: &str) -> Command {
        let mut java = Command::new("java");
        java.args(["-Xmx512m", "-cp"]).arg(self.package.join("libs/*")).arg(class);
        java.stderr(Stdio::null());
        java
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // It was ended before, or its check has failed: that counts.
        let _ = self.stop();
    }
}

/// Of one node that is broker and controller.
fn properties(port: u16, controller: u16, data: &Path) -> String {
    format!(
        "process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
",
        data.display()
    )
}

/// A port that nobody listens on.
fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("looking for a port")?;
    Ok(listener.local_addr().context("asking for the port")?.port())
}
