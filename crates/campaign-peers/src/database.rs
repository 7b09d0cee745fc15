//! What a database must do to take part: be found, start, take points, give them back, and end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use campaign::hakom::series::Data;
use campaign::hakom::tally::Tally;

/// How long a database may take until it answers.
pub(crate) const START_TIME_MAX: Duration = Duration::from_secs(60);

/// A kind of database.
pub trait Database: Sync {
    /// Its name on the command line and behind the names of its rows.
    fn name(&self) -> &'static str;

    /// Looks for its programs on this machine.
    ///
    /// # Errors
    ///
    /// If they are not there; the message says what was looked for.
    fn find(&self) -> Result<Vec<PathBuf>>;

    /// Starts it on a fresh folder in `parent`.
    ///
    /// # Errors
    ///
    /// If that fails.
    fn start(&self, programs: &[PathBuf], parent: &Path) -> Result<Box<dyn Started>>;
}

/// What a job on a peer took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Took {
    /// From the first byte sent to the last answered.
    pub elapsed: Duration,
    /// CPU time of the peer's processes meanwhile.
    pub cpu: Option<Duration>,
    /// CPU time of this process meanwhile.
    pub generator_cpu: Option<Duration>,
}

/// What a peer keeps of a point; the rest is left out of what is expected of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keeps {
    /// Points without a value.
    pub missing: bool,
    /// Flags.
    pub flags: bool,
}

/// A database that runs.
pub trait Started {
    /// What qualifies its figures.
    fn caveat(&self) -> &'static str;

    /// What it keeps of a point.
    fn keeps(&self) -> Keeps;

    /// CPU time of its processes so far.
    fn cpu(&self) -> Option<Duration>;

    /// Writes all points of `data`, a request for each run of `request_series` series.
    ///
    /// # Errors
    ///
    /// If it refuses.
    fn write(&mut self, data: &Data, request_series: usize) -> Result<Took>;

    /// Reads all points back, tallied by series.
    ///
    /// # Errors
    ///
    /// If it refuses.
    fn read(&mut self, data: &Data) -> Result<(Took, Vec<Tally>)>;

    /// Ends it, waits, and weighs its folder.
    ///
    /// # Errors
    ///
    /// If it does not end.
    fn close(self: Box<Self>) -> Result<u64>;
}

/// Adds the next point of a series as it was read.
pub(crate) fn note_point(tally: &mut Tally, (time, milli): (i64, Option<i64>), code: u64) {
    tally.at(time);
    tally.add(milli);
    tally.flag(tally.points, code);
}
