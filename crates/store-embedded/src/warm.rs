//! What is done to commits before they queue, so that the committer, for whom all wait, has less to do.
//!
//! Rows that conditions ask for are read by who submits a commit: the committer finds them in the cache. One that went out
//! of it meanwhile it reads itself. Its rows are checked and sorted.

use std::sync::Arc;

use super::shared::Shared;
use store_contract::limits::check_commit;
use store_contract::place::place;
use store_contract::{Commit, Condition, Error, Limits, rest};

/// A commit of more rows is large.
pub(crate) const LARGE_ROWS: usize = 4_000;
/// So many rows are read on the caller's thread before others may run.
const READ_AT_ONCE: usize = 64;

impl Shared {
    /// Checks a commit and answers with its size; a large one on a thread that may take its time, as its rows are sorted. The
    /// committer's sort then has little left to do.
    pub(crate) async fn check(&self, mut commit: Commit) -> Result<(Commit, usize), Error> {
        if commit.writes.len() <= LARGE_ROWS {
            let bytes = check_commit(&mut commit, &Limits::EMBEDDED)?;
            return Ok((commit, bytes));
        }
        let check = move || {
            let bytes = check_commit(&mut commit, &Limits::EMBEDDED)?;
            Ok((commit, bytes))
        };
        self.block(check).await
    }

    /// Reads what the conditions of commits ask for. What cannot be read is left to the committer, who says so. Cost: a look-up
    /// for each condition; for what is not cached, an engine read, which may wait for the disk.
    pub(crate) async fn warm(self: &Arc<Self>, commits: impl Iterator<Item = &Commit>) {
        let (mut cold, mut read) = (Vec::new(), 0);
        for commit in commits {
            for key in commit.conditions.iter().filter_map(Condition::key) {
                let place = place(&commit.partition, key);
                if self.cache.holds(&place) {
                    continue;
                }
                if matches!(self.get_in_memory(&place), Ok(None)) {
                    cold.push(place);
                }
                read += 1;
                if read % READ_AT_ONCE == 0 {
                    rest().await;
                }
            }
        }
        if cold.is_empty() {
            return;
        }
        let shared = Arc::clone(self);
        let read = move || cold.iter().try_for_each(|place| shared.get_from_disk(place).map(drop));
        if let Err(error) = self.block(read).await {
            tracing::debug!(%error, "rows of conditions were not read ahead");
        }
    }
}
