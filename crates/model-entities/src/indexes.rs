//! Which attributes have index rows: those that some query was slow without.
//!
//! Which they are is one stamped row of the tenant, the register. An attribute enters it as *building*: then the fences are
//! raised, so that whoever commits from then on writes its rows (`watch.rs`); the rows of the entities that are there are
//! written behind, each on condition that its entity is still the one that was read. When all have theirs it is *ready*,
//! and queries go by it. It stays so for the life of the tenant.
//!
//! Invariant: an attribute is ready only if each entity that has it has its index rows. The set of indexed attributes only grows, so rows
//! of an entity never outlive what its next writer knows of.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use store::{Commit, Condition, Direction, ErrorKind, Partition, Stamp, Write};
use tokio::sync::Notify;

use crate::entities::next_range;
use crate::index::{Indexed, attribute_rows};
use crate::tenant::Context;
use crate::{Entities, EntityView, Error, TenantEntities, TermId, keys};

/// How often a change of the register, or the rows of an entity, start again because another came first.
const ATTEMPTS_MAX: usize = 64;
/// Entities whose rows are written together.
const GROUP_ENTITIES: usize = 256;
/// Stands for all attributes.
const ALL: TermId = TermId(u32::MAX);

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
}

impl Indexes {
    /// Those of a tenant that was created so. None is ready before the register was read.
    pub(crate) fn new(created: IndexPolicy, alarm: Arc<Notify>) -> Self {
        let (ready, wanted, stale) = (RwLock::default(), Mutex::default(), Mutex::default());
        Self { created, ready, wanted, stale, alarm }
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

    /// Notes that it is to be looked whether a type still has an attribute.
    pub(crate) fn doubt(&self, pair: (TermId, TermId)) {
        if self.stale.lock().insert(pair) {
            self.alarm.notify_one();
        }
    }

    fn set_ready(&self, register: &Register) {
        let ready = register.ready();
        self.wanted.lock().retain(|name| !ready.holds(*name));
        *self.ready.write() = Arc::new(ready);
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// Writers write its rows; those of what they did not write may be missing.
    Building,
    /// All its rows are there.
    Ready,
}

/// Attributes with their states, in order of the attributes; in the row five bytes each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Register(Vec<(TermId, State)>);

impl Register {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (entries, []) = bytes.as_chunks::<5>() else { return None };
        let entry = |[a, b, c, d, state]: &[u8; 5]| {
            let state = match state {
                0 => State::Building,
                1 => State::Ready,
                _ => return None,
            };
            Some((TermId(u32::from_be_bytes([*a, *b, *c, *d])), state))
        };
        let entries: Vec<_> = entries.iter().map(entry).collect::<Option<_>>()?;
        entries.is_sorted_by(|one, other| one.0 < other.0).then_some(Self(entries))
    }

    fn put(&self) -> Write {
        let entry = |(name, state): &(TermId, State)| {
            let [a, b, c, d] = name.0.to_be_bytes();
            [a, b, c, d, u8::from(*state == State::Ready)]
        };
        let value: Vec<u8> = self.0.iter().flat_map(entry).collect();
        Write::PutStamped(keys::index_register(), value.into())
    }

    /// All that writers write rows of.
    pub(crate) fn written(&self) -> Indexed {
        self.of(|_| true)
    }

    pub(crate) fn ready(&self) -> Indexed {
        self.of(|state| state == State::Ready)
    }

    fn building(&self) -> Indexed {
        self.of(|state| state == State::Building)
    }

    fn of(&self, is_in: impl Fn(State) -> bool) -> Indexed {
        let names = self.0.iter().filter(|(_, state)| is_in(*state)).map(|(name, _)| *name);
        let names: Box<[TermId]> = names.collect();
        match &*names {
            [] => Indexed::None,
            names if names.contains(&ALL) => Indexed::All,
            _ => Indexed::Of(names),
        }
    }

    /// Enters what is wanted and not there; whether there was any.
    fn enter(&mut self, wanted: &BTreeSet<TermId>) -> bool {
        let before = self.0.len();
        for name in wanted {
            let is_covered = |(held, _): &(TermId, State)| held == name || *held == ALL;
            if !self.0.iter().any(is_covered) {
                self.0.push((*name, State::Building));
            }
        }
        self.0.sort_unstable_by_key(|(name, _)| *name);
        self.0.len() > before
    }

    /// What was building as `built` says is ready.
    fn finish(&mut self, built: &Indexed) {
        for (name, state) in &mut self.0 {
            if built.holds(*name) {
                *state = State::Ready;
            }
        }
    }
}

impl Context {
    /// Which attributes are indexed. Cost: a read.
    pub(crate) async fn index_register(&self) -> Result<Register, Error> {
        Ok(self.stamped_register().await?.0)
    }

    async fn stamped_register(&self) -> Result<(Register, Condition), Error> {
        let key = keys::index_register();
        match self.store.get_linear(&keys::consumers_partition(self.tenant()), &key).await? {
            None => {
                let all = (self.indexes.created == IndexPolicy::All).then_some((ALL, State::Ready));
                Ok((Register(all.into_iter().collect()), Condition::Absent(key)))
            }
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

    /// Changes the register, if `change` says that there is something to change.
    async fn change_register(&self, change: impl Fn(&mut Register) -> bool) -> Result<Register, Error> {
        for _ in 0..ATTEMPTS_MAX {
            let (mut register, unchanged) = self.stamped_register().await?;
            if !change(&mut register) {
                return Ok(register);
            }
            let commit = self.register_commit(unchanged, &register);
            match self.store.commit_known(commit).await {
                Ok(_) => return Ok(register),
                Err(error) if error.kind().is_lost_race() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contention("register of indexes".into()))
    }
}

impl Entities {
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
                tenant.context().skip("index", &"the tenant", error)?;
            }
        }
        Ok(())
    }

