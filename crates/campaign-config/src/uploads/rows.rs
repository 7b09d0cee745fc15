//! The rows of the family as data.

use anyhow::Result;
use campaign::profile::Profile;
use campaign::workloads::{Named, Workload};
use serde::Deserialize;

/// How many times fewer uploads a run has in the short profile.
const SHORT: u64 = 4;

/// Which modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Modules {
    /// The eleven of the published flows, or those made here in their stead.
    Topology,
    /// 218 of the shape of OpenConfig.
    OpenConfig,
}

/// One row: modules that are uploaded again and again, and the seconds that one upload is to take at most.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name in all reports.
    pub id: String,
    /// Which modules.
    pub modules: Modules,
    /// Uploads of a run.
    pub uploads: u64,
    /// Seconds.
    pub goal_s: f64,
}

impl Row {
    /// How many uploads a run has in `profile`: never fewer modules.
    pub fn count(&self, profile: Profile) -> u64 {
        match profile {
            Profile::Smoke => 1,
            Profile::Short => (self.uploads / SHORT).max(1),
            Profile::Full => self.uploads,
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
    Workload::parse(include_str!("../../workloads/config-uploads.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_have_fewer_uploads_of_as_many_modules() {
        let rows = workload().unwrap().rows;
        let counts = |profile| rows.iter().map(|row| row.count(profile)).collect::<Vec<u64>>();
        assert_eq!(counts(Profile::Full), [40, 10]);
        assert_eq!((counts(Profile::Short), counts(Profile::Smoke)), (vec![10, 2], vec![1, 1]));
        let goals: Vec<f64> = rows.iter().map(|row| row.goal_s).collect();
        assert_eq!(goals, [0.1, 5.0]);
    }
}
