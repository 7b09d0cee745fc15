//! Passing over matches that the index alone decides: neither their rows nor their entities are read.

use std::collections::HashSet;

use bytes::Bytes;
use entity::Error;
use store::{Partition, Range};

use super::run::{Run, Walk};

/// Fewer rows are read with the page.
const ROWS_MIN: usize = 256;
/// Over more buckets, rows are read up to the page: passes over them take turns, and the engine remembers few ranges.
const BUCKETS_MAX: usize = 16;

impl Run<'_> {
    /// Goes to the first match of the page, and counts the matches, where every row of the driving range is one.
    pub(super) async fn skip(&mut self, walk: &mut Walk) -> Result<(), Error> {
        let is_decided = self.expired.as_ref().is_some_and(HashSet::is_empty);
        if self.sweeps || !is_decided {
            return Ok(());
        }
        let (state, query) = (self.state, self.query);
        // Of several ranges an entity may lie in more than one.
        let Some(range) = walk.feed.union().and_then(|union| union.only_range().cloned()) else {
            return Ok(());
        };
        let buckets = state.partitions.len();
        if query.offset >= ROWS_MIN && buckets <= BUCKETS_MAX {
            let (passed, next) = match &*state.partitions {
                [partition] => {
                    let (passed, next) = self.pass(partition, &range, &range.start, query.offset).await?;
                    (passed, vec![next])
                }
                partitions => self.pass_merged(partitions, &range, query.offset).await?,
            };
            self.matched = passed;
            if let Some(union) = walk.feed.union() {
                union.begin_at(&next);
            }
        }
        if query.count {
            let mut counted = 0;
            for partition in &state.partitions {
                counted += self.pass(partition, &range, &range.start, usize::MAX).await?.0;
            }
            self.counted = Some(counted);
        }
        Ok(())
    }

    /// Passes over the first rows of a range in several partitions, in the order of their ids: almost so many, and where to go
    /// on in each. Cost: some tens of passes in each partition.
    async fn pass_merged(
        &mut self,
        partitions: &[Partition],
        range: &Range,
        rows: usize,
    ) -> Result<(usize, Vec<Option<Bytes>>), Error> {
        let (mut passed, mut begins) = (0, vec![Some(range.start.clone()); partitions.len()]);
        while rows - passed >= ROWS_MIN {
            // A part in each: behind the one that gets least far, no more than all the parts lie before it.
            let part = (rows - passed) / partitions.len();
            let (mut least, mut ending): (Option<(usize, Bytes)>, usize) = (None, 0);
            for (at, partition) in partitions.iter().enumerate() {
                let Some(begin) = begins.get(at).cloned().flatten() else { continue };
                let (ahead, next) = self.pass(partition, range, &begin, part).await?;
                match next {
                    Some(next) if least.as_ref().is_none_or(|(_, key)| next < *key) => {
                        least = Some((at, next))
                    }
                    Some(_) => {}
                    None => ending += ahead,
                }
            }
            let Some((at, key)) = least else {
                return Ok((passed + ending, vec![None; partitions.len()]));
            };
            passed += part;
            if let Some(begin) = begins.get_mut(at) {
                *begin = Some(key);
            }
        }
        Ok((passed, begins))
    }

    /// Passes over rows of a range from a key on, in slices: how many there were, and the key behind them.
    async fn pass(
        &mut self,
        partition: &Partition,
        range: &Range,
        begin: &Bytes,
        rows: usize,
    ) -> Result<(usize, Option<Bytes>), Error> {
        let (mut passed, mut from) = (0, begin.clone());
        loop {
            let skipped = self.state.store.skip(partition, range, &from, rows - passed).await?;
            passed += skipped.rows;
            match skipped.next {
                Some(next) if passed < rows => from = next,
                next => return Ok((passed, next)),
            }
            self.query.deadline.check()?;
            self.long.rest().await?;
        }
    }
}
