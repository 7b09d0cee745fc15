//! Carries out a plan: candidates in id order, each looked up and evaluated, until the page is full.
//!
//! It counts its steps: every slice it lets others run, and after some slices it goes on in a slot of the tenant's lane,
//! beside the threads of the runtime. So does what may be long from the start.
//!
//! Awaits are page-sized: for a page of index rows, for the entities of a batch that are not in the
//! store's cache, for the entities that a batch's Relationships point to.

mod driver;
mod pending;
mod page;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use super::eval::{Links, Matcher};
use super::order::Top;
use super::plan::{Plan, wants_types};
use super::stream::{Candidate, Feed, IdList, id_part};
use super::{Query, QueryResult};
use crate::TenantEntities;
use crate::long_read::{LIGHT_ENTITY_BYTES, LongRead};
use crate::tenant::TenantState;
use bytes::Bytes;
use entity::expiry::live_bytes;
use entity::{EntityView, Error, Limit, LimitName};

/// Entities that are not in the cache are read so many at a time.
const BATCH: usize = 64;
/// The most rows of the first probe; each further probe may read eight times as many.
const PROBE_ROWS: usize = 2048;
const PROBE_GROWTH: usize = 8;
/// Below so many matches in a hundred candidates another access path is probed.
const POOR_PERCENT: usize = 6;
/// Looking at an entity costs as much as reading so many index rows.
const ROWS_AN_ENTITY: usize = 6;

/// A query that looked at so many entities, of which but one in so many matched, wants its attributes indexed.
const WANTING: usize = if cfg!(test) { 64 } else { 1_000 };
const WANTING_SHARE: usize = 4;

/// Larger pages are long to write out, and only so many are in memory at once as there are slots.
const LIGHT_PAGE_BYTES: usize = 1 << 20;
/// What the keys of all matches may take that are sorted.
const KEYS_BYTES_MAX: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// Pages of rows read between two pauses in which other tasks may run.
const PAGES_A_PAUSE: usize = 4;

impl TenantEntities {
    /// The entities that match, without what of them expired.
    ///
    /// Cost: about a microsecond for each entity looked at, and a read for each that is in no cache.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if it looks at, sorts or follows links to more entities than the options allow;
    /// [`Error::TimedOut`] behind the query's deadline; if the store refuses.
    pub async fn query(&self, query: &Query) -> Result<QueryResult, Error> {
        loop {
            let state = self.state();
            let result = run(state, query).await?;
            // Entities that began to move meanwhile may have moved past it.
            if state.newer().await?.is_none() {
                return Ok(result);
            }
        }
    }
}

async fn run(state: &TenantState, query: &Query) -> Result<QueryResult, Error> {
    let mut run = Run::new(state, query)?;
    let mut walk = run.begin().await?;
    run.go(&mut walk).await?;
    run.finish().await
}

/// A query at work.
pub(super) struct Run<'a> {
    pub(super) state: &'a TenantState,
    pub(super) query: &'a Query,
    pub(super) matcher: Matcher,
    links: Links,
    /// The sorted matches, unless they come in the order of the candidates.
    top: Option<Top>,
    page: Vec<Bytes>,
    page_bytes: usize,
    pub(super) matched: usize,
    /// How many there are in all, where that is known beforehand.
    pub(super) counted: Option<usize>,
    /// Whether pages follow each other until nothing is left; then each ends with its last match.
    pub(super) sweeps: bool,
    /// Matches on the pages before this one.
    given: usize,
    /// Ids up to this one were given on pages before.
    after: Option<Box<str>>,
    /// Candidates that were evaluated, and how many may be until the page ends.
    scanned: usize,
    scanned_max: usize,
    /// Ids of what expired, if the index decides.
    pub(super) expired: Option<HashSet<Box<str>>>,
    /// The key of the current candidate, and of the last one afterwards.
    key: Vec<u8>,
    pub(super) long: LongRead<'a>,
}

/// Why the walk paused.
enum Pause {
    /// Nothing is left, or nothing more is asked.
    Done,
    /// Rows must be read.
    Starved,
    /// Entities must be read.
    Missing,
    /// Another access path may be better.
    Poor,
    /// Others should run.
    Tired,
    /// It needs a slot.
    Long,
}

/// Candidates in order, with the entities that are cached.
type Pending = Vec<(Box<str>, Option<Bytes>)>;

