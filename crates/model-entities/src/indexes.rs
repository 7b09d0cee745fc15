//! Which attributes have index rows: those that some query was slow without.
//!
//! Which they are is one stamped row of the tenant, the register. An attribute is *entered* there, which nobody heeds. Whoever
//! meets it then, the job or a writer who reads the register, raises the fences and makes it *building*, over the very version that was read
//! before: so no writer who knows of it commits before the fences are raised, and none who does not commits behind (`watch.rs`).
//! The rows of the entities that are there are written behind, each on condition that its entity is still the one that was read. When
//! all have theirs it is *ready*, and queries go by it. It stays so for the life of the tenant.
//!
//! Invariant: an attribute is ready only if each entity that has it has its index rows. The set of indexed attributes only grows, so rows
//! of an entity never outlive what its next writer knows of.

mod register;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use entity::index::{Indexed, attribute_rows};
use entity::{EntityView, Error, TermId, keys};
use parking_lot::{Mutex, RwLock};
use store::retry::RetryBackoff;
use store::{Commit, Condition, Direction, ErrorKind, Partition, Stamp, Write};
use tokio::sync::Notify;

use self::register::{ALL, Register};
use crate::tenant::TenantState;
use crate::{Entities, TenantEntities};

/// How often a change of the register, or the rows of an entity, start again because another came first.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
/// Entities whose rows are written together.
const GROUP_ENTITIES: usize = 256;
/// Notes of attributes in use that are remembered as out of date.
const DOUBTS_MAX: usize = 1 << 12;
/// An index that could not be built for all entities is begun anew after so long.
const RETRY_AFTER: Duration = Duration::from_mins(10);
/// Work that took so long is rested from as long.
const WORK: Duration = Duration::from_millis(1);

/// Which attributes are indexed from the beginning.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum IndexPolicy {
    /// None: an attribute is indexed once queries want it.
    #[default]
    ByUse,
    /// All.
    All,
}

/// What a process knows of the indexes of a tenant.
#[derive(Debug)]
pub(crate) struct Indexes {
    /// Which were indexed when the tenant was created: what the register says while there is no row.
    created: IndexPolicy,
    ready: RwLock<Arc<Indexed>>,
    wanted: Mutex<BTreeSet<TermId>>,
    /// Types, each with an attribute that the entity named as having it has no more (`in_use.rs`).
    pub(crate) stale: Mutex<BTreeSet<(TermId, TermId)>>,
    /// Rung when something is wanted.
    alarm: Arc<Notify>,
    /// When a build met entities that could not be read.
    failed: Mutex<Option<Instant>>,
}

impl Indexes {
    /// Those of a tenant that was created so. None is ready before the register was read.
    pub(crate) fn new(created: IndexPolicy, alarm: Arc<Notify>) -> Self {
        let (ready, wanted, stale) = (RwLock::default(), Mutex::default(), Mutex::default());
        Self { created, ready, wanted, stale, alarm, failed: Mutex::default() }
    }

    /// The attributes whose index rows are all there.
    pub(crate) fn ready(&self) -> Arc<Indexed> {
        Arc::clone(&self.ready.read())
    }

    /// Asks for index rows of these attributes. Cost: a look in memory if they were asked for before.
    pub(crate) fn want(&self, names: &[TermId]) {
        let mut wanted = self.wanted.lock();
        let before = wanted.len();
        wanted.extend(names);
        if wanted.len() > before {
            self.alarm.notify_one();
        }
    }

    /// Notes that it is to be looked whether a type still has an attribute: when the job next comes by.
    pub(crate) fn doubt(&self, pair: (TermId, TermId)) {
        let mut stale = self.stale.lock();
        if stale.len() < DOUBTS_MAX {
            stale.insert(pair);
        }
    }

    fn set_ready(&self, register: &Register) {
        let ready = register.ready();
        self.wanted.lock().retain(|name| !ready.holds(*name));
        *self.ready.write() = Arc::new(ready);
    }
}

impl TenantState {
    /// Which attributes are indexed. Cost: a read.
    pub(crate) async fn index_register(&self) -> Result<Register, Error> {
        Ok(self.stamped_register().await?.0)
    }

    async fn stamped_register(&self) -> Result<(Register, Condition), Error> {
        let key = keys::index_register();
        match self.store.get_linear(&keys::consumers_partition(self.tenant()), &key).await? {
            None => Ok((Register::created(self.indexes.created), Condition::Absent(key))),
            Some(row) => {
                let register = Register::parse(&row.value);
                let damaged = || store::Error::new(ErrorKind::Corrupt, "reading the register of indexes");
                Ok((register.ok_or_else(damaged)?, Condition::Version(key, row.stamp)))
            }
        }
    }

    /// Reads what is indexed, and wants what is to be.
    pub(crate) async fn learn_indexes(&self, policy: IndexPolicy) -> Result<(), Error> {
        self.indexes.set_ready(&self.index_register().await?);
        if policy == IndexPolicy::All && *self.indexes.ready() != Indexed::All {
            self.indexes.want(&[ALL]);
        }
        Ok(())
    }

