//! Passing over matches that the index alone decides: neither their rows nor their entities are read.

use std::collections::HashSet;

use bytes::Bytes;
use store::{Partition, Range};

use super::run::{Run, Walk};
use crate::Error;

/// Fewer rows are read with the page.
const ROWS_MIN: usize = 256;

impl Run<'_> {
    /// Goes to the first match of the page, and counts the matches, where every row of the driving range is one.
    pub(super) async fn skip(&mut self, walk: &mut Walk) -> Result<(), Error> {
        let is_decided = self.expired.as_ref().is_some_and(HashSet::is_empty);
        if self.sweeps || !is_decided {
            return Ok(());
        }
        let (context, query) = (self.context, self.query);
        // Of several ranges an entity may lie in more than one.
        let Some((at, range)) = walk.feed.union().and_then(|union| union.only_range()) else {
            return Ok(());
        };
        let (Some(partition), range) = (context.partitions.get(at), range.clone()) else {
            return Ok(());
        };
        if query.offset >= ROWS_MIN {
            let (passed, next) = self.pass(partition, &range, query.offset).await?;
            self.matched = passed;
            if let Some(union) = walk.feed.union() {
                union.begin_at(next.as_ref());
            }
        }
        if query.count {
            let (counted, _) = self.pass(partition, &range, usize::MAX).await?;
            self.counted = Some(counted);
        }
        Ok(())
    }

    /// Passes over rows of a range, in slices: how many there were, and the key behind them.
    async fn pass(
        &mut self,
        partition: &Partition,
        range: &Range,
        rows: usize,
    ) -> Result<(usize, Option<Bytes>), Error> {
        let (mut passed, mut from) = (0, range.start.clone());
        loop {
            let skipped = self.context.store.skip(partition, range, &from, rows - passed).await?;
            passed += skipped.rows;
            match skipped.next {
                Some(next) if passed < rows => from = next,
                next => return Ok((passed, next)),
            }
            self.query.deadline.check()?;
            self.rest().await?;
        }
    }
}
