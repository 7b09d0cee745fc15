//! Commits that say nothing: what the model writes for itself, of which the feed does not tell.

use entity::Error;
use store::retry::unless_lost;
use store::{Commit, Condition, Partition, Stamp, Write};

use super::TenantState;

impl TenantState {
    /// A commit that says nothing; `reclaims`: it is taken, too, where room is short.
    pub(crate) fn silent(
        &self,
        partition: &Partition,
        conditions: Vec<Condition>,
        writes: Vec<Write>,
        reclaims: bool,
    ) -> Commit {
        let (partition, write_id) = (partition.clone(), self.write_ids.next());
        Commit { partition, write_id, conditions, writes, change: None, reclaims }
    }

    /// Carries such a commit out; `None`: another came first.
    pub(crate) async fn commit_silently(&self, commit: Commit) -> Result<Option<Stamp>, Error> {
        Ok(unless_lost(self.store.commit_known(commit).await)?)
    }
}