    /// Builds the indexes that are wanted, and goes on with those that another process or run began; answers how many entities
    /// were looked at. What fails is skipped ([`SkipLog`](crate::SkipLog)), and tried again with the next call.
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
                Err(error) => tenant.context().skip("index", &"the tenant", error)?,
            }
            if let Err(error) = tenant.sweep_in_use().await {
                tenant.context().skip("index", &"attributes in use", error)?;
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
    /// Registers what is wanted; the register with it.
    async fn enter_indexes(&self) -> Result<Register, Error> {
        let context = self.context();
        let wanted = context.indexes.wanted.lock().clone();
        let register = context.change_register(|register| register.enter(&wanted)).await?;
        context.indexes.set_ready(&register);
        Ok(register)
    }

    /// Builds what is wanted or was begun.
    pub(crate) async fn build_indexes(&self) -> Result<usize, Error> {
        let register = self.enter_indexes().await?;
        let context = self.context();
        let building = register.building();
        if building == Indexed::None {
            return Ok(0);
        }
        if context.layout.is_moving() {
            // It is for a walk through buckets that stay.
            tracing::debug!(tenant = %context.tenant(), "indexes wait until entities have moved");
            return Ok(0);
        }
        // Also after a run that ended before it had done so.
        context.raise_fences().await?;
        let (mut entities, started) = (0, std::time::Instant::now());
        for partition in &context.partitions {
            entities += self.build_bucket(context, partition, &building).await?;
        }
        if context.newer().await?.is_some() {
            // Some may have moved past it: the next call begins anew.
            return Ok(entities);
        }
        let register = context.change_register(|register| {
            let before = register.clone();
            register.finish(&building);
            *register != before
        });
        context.indexes.set_ready(&register.await?);
        let names = self.names_of(&building);
        let (tenant, seconds) = (context.tenant(), started.elapsed().as_secs_f32());
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
        context: &Context,
        partition: &Partition,
        building: &Indexed,
    ) -> Result<usize, Error> {
        let mut entities = 0;
        // An entity without types has no rows by attribute.
        let mut range = Some(keys::types_from(TermId(0)));
        while let Some(rest) = range {
            let page = context.store.scan(partition, &rest, Direction::Forward, GROUP_ENTITIES).await?;
            let mut ids: Vec<&str> = page.rows().filter_map(|(key, _)| keys::id_of_key(key)).collect();
            ids.sort_unstable();
            ids.dedup();
            entities += ids.len();
            if context.is_superseded() {
                return Ok(entities);
            }
            self.build_some(context, partition, &ids, building).await?;
            range = next_range(&rest, &page);
            tokio::task::yield_now().await;
        }
        Ok(entities)
    }

    /// Writes the index rows of some entities.
    async fn build_some(
        &self,
        context: &Context,
        partition: &Partition,
        ids: &[&str],
        building: &Indexed,
    ) -> Result<(), Error> {
        let good = context.store.limits();
        let (mut batches, mut batch) = (Vec::new(), Batch::default());
        for (id, row) in ids.iter().zip(context.rows_each_linear(ids).await?) {
            let keys = match row
                .and_then(|row| row.map(|row| keys_of(&row.value, row.stamp, building)).transpose())
            {
                Ok(Some(keys)) => keys,
                Ok(None) => continue,
                Err(error) => {
                    context.skip("index", id, error)?;
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
        let commits = batches.iter_mut().map(|batch| context.rows_commit(partition, batch)).collect();
        for (batch, told) in batches.iter().zip(context.store.commit_all_known(commits).await) {
            match told {
                Ok(_) => {}
                Err(error) if error.kind().is_lost_race() => {
                    for id in &batch.ids {
                        self.build_one(context, partition, id, building).await?;
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Writes the index rows of an entity that others write, too.
    async fn build_one(
        &self,
        context: &Context,
        partition: &Partition,
        id: &str,
        building: &Indexed,
    ) -> Result<(), Error> {
        let _turn = context.turns.take(std::iter::once(id), true).await;
        for _ in 0..ATTEMPTS_MAX {
            if context.is_superseded() {
                return Ok(());
            }
            let Some(row) = context.row_linear(id).await? else { return Ok(()) };
            let keys = keys_of(&row.value, row.stamp, building)?;
            if keys.writes.is_empty() {
                return Ok(());
            }
            let mut batch = Batch::default();
            batch.add(id, keys);
            match context.store.commit_known(context.rows_commit(partition, &mut batch)).await {
                Ok(_) => return Ok(()),
                Err(error) if error.kind().is_lost_race() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contention(id.into()))
    }
}

impl Context {
    fn register_commit(&self, unchanged: Condition, register: &Register) -> Commit {
        Commit {
            partition: keys::consumers_partition(self.tenant()),
            write_id: self.write_ids.next(),
            conditions: vec![unchanged],
            writes: vec![register.put()],
            change: None,
            reclaims: false,
        }
    }

    fn rows_commit(&self, partition: &Partition, batch: &mut Batch) -> Commit {
        Commit {
            partition: partition.clone(),
            write_id: self.write_ids.next(),
            conditions: std::mem::take(&mut batch.conditions),
            writes: std::mem::take(&mut batch.writes),
            change: None,
            reclaims: false,
        }
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
}