/// How far a run has come through the candidates.
pub(super) struct Walk {
    plan: Plan,
    pub(super) feed: Feed,
    pending: Pending,
    /// The rows of the feed are the entities themselves.
    with_entities: bool,
    next_probe: usize,
    probe_rows: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(state: &'a TenantState, query: &'a Query) -> Result<Self, Error> {
        let room = query.offset.saturating_add(query.limit);
        let top = Top::new(query, room, KEYS_BYTES_MAX);
        let sort_max = state.options.sort_entities_max;
        if top.is_some() {
            Limit::check(LimitName::SortedEntities, sort_max, room)?;
        }
        Ok(Self {
            state,
            query,
            matcher: Matcher::new(query),
            links: Links::default(),
            top,
            page: Vec::new(),
            page_bytes: 0,
            matched: 0,
            counted: None,
            sweeps: false,
            given: 0,
            after: None,
            scanned: 0,
            scanned_max: state.options.scan_entities_max,
            expired: None,
            key: Vec::with_capacity(128),
            long: LongRead::new(&state.lane, query.deadline.clone()),
        })
    }

    /// The same, for all matches in id order, page after page: [`Run::turn_page`] takes one, [`Run::go`] makes the next. `after`:
    /// behind this id.
    pub(super) fn sweeping(
        state: &'a TenantState,
        query: &'a Query,
        after: Option<Box<str>>,
    ) -> Result<Self, Error> {
        let run = Self::new(state, query)?;
        let matched = after.as_ref().map_or(0, |_| query.offset);
        Ok(Self { sweeps: true, top: None, after, matched, ..run })
    }

    /// Plans which candidates there are, and goes to the first.
    pub(super) async fn begin(&mut self) -> Result<Walk, Error> {
        let types = if wants_types(self.query) { self.state.types_in_use().await? } else { None };
        let plan = Plan::new(self.query, types.as_deref(), &self.state.indexes.ready());
        tracing::trace!(%plan, "query planned");
        if plan.decides && (self.query.count || self.query.offset > 0) && self.top.is_none() {
            self.expired = self.state.expired_ids(self.query.now).await?;
        }
        let with_entities = plan.ids.is_none() && plan.ordered.is_empty();
        let feed = self.feed(&plan).await?;
        let (next_probe, probe_rows) = (self.first_probe(), PROBE_ROWS);
        let mut walk = Walk { plan, feed, pending: Pending::new(), with_entities, next_probe, probe_rows };
        self.skip(&mut walk).await?;
        Ok(walk)
    }

    /// Goes on until the page is full, or nothing is left.
    pub(super) async fn go(&mut self, walk: &mut Walk) -> Result<(), Error> {
        let gone = self.go_on(walk).await;
        let is_slow = self.scanned >= WANTING && self.matched.saturating_mul(WANTING_SHARE) <= self.scanned;
        if !is_slow || walk.plan.wanted.is_empty() {
            return gone;
        }
        self.state.indexes.want(&walk.plan.wanted);
        match gone {
            Err(Error::Limit(Limit { name: LimitName::ScannedEntities { .. }, max, got })) => {
                let name = LimitName::ScannedEntities { is_indexing: true };
                Err(Error::Limit(Limit { name, max, got }))
            }
            gone => gone,
        }
    }

    async fn go_on(&mut self, walk: &mut Walk) -> Result<(), Error> {
        if self.matcher.is_heavy() {
            self.long.enter_lane().await?;
        }
        let mut pages = 0;
        loop {
            match self.at_work(|run| run.walk(walk))? {
                Pause::Tired => self.long.rest().await?,
                Pause::Long => self.long.enter_lane().await?,
                Pause::Missing => self.settle(&mut walk.pending).await?,
                Pause::Starved => {
                    pages += 1;
                    if pages % PAGES_A_PAUSE == 0 {
                        tokio::task::yield_now().await;
                    }
                    if let Some(union) = walk.feed.union() {
                        union.fill(&self.state.store, &self.state.partitions).await?;
                    }
                }
                Pause::Poor => {
                    if let Some(mut ids) = self.probe(&walk.plan, walk.probe_rows).await? {
                        // What both access paths led to so far shows whether reading on in both saves
                        // enough entities.
                        let passed = ids.pass(id_part(&self.key));
                        let spared = passed.saturating_sub(self.matched);
                        walk.narrow(ids, self.scanned < spared * ROWS_AN_ENTITY);
                    }
                    walk.probe_rows = walk.probe_rows.saturating_mul(PROBE_GROWTH);
                    walk.next_probe = self.scanned.saturating_add(walk.probe_rows / 2);
                }
                Pause::Done => return Ok(()),
            }
        }
    }

