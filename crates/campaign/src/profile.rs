//! How much of a published workload is run: profiles scale iterations, times and sets, never users.

use std::time::Duration;

use clap::ValueEnum;

use crate::hakom::rows::Row as SeriesRow;
use crate::stellio::sets::SetShape;
use crate::workloads::Row;

/// The size of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// A family within one to two minutes: does it work, and roughly how fast?
    Smoke,
    /// A family within ten to fifteen minutes.
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

/// When the instances of temporal sets say they were observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Observed {
    /// At the moment they are written, as in the published scripts: the faster the server, the fewer the seconds.
    Now,
    /// A hundred a second of each entity, up to now, as a server that writes so many would leave them.
    Spread,
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
        let (entities_max, instances_max) = match self {
            Self::Smoke => (2_000, 100),
            Self::Short => (20_000, 10_000),
            Self::Full => (usize::MAX, usize::MAX),
        };
        SetShape {
            entities: row.entities.min(entities_max),
            types: row.types,
            instances: row.instances.min(instances_max),
        }
    }

    /// The series of a job on time series, and those of each of its requests: every user keeps a request at least.
    pub fn series(self, row: &SeriesRow) -> (usize, usize) {
        let points_max = match self {
            Self::Smoke => 300_000,
            Self::Short => 7_200_000,
            Self::Full => usize::MAX,
        };
        let series = row.series.min(points_max / row.values.max(1)).max(row.users);
        let share = series.div_ceil(row.users.max(1));
        (series, row.request_series.min(share))
    }

    /// How often an overwrite of the compression table is repeated unless told otherwise; published as mean of ten.
    pub fn overwrites(self) -> u32 {
        match self {
            Self::Smoke => 1,
            Self::Short => 6,
            Self::Full => 10,
        }
    }

    /// For how long the floor is measured for each row.
    pub fn floor_time(self) -> Duration {
        match self {
            Self::Smoke => Duration::from_millis(400),
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
    use crate::workloads::{self, stellio};

    #[test]
    fn full_is_as_published_and_the_others_are_smaller_but_for_users() {
        let rows = stellio("stellio").unwrap().rows;
        for row in &rows {
            assert_eq!(Profile::Full.set(row).entities, row.entities);
            assert_eq!(Profile::Full.set(row).instances, row.instances);
            for profile in [Profile::Smoke, Profile::Short] {
                assert!(profile.set(row).entities <= row.entities);
            }
        }
        for row in &workloads::hakom("hakom").unwrap().rows {
            let wanted = row.series.div_ceil(row.request_series).max(row.users);
            assert_eq!(Profile::Full.series(row).0, row.series, "{}", row.id);
            assert!(row.series.div_ceil(Profile::Full.series(row).1) <= wanted, "{}", row.id);
            for profile in [Profile::Smoke, Profile::Short] {
                let (series, request) = profile.series(row);
                assert!(series <= row.series && request <= row.request_series, "{}", row.id);
                assert!(series.div_ceil(request) >= row.users, "{}: every user has a request", row.id);
            }
        }
        // A family's loops and floors alone must leave time for sets and starts.
        let time = |profile: Profile| {
            let row = profile.loop_time_max() + profile.floor_time() + profile.rest_time_max();
            row.mul_f64(rows.len() as f64)
        };
        assert!(time(Profile::Smoke) <= Duration::from_secs(60), "{:?}", time(Profile::Smoke));
        assert!(time(Profile::Short) < Duration::from_secs(500), "{:?}", time(Profile::Short));
    }
}
