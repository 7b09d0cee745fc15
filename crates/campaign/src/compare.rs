//! Ours of today beside ours of before.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::report::{Report, table::number};

/// Latencies this close, in milliseconds, are taken as equal: on one machine they differ by as much from run to run.
const LATENCY_NOISE_MS: f64 = 0.2;

/// What of an older report counts; older ones may hold less, newer ones more.
#[derive(Debug, Clone, Deserialize)]
pub struct Old {
    rows: Vec<OldRow>,
    #[serde(default)]
    environment: OldEnvironment,
}

/// What must be the same for figures to be compared.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct OldEnvironment {
    profile: String,
    cpu: String,
}

#[derive(Debug, Clone, Deserialize)]
struct OldRow {
    id: String,
    throughput: f64,
    #[serde(default)]
    p95_ms: Option<f64>,
    #[serde(default)]
    cpu_us_per_op: Option<f64>,
}

/// How a row changed, in per cent of before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Delta {
    /// The row.
    pub id: String,
    /// Requests a second before and now.
    pub throughput: (f64, f64),
    /// The change of the rate; negative is slower.
    pub throughput_percent: f64,
    /// The 95th percentile before and now, in milliseconds.
    pub p95_ms: Option<(f64, f64)>,
    /// CPU time of the server for each call before and now.
    pub cpu_us_per_op: Option<(f64, f64)>,
    /// Whether it is worse than the threshold allows.
    pub worse: bool,
}

impl Old {
    /// Reads an older `results.json`.
    ///
    /// # Errors
    ///
    /// If it cannot be read or is no report.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is no report of a campaign", path.display()))
    }

    /// Why the two reports should not be compared, in words.
    pub fn differences(&self, report: &Report) -> Vec<String> {
        let old = &self.environment;
        let pairs = [
            ("profile", &old.profile, &report.environment.profile),
            ("machine", &old.cpu, &report.environment.cpu),
        ];
        let differ = pairs.into_iter().filter(|(_, old, new)| !old.is_empty() && old != new);
        differ.map(|(what, old, new)| format!("another {what} than before: {old}, now {new}")).collect()
    }

    /// How each row that both reports have changed; worse is a rate or a p95 more than `threshold` per cent off.
    pub fn deltas(&self, report: &Report, threshold: f64) -> Vec<Delta> {
        let pairs =
            report.rows.iter().filter_map(|new| Some((self.rows.iter().find(|old| old.id == new.id)?, new)));
        let delta = |(old, new): (&OldRow, &crate::report::RowReport)| {
            let throughput_percent = percent(old.throughput, new.throughput);
            let slower = old.p95_ms.is_some_and(|before| {
                percent(before, new.p95_ms) > threshold && new.p95_ms - before > LATENCY_NOISE_MS
            });
            Delta {
                id: new.id.clone(),
                throughput: (old.throughput, new.throughput),
                throughput_percent,
                p95_ms: old.p95_ms.map(|before| (before, new.p95_ms)),
                cpu_us_per_op: old.cpu_us_per_op.zip(new.cpu_us_per_op),
                worse: throughput_percent < -threshold || slower,
            }
        };
        pairs.map(delta).collect()
    }
}

fn percent(before: f64, now: f64) -> f64 {
    if before > 0.0 { (now / before - 1.0) * 100.0 } else { 0.0 }
}

/// The deltas as a Markdown table.
pub fn markdown(deltas: &[Delta]) -> String {
    let mut out = String::from(
        "| row | rate before | now | change | p95 ms before | now | CPU us/op before | now | |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let pair = |pair: Option<(f64, f64)>| match pair {
        Some((before, now)) => format!("{} | {}", number(before), number(now)),
        None => "– | –".to_owned(),
    };
    for delta in deltas {
        let _ = writeln!(
            out,
            "| {} | {} | {:+.1} % | {} | {} | {} |",
            delta.id,
            pair(Some(delta.throughput)),
            delta.throughput_percent,
            pair(delta.p95_ms),
            pair(delta.cpu_us_per_op),
            if delta.worse { "worse" } else { "" },
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::RowReport;

    fn check(before: (f64, f64), now: (f64, f64), worse: bool) {
        let old = format!(
            r#"{{"rows":[{{"id":"S-C3","throughput":{},"p95_ms":{}}},{{"id":"S-X","throughput":1}}]}}"#,
            before.0, before.1
        );
        let old: Old = serde_json::from_str(&old).unwrap();
        let row =
            RowReport { id: "S-C3".to_owned(), throughput: now.0, p95_ms: now.1, ..RowReport::default() };
        let other = RowReport { id: "S-P1".to_owned(), ..RowReport::default() };
        let report = Report { rows: vec![row, other], ..Report::default() };
        let deltas = old.deltas(&report, 10.0);
        assert_eq!(deltas.len(), 1);
        assert_eq!(deltas[0].worse, worse, "{deltas:?}");
        assert!(markdown(&deltas).contains("| S-C3 |"));
        assert!(old.differences(&report).is_empty(), "it does not tell");
    }

    #[test]
    fn worse_is_beyond_the_threshold_in_rate_or_p95() {
        check((1_000.0, 5.0), (1_000.0, 5.0), false);
        check((1_000.0, 5.0), (950.0, 5.2), false);
        check((1_000.0, 5.0), (890.0, 5.0), true);
        check((1_000.0, 5.0), (2_000.0, 6.0), true);
        check((1_000.0, 0.1), (1_000.0, 0.2), false);
    }

    #[test]
    fn another_profile_or_machine_is_said() {
        let old = r#"{"rows":[],"environment":{"profile":"full","cpu":"X"}}"#;
        let old: Old = serde_json::from_str(old).unwrap();
        let mut report = Report::default();
        "full".clone_into(&mut report.environment.profile);
        "Y".clone_into(&mut report.environment.cpu);
        assert_eq!(old.differences(&report), ["another machine than before: X, now Y"]);
    }

    #[test]
    fn a_file_that_is_no_report_is_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.json");
        std::fs::write(&path, "{}").unwrap();
        assert!(Old::read(&path).unwrap_err().to_string().contains("no report"));
        assert!(Old::read(&folder.path().join("none.json")).is_err());
    }
}
