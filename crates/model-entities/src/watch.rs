//! What writers go by as long as the fence of a bucket stands: whether changes tell states (`consumers.rs`), which attributes
//! are indexed (`indexes.rs`), which are known to be in use (`in_use.rs`), and over how many buckets entities are spread (`layout.rs`).
//!
//! Whoever changes one of these writes a row and then raises the fences: a writer who does not know of it, on whichever
//! node, is refused and reads the rows again. Writers to whom nothing is news pay for a look in memory.

use std::collections::HashSet;
use std::sync::Arc;

use entity::index::Indexed;
use entity::{Error, TermId};
use parking_lot::RwLock;
use store::Epoch;
use store::retry::RetryBackoff;

use crate::TenantEntities;
use crate::tenant::{TenantState, no_bucket};

/// How often a writer begins anew because the layout changes.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
/// Attributes in use that are remembered of a bucket; those beyond are noted with each write.
const IN_USE_MAX: usize = 1 << 16;

/// What is known of a bucket.
#[derive(Debug, Default)]
pub(crate) struct Watched(RwLock<Option<(Epoch, Arc<Known>)>>);

/// What was read under a fence, and is so as long as that stands.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) tells_states: bool,
    /// Which attributes have index rows.
    pub(crate) indexed: Indexed,
    /// Types, each with an attribute that is noted as in use.
    in_use: RwLock<HashSet<(TermId, TermId)>>,
}

/// What a commit goes by, and the fence as long as which that is so.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) fence: Epoch,
    pub(crate) known: Arc<Known>,
    /// How often entities had begun to move to other buckets.
    pub(crate) moves: u32,
}

impl Watched {
    pub(crate) fn get(&self, fence: Epoch) -> Option<Arc<Known>> {
        let held = self.0.read();
        held.as_ref().filter(|(under, _)| *under == fence).map(|(_, known)| Arc::clone(known))
    }

    fn set(&self, fence: Epoch, known: &Arc<Known>) {
        *self.0.write() = Some((fence, Arc::clone(known)));
    }
}

impl Known {
    /// Which of these are not known to be in use. Cost: a look at each.
    pub(crate) fn unknown(&self, pairs: impl Iterator<Item = (TermId, TermId)>) -> Vec<(TermId, TermId)> {
        let in_use = self.in_use.read();
        pairs.filter(|pair| !in_use.contains(pair)).collect()
    }

    /// Notes what is stored as in use.
    pub(crate) fn learn(&self, pairs: &[(TermId, TermId)]) {
        let mut in_use = self.in_use.write();
        if in_use.len() < IN_USE_MAX {
            in_use.extend(pairs);
        }
    }
}

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
        let tells_states = self.has_consumers().await?;
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
        let known = Arc::new(Known { tells_states, indexed, in_use: RwLock::default() });
        if let Some(watched) = watched {
            watched.set(fence, &known);
        }
        Ok(Some(Watch { fence, known, moves: self.layout.moves() }))
    }

    /// Whether writers of this process may still tell states.
    pub(crate) fn may_tell_states(&self) -> bool {
        let of_bucket = |(partition, watched): (_, &Watched)| watched.get(self.store.fence(partition));
        let mut known = self.partitions.iter().zip(&self.watched).filter_map(of_bucket);
        known.any(|known| known.tells_states)
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
