//! Other databases beside ours, as the frame knows them: by a name, and by the rows that they run. The databases
//! themselves are a crate of their own, which a program links or leaves out.

use anyhow::Result;

use crate::course::Course;
use crate::report::RowReport;
use crate::workloads::Selection;

/// A database that can be set beside ours.
pub trait Peer: Sync {
    /// Its name on the command line and behind the names of its rows.
    fn name(&self) -> &'static str;

    /// Looks for it on this machine, and for rows of `selection` that it can run: before any load.
    ///
    /// # Errors
    ///
    /// If it is not there, or has nothing to do; the message says what was looked for.
    fn find(&self, selection: &Selection) -> Result<Box<dyn Installed>>;
}

/// A database found on this machine.
pub trait Installed {
    /// Runs what it can of the selection, and adds a report for each row to `reports`.
    ///
    /// # Errors
    ///
    /// If it does not start or end; what else fails is in the reports.
    fn run(&self, course: &Course, reports: &mut Vec<RowReport>) -> Result<()>;
}
