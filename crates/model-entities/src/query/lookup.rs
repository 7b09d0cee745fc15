//! What a plan and its run want to know of the index beforehand: types in use, what expired, the ids that an access path leads to.

use std::collections::HashSet;

use entity::{Error, TermId, keys};
use futures_util::future::try_join_all;
use store::rows::Pages;
use store::{Direction, Partition, Timestamp};

use super::plan::AccessPath;
use super::stream::IdList;
use crate::tenant::TenantState;

/// Larger pages cost the allocator more than they save.
const PROBE_PAGE_ROWS: usize = 512;
/// Types in use beyond this are not looked up for a query that names none.
const TYPES_MAX: usize = 64;
/// Beyond so many expired rows that are not yet purged, the index alone decides nothing.
const EXPIRED_MAX: usize = 4096;

impl TenantState {
    /// All ids that an access path leads to, unless they are more rows than this.
    pub(super) async fn ids_of_path(
        &self,
        path: &AccessPath,
        rows_max: usize,
    ) -> Result<Option<IdList>, Error> {
        let (mut list, mut rows) = (IdList::default(), 0);
        for (at, partition) in self.partitions.iter().enumerate() {
            for range in &path.ranges {
                let mut pages = Pages::new(&self.store, partition, range.clone(), PROBE_PAGE_ROWS);
                while pages.rest().is_some() {
                    let left = rows_max.saturating_sub(rows).min(PROBE_PAGE_ROWS);
                    if left == 0 {
                        return Ok(None);
                    }
                    let Some(page) = pages.next_up_to(left).await? else { break };
                    rows += page.len();
                    for id in page.rows().filter_map(|(key, _)| keys::id_bytes_of_key(key)) {
                        list.push(at, id);
                    }
                }
            }
        }
        list.sort();
        Ok(Some(list))
    }

    /// The types that any entity has, unless they are too many.
    pub(super) async fn types_in_use(&self) -> Result<Option<Vec<TermId>>, Error> {
        let mut types = Vec::new();
        for partitions in self.partitions_in_turn() {
            let reads = partitions.iter().map(|partition| self.types_of_bucket(partition));
            for of_bucket in try_join_all(reads).await? {
                let Some(of_bucket) = of_bucket else { return Ok(None) };
                types.extend(of_bucket);
            }
            types.sort_unstable();
            types.dedup();
            if types.len() > TYPES_MAX {
                return Ok(None);
            }
        }
        Ok(Some(types))
    }

    /// The types that entities of a bucket have, unless they are too many.
    async fn types_of_bucket(&self, partition: &Partition) -> Result<Option<Vec<TermId>>, Error> {
        let (mut types, mut next) = (Vec::new(), Some(TermId(0)));
        while let Some(from) = next {
            let page = self.store.scan(partition, &keys::types_from(from), Direction::Forward, 1).await?;
            let found = page.last_key().and_then(keys::type_of_key);
            types.extend(found);
            if types.len() > TYPES_MAX {
                return Ok(None);
            }
            next = found.and_then(|found| found.0.checked_add(1)).map(TermId);
        }
        Ok(Some(types))
    }

    /// Ids of entities that expired, or some of whose attributes did, and that are not purged yet; unless there are many.
    pub(super) async fn expired_ids(&self, now: Timestamp) -> Result<Option<HashSet<Box<str>>>, Error> {
        let range = keys::expired_range(Timestamp(now.0.saturating_add(1)));
        let mut ids = HashSet::new();
        for partitions in self.partitions_in_turn() {
            let read = |partition| self.store.scan(partition, &range, Direction::Forward, EXPIRED_MAX);
            for page in try_join_all(partitions.iter().map(read)).await? {
                ids.extend(page.rows().filter_map(|(key, _)| keys::id_of_key(key)).map(Box::from));
                if page.more() || ids.len() > EXPIRED_MAX {
                    return Ok(None);
                }
            }
        }
        Ok(Some(ids))
    }
}
