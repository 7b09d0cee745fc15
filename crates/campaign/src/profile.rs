//! How much of a published workload is run: profiles scale iterations, times and sets, never users.

use std::time::Duration;

use clap::ValueEnum;

use crate::stellio::sets::SetShape;
use crate::workloads::Row;

/// The size of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// A family within a minute: does it work, and roughly how fast?
    Smoke,
    /// A family within ten minutes.
    Short,
    /// The published sizes.
    Full,
}

/// How the sets are created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Setup {
    /// One user, one entity a request, as published.
    Sequential,
    /// One user, 500 entities a request: faster, and said so.
    Batch,
}

impl Profile {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Short => "short",
            Self::Full => "full",
        }
    }

    /// The longest one run of a row may take; no new call starts after it. This is what scales iterations: a
    /// fast server does them all, and a slow one is not waited for.
    pub fn loop_time_max(self) -> Duration {
        match self {
            Self::Smoke => Duration::from_millis(1_300),
            Self::Short => Duration::from_secs(12),
            Self::Full => Duration::from_secs(2 * 3600),
        }
    }

    /// The set of `row`.
    pub fn set(self, row: &Row) -> SetShape {
        let entities_max = match self {
            Self::Smoke => 2_000,
            Self::Short => 20_000,
            Self::Full => usize::MAX,
        };
        SetShape { entities: row.entities.min(entities_max), types: row.types }
    }

    /// For how long the floor is measured for each row.
    pub fn floor_time(self) -> Duration {
        match self {
            Self::Smoke => Duration::from_millis(600),
            Self::Short => Duration::from_secs(2),
            Self::Full => Duration::from_secs(4),
        }
    }

    /// The longest wait for the server to come to rest before the floor is measured beside it.
    pub fn rest_time_max(self) -> Duration {
        match self {
            Self::Smoke => Duration::from_millis(300),
            Self::Short => Duration::from_secs(2),
            Self::Full => Duration::from_secs(10),
        }
    }

    /// Runs of each row unless told otherwise; the published figures are means of three.
    pub fn runs(self) -> u32 {
        match self {
            Self::Smoke | Self::Short => 1,
            Self::Full => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::select;

    #[test]
    fn full_is_as_published_and_the_others_are_smaller_but_for_users() {
        let rows = select("stellio").unwrap().rows;
        for row in &rows {
            assert_eq!(Profile::Full.set(row).entities, row.entities);
            for profile in [Profile::Smoke, Profile::Short] {
                assert!(profile.set(row).entities <= row.entities);
            }
        }
        // A family's loops and floors alone must leave time for sets and starts.
        let time = |profile: Profile| {
            (profile.loop_time_max() + profile.floor_time() + profile.rest_time_max()) * 16
        };
        assert!(time(Profile::Smoke) < Duration::from_secs(40));
        assert!(time(Profile::Short) < Duration::from_secs(420));
    }
}
