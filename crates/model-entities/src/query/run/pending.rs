//! Candidates that are read and evaluated together: those that are not cached, and those behind them.

use bytes::Bytes;
use entity::{EntityView, Error, Limit, LimitName};

use super::{Pending, Run};
use crate::long_read::LIGHT_ENTITY_BYTES;

impl Run<'_> {
    /// Reads the entities that are pending, and those they point to, and evaluates them in order.
    pub(super) async fn settle(&mut self, pending: &mut Pending) -> Result<(), Error> {
        let mut missing: Vec<_> = pending.iter_mut().filter(|(_, cached)| cached.is_none()).collect();
        let ids: Vec<&str> = missing.iter().map(|(id, _)| &**id).collect();
        if !ids.is_empty() {
            let rows = self.state.rows(&ids).await?;
            for ((_, cached), row) in missing.iter_mut().zip(rows) {
                *cached = row.map(|row| row.value);
            }
        }
        if self.is_long(pending) {
            self.long.enter_lane().await?;
        }
        if self.matcher.links() {
            self.follow(pending).await?;
        }
        let mut candidates = std::mem::take(pending).into_iter();
        while !self.at_work(|run| run.see_some(&mut candidates))? {
            self.long.rest().await?;
        }
        // What comes after a full page is for the next one.
        pending.extend(candidates.filter(|(_, entity)| entity.is_some()));
        Ok(())
    }

    /// Whether one of the entities is so large that it needs a slot first.
    pub(super) fn is_long(&self, pending: &Pending) -> bool {
        let is_large = |entity: &Bytes| entity.len() > LIGHT_ENTITY_BYTES;
        !self.long.in_lane && pending.iter().any(|(_, entity)| entity.as_ref().is_some_and(is_large))
    }

    /// Evaluates entities for a slice; whether that was all of them, or the page is full.
    fn see_some(
        &mut self,
        pending: &mut impl Iterator<Item = (Box<str>, Option<Bytes>)>,
    ) -> Result<bool, Error> {
        while !self.long.pace.is_tired() {
            if self.is_full() {
                return Ok(true);
            }
            match pending.next() {
                Some((_, Some(entity))) => self.see(entity)?,
                Some((_, None)) => {}
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Fetches what the pending entities point to, until all of them can be evaluated.
    async fn follow(&mut self, pending: &Pending) -> Result<(), Error> {
        loop {
            self.at_work(|run| {
                for entity in pending.iter().filter_map(|(_, entity)| entity.as_ref()) {
                    run.matcher.matches(&EntityView::peek(entity)?, &mut run.links, &mut run.long.pace);
                }
                Ok::<_, Error>(run.long.pace.check()?)
            })?;
            let mut wanted = std::mem::take(&mut self.links.wanted);
            wanted.sort_unstable();
            wanted.dedup();
            if wanted.is_empty() {
                return Ok(());
            }
            let linked_max = self.state.options.scan_entities_max;
            Limit::check(LimitName::LinkedEntities, linked_max, self.links.fetched.len() + wanted.len())?;
            let ids: Vec<&str> = wanted.iter().map(|id| &**id).collect();
            let found = self.state.rows(&ids).await?.into_iter().map(|row| row.map(|row| row.value));
            self.links.fetched.extend(wanted.into_iter().zip(found));
        }
    }
}
