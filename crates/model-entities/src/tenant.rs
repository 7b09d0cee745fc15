//! The entities of one tenant: read, ask; `write.rs` writes.

use std::fmt::Display;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use entity::expiry::live_bytes;
use entity::{EntityView, Error, TermId, keys};
use futures_util::future::try_join_all;
use store::retry::RetryLocks;
use store::{Fingerprint, Lane, Partition, Row, Store, Tenant, Timestamp, WriteIds, bucket_of};

use crate::history::{Pasts, TenantPolicy};
use crate::indexes::Indexes;
use crate::layout::{Layout, Looks};
use crate::low_water::LowWater;
use crate::watch::Watched;
use crate::{Options, Terms};

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
    pub(crate) pasts: Arc<Pasts>,
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
            pasts: self.pasts.clone(),
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

    /// The row of the past of an entity that is not there, if it is at hand.
    pub(crate) fn past_row_cached(&self, id: &str) -> Result<Option<Row>, Error> {
        Ok(self.store.get_cached(self.partition(id)?, &keys::past(id)).flatten())
    }

    /// The row of the past of an entity that is not there. Cost: one linear read.
    pub(crate) async fn past_row(&self, id: &str) -> Result<Option<Row>, Error> {
        self.get_linear(id, &keys::past(id)).await
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

    /// The stored row of an entity as any commit left it: for what is refused or found unchanged by it. Cost: one linear read.
    pub(crate) async fn row_linear(&self, id: &str) -> Result<Option<Row>, Error> {
        self.get_linear(id, &keys::entity(id)).await
    }

    /// The stored row of an entity, as this process knows it. Cost: a cache look-up, or one engine read.
    pub(crate) async fn row(&self, id: &str) -> Result<Option<Row>, Error> {
        match self.row_at_home(id).await? {
            Some(row) => Ok(Some(row)),
            None if self.is_certain() => Ok(None),
            None => Box::pin(self.seek(id, &keys::entity(id))).await,
        }
    }

    /// The same of an entity that has moved, or does not move, for a writer who knows the layout.
    pub(crate) async fn row_at_home(&self, id: &str) -> Result<Option<Row>, Error> {
        let (partition, key) = (self.partition(id)?, keys::entity(id));
        match self.store.get_cached(partition, &key) {
            Some(row) => Ok(row),
            None => Ok(self.store.get(partition, &key).await?),
        }
    }

    /// Whether what is not where it should be is nowhere. Cost: some loads.
    fn is_certain(&self) -> bool {
        !self.layout.is_moving() && !self.is_superseded() && !self.store.may_lag()
    }

    /// A row of an entity as any commit left it. Cost: one linear read; where a store may lag, two if there is none.
    pub(crate) async fn get_linear(&self, id: &str, key: &Bytes) -> Result<Option<Row>, Error> {
        match self.store.get_linear(self.partition(id)?, key).await? {
            Some(row) => Ok(Some(row)),
            None if self.is_certain() => Ok(None),
            None => Box::pin(self.seek(id, key)).await,
        }
    }

    /// A row of an entity that was not where it should be. It moves by a commit there and then one that removes it here, so that
    /// who looks here, and there again, finds it.
    async fn seek(&self, id: &str, key: &Bytes) -> Result<Option<Row>, Error> {
        let mut state = self;
        loop {
            if let Some(source) = state.source(id)
                && let Some(row) = self.store.get_linear(source, key).await?
            {
                return Ok(Some(row));
            }
            if state.layout.is_moving()
                && let Some(row) = self.store.get_linear(state.partition(id)?, key).await?
            {
                return Ok(Some(row));
            }
            let Some(newer) = state.newer().await? else { return Ok(None) };
            state = newer;
            if let Some(row) = self.store.get_linear(state.partition(id)?, key).await? {
                return Ok(Some(row));
            }
        }
    }

    /// The stored rows of many entities, in their order, as this process knows them. Cost: one read for each bucket that they
    /// lie in, several side by side.
    pub(crate) async fn rows(&self, ids: &[&str]) -> Result<Vec<Option<Row>>, Error> {
        self.rows_sought(ids, false).await
    }

    async fn rows_sought(&self, ids: &[&str], is_linear: bool) -> Result<Vec<Option<Row>>, Error> {
        let mut rows = self.rows_at_home(ids, is_linear).await?;
        if self.is_certain() || rows.iter().all(Option::is_some) {
            return Ok(rows);
        }
        if self.layout.is_moving() || self.newer().await?.is_some() {
            for (row, id) in rows.iter_mut().zip(ids).filter(|(row, _)| row.is_none()) {
                *row = Box::pin(self.seek(id, &keys::entity(id))).await?;
            }
        }
        Ok(rows)
    }

    async fn rows_at_home(&self, ids: &[&str], is_linear: bool) -> Result<Vec<Option<Row>>, Error> {
        let rows = match &*self.partitions {
            [partition] => self.rows_of_partition(partition, ids.iter().copied(), is_linear).await?,
            _ => self.rows_of_buckets(ids, is_linear).await?,
        };
        if self.store.may_lag() {
            for row in rows.iter().flatten() {
                // Whoever reads a damaged one says so: it keeps nothing of others.
                if let Ok(view) = EntityView::parse(&row.value) {
                    self.know_names(&view).await?;
                }
            }
        }
        Ok(rows)
    }

    async fn rows_of_buckets(&self, ids: &[&str], is_linear: bool) -> Result<Vec<Option<Row>>, Error> {
        let mut places: Vec<(usize, usize)> = ids.iter().map(|id| self.bucket(id)).zip(0..).collect();
        places.sort_unstable();
        let buckets: Vec<_> = places.chunk_by(|one, other| one.0 == other.0).collect();
        let mut rows = vec![None; ids.len()];
        for buckets in buckets.chunks(BUCKETS_AT_ONCE) {
            let reads = buckets.iter().map(async |bucket| {
                let partition = bucket.first().and_then(|(bucket, _)| self.partitions.get(*bucket));
                let of_bucket = bucket.iter().filter_map(|(_, index)| ids.get(*index).copied());
                self.rows_of_partition(partition.ok_or_else(no_bucket)?, of_bucket, is_linear).await
            });
            let found = try_join_all(reads).await?;
            for ((_, index), row) in buckets.iter().copied().flatten().zip(found.into_iter().flatten()) {
                *rows.get_mut(*index).expect("there is a row for each id") = row;
            }
        }
        Ok(rows)
    }

    async fn rows_of_partition(
        &self,
        partition: &Partition,
        ids: impl Iterator<Item = &str>,
        is_linear: bool,
    ) -> Result<Vec<Option<Row>>, Error> {
        let keys: Vec<Bytes> = ids.map(keys::entity).collect();
        Ok(match is_linear {
            true => self.store.get_many_linear(partition, &keys).await?,
            false => self.store.get_many(partition, &keys).await?,
        })
    }

    /// The stored rows of many entities, in their order, each with an error of its own: for jobs. Cost: as for all together,
    /// or if that fails one read each.
    ///
    /// # Errors
    ///
    /// If the store serves nobody.
    pub(crate) async fn rows_each(&self, ids: &[&str]) -> Result<Vec<Result<Option<Row>, Error>>, Error> {
        self.rows_each_read(ids, false).await
    }

    /// The same, as any commit left them.
    ///
    /// # Errors
    ///
    /// If the store serves nobody.
    pub(crate) async fn rows_each_linear(
        &self,
        ids: &[&str],
    ) -> Result<Vec<Result<Option<Row>, Error>>, Error> {
        self.rows_each_read(ids, true).await
    }

    async fn rows_each_read(
        &self,
        ids: &[&str],
        is_linear: bool,
    ) -> Result<Vec<Result<Option<Row>, Error>>, Error> {
        match self.rows_sought(ids, is_linear).await {
            Ok(rows) => return Ok(rows.into_iter().map(Ok).collect()),
            Err(error) if error.is_outage() => return Err(error),
            Err(_) => {}
        }
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            rows.push(if is_linear { self.row_linear(id).await } else { self.row(id).await });
        }
        Ok(rows)
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
        self.pasts.strands.skips().note(job, self.tenant(), what, &error);
        Ok(())
    }

    /// The stored rows of many entities, and of the pasts of those that are not there: all that there are, as any commit left
    /// them, or if not `all` those at hand.
    pub(crate) async fn rows_and_pasts(
        &self,
        ids: &[&str],
        all: bool,
    ) -> Result<(Vec<Option<Row>>, Vec<Option<Row>>), Error> {
        let rows = match all {
            true => self.rows_sought(ids, true).await?,
            false => self.rows_at_home(ids, false).await?,
        };
        let mut pasts = Vec::with_capacity(rows.len());
        for (id, row) in ids.iter().zip(&rows) {
            pasts.push(match row {
                Some(_) => None,
                None if all => self.past_row(id).await?,
                None => self.past_row_cached(id)?,
            });
        }
        Ok((rows, pasts))
    }

    /// Reads new names if the entity has one that is not known here: another node stored it.
    async fn know_names(&self, view: &EntityView<'_>) -> Result<(), Error> {
        let known = self.terms.len();
        let names = view.types().chain(view.attributes().map(|attribute| attribute.name()));
        if names.max().is_some_and(|newest| newest.0 as usize >= known) {
            self.terms.learn(&self.store, &self.terms_partition).await?;
        }
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
