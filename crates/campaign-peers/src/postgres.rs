//! PostgreSQL as it does this job best: a table without an index, filled and emptied by COPY in the binary form, a
//! transaction for each request, with its default of syncing each commit.

use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use campaign::hakom::series::Data;
use campaign::hakom::tally::{Flag, Tally};
use futures_util::{SinkExt as _, TryStreamExt as _};
use rustix::process::Signal;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Config, NoTls};

use super::database::{Database, Keeps, START_TIME_MAX, Started, Took, note_point};
use super::process::{self, Running};
use super::web::timed;

/// Seconds from 1970 to 2000, from where this database counts.
const EPOCH: i64 = 946_684_800;
/// What opens a binary COPY: a signature, no flags, no extension.
const COPY_HEAD: &[u8] = b"PGCOPY\n\xFF\r\n\0\0\0\0\0\0\0\0\0";
/// What closes it.
const COPY_END: [u8; 2] = [0xFF, 0xFF];
/// Bytes of one message of a COPY.
const MESSAGE_BYTES: usize = 256 * 1024;

/// PostgreSQL: COPY in the binary form, a table without an index.
#[derive(Debug, Clone, Copy)]
pub struct Kind;

impl Database for Kind {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn find(&self) -> Result<Vec<PathBuf>> {
        find()
    }

    fn start(&self, programs: &[PathBuf], parent: &Path) -> Result<Box<dyn Started>> {
        Ok(Box::new(Postgres::start(programs, parent)?))
    }
}

/// A server and a connection to it.
pub struct Postgres {
    running: Running,
    client: Client,
    /// Drives the connection while it is waited for.
    runtime: Runtime,
}

/// `initdb` and `postgres`.
///
/// # Errors
///
/// If they are not installed.
fn find() -> Result<Vec<PathBuf>> {
    // Debian keeps each version in a folder of its own, outside of PATH; the last is the newest.
    let mut folders: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.flatten().map(|entry| entry.path().join("bin")).collect())
        .unwrap_or_else(|_| Vec::new());
    folders.sort();
    folders.reverse();
    let find = |name| process::search(&[name], &folders);
    let (Some(initdb), Some(postgres)) = (find("initdb"), find("postgres")) else {
        bail!(
            "no PostgreSQL here: neither PATH nor /usr/lib/postgresql/*/bin has initdb and postgres; \
             install it with the system's package postgresql"
        );
    };
    Ok(vec![initdb, postgres])
}

impl Postgres {
    /// Makes a cluster in a fresh folder and starts it.
    ///
    /// # Errors
    ///
    /// If that fails.
    fn start(programs: &[PathBuf], parent: &Path) -> Result<Self> {
        let [initdb, postgres] = programs else { bail!("initdb and postgres are needed") };
        let folder = process::folder(parent, "postgres")?;
        let data = folder.path().join("data");
        let made = process::command(initdb, &folder)
            .args(["--auth=trust", "--username=campaign", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .context("running initdb")?;
        ensure!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr));
        let port = process::free_port()?;
        let mut command = process::command(postgres, &folder);
        command.arg("-D").arg(&data).args(["-p", &port.to_string()]);
        command.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        // SIGINT: roll back, write a checkpoint, end.
        let running = Running::start(command, folder, address, Signal::INT)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let client = runtime.block_on(connect(address))?;
        let made = client
            .batch_execute("CREATE TABLE points (series int4, time timestamptz, value float8, flag int2)");
        runtime.block_on(made).context("making the table")?;
        Ok(Self { running, client, runtime })
    }
}

/// Writes the points of some series, in one transaction.
async fn copy_in(client: &Client, data: &Data, series: Range<usize>) -> Result<()> {
    let sink = client.copy_in::<_, Bytes>("COPY points FROM STDIN (FORMAT binary)").await?;
    let mut sink = pin!(sink);
    let mut body = COPY_HEAD.to_vec();
    for index in series {
        let one = data.one(index);
        let number = i32::try_from(index)?;
        for place in 0..data.values {
            let (milli, flag) = one.point(place, 0);
            row(&mut body, number, data.time(place), milli, flag);
            if body.len() >= MESSAGE_BYTES {
                sink.feed(Bytes::from(std::mem::take(&mut body))).await?;
            }
        }
    }
    body.extend_from_slice(&COPY_END);
    sink.feed(Bytes::from(body)).await?;
    sink.finish().await.context("ending a COPY")?;
    Ok(())
}

/// One row of a binary COPY: 40 bytes, fewer without a value.
fn row(out: &mut Vec<u8>, series: i32, time: i64, milli: Option<i32>, flag: Flag) {
    out.extend_from_slice(&4_i16.to_be_bytes());
    out.extend_from_slice(&4_i32.to_be_bytes());
    out.extend_from_slice(&series.to_be_bytes());
    out.extend_from_slice(&8_i32.to_be_bytes());
    out.extend_from_slice(&((time - EPOCH) * 1_000_000).to_be_bytes());
    match milli {
        Some(milli) => {
            out.extend_from_slice(&8_i32.to_be_bytes());
            out.extend_from_slice(&(f64::from(milli) / 1_000.0).to_be_bytes());
        }
        None => out.extend_from_slice(&(-1_i32).to_be_bytes()),
    }
    out.extend_from_slice(&2_i32.to_be_bytes());
    out.extend_from_slice(&i16::from(flag.number()).to_be_bytes());
}

