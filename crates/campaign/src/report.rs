//! What a campaign writes: `results.json` (everything), `results.csv`, `results.md` and `index.html`.

pub mod table;
pub mod chart;
pub mod page;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::machine::Environment;
use crate::record::{Errors, Second};
use crate::usage::UsagePoint;

/// A published figure and the hardware it was measured on; never shown without.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Published {
    /// In the unit of the row.
    pub throughput: f64,
    /// The 95th percentile, in milliseconds, if it was published.
    pub p95_ms: Option<f64>,
    /// The seconds of the whole job, if it was one.
    pub seconds: Option<f64>,
    /// The machines.
    pub hardware: String,
}

/// One of the things that a row does again and again, by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Operation {
    /// Its name, as published.
    pub name: String,
    /// How often it was done well.
    pub count: u64,
    /// The shortest time it took.
    pub min_ms: f64,
    /// The mean time it took.
    pub mean_ms: f64,
    /// The longest time it took.
    pub max_ms: f64,
    /// The time that half of them stayed below, if all were remembered.
    pub median_ms: Option<f64>,
    /// The published mean time, if there is one.
    pub published_mean_ms: Option<f64>,
}

/// One row of a report. Fields named `_ms`, `_s`, `_us`, `_mb` are in that unit; `None`: not known.
#[derive(Debug, Clone, Default, Serialize)]
#[expect(missing_docs, reason = "the fields are the format: docs/operating/campaign.md tells each of them")]
pub struct RowReport {
    pub id: String,
    pub scenario: Option<String>,
    pub users: usize,
    pub iterations: u64,
    pub runs: usize,
    pub throughput: f64,
    pub unit: String,
    pub throughput_min: f64,
    pub throughput_max: f64,
    pub items_per_s: f64,
    pub items: String,
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p75_ms: f64,
    pub p90_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    pub max_ms: f64,
    pub errors: u64,
    pub error_kinds: BTreeMap<String, Errors>,
    pub answers_checked: u64,
    pub answers_wrong: u64,
    pub wrong_examples: Vec<String>,
    pub floor_ratio: Option<f64>,
    pub floor_throughput: Option<f64>,
    pub floor_p95_ms: Option<f64>,
    pub floor_cpu_us_per_op: Option<f64>,
    pub cpu_us_per_op: Option<f64>,
    pub generator_cpu_us_per_op: Option<f64>,
    pub rss_mb: Option<f64>,
    pub rss_peak_mb: Option<f64>,
    pub disk_mb: Option<f64>,
    pub set_entities: usize,
    pub set_types: usize,
    pub setup_requests: u64,
    pub setup_s: f64,
    pub k6_style_throughput: Option<f64>,
    pub k6_style_p95_ms: Option<f64>,
    pub entities_per_answer: Option<f64>,
    pub body_bytes_mean: f64,
    pub points: Option<u64>,
    pub job_s: Option<f64>,
    pub cpu_ns_per_point: Option<f64>,
    pub generator_cpu_ns_per_point: Option<f64>,
    pub row_rss_peak_mb: Option<f64>,
    pub disk_bytes_per_point: Option<f64>,
    pub published: Option<Published>,
    pub published_besides: Vec<Published>,
    pub throughput_to_published: Option<f64>,
    pub caveat: String,
    pub operations: Vec<Operation>,
    pub usage: Vec<UsagePoint>,
    pub seconds: Vec<Second>,
    pub curve: Vec<(f64, f64)>,
    pub latency_ns_hdr_base64: String,
}

impl RowReport {
    /// Why its figures say nothing of how fast the server is, in words: errors, wrong answers, or no iterations. `None` if all went
    /// well.
    pub fn failure(&self) -> Option<String> {
        let counted = |count: u64, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            count => Some(format!("{count} {what}s")),
        };
        let nothing = (self.iterations == 0).then(|| "nothing was measured".to_owned());
        let reasons = [counted(self.errors, "error"), counted(self.answers_wrong, "wrong answer"), nothing];
        let reasons: Vec<String> = reasons.into_iter().flatten().collect();
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }
}

/// Makes `folder` and tries a write there, so that a long campaign does not end without its reports.
///
/// # Errors
///
/// If reports could not be written into `folder`.
pub fn prepare(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("making {} for the reports", folder.display()))?;
    let probe = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| file.write_all(b"probe"));
    probe.with_context(|| format!("the reports cannot be written into {}", folder.display()))
}

/// A whole campaign.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// What was run, in words.
    pub title: String,
    /// Machine, software and settings.
    pub environment: Environment,
    /// Its rows, in the order in which they ran.
    pub rows: Vec<RowReport>,
    /// Tables beside the rows, each with what it shows.
    pub tables: Vec<Table>,
    /// What went wrong besides errors in the loads.
    pub faults: Vec<String>,
}

/// A table that sets rows side by side.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Table {
    /// What it compares.
    pub title: String,
    /// The heads of its columns.
    pub columns: Vec<String>,
    /// Its cells, line by line.
    pub lines: Vec<Vec<String>>,
    /// What it shows, in a sentence.
    pub verdict: String,
}

impl Report {
    /// Whether every answer was as hoped for and right.
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.rows.iter().all(|row| row.failure().is_none())
    }

    /// `results.json`.
    ///
    /// # Errors
    ///
    /// If a figure is no number, which would be a defect of this crate.
    pub fn json(&self) -> Result<String> {
        serde_json::to_string_pretty(self).context("writing the report as JSON")
    }

    /// Writes all four forms into `folder`, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        let files = [
            ("results.json", self.json()?),
            ("results.csv", table::csv(self)),
            ("results.md", table::markdown(self)),
            ("index.html", page::html(self)),
        ];
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
