//! The rows of the family as data.

use anyhow::Result;
use campaign::profile::Profile;
use campaign::workloads::{Named, Workload};
use serde::Deserialize;

/// The most transactions of a row in the smallest profile, and in the short one.
const SMOKE_MAX: u64 = 1_000;
const SHORT_MAX: u64 = 10_000;
/// How much smaller rows are in the smallest profile.
const SMOKE: u64 = 20;

/// One row: so many transactions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name in all reports.
    pub id: String,
    /// Transactions.
    pub transactions: u64,
    /// Published seconds of servers, if there are any.
    #[serde(default)]
    pub published: Vec<Other>,
}

/// What a server was published to take.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Other {
    /// The server.
    pub name: String,
    /// The seconds.
    pub seconds: f64,
}

impl Row {
    /// How many transactions it has in `profile`.
    pub fn count(&self, profile: Profile) -> u64 {
        match profile {
            Profile::Smoke => (self.transactions / SMOKE).min(SMOKE_MAX),
            Profile::Short => self.transactions.min(SHORT_MAX),
            Profile::Full => self.transactions,
        }
    }
}

impl Named for Row {
    fn id(&self) -> &str {
        &self.id
    }
}

/// All rows.
///
/// # Errors
///
/// If the workload file is not as it should be, which a test excludes.
pub fn workload() -> Result<Workload<Row>> {
    Workload::parse(include_str!("../../workloads/config-transactions.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_size_was_published() {
        let rows = workload().unwrap().rows;
        let counts: Vec<u64> = rows.iter().map(|row| row.count(Profile::Full)).collect();
        assert_eq!(counts, [1_000, 10_000, 100_000]);
        let published: Vec<usize> = rows.iter().map(|row| row.published.len()).collect();
        assert_eq!(published, [0, 2, 0]);
        assert_eq!((rows[2].count(Profile::Short), rows[2].count(Profile::Smoke)), (10_000, 1_000));
    }
}