    /// Changes the register, if `change` says that there is something to change; with a `barrier` all writers read it again between the
    /// version that was read and the one that is written.
    async fn change_register(
        &self,
        barrier: bool,
        change: impl Fn(&mut Register) -> bool,
    ) -> Result<Register, Error> {
        let partition = keys::consumers_partition(self.tenant());
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let (mut register, unchanged) = self.stamped_register().await?;
            if !change(&mut register) {
                return Ok(register);
            }
            if barrier {
                self.raise_fences().await?;
            }
            let commit = self.silent(&partition, vec![unchanged], vec![register.put()], false);
            if self.commit_silently(commit).await?.is_some() {
                return Ok(register);
            }
        }
        Err(attempts.exhausted("register of indexes").into())
    }

    /// Has all writers know of what is entered, and answers the register in which nothing is only entered. Cost: a read; if
    /// something is, a bump of all fences.
    pub(crate) async fn begin_indexes(&self) -> Result<Register, Error> {
        self.change_register(true, Register::begin).await
    }
}

impl Entities {
    /// Looks after the notes of attributes in use that readers found to be out of date. What fails is skipped.
    /// Cost: for each a walk through entities of the type, until one has the attribute.
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read.
    pub async fn sweep_in_use(&self) -> Result<(), Error> {
        for tenant in self.tenants_for("index").await? {
            if let Err(error) = tenant.sweep_in_use().await {
                tenant.state().skip("index", &"attributes in use", error)?;
            }
        }
        Ok(())
    }

    /// Waits until a query, or somebody else of this process, wants something of [`Entities::build_indexes`].
    pub async fn index_wanted(&self) {
        self.index_alarm().notified().await;
    }

    /// Registers the indexes that are wanted, for the node that builds, and sees which are ready.
    /// Cost: a read for each tenant.
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read.
    pub async fn enter_indexes(&self) -> Result<(), Error> {
        for tenant in self.tenants_for("index").await? {
            if let Err(error) = tenant.enter_indexes().await {
                tenant.state().skip("index", &"the tenant", error)?;
            }
        }
        Ok(())
    }

    /// Builds the indexes that are wanted, and goes on with those that another process or run began; answers how many entities
    /// were looked at. It rests as long as it works. What fails is skipped ([`SkipLog`](crate::SkipLog)), and tried again with the next call.
    /// Cost: two reads for each entity of the tenant, and a write for each that has such attributes.
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read.
    pub async fn build_indexes(&self) -> Result<usize, Error> {
        let mut entities = 0;
        for tenant in self.tenants_for("index").await? {
            match tenant.build_indexes().await {
                Ok(count) => entities += count,
                Err(error) => tenant.state().skip("index", &"the tenant", error)?,
            }
        }
        Ok(entities)
    }
}

/// What one commit of index rows holds.
#[derive(Default)]
struct Batch {
    ids: Vec<Box<str>>,
    conditions: Vec<Condition>,
    writes: Vec<Write>,
    bytes: usize,
}

impl TenantEntities {
    /// Registers what is wanted, and sees what is ready.
    pub(crate) async fn enter_indexes(&self) -> Result<(), Error> {
        let state = self.state();
        let wanted = state.indexes.wanted.lock().clone();
        let register = state.change_register(false, |register| register.enter(&wanted)).await?;
        state.indexes.set_ready(&register);
        Ok(())
    }

    /// Builds what is wanted or was begun.
    pub(crate) async fn build_indexes(&self) -> Result<usize, Error> {
        self.enter_indexes().await?;
        let state = self.state();
        let register = state.begin_indexes().await?;
        let building = register.building();
        if building == Indexed::None {
            return Ok(0);
        }
        let failed = *state.indexes.failed.lock();
        if failed.is_some_and(|failed| failed.elapsed() < RETRY_AFTER) {
            return Ok(0);
        }
        if state.layout.is_moving() {
            // It is for a walk through buckets that stay.
            tracing::debug!(tenant = %state.tenant(), "indexes wait until entities have moved");
            return Ok(0);
        }
        let (mut entities, started) = (0, Instant::now());
        for partition in &state.partitions {
            let Some(count) = self.build_bucket(state, partition, &building).await? else {
                *state.indexes.failed.lock() = Some(Instant::now());
                return Ok(entities);
            };
            entities += count;
        }
        if state.newer().await?.is_some() {
            // Some may have moved past it: the next call begins anew.
            return Ok(entities);
        }
        let register = state.change_register(false, |register| register.finish(&building)).await?;
        state.indexes.set_ready(&register);
        let names = self.names_of(&building);
        let (tenant, seconds) = (state.tenant(), started.elapsed().as_secs_f32());
        tracing::info!(%tenant, attributes = names, entities, seconds, "attributes indexed");
        Ok(entities)
    }

