//! Fresh rows: blocks and pages of the index, and points of layers that are too large for a commit (spill.rs). They lie in an
//! append space, in partitions by the window of time they are of, and go ahead of the commit that names them; the commit
//! after which nothing names them lets them go. So a write of any size is one small commit, and no partition grows without end.
//!
//! Rows that no state names are left where a writer died, or another came before it. Where a store belongs to one process that
//! takes a write which does not fit in one batch: the state says so before ([`State::untidy`]). Elsewhere any write may
//! leave some in the windows that the strand spans; one beyond them says so before, and a state that spans less than the
//! one before it goes on saying so. [`Strands::sweep_fresh`] removes them.

use bytes::Bytes;
use store::{Append, Commit, CommitWithAppends, Epoch, LimitExceeded, Limits, ROW_BYTES_MAX, Removal};

use crate::error::Error;
use crate::keys;
use crate::strand::Strand;

/// Keys of rows that are removed together.
pub(crate) const KEYS_AT_ONCE: usize = 1_000;
/// The part of what an append may take that is made full use of.
const APPEND_PART: usize = 2;
/// Of what a commit takes, the part that is left free before something is appended in a batch of its own.
const SPARE_PART: usize = 16;

/// A window and a key.
pub(crate) type FreshKey = (i64, Bytes);

/// The fresh rows that a write puts, and those that it lets go.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    appends: Vec<Append>,
    lets_go: Vec<Removal>,
    /// The window of the last append and its bytes.
    last: (i64, usize),
    window_let_go: i64,
    /// The first and last window of what is put.
    windows: Option<(i64, i64)>,
    bytes: usize,
    /// The bytes of the largest row that is put.
    largest: usize,
}

impl Fresh {
    /// Puts a row of a window.
    pub(crate) fn put(
        &mut self,
        strand: &Strand,
        (window, key): (i64, Bytes),
        value: Bytes,
        limits: &Limits,
    ) {
        let more = key.len() + value.len();
        let (of, held) = self.last;
        let most = limits.commit_bytes / APPEND_PART;
        let fits = |append: &&mut Append| {
            of == window && held + more <= most && append.rows.len() < limits.commit_rows / APPEND_PART
        };
        self.bytes += more;
        self.largest = self.largest.max(more);
        let (first, last) = self.windows.unwrap_or((window, window));
        self.windows = Some((first.min(window), last.max(window)));
        match self.appends.last_mut().filter(fits) {
            Some(append) => {
                append.rows.push((key, value));
                self.last = (window, held + more);
            }
            None => {
                let partition = keys::fresh_partition(strand, window);
                self.appends.push(Append { partition, rows: vec![(key, value)] });
                self.last = (window, more);
            }
        }
    }

    /// Lets a row of a window go.
    pub(crate) fn remove(&mut self, strand: &Strand, (window, key): (i64, Bytes)) {
        let of = self.window_let_go;
        let fits = |removal: &&mut Removal| of == window && removal.keys.len() < KEYS_AT_ONCE;
        match self.lets_go.last_mut().filter(fits) {
            Some(removal) => removal.keys.push(key),
            None => {
                let partition = keys::fresh_partition(strand, window);
                self.lets_go.push(Removal { partition, keys: vec![key] });
                self.window_let_go = window;
            }
        }
    }

    /// Whether it is too much for one batch with its commit: then some is appended before, and may be left behind.
    pub(crate) fn is_too_much(&self, commit: &Commit, limits: &Limits) -> bool {
        let most = limits.commit_bytes - limits.commit_bytes / SPARE_PART;
        !self.appends.is_empty() && self.bytes + commit.bytes() > most
    }

    /// Between which times the rows lie that are put.
    pub(crate) fn span(&self) -> Option<(i64, i64)> {
        let (first, last) = self.windows?;
        Some((keys::times_of(first).0, keys::times_of(last).1.min(i64::MAX - 1)))
    }

    /// Refuses a row that no append takes: a block of one point.
    pub(crate) fn check_rows(&self, limits: &Limits) -> Result<(), Error> {
        let most = limits.commit_bytes.min(ROW_BYTES_MAX);
        Ok(LimitExceeded::check("ROW_BYTES_MAX", most, self.largest)?)
    }

    /// Refuses what is too much for one batch with its commit.
    pub(crate) fn check_size(&self, commit: &Commit, limits: &Limits) -> Result<(), Error> {
        if !self.is_too_much(commit, limits) {
            return Ok(());
        }
        let (got, max) = (self.bytes + commit.bytes(), limits.commit_bytes);
        Err(LimitExceeded { name: "COMMIT_BYTES_MAX", max: max as u64, got: got as u64 }.into())
    }

    /// The commit with what goes ahead of it and what it lets go.
    pub(crate) fn with(self, epoch: Epoch, commit: Commit) -> CommitWithAppends {
        CommitWithAppends { appends: self.appends, epoch, commit, lets_go: self.lets_go }
    }
}
