//! What the writers of a tenant go by, read once for each epoch of a bucket (`watch.rs`).

use std::sync::Arc;

use entity::Error;
use store::Epoch;
use store::retry::RetryBackoff;

use super::{TenantEntities, TenantState, no_bucket};
use crate::watch::{Known, Watch, Watched};

/// How often a writer begins anew because the layout changes.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
impl TenantState {
    /// What commits on an entity go by; while entities move, it has moved then. `None`: this layout does not hold any more.
    /// Cost: a look in memory; three reads after a fence was raised.
    pub(crate) async fn watch(&self, id: &str) -> Result<Option<Watch>, Error> {
        if self.layout.is_moving() && !Box::pin(self.move_entity(id)).await? {
            return Ok(None);
        }
        self.watch_partition(self.bucket(id)).await
    }

    /// The same of all entities of one of the partitions, whether they have moved or not.
    pub(crate) async fn watch_partition(&self, at: usize) -> Result<Option<Watch>, Error> {
        let partition = self.partitions.get(at).ok_or_else(no_bucket)?;
        let (fence, moves) = (self.store.fence(partition), self.layout.moves());
        let watched = self.watched.get(at);
        if let Some(known) = watched.and_then(|watched| watched.get(fence)) {
            return Ok(Some(Watch { fence, known, moves }));
        }
        // Seldom: what is done for each write stays small.
        Box::pin(self.watch_anew(watched, fence)).await
    }

    /// Reads what commits go by, in a new epoch.
    async fn watch_anew(&self, watched: Option<&Watched>, fence: Epoch) -> Result<Option<Watch>, Error> {
        let records_states = self.has_consumers().await?;
        let register = self.index_register().await?;
        if register.has_entered() {
            // Under this fence others may not know of it.
            self.begin_indexes().await?;
            return Ok(None);
        }
        let indexed = register.written();
        if !self.is_in_force().await? {
            return Ok(None);
        }
        let known = Arc::new(Known::new(records_states, indexed));
        if let Some(watched) = watched {
            watched.set(fence, &known);
        }
        Ok(Some(Watch { fence, known, moves: self.layout.moves() }))
    }

    /// Whether writers of this process may still tell states.
    pub(crate) fn may_record_states(&self) -> bool {
        let of_bucket = |(partition, watched): (_, &Watched)| watched.get(self.store.fence(partition));
        let mut known = self.partitions.iter().zip(&self.watched).filter_map(of_bucket);
        known.any(|known| known.records_states)
    }

    /// Has all writers read again what they go by before they commit: those of the layout that holds, too, if that is another by now.
    /// (Writers of a later one read it anew.)
    pub(crate) async fn raise_fences(&self) -> Result<(), Error> {
        let mut state = self.newest();
        loop {
            state.bump_all(&state.partitions).await?;
            match state.newer().await? {
                Some(newer) => state = newer,
                None => return Ok(()),
            }
        }
    }
}

impl TenantEntities {
    /// What is needed to write an entity by the layout that holds.
    ///
    /// # Errors
    ///
    /// If the store refuses; [`Error::Contention`] if the layout changes all the while.
    pub(crate) async fn watch(&self, id: &str) -> Result<(&TenantState, Watch), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let state = self.state();
            if let Some(watch) = state.watch(id).await? {
                return Ok((state, watch));
            }
        }
        Err(attempts.exhausted(id).into())
    }
}
