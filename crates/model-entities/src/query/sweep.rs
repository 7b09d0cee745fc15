//! Sweeps: an operation on all entities that match a query, page by page, each judged again when it is written.

use entity::expiry::live_bytes;
use entity::{Change, EntityView, Error, Operation};
use store::{Pace, Row};

use super::eval::{Links, Matcher};
use super::run::{Run, Walk};
use super::{Filter, Query};
use crate::TenantEntities;
use crate::long_read::LIGHT_ENTITY_BYTES;
use crate::tenant::TenantState;

/// A walk through all entities that match a query, in the order of their ids. What others write meanwhile shifts nothing:
/// an entity that matches all the while is met once.
pub struct Sweep<'a> {
    entities: &'a TenantEntities,
    query: &'a Query,
    run: Run<'a>,
    walk: Walk,
    /// The last id that was given.
    last: Option<Box<str>>,
}

/// What became of each entity of a page.
pub type Swept = Vec<(Box<str>, Result<Change, Error>)>;

impl TenantEntities {
    /// Begins a sweep of the entities that match. Its pages are of `limit` matches, or fewer beyond `page_bytes_max`; `order`
    /// and `count` are not looked at.
    ///
    /// Cost: a read or two of index rows.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the query follows links; if the store refuses.
    pub async fn sweep_matching<'a>(&'a self, query: &'a Query) -> Result<Sweep<'a>, Error> {
        if query.filter.as_ref().map_or(0, Filter::link_depth) > 0 {
            return Err(Error::Invalid("a sweep cannot ask for attributes of linked entities".into()));
        }
        let mut run = Run::sweeping(self.state(), query, None)?;
        let walk = run.begin().await?;
        Ok(Sweep { entities: self, query, run, walk, last: None })
    }
}

impl Sweep<'_> {
    /// Finds the next page of matches and carries the operation out on those that match in the moment of the write, too:
    /// to others it is [`Error::NoSuchEntity`]. `None`: nothing is left.
    ///
    /// Cost: as a query for the page, and a group commit.
    ///
    /// # Errors
    ///
    /// As [`TenantEntities::query`], [`Error::Limit`] for a single page; the pages before are written.
    pub async fn apply_next(&mut self, operation: &Operation) -> Result<Option<Swept>, Error> {
        self.query.deadline.check()?;
        self.run.go(&mut self.walk).await?;
        while self.run.state.newer().await?.is_some() {
            // Entities that began to move meanwhile may have moved past it. What was passed over was given.
            self.run = Run::sweeping(self.entities.state(), self.query, self.last.clone())?;
            self.walk = self.run.begin().await?;
            self.run.go(&mut self.walk).await?;
        }
        let page = self.run.turn_page();
        let id = |bytes: &bytes::Bytes| Ok::<_, Error>(Box::from(EntityView::peek(bytes)?.id()));
        let ids = page.iter().map(id).collect::<Result<Vec<Box<str>>, _>>()?;
        drop(page);
        let Some(last) = ids.last() else { return Ok(None) };
        self.last = Some(last.clone());
        let matching = Matching { query: self.query, matcher: &self.run.matcher };
        let outcomes = self.entities.apply_matching(&ids, operation, &matching).await;
        Ok(Some(ids.into_iter().zip(outcomes).collect()))
    }
}

#[cfg(test)]
impl Sweep<'_> {
    /// Entities that were looked at so far.
    pub(super) fn scanned(&self) -> usize {
        self.run.scanned()
    }
}

impl std::fmt::Debug for Sweep<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sweep").field("query", self.query).finish_non_exhaustive()
    }
}

/// What entities must match to be written.
#[derive(Clone, Copy)]
pub(crate) struct Matching<'a> {
    pub(crate) query: &'a Query,
    matcher: &'a Matcher,
}

impl Matching<'_> {
    /// Which rows are of entities that match. Cost: a look at each; long ones in a slot of the lane.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] behind the deadline; if a row is damaged.
    pub(crate) async fn judge(&self, state: &TenantState, rows: &[Option<Row>]) -> Result<Vec<bool>, Error> {
        let is_large = |row: &Row| row.value.len() > LIGHT_ENTITY_BYTES;
        let is_long = self.matcher.is_heavy() || rows.iter().flatten().any(is_large);
        let mut pace = Pace::new(self.query.deadline.clone());
        let (mut fit, mut left) = (Vec::with_capacity(rows.len()), rows.iter());
        while fit.len() < rows.len() {
            let mut slice = || {
                for row in left.by_ref() {
                    fit.push(self.is_met(row.as_ref(), &mut pace)?);
                    if pace.is_tired() {
                        break;
                    }
                }
                Ok::<_, Error>(())
            };
            match is_long {
                true => state.lane.run(slice).await?,
                false => slice()?,
            }
            if pace.is_tired() {
                tokio::task::yield_now().await;
                pace.rest();
            }
        }
        Ok(fit)
    }

    fn is_met(&self, row: Option<&Row>, pace: &mut Pace) -> Result<bool, Error> {
        let Some(row) = row else { return Ok(false) };
        let Some(bytes) = live_bytes(row.value.clone(), self.query.now)? else { return Ok(false) };
        let matches = self.matcher.matches(&EntityView::peek(&bytes)?, &mut Links::default(), pace);
        pace.check()?;
        Ok(matches)
    }
}