/// Connects; a server that still starts is asked again.
async fn connect(address: SocketAddr) -> Result<Client> {
    let begun = Instant::now();
    let mut config = Config::new();
    config.host(address.ip().to_string()).port(address.port()).user("campaign").dbname("postgres");
    loop {
        match config.connect(NoTls).await {
            Ok((client, connection)) => {
                // That it broke is reported by the request under way.
                tokio::spawn(async { drop(connection.await) });
                return Ok(client);
            }
            Err(error) if begun.elapsed() > START_TIME_MAX => return Err(error).context("connecting"),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

impl Started for Postgres {
    fn caveat(&self) -> &'static str {
        "PostgreSQL at its best for this job: no index, binary COPY both ways, one transaction a request, default \
         settings, each commit synced; read in the order in which it was written"
    }

    fn keeps(&self) -> Keeps {
        Keeps { missing: true, flags: true }
    }

    fn cpu(&self) -> Option<Duration> {
        self.running.cpu()
    }

    fn write(&mut self, data: &Data, request_series: usize) -> Result<Took> {
        let (took, ()) = timed(&self.running, || {
            for first in (0..data.series).step_by(request_series.max(1)) {
                let series = first..(first + request_series).min(data.series);
                self.runtime.block_on(copy_in(&self.client, data, series))?;
            }
            Ok(())
        })?;
        Ok(took)
    }

    fn read(&mut self, data: &Data) -> Result<(Took, Vec<Tally>)> {
        timed(&self.running, || {
            self.runtime.block_on(async {
                let mut tallies = vec![Tally::default(); data.series];
                let messages = self.client.copy_out("COPY points TO STDOUT (FORMAT binary)").await?;
                let mut messages = pin!(messages);
                while let Some(message) = messages.try_next().await? {
                    take(&message, &mut tallies)?;
                }
                Ok(tallies)
            })
        })
    }

    fn close(self: Box<Self>) -> Result<u64> {
        let Self { running, client, runtime } = *self;
        drop(client);
        drop(runtime);
        running.close()
    }
}

/// Takes a message of a COPY: one row, in front of the first also the head.
fn take(body: &[u8], tallies: &mut [Tally]) -> Result<()> {
    let mut rest = body.strip_prefix(COPY_HEAD).unwrap_or(body);
    while !rest.is_empty() && rest != COPY_END {
        let fields = number(&mut rest, 2)?;
        ensure!(fields == 4, "a row of {fields} fields");
        let series = field(&mut rest)?.context("a row without series")?;
        let time = field(&mut rest)?.context("a row without time")?.div_euclid(1_000_000) + EPOCH;
        let value = field(&mut rest)?.map(|bits| f64::from_bits(bits.cast_unsigned()));
        let flag = field(&mut rest)?.context("a row without flag")?;
        let tally = usize::try_from(series).ok().and_then(|series| tallies.get_mut(series));
        let tally = tally.with_context(|| format!("series {series} was not written"))?;
        let code = Flag::code_of_number(u8::try_from(flag).unwrap_or(u8::MAX));
        match value {
            None => note_point(tally, (time, None), code),
            Some(value) => {
                tally.at(time);
                tally.add_float(value);
                tally.flag(tally.points, code);
            }
        }
    }
    Ok(())
}

/// The next big-endian number of so many bytes.
fn number(rest: &mut &[u8], bytes: usize) -> Result<i64> {
    let (head, tail) = rest.split_at_checked(bytes).context("a row that ends early")?;
    *rest = tail;
    let negative = head.first().is_some_and(|first| *first >= 0x80);
    Ok(head.iter().fold(if negative { -1 } else { 0 }, |number, byte| number << 8 | i64::from(*byte)))
}

/// The next field, as the number that its bytes are; `None`: it is null.
fn field(rest: &mut &[u8]) -> Result<Option<i64>> {
    match number(rest, 4)? {
        -1 => Ok(None),
        bytes => number(rest, usize::try_from(bytes)?).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_taken_as_they_were_given() {
        let mut body = COPY_HEAD.to_vec();
        row(&mut body, 1, 1_767_225_600, Some(12_345), Flag::Valid);
        row(&mut body, 1, 1_767_226_500, None, Flag::Missing);
        body.extend_from_slice(&COPY_END);
        let mut tallies = vec![Tally::default(); 2];
        take(&body, &mut tallies).unwrap();
        let tally = tallies[1];
        assert_eq!((tally.points, tally.missing, tally.sum, tally.flags), (2, 1, 12_345, 4));
        assert_eq!((tally.first, tally.last), (Some(1_767_225_600), Some(1_767_226_500)));
        assert_eq!(tallies[0], Tally::default());
        assert!(take(&body[..60], &mut tallies).is_err(), "half a row");
        assert!(take(&body, &mut tallies[..1]).is_err(), "a series that was never written");
    }
}