    fn names_of(&self, indexed: &Indexed) -> String {
        match indexed {
            Indexed::All => "all".into(),
            Indexed::None => String::new(),
            Indexed::Of(names) => {
                let names: Vec<_> = names.iter().filter_map(|name| self.terms().iri(*name)).collect();
                names.join(", ")
            }
        }
    }

    async fn build_bucket(
        &self,
        state: &TenantState,
        partition: &Partition,
        building: &Indexed,
    ) -> Result<Option<usize>, Error> {
        let (mut entities, mut is_whole) = (0, true);
        // An entity without types has no rows by attribute.
        let mut range = Some(keys::types_from(TermId(0)));
        while let Some(rest) = range {
            let started = Instant::now();
            let page = state.store.scan(partition, &rest, Direction::Forward, GROUP_ENTITIES).await?;
            let mut ids: Vec<&str> = page.rows().filter_map(|(key, _)| keys::id_of_key(key)).collect();
            ids.sort_unstable();
            ids.dedup();
            entities += ids.len();
            if state.is_superseded() {
                return Ok(Some(entities));
            }
            is_whole &= self.build_some(state, partition, &ids, building).await?;
            range = rest.after_page(&page);
            match started.elapsed() {
                worked if worked >= WORK => tokio::time::sleep(worked).await,
                _ => tokio::task::yield_now().await,
            }
        }
        Ok(is_whole.then_some(entities))
    }

    /// Writes the index rows of some entities; answers false if some could not be read. Damaged ones match nothing.
    async fn build_some(
        &self,
        state: &TenantState,
        partition: &Partition,
        ids: &[&str],
        building: &Indexed,
    ) -> Result<bool, Error> {
        let good = state.store.limits();
        let (mut batches, mut batch, mut is_whole) = (Vec::new(), Batch::default(), true);
        for (id, row) in ids.iter().zip(state.rows_each_linear(ids).await?) {
            let row = match row {
                Ok(Some(row)) => row,
                Ok(None) => continue,
                Err(error) => {
                    is_whole = false;
                    state.skip("index", id, error)?;
                    continue;
                }
            };
            let keys = match keys_of(&row.value, row.stamp, building) {
                Ok(keys) => keys,
                Err(error) => {
                    state.skip("index", id, error)?;
                    continue;
                }
            };
            if !batch.ids.is_empty()
                && (batch.writes.len() + keys.writes.len() > good.good_rows
                    || batch.bytes + keys.bytes > good.good_bytes)
            {
                batches.push(std::mem::take(&mut batch));
            }
            if !keys.writes.is_empty() {
                batch.add(id, keys);
            }
        }
        batches.push(batch);
        batches.retain(|batch| !batch.ids.is_empty());
        let commits = batches.iter_mut().map(|batch| batch.commit(state, partition)).collect();
        for (batch, told) in batches.iter().zip(state.store.commit_all_known(commits).await) {
            match told {
                Ok(_) => {}
                Err(error) if error.kind().is_lost_race() => {
                    for id in &batch.ids {
                        self.build_one(state, partition, id, building).await?;
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(is_whole)
    }

    /// Writes the index rows of an entity that others write, too.
    async fn build_one(
        &self,
        state: &TenantState,
        partition: &Partition,
        id: &str,
        building: &Indexed,
    ) -> Result<(), Error> {
        let _lock = state.retry_locks.lock(state.retry_locks.of(&[id.as_bytes()])).await;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if state.is_superseded() {
                return Ok(());
            }
            let Some(row) = state.row_linear(id).await? else { return Ok(()) };
            let keys = keys_of(&row.value, row.stamp, building)?;
            if keys.writes.is_empty() {
                return Ok(());
            }
            let mut batch = Batch::default();
            batch.add(id, keys);
            if state.commit_silently(batch.commit(state, partition)).await?.is_some() {
                return Ok(());
            }
        }
        Err(attempts.exhausted(id).into())
    }
}

/// Index rows of an entity, as long as it is the one that was read.
struct EntityKeys {
    condition: Condition,
    writes: Vec<Write>,
    bytes: usize,
}

fn keys_of(entity: &Bytes, stamp: Stamp, building: &Indexed) -> Result<EntityKeys, Error> {
    let view = EntityView::parse(entity)?;
    let rows = attribute_rows(&view, building);
    let writes: Vec<_> =
        rows.keys().map(|key| Write::Put(Bytes::copy_from_slice(key), Bytes::new())).collect();
    let bytes = writes.iter().map(|write| write.key().len()).sum();
    Ok(EntityKeys { condition: Condition::Version(keys::entity(view.id()), stamp), writes, bytes })
}

impl Batch {
    fn add(&mut self, id: &str, keys: EntityKeys) {
        self.ids.push(id.into());
        self.bytes += keys.bytes + id.len();
        self.conditions.push(keys.condition);
        self.writes.extend(keys.writes);
    }

    /// Its commit; what it holds is taken.
    fn commit(&mut self, state: &TenantState, partition: &Partition) -> Commit {
        let (conditions, writes) = (std::mem::take(&mut self.conditions), std::mem::take(&mut self.writes));
        state.silent(partition, conditions, writes, false)
    }
}
