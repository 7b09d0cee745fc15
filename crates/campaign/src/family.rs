//! What a family of load tests says of itself, so that the frame can run it without knowing it: its rows, how what
//! they run on is prepared, how they load a server, how answers are checked, and its tables.
//!
//! The frame ([`crate::runner`]) brings servers up and down, repeats runs, measures memory, disk and the floor, and
//! fills the parts of a report that are the same for all. Requests may be sent by a closed loop
//! ([`crate::executors::run_closed`]) or at a given rate ([`crate::executors::open`]): a family's `load` chooses.

use anyhow::Result;

use crate::course::{Course, Ran, Results};
use crate::executors::{Load, Outcome};
use crate::findings::Findings;
use crate::report::{RowReport, Table};
use crate::target::Target;
use crate::workloads::{Named, Workload};

/// What a row shares with the rows before and behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharing {
    /// Further arguments of our own server.
    pub server: Vec<String>,
    /// The set that it runs on, known by its shape; rows of one set share a server. `None`: the row has a server of its
    /// own.
    pub set: Option<String>,
}

/// A row with the server that it loads.
#[derive(Debug)]
pub struct Bench<'a, R> {
    /// How the campaign is run.
    pub course: &'a Course,
    /// The family's rows and where their figures were published.
    pub workload: &'a Workload<R>,
    /// The row.
    pub row: &'a R,
    /// The server, or the floor in its stead.
    pub target: &'a Target,
    /// What the run under way is called.
    pub name: String,
}

impl<R> Bench<'_, R> {
    /// The load that `users` put on the server.
    pub fn load(&self, users: usize) -> Load {
        self.course.load(self.target, users)
    }
}

/// What one run left.
#[derive(Debug)]
pub struct Loaded<A> {
    /// What was measured.
    pub outcome: Outcome,
    /// The most memory that the server had meanwhile, in bytes; `None`: not looked at.
    pub memory_peak: Option<u64>,
    /// What is to be checked.
    pub answers: A,
}

/// A family of rows that belong together: usually those that were published together.
pub trait Family: Sync {
    /// A row, as its workload file has it.
    type Row: Named;
    /// What lies on a server for the rows that share it.
    type Set;
    /// What a run leaves to be checked.
    type Answers;

    /// Its name, its title, and all its rows, in the order in which they run.
    ///
    /// # Errors
    ///
    /// If the workload file is not as it should be, which a test excludes.
    fn workload(&self) -> Result<Workload<Self::Row>>;

    /// The heads of the columns by which `campaign list` describes rows, behind the row's name.
    fn columns(&self) -> &'static [&'static str];

    /// The cells under these heads for `row`.
    fn cells(&self, row: &Self::Row) -> Vec<String>;

    /// What `row` shares with its neighbours.
    fn sharing(&self, course: &Course, row: &Self::Row) -> Sharing;

    /// Creates what the row and those that share its server run on; and how long that took, if it was anything.
    ///
    /// # Errors
    ///
    /// If the generator fails; errors of the server are in the outcome.
    fn prepare(&self, bench: &Bench<'_, Self::Row>) -> Result<(Self::Set, Option<Outcome>)>;

    /// Whether a server with something on it rests before each run: then what it still does behind is not the run's.
    fn rests_before_runs(&self) -> bool {
        false
    }

    /// One run of the row: only its load is measured.
    ///
    /// # Errors
    ///
    /// If the generator fails; errors of the server are in the outcome.
    fn load(
        &self,
        bench: &Bench<'_, Self::Row>,
        set: &mut Self::Set,
        run: u32,
    ) -> Result<Loaded<Self::Answers>>;

    /// Looks at what a run left, and at what the server holds now; outside of any time measured.
    ///
    /// # Errors
    ///
    /// If the generator fails; wrong answers are findings.
    fn check(
        &self,
        bench: &Bench<'_, Self::Row>,
        set: &Self::Set,
        outcome: &Outcome,
        answers: Self::Answers,
    ) -> Result<Findings>;

    /// The status with which the floor answers the row's requests.
    fn floor_status(&self, row: &Self::Row) -> u16;

    /// The same load on the floor, which is the bench's target; nothing is checked.
    ///
    /// # Errors
    ///
    /// If the generator fails.
    fn floor(&self, bench: &Bench<'_, Self::Row>, set: &Self::Set) -> Result<Outcome>;

    /// The report of the row. The frame adds its name, the checks, memory, what else it knows of the floor, and the
    /// ratio to the published figure.
    fn report(&self, bench: &Bench<'_, Self::Row>, set: &Self::Set, ran: &Ran<'_>) -> RowReport;

    /// Whether the folder of a server is weighed once the server came to rest and stopped.
    fn weighs_folders(&self) -> bool {
        false
    }

    /// Adds to the report of a row what the server left on the disk, if it was weighed.
    fn weighed(&self, _set: &Self::Set, _folder_bytes: Option<u64>, _report: &mut RowReport) {}

    /// Whether `row` is one of [`Family::run_apart`].
    fn is_apart(&self, _row: &Self::Row) -> bool {
        false
    }

    /// Runs the rows that need something else than one server after the other: several at once, say. Called once, behind all
    /// other rows, if there are any. A family of which all rows are such is an `ApartFamily`.
    ///
    /// # Errors
    ///
    /// If no server can be had.
    fn run_apart(
        &self,
        _course: &Course,
        _workload: &Workload<Self::Row>,
        _rows: &[&Self::Row],
        _results: &mut Results,
    ) -> Result<()> {
        Ok(())
    }

    /// Tables that set the rows side by side, goals among them; they come before those of [`Family::run_apart`].
    fn tables(&self, course: &Course, rows: &[RowReport]) -> Vec<Table>;
}
