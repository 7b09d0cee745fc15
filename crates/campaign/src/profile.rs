//! How much of a published workload is run: profiles scale iterations, times and sets, never users.

use std::time::Duration;

use clap::ValueEnum;

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

    /// How often a row that alternates with another is repeated by default.
    pub fn turns(self) -> u32 {
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

    /// Runs of each row by default; the published figures are means of three.
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

    /// The most rows that one family runs in a loop that ends by time.
    const ROWS: f64 = 30.0;

    #[test]
    fn loops_and_floors_leave_time_for_sets_and_starts() {
        let time = |profile: Profile| {
            let row = profile.loop_time_max() + profile.floor_time() + profile.rest_time_max();
            row.mul_f64(ROWS)
        };
        assert!(time(Profile::Smoke) <= Duration::from_secs(60), "{:?}", time(Profile::Smoke));
        assert!(time(Profile::Short) < Duration::from_secs(500), "{:?}", time(Profile::Short));
    }
}
