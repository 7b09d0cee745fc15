//! The entities of one tenant: read, ask; `write.rs` writes.

mod commits;
mod layouts;
mod watching;
mod index_register;
mod rows;

use std::fmt::Display;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use entity::expiry::live_bytes;
use entity::{EntityView, Error, TermId};
use store::retry::RetryLocks;
use store::{Fingerprint, Lane, Partition, Row, Store, Tenant, Timestamp, WriteIds, bucket_of};

use crate::histories::Histories;
use crate::indexes::Indexes;
use crate::layout::{Layout, Looks};
use crate::low_water::LowWater;
use crate::options::Options;
use crate::policy::TenantPolicy;
use crate::term::Terms;
use crate::watch::Watched;

/// So many buckets of a tenant are read at once for one request.
pub(crate) const BUCKETS_AT_ONCE: usize = 16;

/// The entities of one tenant; clones share.
#[derive(Clone, Debug)]
pub struct TenantEntities {
    state: Arc<TenantState>,
}

/// What all work on a tenant's entities needs.
#[derive(Debug)]
pub(crate) struct TenantState {
    pub(crate) store: Store,
    pub(crate) options: Arc<Options>,
    pub(crate) terms_partition: Partition,
    /// Over how many buckets the directory says that entities are spread, and over how many they are.
    pub(crate) created: u32,
    pub(crate) layout: Layout,
    pub(crate) looks: Looks,
    /// By bucket; while entities move, those that they move from come first.
    pub(crate) partitions: Box<[Partition]>,
    pub(crate) terms: Terms,
    pub(crate) write_ids: WriteIds,
    pub(crate) retry_locks: Arc<RetryLocks>,
    /// What is recorded of changes.
    pub(crate) policy: TenantPolicy,
    pub(crate) histories: Arc<Histories>,
    /// What writers go by, by partition.
    pub(crate) watched: Box<[Watched]>,
    /// Which attributes have index rows for all entities, and which queries want them.
    pub(crate) indexes: Arc<Indexes>,
    /// Up to where what expired is removed.
    pub(crate) purged: LowWater,
    /// Where long queries run.
    pub(crate) lane: Lane,
    /// The same of a newer layout.
    pub(crate) successor: OnceLock<TenantEntities>,
}

/// A stored entity, read whole.
#[derive(Clone, Debug)]
pub struct Entity {
    /// The stored bytes: read them with [`Entity::view`].
    pub bytes: Bytes,
}

impl Entity {
    /// Tells this state of the entity from others: what [`StateCondition`](crate::StateCondition)s are about.
    /// Cost: one pass over the stored bytes.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.bytes)
    }

    /// The entity, to be read.
    ///
    /// # Errors
    ///
    /// If the stored bytes are damaged.
    pub fn view(&self) -> Result<EntityView<'_>, Error> {
        Ok(EntityView::parse(&self.bytes)?)
    }
}

impl TenantState {
    /// Whose entities.
    pub(crate) fn tenant(&self) -> &Tenant {
        &self.terms_partition.tenant
    }

    /// The same tenant, its entities spread otherwise.
    fn with_layout(&self, layout: Layout) -> Self {
        let partitions = layout.partitions(self.tenant());
        Self {
            store: self.store.clone(),
            options: self.options.clone(),
            terms_partition: self.terms_partition.clone(),
            created: self.created,
            layout,
            looks: Looks::default(),
            watched: partitions.iter().map(|_| Watched::default()).collect(),
            partitions,
            terms: self.terms.clone(),
            write_ids: self.write_ids.clone(),
            retry_locks: self.retry_locks.clone(),
            policy: self.policy.clone(),
            histories: self.histories.clone(),
            purged: LowWater::default(),
            lane: self.lane.clone(),
            indexes: self.indexes.clone(),
            successor: OnceLock::new(),
        }
    }

    /// Whether there is a state of a newer layout. Cost: a load.
    pub(crate) fn is_superseded(&self) -> bool {
        self.successor.get().is_some()
    }

    /// The state of the newest layout that this process knows. Cost: a load.
    pub(crate) fn newest(&self) -> &Self {
        let mut state = self;
        while let Some(next) = state.successor.get() {
            state = &next.state;
        }
        state
    }

    /// Has all who work on the tenant go on by this layout, if it is newer than theirs.
    pub(crate) fn supersede(&self, layout: Layout) {
        let mut state = self.newest();
        while state.layout.epoch < layout.epoch {
            let next = state.successor.get_or_init(|| TenantEntities::new(state.with_layout(layout)));
            state = next.state.newest();
        }
    }

