//! Moves the entities of a tenant to other buckets while it serves. Who knows what, and when, is said in `layout.rs`.
//!
//! An entity is moved with all of its rows, in two commits. The first puts them into the bucket where it is to be, with a row
//! `k`, on condition that there is none: so a slow mover copies nothing a second time, though the entity be gone by then. The second
//! removes them from the bucket where it was. Nobody writes an entity that has not moved: who wants to, moves it first. So
//! what is to be moved does not change, and a mover that died between the two commits is made up for by any other.
//!
//! Readers of one row look where the entity is to be, then where it was, then again where it is to be. Queries read index rows of the
//! buckets that entities move from first, and those of the others behind them (`query/stream.rs`).
//!
//! One that is damaged moves as it is, with the rows by which it is found: they are looked for. So its reads go on saying that it is
//! damaged, and nothing is lost. What the engine cannot read at all does not move, and keeps the move open.
//!
//! A move is no change of the entity: its commits have no change record. Change records name the number of moves that had begun.
//!
//! Rows `k` are removed at the end, when the fences were raised once more and no slow mover can commit any more.

mod moving;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use bytes::Bytes;
use entity::{EntityView, Error, keys};
use futures_util::future::join_all;
use store::retry::RetryBackoff;
use store::{Condition, Direction, Partition, Range, Tenant, Write};

use crate::layout::{Layout, StoredLayout};
use crate::tenant::{BUCKETS_AT_ONCE, TenantState, no_bucket};
use crate::watch::Watch;
use crate::{Entities, TenantEntities};

use moving::Moving;