    /// Does work where it belongs: here, or in the slot.
    fn at_work<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        match self.long.slot.take() {
            None => work(self),
            Some(slot) => {
                let done = slot.run(|| work(self));
                self.long.slot = Some(slot);
                done
            }
        }
    }

    fn wants_all(&self) -> bool {
        (self.query.count && self.expired.is_none()) || self.top.is_some() || self.sweeps
    }

    /// Takes candidates until something must be awaited; evaluates those that are cached.
    fn walk(&mut self, walk: &mut Walk) -> Result<Pause, Error> {
        let probe_at = walk.may_probe().then_some(walk.next_probe);
        let Walk { feed, pending, with_entities, .. } = walk;
        loop {
            if self.is_full() {
                return Ok(Pause::Done);
            }
            if self.long.pace.is_tired() {
                return Ok(Pause::Tired);
            }
            if self.page_bytes > LIGHT_PAGE_BYTES && !self.long.in_lane {
                return Ok(Pause::Long);
            }
            if pending.is_empty() && probe_at.is_some_and(|at| self.scanned >= at) && self.is_poor() {
                return Ok(Pause::Poor);
            }
            let Some(candidate) = feed.next(&mut self.key, *with_entities) else {
                return Ok(match () {
                    () if !pending.is_empty() => Pause::Missing,
                    () if feed.is_starved() => Pause::Starved,
                    () => Pause::Done,
                });
            };
            if self.after.as_deref().is_some_and(|after| id_of(&self.key) <= after) {
                continue;
            }
            self.meet(candidate, pending)?;
            if pending.len() >= BATCH || self.is_long(pending) {
                return Ok(Pause::Missing);
            }
        }
    }

    fn is_poor(&self) -> bool {
        self.wants_all() || self.matched.saturating_mul(100) < self.scanned * POOR_PERCENT
    }

    /// Evaluates a candidate that is cached, counts one that the index decides, or puts it off.
    fn meet(&mut self, candidate: Candidate, pending: &mut Pending) -> Result<(), Error> {
        let decided = self.expired.as_ref().is_some_and(|expired| !expired.contains(id_of(&self.key)));
        if decided && pending.is_empty() && self.only_counts() {
            self.matched += 1;
            return Ok(());
        }
        let partitions = &self.state.partitions;
        let partition = partitions.get(candidate.partition).expect("a candidate is of one of the partitions");
        let cached = match candidate.entity {
            Some(entity) => Some(Some(entity)),
            // Where it is now is still to be found out.
            None if self.state.layout.is_moving() => None,
            None => self.state.store.get_cached(partition, &self.key).map(|row| row.map(|row| row.value)),
        };
        match cached {
            Some(None) => Ok(()),
            Some(Some(entity))
                if pending.is_empty()
                    && !self.matcher.links()
                    && (self.long.in_lane || entity.len() <= LIGHT_ENTITY_BYTES) =>
            {
                self.see(entity)
            }
            cached => {
                pending.push((id_of(&self.key).into(), cached.flatten()));
                Ok(())
            }
        }
    }

    fn see(&mut self, entity: Bytes) -> Result<(), Error> {
        self.scanned += 1;
        if self.scanned > self.scanned_max {
            let name = LimitName::ScannedEntities { is_indexing: false };
            // Of pages that follow each other, each may look at so many.
            let max = self.state.options.scan_entities_max;
            return Err(Error::Limit(Limit { name, max, got: max + 1 }));
        }
        let Some(entity) = live_bytes(entity, self.query.now)? else {
            return Ok(());
        };
        let view = EntityView::peek(&entity)?;
        let matches = self.matcher.matches(&view, &mut self.links, &mut self.long.pace);
        self.long.pace.check()?;
        if !matches {
            return Ok(());
        }
        let only_counts = self.only_counts();
        match &mut self.top {
            Some(top) => {
                let iris = &|term| self.state.terms.iri(term);
                let pushed = top.push(&view, entity.clone(), iris, &mut self.long.pace);
                self.long.pace.check()?;
                pushed?;
            }
            None if only_counts => {}
            None => {
                self.page_bytes = self.page_bytes.saturating_add(entity.len());
                self.page.push(entity);
            }
        }
        self.matched += 1;
        Ok(())
    }
}

#[cfg(test)]
impl Run<'_> {
    pub(super) fn scanned(&self) -> usize {
        self.scanned
    }
}

impl Walk {
    /// Whether another access path can be tried.
    fn may_probe(&self) -> bool {
        !self.plan.probes.is_empty() && matches!(self.feed, Feed::Rows(_))
    }

    /// Leaves out what is not among these ids; `both`: and goes on with the rows, too.
    fn narrow(&mut self, ids: IdList, both: bool) {
        let feed = std::mem::replace(&mut self.feed, Feed::Ids(IdList::default()));
        self.feed = feed.narrowed(ids, both);
    }
}

/// The id in an entity's key.
fn id_of(key: &[u8]) -> &str {
    std::str::from_utf8(id_part(key)).expect("an id is a text")
}
