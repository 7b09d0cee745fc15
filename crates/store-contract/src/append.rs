//! What goes ahead of commits: rows of append spaces. A commit points at them (a value that is too large for it, a block), or
//! they point at what it writes (an entry of an index in another partition).
//!
//! They are seen before their commit, and without it if none follows: whoever meets one asks the row that has the say, the
//! *authority*. Keys name the life of what they belong to, so that those of one life never come back in another.

use bytes::Bytes;

use crate::limits::{check_append, check_removal};
use crate::{Commit, Condition, Epoch, Error, Limits, Partition};

/// Rows for one partition of an append space.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Append {
    /// Where; its space must be an append space.
    pub partition: Partition,
    /// Keys and values. For a key and an epoch there is one value: who appends a key again in an epoch appends the same.
    pub rows: Vec<(Bytes, Bytes)>,
}

/// Rows of one partition of an append space that are to go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Removal {
    /// Where; its space must be an append space.
    pub partition: Partition,
    /// The keys of the rows.
    pub keys: Vec<Bytes>,
}

/// A commit and the rows that go ahead of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CommitWithAppends {
    /// What is appended first. All of it belongs to the commit's partition.
    pub appends: Vec<Append>,
    /// That of the commit's partition, seen before what the commit follows from was read.
    pub epoch: Epoch,
    /// What makes the rows count. It happens only in this epoch, if there are any.
    pub commit: Commit,
    /// Rows that it lets go, under keys that nobody appends again. They are removed once it is done, as
    /// [`Appended::Until`] the epoch; whoever dies in between leaves them to a sweep.
    pub lets_go: Vec<Removal>,
}

impl CommitWithAppends {
    /// A commit of which nothing goes ahead.
    pub fn alone(commit: Commit) -> Self {
        Self { appends: Vec::new(), epoch: Epoch(0), commit, lets_go: Vec::new() }
    }

    /// Checks what goes ahead and what is let go, and makes the epoch a condition; answers with the bytes of each append.
    ///
    /// # Errors
    ///
    /// `TooLarge`, `Misuse`.
    pub fn prepare(&mut self, limits: &Limits) -> Result<Vec<usize>, Error> {
        let check = |append: &Append| check_append(&append.partition, &append.rows, limits);
        let bytes = self.appends.iter().map(check).collect::<Result<_, _>>()?;
        for removal in &self.lets_go {
            check_removal(&removal.partition, &removal.keys, limits)?;
        }
        if !self.appends.is_empty() {
            self.commit.conditions.push(Condition::Fence(self.epoch));
        }
        Ok(bytes)
    }

    /// Takes out what it lets go beyond so many rows.
    pub fn take_behind(&mut self, rows_max: usize) -> Vec<Removal> {
        let mut rows = 0;
        let mut fits = |removal: &&Removal| {
            rows += removal.keys.len();
            rows <= rows_max
        };
        let fitting = self.lets_go.iter().take_while(|removal| fits(removal)).count();
        self.lets_go.split_off(fitting)
    }
}

/// Which rows a removal takes: by the epoch in which they were appended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Appended {
    /// In an older epoch than this one: what a sweep takes once it has begun this epoch by `store::Store::bump`. Rows that
    /// are appended in it under the same keys stay.
    Before(Epoch),
    /// In this epoch or an older one: for rows that a commit has let go, under keys that nobody appends again.
    Until(Epoch),
}
