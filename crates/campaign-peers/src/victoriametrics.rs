//! VictoriaMetrics: import and export as JSON lines. It keeps neither flags nor points without a value, and syncs
//! later than it answers.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;

use campaign::hakom::bodies::decimal;
use campaign::hakom::series::Data;
use campaign::hakom::tally::Tally;

use super::database::{Database, Keeps, Started, Took};
use super::process::{self, Running};
use super::web::{Client, timed};

/// A server and a connection to it.
pub struct Victoriametrics {
    running: Running,
    client: Client,
}

/// One exported line: a run of points of one series.
#[derive(serde::Deserialize)]
struct Line {
    metric: Metric,
    values: Vec<f64>,
    timestamps: Vec<i64>,
}

#[derive(serde::Deserialize)]
struct Metric {
    series: String,
}

/// `victoria-metrics`.
///
/// # Errors
///
/// If it is not installed.
fn find() -> Result<Vec<PathBuf>> {
    let names = ["victoria-metrics-prod", "victoria-metrics"];
    let Some(program) = process::search(&names, &[]) else {
        bail!(
            "no VictoriaMetrics here: PATH has neither {}; install it with the system's package victoria-metrics",
            names.join(" nor ")
        );
    };
    Ok(vec![program])
}

/// VictoriaMetrics: import and export as JSON lines.
#[derive(Debug, Clone, Copy)]
pub struct Kind;

impl Database for Kind {
    fn name(&self) -> &'static str {
        "victoriametrics"
    }

    fn find(&self) -> Result<Vec<PathBuf>> {
        find()
    }

    fn start(&self, programs: &[PathBuf], parent: &Path) -> Result<Box<dyn Started>> {
        Ok(Box::new(Victoriametrics::start(programs, parent)?))
    }
}

impl Victoriametrics {
    /// Starts it on a fresh folder.
    ///
    /// # Errors
    ///
    /// If that fails.
    fn start(programs: &[PathBuf], parent: &Path) -> Result<Self> {
        let program = programs.first().context("its program is needed")?;
        let folder = process::folder(parent, "victoriametrics")?;
        let port = process::free_port()?;
        let mut command = process::command(program, &folder);
        command.arg(format!("-storageDataPath={}", folder.path().join("data").display()));
        command.arg(format!("-httpListenAddr=127.0.0.1:{port}"));
        command.args(["-retentionPeriod=100y", "-search.maxUniqueTimeseries=1000000", "-loggerLevel=WARN"]);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let running = Running::start(command, folder, address, Signal::INT)?;
        Ok(Self { running, client: Client::new(address)? })
    }
}

/// One line of an import: a whole series.
fn line(out: &mut Vec<u8>, data: &Data, index: usize) {
    let series = data.one(index);
    let held = || (0..data.values).filter_map(|place| Some((place, series.point(place, 0).0?)));
    out.extend_from_slice(b"{\"metric\":{\"__name__\":\"points\",\"series\":\"");
    out.extend_from_slice(itoa::Buffer::new().format(index).as_bytes());
    out.extend_from_slice(b"\"},\"values\":[");
    for (place, (_, milli)) in held().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        decimal(out, milli);
    }
    out.extend_from_slice(b"],\"timestamps\":[");
    for (count, (place, _)) in held().enumerate() {
        if count > 0 {
            out.push(b',');
        }
        out.extend_from_slice(itoa::Buffer::new().format(data.time(place)).as_bytes());
        out.extend_from_slice(b"000");
    }
    out.extend_from_slice(b"]}\n");
}

impl Started for Victoriametrics {
    fn caveat(&self) -> &'static str {
        "VictoriaMetrics: JSON lines, values only; it answers before points are synced, the clock stops when they can \
         be read"
    }

    fn keeps(&self) -> Keeps {
        Keeps { missing: false, flags: false }
    }

    fn cpu(&self) -> Option<Duration> {
        self.running.cpu()
    }

    fn write(&mut self, data: &Data, request_series: usize) -> Result<Took> {
        let client = &mut self.client;
        let (took, ()) = timed(&self.running, || {
            for first in (0..data.series).step_by(request_series.max(1)) {
                let range = first..(first + request_series).min(data.series);
                client.post("/api/v1/import", |body| {
                    for index in range {
                        line(body, data, index);
                    }
                })?;
            }
            client.get("/internal/force_flush").map(drop)
        })?;
        Ok(took)
    }

    fn read(&mut self, data: &Data) -> Result<(Took, Vec<Tally>)> {
        let mut tallies = vec![Tally::default(); data.series];
        let path = format!(
            "/api/v1/export?match%5B%5D=points&start={}&end={}",
            data.time(0),
            data.time(data.values)
        );
        let client = &mut self.client;
        let (took, ()) = timed(&self.running, || client.lines(&path, &mut |line| take(&mut tallies, line)))?;
        Ok((took, tallies))
    }

    fn close(self: Box<Self>) -> Result<u64> {
        self.running.close()
    }
}

fn take(tallies: &mut [Tally], line: &[u8]) -> Result<()> {
    if line.is_empty() {
        return Ok(());
    }
    let Line { metric, values, timestamps } =
        serde_json::from_slice(line).context("a line that is no series")?;
    let tally = metric.series.parse::<usize>().ok().and_then(|series| tallies.get_mut(series));
    let tally = tally.with_context(|| format!("series {} was not written", metric.series))?;
    ensure!(values.len() == timestamps.len(), "series {}: as many values as times", metric.series);
    for (value, time) in values.into_iter().zip(timestamps) {
        tally.at(time.div_euclid(1_000));
        tally.add_float(value);
    }
    Ok(())
}
