//! QuestDB: line protocol over HTTP with each request in the order of time, export as CSV.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;

use campaign::hakom::bodies::decimal;
use campaign::hakom::series::Data;
use campaign::hakom::tally::{Flag, Tally};

use super::database::{Database, Keeps, Started, Took, note_point};
use super::process::{self, Running};
use super::web::{Client, timed};

/// How long written points may take until they can be read.
const APPLY_TIME_MAX: Duration = Duration::from_secs(600);
/// How often that is looked at.
const GLANCE: Duration = Duration::from_millis(5);

/// A server and a connection to it.
pub struct Questdb {
    running: Running,
    client: Client,
}

/// `java` and the archive.
///
/// # Errors
///
/// If they are not there.
fn find() -> Result<Vec<PathBuf>> {
    let java = process::search(&["java"], &[]).context("no QuestDB here: it needs java in PATH")?;
    #[expect(clippy::disallowed_methods, reason = "where programs are, is no setting of ours")]
    let named = std::env::var_os("QUESTDB_JAR").map(PathBuf::from);
    let found = named.filter(|path| path.is_file());
    let jar = found
        .or_else(|| process::search(&["questdb.jar"], &["/usr/share/java".into(), "/opt/questdb".into()]));
    let Some(jar) = jar else {
        bail!(
            "no QuestDB here: set QUESTDB_JAR to the archive questdb-VERSION.jar (Maven: org.questdb:questdb)"
        );
    };
    Ok(vec![java, jar])
}

/// QuestDB: line protocol over HTTP, export as CSV.
#[derive(Debug, Clone, Copy)]
pub struct Kind;

impl Database for Kind {
    fn name(&self) -> &'static str {
        "questdb"
    }

    fn find(&self) -> Result<Vec<PathBuf>> {
        find()
    }

    fn start(&self, programs: &[PathBuf], parent: &Path) -> Result<Box<dyn Started>> {
        Ok(Box::new(Questdb::start(programs, parent)?))
    }
}

impl Questdb {
    /// Starts it on a fresh folder.
    ///
    /// # Errors
    ///
    /// If that fails.
    fn start(programs: &[PathBuf], parent: &Path) -> Result<Self> {
        let [java, jar] = programs else { bail!("java and the archive are needed") };
        let folder = process::folder(parent, "questdb")?;
        // Its other front end cannot be left out: without it, version 7.3 answers nothing over HTTP either.
        let (port, other) = (process::free_port()?, process::free_port()?);
        let conf = folder.path().join("conf");
        std::fs::create_dir(&conf)?;
        process::give(&conf)?;
        let settings = format!(
            "http.net.bind.to=127.0.0.1:{port}\nhttp.bind.to=127.0.0.1:{port}\nhttp.min.enabled=false\n\
             pg.net.bind.to=127.0.0.1:{other}\nline.tcp.enabled=false\nline.udp.enabled=false\ntelemetry.enabled=false\n\
             cairo.commit.mode=sync\n"
        );
        std::fs::write(conf.join("server.conf"), settings)?;
        let mut command = process::command(java, &folder);
        command.arg("-p").arg(jar).args(["-m", "io.questdb/io.questdb.ServerMain", "-d"]).arg(folder.path());
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let running = Running::start(command, folder, address, Signal::TERM)?;
        let mut peer = Self { running, client: Client::new(address)? };
        peer.exec(
            "CREATE TABLE points (series SYMBOL CAPACITY 32768, value DOUBLE, flag SHORT, time TIMESTAMP) \
             TIMESTAMP(time) PARTITION BY DAY WAL",
        )?;
        Ok(peer)
    }

    fn exec(&mut self, sql: &str) -> Result<Vec<u8>> {
        self.client.get(&format!("/exec?query={}", sql.replace('%', "%25").replace(' ', "+")))
    }
}

