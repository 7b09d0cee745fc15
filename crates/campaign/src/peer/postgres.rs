//! PostgreSQL as it does this job best: a table without an index, filled and emptied by COPY in the binary form, a
//! transaction for each request, with its default of syncing each commit.

use std::io::{BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;

use crate::hakom::series::Data;
use crate::hakom::tally::{Flag, Tally};

use super::process::{self, Running};
use super::{Keeps, Peer, START_TIME_MAX, Took, note_point};

/// Seconds from 1970 to 2000, from where this database counts.
const EPOCH: i64 = 946_684_800;
/// What opens a binary COPY: a signature, no flags, no extension.
const COPY_HEAD: &[u8] = b"PGCOPY\n\xFF\r\n\0\0\0\0\0\0\0\0\0";
/// What closes it.
const COPY_END: [u8; 2] = [0xFF, 0xFF];
/// Bytes of one message of a COPY.
const MESSAGE_BYTES: usize = 256 * 1024;

/// A server and a connection to it.
pub struct Postgres {
    running: Running,
    stream: BufReader<TcpStream>,
}

/// `initdb` and `postgres`.
///
/// # Errors
///
/// If they are not installed.
pub fn find() -> Result<Vec<PathBuf>> {
    // Debian keeps each version in a folder of its own, outside of PATH; the last is the newest.
    let mut folders: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.flatten().map(|entry| entry.path().join("bin")).collect())
        .unwrap_or_default();
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
    pub fn start(programs: &[PathBuf], parent: &Path) -> Result<Self> {
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
        let mut peer = Self { running, stream: connect(address)? };
        peer.query("CREATE TABLE points (series int4, time timestamptz, value float8, flag int2)")?;
        Ok(peer)
    }

    /// Runs `sql`, which answers no rows that count.
    fn query(&mut self, sql: &str) -> Result<()> {
        self.send(b'Q', &[sql.as_bytes(), b"\0"].concat())?;
        while self.message()?.0 != b'Z' {}
        Ok(())
    }

    fn send(&mut self, kind: u8, body: &[u8]) -> Result<()> {
        let mut message = Vec::with_capacity(body.len() + 5);
        message.push(kind);
        message.extend_from_slice(&u32::try_from(body.len() + 4)?.to_be_bytes());
        message.extend_from_slice(body);
        self.stream.get_mut().write_all(&message).context("sending to PostgreSQL")
    }

    /// The next message; errors of the server become ours.
    fn message(&mut self) -> Result<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).context("reading from PostgreSQL")?;
        let [kind, a, b, c, d] = head;
        let length = u32::from_be_bytes([a, b, c, d]).checked_sub(4).context("a message without length")?;
        let mut body = vec![0; usize::try_from(length)?];
        self.stream.read_exact(&mut body).context("reading from PostgreSQL")?;
        if kind == b'E' {
            bail!("PostgreSQL: {}", String::from_utf8_lossy(&body).replace('\0', " "));
        }
        Ok((kind, body))
    }

    fn copy_in(&mut self, data: &Data, series: std::ops::Range<usize>) -> Result<()> {
        self.send(b'Q', b"COPY points FROM STDIN (FORMAT binary)\0")?;
        while self.message()?.0 != b'G' {}
        let mut body = COPY_HEAD.to_vec();
        for index in series {
            let one = data.one(index);
            let number = i32::try_from(index)?;
            for place in 0..data.values {
                let (milli, flag) = one.point(place, 0);
                row(&mut body, number, data.time(place), milli, flag);
                if body.len() >= MESSAGE_BYTES {
                    self.send(b'd', &body)?;
                    body.clear();
                }
            }
        }
        body.extend_from_slice(&COPY_END);
        self.send(b'd', &body)?;
        self.send(b'c', b"")?;
        while self.message()?.0 != b'Z' {}
        Ok(())
    }

    fn took(&self, begun: Instant, before: (Option<Duration>, Option<Duration>)) -> Took {
        let own = crate::process::cpu_time(std::process::id());
        Took {
            elapsed: begun.elapsed(),
            cpu: self.running.cpu().zip(before.0).map(|(after, before)| after.saturating_sub(before)),
            generator_cpu: own.zip(before.1).map(|(after, before)| after.saturating_sub(before)),
        }
    }

    fn before(&self) -> (Option<Duration>, Option<Duration>) {
        (self.running.cpu(), crate::process::cpu_time(std::process::id()))
    }
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

/// Connects and introduces itself; a server that still starts is asked again.
fn connect(address: SocketAddr) -> Result<BufReader<TcpStream>> {
    let begun = Instant::now();
    loop {
        match introduce(address) {
            Ok(stream) => return Ok(stream),
            Err(error) if begun.elapsed() > START_TIME_MAX => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

fn introduce(address: SocketAddr) -> Result<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    // Version 3.0 of the protocol.
    let mut hello = 196_608_u32.to_be_bytes().to_vec();
    hello.extend_from_slice(b"user\0campaign\0database\0postgres\0\0");
    let length = u32::try_from(hello.len() + 4)?;
    stream.write_all(&[&length.to_be_bytes()[..], &hello].concat())?;
    let mut stream = BufReader::with_capacity(MESSAGE_BYTES, stream);
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        let [kind, a, b, c, d] = head;
        let mut body = vec![0; usize::try_from(u32::from_be_bytes([a, b, c, d]).saturating_sub(4))?];
        stream.read_exact(&mut body)?;
        match kind {
            b'Z' => return Ok(stream),
            b'E' => bail!("PostgreSQL: {}", String::from_utf8_lossy(&body).replace('\0', " ")),
            _ => {}
        }
    }
}

impl Peer for Postgres {
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
        let (before, begun) = (self.before(), Instant::now());
        for first in (0..data.series).step_by(request_series.max(1)) {
            self.copy_in(data, first..(first + request_series).min(data.series))?;
        }
        Ok(self.took(begun, before))
    }

    fn read(&mut self, data: &Data) -> Result<(Took, Vec<Tally>)> {
        let (before, begun) = (self.before(), Instant::now());
        self.send(b'Q', b"COPY points TO STDOUT (FORMAT binary)\0")?;
        let mut tallies = vec![Tally::default(); data.series];
        loop {
            let (kind, body) = self.message()?;
            match kind {
                b'd' => take(&body, &mut tallies)?,
                b'Z' => return Ok((self.took(begun, before), tallies)),
                _ => {}
            }
        }
    }

    fn close(self: Box<Self>) -> Result<u64> {
        let Self { running, stream } = *self;
        drop(stream);
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
