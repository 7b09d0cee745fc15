//! The page of a query at work: when it is full, and what lies on it at the end.

use bytes::Bytes;
use entity::expiry::live_bytes;
use entity::{EntityView, Error};

use super::super::QueryResult;
use super::super::order::Top;
use super::{BATCH, Run};

impl Run<'_> {
    /// Whether what is still to come changes nothing.
    pub(super) fn is_full(&self) -> bool {
        if self.sweeps {
            return self.matched >= self.behind();
        }
        // One more match says that there is a page behind.
        let counts = self.query.count && self.counted.is_none();
        !counts && self.top.is_none() && self.matched > self.behind()
    }

    /// How many matches lie before the end of the page: fewer than asked for once it is large enough.
    fn behind(&self) -> usize {
        let is_cut = self.query.page_bytes_max.is_some_and(|max| self.page_bytes >= max);
        let rows = if is_cut { self.page.len() } else { self.query.limit };
        self.query.offset.saturating_add(self.given).saturating_add(rows)
    }

    /// Whether the next match is counted, and not given.
    pub(super) fn only_counts(&self) -> bool {
        self.top.is_none() && (self.matched < self.query.offset || self.matched >= self.behind())
    }

    /// Takes the page; the next may look at as many entities again. What comes next needs no slot yet.
    pub(in crate::query) fn turn_page(&mut self) -> Vec<Bytes> {
        self.given = self.matched.saturating_sub(self.query.offset);
        self.scanned_max = self.scanned.saturating_add(self.state.options.scan_entities_max);
        self.page_bytes = 0;
        self.long.begin_anew();
        std::mem::take(&mut self.page)
    }

    pub(super) async fn finish(mut self) -> Result<QueryResult, Error> {
        if let Some(top) = self.top.take() {
            self.take_page(top).await?;
        }
        // What came after the count is on the page.
        let matches = self.counted.map_or(self.matched, |counted| counted.max(self.matched));
        Ok(QueryResult {
            count: self.query.count.then_some(matches),
            more: self.matched > self.behind(),
            entities: self.page,
            slot: self.long.slot,
        })
    }

    /// An entity that matched when it was sorted, as it is now, if it still does. What it points to is as it was then: a query
    /// that met another link meanwhile does not show it.
    fn still_matching(&mut self, entity: Bytes) -> Result<Option<Bytes>, Error> {
        let Some(entity) = live_bytes(entity, self.query.now)? else { return Ok(None) };
        let view = EntityView::peek(&entity)?;
        let matches = self.at_work(|run| {
            let matches = run.matcher.matches(&view, &mut run.links, &mut run.long.pace);
            matches && run.links.wanted.is_empty()
        });
        self.links.wanted.clear();
        self.long.pace.check()?;
        Ok(matches.then_some(entity))
    }

    /// Takes the page out of the sorted matches. What they had no room to hold is read once more, in batches; what went
    /// meanwhile is passed over.
    async fn take_page(&mut self, top: Top) -> Result<(), Error> {
        let mut matches = top.page(self.query.offset).peekable();
        while matches.peek().is_some() && self.behind() > self.query.offset.saturating_add(self.page.len()) {
            let batch: Vec<_> = matches.by_ref().take(BATCH).collect();
            let missing: Vec<&str> =
                batch.iter().filter(|(_, cached)| cached.is_none()).map(|(id, _)| &**id).collect();
            let mut read = match missing.as_slice() {
                [] => Vec::new(),
                ids => self.state.rows(ids).await?,
            }
            .into_iter();
            for (_, cached) in batch {
                let entity = match cached {
                    Some(entity) => Some(entity),
                    None => match read.next().flatten() {
                        Some(row) => self.still_matching(row.value)?,
                        None => None,
                    },
                };
                if self.behind() == self.query.offset.saturating_add(self.page.len()) {
                    break;
                }
                if let Some(entity) = entity {
                    self.page_bytes = self.page_bytes.saturating_add(entity.len());
                    self.page.push(entity);
                }
            }
        }
        Ok(())
    }
}
