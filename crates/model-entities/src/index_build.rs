//! Builds the index rows of attributes that queries want (`indexes.rs`), for the entities that are there already.

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use bytes::Bytes;
use entity::index::{Indexed, attribute_rows};
use entity::{EntityView, Error, TermId, keys};
use store::retry::RetryBackoff;
use store::{Commit, Condition, Direction, Partition, Stamp, Write};

use crate::tenant::TenantState;
use crate::{Entities, TenantEntities};

/// How often a change of the register, or the rows of an entity, start again because another came first.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
/// Entities whose rows are written together.
const GROUP_ENTITIES: usize = 256;
/// An index that could not be built for all entities is begun anew after so long.
const RETRY_AFTER: Duration = Duration::from_mins(10);
/// Work that took so long is rested from as long.
const WORK: Duration = Duration::from_millis(1);

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
        for (batch, outcome) in batches.iter().zip(state.store.commit_all_known(commits).await) {
            match outcome {
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
