//! The rows of the family as data.

use std::time::Duration;

use anyhow::Result;
use campaign::profile::Profile;
use campaign::workloads::{Named, Workload};
use serde::Deserialize;

/// How the operations reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Over HTTP.
    Remote,
    /// In the process that asks.
    Embedded,
}

/// One row: threads that repeat the flow, and the published mean of each operation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name in all reports.
    pub id: String,
    /// How the operations reach the server.
    pub mode: Mode,
    /// Threads, each of which waits for its answers.
    pub threads: usize,
    /// Mean milliseconds of the operations, in the order of the flow.
    pub published_ms: [f64; 4],
}

impl Row {
    /// For how long new flows begin.
    pub fn duration(&self, profile: Profile) -> Duration {
        match profile {
            Profile::Smoke => Duration::from_millis(1_200),
            Profile::Short => Duration::from_secs(12),
            Profile::Full => Duration::from_secs(60),
        }
    }

    /// The published flows a second: threads by the sum of the means.
    pub fn published_flows(&self) -> f64 {
        self.threads as f64 * 1e3 / self.published_ms.iter().sum::<f64>()
    }
}

impl Named for Row {
    fn id(&self) -> &str {
        &self.id
    }
}

/// The rows of `mode`, as a family `name`.
///
/// # Errors
///
/// If the workload file is not as it should be, which a test excludes.
pub fn workload(name: &str, mode: Mode) -> Result<Workload<Row>> {
    let mut workload: Workload<Row> = Workload::parse(include_str!("../../workloads/cps.toml"))?;
    workload.rows.retain(|row| row.mode == mode);
    name.clone_into(&mut workload.name);
    if mode == Mode::Embedded {
        workload.title.push_str(", in process");
    }
    Ok(workload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_aggregate_follows_from_the_means() {
        let remote = workload("cps", Mode::Remote).unwrap();
        let flows: Vec<String> =
            remote.rows.iter().map(|row| format!("{:.1}", row.published_flows())).collect();
        assert_eq!(flows, ["6.8", "16.8", "15.7", "15.2"]);
        remote.check_named("cps-r", &["CPS-R2", "CPS-R10", "CPS-R20", "CPS-R50"]);
        let embedded = workload("cps-embedded", Mode::Embedded).unwrap();
        embedded.check_named("CPS-E10,cps-e5", &["CPS-E10", "CPS-E50"]);
        assert!(embedded.title.ends_with("in process") && embedded.name == "cps-embedded");
    }
}