/// How often a move of an entity starts again because another mover was there.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
/// Rows that are read in one page.
const PAGE_ROWS: usize = 256;
impl TenantState {
    /// Moves an entity, if it moves by this layout and has not yet. Answers false if the layout does not hold any more.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub(crate) async fn move_entity(&self, id: &str) -> Result<bool, Error> {
        let Some(source) = self.layout.source(id) else { return Ok(true) };
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Some(is_copied) = self.copy_entity(id, source).await? else { return Ok(false) };
            if !is_copied {
                continue;
            }
            match self.remove_copied(id, source).await? {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => return Ok(false),
            }
        }
        Err(attempts.exhausted(id).into())
    }

    /// The first half: all rows are where the entity is to be, or there are none. Answers false if that is to be tried again, nothing
    /// if the layout does not hold any more.
    async fn copy_entity(&self, id: &str, source: usize) -> Result<Option<bool>, Error> {
        let home = self.bucket(id);
        let Some(watch) = self.watch_partition(home).await? else { return Ok(None) };
        let (from, to) = (self.partition_at(source)?, self.partition_at(home)?);
        // Asked first: what of it is removed behind our back has been copied, and the commit is refused.
        if self.store.get_linear(to, &keys::moved(id)).await?.is_some() {
            return Ok(Some(true));
        }
        match Moving::read(self, from, id).await? {
            Some(moving) => self.put_copy(id, moving, watch).await.map(Some),
            None => Ok(Some(true)),
        }
    }

    /// Puts rows of an entity where it is to be, unless they are there or have been; answers whether it did.
    async fn put_copy(&self, id: &str, moving: Moving, watch: Watch) -> Result<bool, Error> {
        let to = self.partition(id)?;
        if !self.note_moving(id, &watch, &moving).await? {
            return Ok(false);
        }
        let mut writes = moving.writes(id, &watch.known.indexed)?;
        let limits = self.store.limits();
        let conditions = || {
            let absent = [keys::moved(id), keys::entity(id)].map(Condition::Absent);
            absent.into_iter().chain([Condition::Fence(watch.fence)]).collect::<Vec<_>>()
        };
        let mut heads = Vec::new();
        let mut bytes = 0;
        for (key, value) in moving.heads {
            bytes += key.len() + value.len();
            heads.push(Write::Put(key, value));
            // Ahead of the others, where they are many: nobody looks for them there yet.
            if heads.len() >= limits.good_rows.div_ceil(2) || bytes >= limits.good_bytes / 2 {
                bytes = 0;
                if !self.commit_move(to, conditions(), std::mem::take(&mut heads), false).await? {
                    return Ok(false);
                }
            }
        }
        if !heads.is_empty() && !self.commit_move(to, conditions(), heads, false).await? {
            return Ok(false);
        }
        for write in &writes {
            if write.key().first() == Some(&keys::EXPIRY) {
                self.purged.note(write.key());
            }
        }
        writes.push(Write::Put(keys::moved(id), Bytes::new()));
        self.commit_move(to, conditions(), writes, false).await
    }

    /// Notes which attributes are in use where an entity is to be; `false`: the fence was raised.
    async fn note_moving(&self, id: &str, watch: &Watch, moving: &Moving) -> Result<bool, Error> {
        // Who looks for attributes passes over what is damaged.
        let Some(row) = moving.entity.as_ref().filter(|_| moving.found_by.is_none()) else { return Ok(true) };
        self.note_entity(id, watch, &EntityView::parse(&row.value)?, None).await
    }

    /// The second half, of an entity that is copied: none of its rows is where it was. Answers as the first.
    async fn remove_copied(&self, id: &str, source: usize) -> Result<Option<bool>, Error> {
        let Some(watch) = self.watch_partition(source).await? else { return Ok(None) };
        let from = self.partition_at(source)?;
        let Some(moving) = Moving::read(self, from, id).await? else { return Ok(Some(true)) };
        let conditions = || vec![Condition::Fence(watch.fence)];
        let delete = |write: Write| Write::Delete(write.key().clone());
        let writes: Vec<Write> = moving.writes(id, &watch.known.indexed)?.into_iter().map(delete).collect();
        if !writes.is_empty() && !self.commit_move(from, conditions(), writes, true).await? {
            return Ok(Some(false));
        }
        for some in moving.heads.chunks(self.store.limits().good_rows) {
            let writes = some.iter().map(|(key, _)| Write::Delete(key.clone())).collect();
            if !self.commit_move(from, conditions(), writes, true).await? {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// One commit of a mover; whether it was carried out.
    async fn commit_move(
        &self,
        partition: &Partition,
        conditions: Vec<Condition>,
        writes: Vec<Write>,
        reclaims: bool,
    ) -> Result<bool, Error> {
        let commit = self.silent(partition, conditions, writes, reclaims);
        Ok(self.commit_silently(commit).await?.is_some())
    }

    fn partition_at(&self, at: usize) -> Result<&Partition, Error> {
        self.partitions.get(at).ok_or_else(no_bucket)
    }

    /// Whether an entity that moves by this layout is copied. Cost: one linear read.
    pub(crate) async fn has_moved(&self, id: &str) -> Result<bool, Error> {
        Ok(self.store.get_linear(self.partition(id)?, &keys::moved(id)).await?.is_some())
    }

    /// Removes rows `k`, a page of them of each bucket; answers whether there were any, and the layout holds.
    async fn remove_marks(&self) -> Result<bool, Error> {
        self.remove_rows(self.partitions.len(), &keys::moved_range()).await
    }

    /// Removes what was noted as in use in buckets that all entities have left, likewise.
    async fn remove_notes(&self) -> Result<bool, Error> {
        self.remove_rows(self.layout.sources(), &keys::all_in_use_range()).await
    }

    async fn remove_rows(&self, partitions: usize, range: &Range) -> Result<bool, Error> {
        let mut any = false;
        for (at, partition) in self.partitions.iter().enumerate().take(partitions) {
            let Some(watch) = self.watch_partition(at).await? else { return Ok(false) };
            let rows = self.store.limits().good_rows;
            let page = self.store.scan(partition, range, Direction::Forward, rows).await?;
            if !page.is_empty() {
                any = true;
                let writes = page.rows().map(|(key, _)| Write::Delete(Bytes::copy_from_slice(key))).collect();
                self.commit_move(partition, vec![Condition::Fence(watch.fence)], writes, true).await?;
            }
        }
        Ok(any)
    }
}

/// How far a mover has come through the buckets that entities move from.
#[derive(Debug)]
struct Walk {
    epoch: u32,
    source: usize,
    kind: usize,
    range: Option<Range>,
    /// Whether something could not be moved.
    has_failed: bool,
}

/// Kinds of rows that entities and histories are found by, the least row of most of them first; rows that lead to histories are left
/// where these have gone.
fn kinds() -> [Range; 5] {
    let histories = [
        keys::history_headers_range(),
        keys::folded_range(),
        keys::heads_range(),
        keys::history_types_range(),
    ];
    let [histories, folded, heads, types] = histories;
    [keys::entities_range(), histories, folded, heads, types]
}

impl Walk {
    fn new(epoch: u32) -> Self {
        Self { epoch, source: 0, kind: 0, range: None, has_failed: false }
    }

    /// Goes on behind a page; false at the end.
    fn advance(&mut self, next: Option<Range>) {
        self.range = next;
        if self.range.is_none() {
            self.kind += 1;
            if self.kind == kinds().len() {
                (self.kind, self.source) = (0, self.source + 1);
            }
        }
    }
}

impl TenantEntities {
    /// One step towards so many buckets: how many entities were moved, or `None` if nothing is left to be done.
    async fn rebucket_step(&self, walk: &mut Walk, wanted: u32) -> Result<Option<usize>, Error> {
        let state = self.state();
        let stored = state.stored_layout().await?;
        state.supersede(stored.in_force());
        let state = self.state();
        match (stored.layout.is_moving(), stored.is_known) {
            (false, true) if stored.layout.buckets == wanted => Ok(None),
            (false, true) => {
                let Layout { epoch, buckets: from, .. } = stored.layout;
                tracing::info!(tenant = %state.tenant(), from, buckets = wanted, "entities are to be moved to other buckets");
                let layout = Layout { epoch: epoch + 1, buckets: wanted, from };
                state.store_layout(&stored, layout, false).await?;
                Ok(Some(0))
            }
            (true, false) => state.make_layout_known(&stored).await.map(|()| Some(0)),
            (true, true) => self.move_some(state, &stored, walk).await,
            (false, false) => {
                // Once: whoever came so far knows that no mover can commit any more.
                state.bump_all(&state.partitions).await?;
                while state.remove_marks().await? {}
                state.store_layout(&stored, stored.layout, true).await?;
                tracing::info!(tenant = %state.tenant(), buckets = stored.layout.buckets, "entities are moved to other buckets");
                Ok(Some(0))
            }
        }
    }

    /// Moves the entities of a page of rows; behind the last, has the layout hold in which nothing moves.
    async fn move_some(
        &self,
        state: &TenantState,
        stored: &StoredLayout,
        walk: &mut Walk,
    ) -> Result<Option<usize>, Error> {
        if walk.epoch != stored.layout.epoch || state.layout != stored.layout {
            *walk = Walk::new(stored.layout.epoch);
            return Ok(Some(0));
        }
        if walk.source < state.layout.sources() {
            return self.move_page(state, walk).await.map(Some);
        }
        if std::mem::take(&mut walk.has_failed) {
            // Not before all have moved: those that failed are tried again the next time.
            *walk = Walk::new(stored.layout.epoch);
            return Ok(None);
        }
        let Layout { epoch, buckets, from } = stored.layout;
        while from > buckets && state.remove_notes().await? {}
        state.store_layout(stored, Layout { epoch: epoch + 1, buckets, from: buckets }, false).await?;
        Ok(Some(0))
    }

    async fn move_page(&self, state: &TenantState, walk: &mut Walk) -> Result<usize, Error> {
        let source = state.partition_at(walk.source)?;
        let kinds = kinds();
        let Some(whole) = kinds.get(walk.kind) else { return Ok(0) };
        let range = walk.range.take().unwrap_or_else(|| whole.clone());
        let page = state.store.scan(source, &range, Direction::Forward, PAGE_ROWS).await?;
        let next = range.after_page(&page);
        let id = |key| keys::head_of_key(key).map(|(id, _)| id).or_else(|| keys::id_of_key(key));
        let leaves = |id: &&str| state.layout.source(id) == Some(walk.source);
        let mut moved = 0;
        if walk.kind + 1 == kinds.len() {
            let rows = page.rows().map(|(key, _)| key).filter(|key| id(key).is_some_and(|id| leaves(&id)));
            let writes: Vec<Write> = rows.map(|key| Write::Delete(Bytes::copy_from_slice(key))).collect();
            for writes in writes.chunks(state.store.limits().good_rows) {
                let Some(watch) = state.watch_partition(walk.source).await? else { return Ok(0) };
                let conditions = vec![Condition::Fence(watch.fence)];
                // If it is refused, rows are left that lead nowhere.
                state.commit_move(source, conditions, writes.to_vec(), true).await?;
            }
        } else {
            let mut ids: Vec<&str> = page.rows().filter_map(|(key, _)| id(key)).filter(leaves).collect();
            ids.dedup();
            for some in ids.chunks(BUCKETS_AT_ONCE) {
                let outcomes = join_all(some.iter().map(|id| state.move_entity(id))).await;
                for (id, outcome) in some.iter().zip(outcomes) {
                    match outcome {
                        Ok(true) => moved += 1,
                        // The layout is another: the walk begins anew.
                        Ok(false) => return Ok(moved),
                        Err(error) => {
                            walk.has_failed = true;
                            state.skip("rebucket", id, error)?;
                        }
                    }
                }
            }
        }
        walk.advance(next);
        Ok(moved)
    }
}

/// A walk of a job through all tenants that moves their entities to so many buckets as are wanted, page by page. One that is
/// dropped, or dies, is taken up by the next; two at once do no harm.
#[derive(Debug)]
pub struct Rebucketing {
    entities: Entities,
    wanted: u32,
    tenants: VecDeque<Tenant>,
    current: Option<(TenantEntities, Walk)>,
}

impl Entities {
    /// Begins to spread the entities of all tenants over as many buckets as the options say ([`crate::Options::buckets`]). Reads and
    /// writes go on meanwhile.
    ///
    /// # Errors
    ///
    /// If the directory of tenants cannot be read.
    pub async fn rebucketing(&self) -> Result<Rebucketing, Error> {
        let wanted = self.buckets_wanted();
        Ok(Rebucketing {
            entities: self.clone(),
            wanted,
            tenants: self.tenants().await?.into(),
            current: None,
        })
    }
}

impl Rebucketing {
    /// Moves the entities of a page of rows; answers how many, or `None` when nothing is left to be moved, or can be. What fails is
    /// skipped ([`crate::SkipLog`]): the next walk tries it again. Cost: for each entity that moves two commits, several at once; while
    /// nothing is to be moved, two reads a tenant.
    ///
    /// # Errors
    ///
    /// If the store serves nobody.
    pub async fn next(&mut self) -> Result<Option<usize>, Error> {
        loop {
            let (tenant, walk) = match &mut self.current {
                Some((tenant, walk)) => (tenant, walk),
                None => {
                    let Some(name) = self.tenants.pop_front() else { return Ok(None) };
                    match self.entities.life(&name).await {
                        Ok(tenant) => self.current = Some((tenant, Walk::new(0))),
                        // It was removed meanwhile.
                        Err(Error::NoSuchTenant(_)) => {}
                        Err(error) if error.is_outage() => return Err(error),
                        Err(error) => self.entities.skips().note("rebucket", &name, &"the tenant", &error),
                    }
                    continue;
                }
            };
            match tenant.rebucket_step(walk, self.wanted).await {
                Ok(Some(moved)) => return Ok(Some(moved)),
                Ok(None) => {}
                Err(error) => tenant.state().skip("rebucket", &"the tenant", error)?,
            }
            self.current = None;
        }
    }
}