/// One line of the protocol.
fn line(out: &mut Vec<u8>, series: &str, time: i64, milli: Option<i32>, flag: Flag) {
    out.extend_from_slice(b"points,series=");
    out.extend_from_slice(series.as_bytes());
    out.push(b' ');
    if let Some(milli) = milli {
        out.extend_from_slice(b"value=");
        decimal(out, milli);
        out.push(b',');
    }
    out.extend_from_slice(b"flag=");
    out.extend_from_slice(itoa::Buffer::new().format(flag.number()).as_bytes());
    out.extend_from_slice(b"i ");
    out.extend_from_slice(itoa::Buffer::new().format(time).as_bytes());
    out.extend_from_slice(b"000000000\n");
}

impl Started for Questdb {
    fn caveat(&self) -> &'static str {
        "QuestDB: line protocol over HTTP, each request in the order of time, each commit synced; the clock stops \
         when all points can be read"
    }

    fn keeps(&self) -> Keeps {
        Keeps { missing: true, flags: true }
    }

    fn cpu(&self) -> Option<Duration> {
        self.running.cpu()
    }

    fn write(&mut self, data: &Data, request_series: usize) -> Result<Took> {
        let points = data.points();
        let client = &mut self.client;
        let (took, ()) = timed(&self.running, || {
            for first in (0..data.series).step_by(request_series.max(1)) {
                let range = first..(first + request_series).min(data.series);
                let names: Vec<String> = range.clone().map(|index| index.to_string()).collect();
                let all: Vec<_> = range.map(|index| data.one(index)).collect();
                client.post("/write", |body| {
                    for place in 0..data.values {
                        for (series, name) in all.iter().zip(&names) {
                            let (milli, flag) = series.point(place, 0);
                            line(body, name, data.time(place), milli, flag);
                        }
                    }
                })?;
            }
            applied(client, points)
        })?;
        Ok(took)
    }

    fn read(&mut self, data: &Data) -> Result<(Took, Vec<Tally>)> {
        let mut tallies = vec![Tally::default(); data.series];
        let (mut place, mut before) = (0, Vec::new());
        let mut time = 0;
        let path = "/exp?query=SELECT+time,series,value,flag+FROM+points";
        let client = &mut self.client;
        let (took, ()) = timed(&self.running, || {
            client.lines(path, &mut |line| {
                place += 1;
                if place == 1 || line.is_empty() {
                    return Ok(());
                }
                let mut fields = line.split(|byte| *byte == b',').map(unquoted);
                let mut field = || fields.next().context("a line with too few fields");
                let text = field()?;
                // Lines come in the order of time: most have that of the one before.
                if text != before {
                    time = std::str::from_utf8(text)?.parse::<jiff::Timestamp>()?.as_second();
                    before = text.to_vec();
                }
                take(&mut tallies, time, [field()?, field()?, field()?])
            })
        })?;
        Ok((took, tallies))
    }

    fn close(self: Box<Self>) -> Result<u64> {
        self.running.close()
    }
}

/// Waits until all points can be read.
fn applied(client: &mut Client, points: u64) -> Result<()> {
    let begun = Instant::now();
    loop {
        let answer = client.get("/exec?query=SELECT+count()+FROM+points")?;
        let answer: serde_json::Value = serde_json::from_slice(&answer)?;
        let count = answer.pointer("/dataset/0/0").and_then(serde_json::Value::as_u64);
        if count == Some(points) {
            return Ok(());
        }
        ensure!(begun.elapsed() < APPLY_TIME_MAX, "{count:?} of {points} points can be read");
        thread::sleep(GLANCE);
    }
}

fn unquoted(field: &[u8]) -> &[u8] {
    field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
}

fn take(tallies: &mut [Tally], time: i64, [series, value, flag]: [&[u8]; 3]) -> Result<()> {
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<usize>().ok();
    let tally = number(series).and_then(|series| tallies.get_mut(series));
    let tally =
        tally.with_context(|| format!("series {} was not written", String::from_utf8_lossy(series)))?;
    let code = number(flag).and_then(|flag| u8::try_from(flag).ok()).map_or(u64::MAX, Flag::code_of_number);
    if value.is_empty() || value == b"null" {
        note_point(tally, (time, None), code);
        return Ok(());
    }
    let value: f64 = std::str::from_utf8(value)?.parse().context("a value that is no number")?;
    tally.at(time);
    tally.add_float(value);
    tally.flag(tally.points, code);
    Ok(())
}