    /// All partitions, several at a time: those that entities move from before the others.
    pub(crate) fn partitions_in_turn(&self) -> impl Iterator<Item = &[Partition]> {
        let (sources, others) = self.partitions.split_at(self.layout.sources().min(self.partitions.len()));
        sources.chunks(BUCKETS_AT_ONCE).chain(others.chunks(BUCKETS_AT_ONCE))
    }

    /// The place of the partition of an entity; while entities move, of the one that it moves to.
    pub(crate) fn bucket(&self, id: &str) -> usize {
        self.layout.first() + bucket_of(id.as_bytes(), self.layout.buckets) as usize
    }

    /// Where an entity lives, or moves to.
    pub(crate) fn partition(&self, id: &str) -> Result<&Partition, Error> {
        // A tenant has a bucket at least, and the number of a bucket is below theirs.
        self.partitions.get(self.bucket(id)).ok_or_else(no_bucket)
    }

    /// Where an entity is that has not moved yet; `None`: it does not move.
    pub(crate) fn source(&self, id: &str) -> Option<&Partition> {
        self.layout.source(id).and_then(|at| self.partitions.get(at))
    }

    /// Notes that a job failed on something of the tenant and goes on.
    ///
    /// # Errors
    ///
    /// The same error if the store serves nobody: then there is nothing to go on with.
    pub(crate) fn skip(&self, job: &'static str, what: &dyn Display, error: Error) -> Result<(), Error> {
        if error.is_outage() {
            return Err(error);
        }
        // There is nothing left to fail on.
        if matches!(error, Error::NoSuchTenant(_)) {
            return Ok(());
        }
        self.histories.strands.skips().note(job, self.tenant(), what, &error);
        Ok(())
    }
}

pub(crate) fn no_bucket() -> Error {
    store::Error::new(store::ErrorKind::Corrupt, "finding the bucket of an entity").into()
}

impl TenantEntities {
    /// Whose entities they are.
    pub fn tenant(&self) -> &Tenant {
        self.state().tenant()
    }

    pub(crate) fn new(state: TenantState) -> Self {
        Self { state: Arc::new(state) }
    }

    /// What work on them needs, as of now. Cost: a load.
    pub(crate) fn state(&self) -> &TenantState {
        self.state.newest()
    }

    /// Whether they go by the newest layout that is known. Cost: a load.
    pub(crate) fn is_renewed(&self) -> bool {
        !self.state.is_superseded()
    }

    /// The same by the newest layout that is known.
    pub(crate) fn renewed(self) -> Self {
        let mut newest = self;
        while let Some(next) = newest.state.successor.get().cloned() {
            newest = next;
        }
        newest
    }

    /// Where long work on them is done.
    pub fn lane(&self) -> &Lane {
        &self.state().lane
    }

    /// The names in use.
    pub fn terms(&self) -> &Terms {
        &self.state().terms
    }

    /// The terms of these IRIs, which are stored (durably) where they are new; in order.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] beyond `terms_max`; if the store refuses.
    pub async fn intern(&self, iris: &[&str]) -> Result<Vec<TermId>, Error> {
        let TenantState { store, options, terms_partition, terms, write_ids, .. } = self.state();
        terms.allot(store, terms_partition, write_ids, iris, options.terms_max).await
    }

    /// Reads names that other nodes stored: for a reader that meets a term without a name.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn refresh_terms(&self) -> Result<(), Error> {
        let state = self.state();
        state.terms.learn(&state.store, &state.terms_partition).await
    }

    /// The entity with this id, unless it expired before `now`; without what of it expired.
    /// Cost: a cache look-up, or one engine read.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn get(&self, id: &str, now: Timestamp) -> Result<Option<Entity>, Error> {
        let state = self.state();
        let Some(row) = state.row(id).await? else {
            return Ok(None);
        };
        let Some(bytes) = live_bytes(row.value, now)? else {
            return Ok(None);
        };
        state.know_names(&EntityView::parse(&bytes)?).await?;
        Ok(Some(Entity { bytes }))
    }

    /// The entities with these ids, in order; `None` where there is none (for joins).
    /// Cost: one read for each bucket.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn get_many(&self, ids: &[&str], now: Timestamp) -> Result<Vec<Option<Entity>>, Error> {
        let rows = self.state().rows(ids).await?;
        let live = |row: Row| Ok(live_bytes(row.value, now)?.map(|bytes| Entity { bytes }));
        rows.into_iter().map(|row| row.map_or(Ok(None), live)).collect()
    }
}
