//! Walks of jobs over the histories of all entities of a tenant.

#[cfg(test)]
pub(super) mod tests;

use entity::{Error, keys};

use crate::TenantEntities;
use crate::query::{stream::Buckets, stream::Union};
use crate::tenant::TenantState;

/// Ids that are read in the first page of a bucket.
const PAGE_IDS: usize = 256;

/// Meets every entity and every history of one that is gone, bucket by bucket; buckets that cannot be read (any further) are
/// skipped.
pub(super) struct HistoryWalk<'a> {
    state: &'a TenantState,
    job: &'static str,
    bucket: usize,
    ids: Union,
    key: Vec<u8>,
}

impl TenantEntities {
    /// Begins a walk of a job.
    pub(super) fn walk_histories(&self, job: &'static str) -> HistoryWalk<'_> {
        HistoryWalk { state: self.state(), job, bucket: 0, ids: ids_of_bucket(), key: Vec::new() }
    }
}

impl HistoryWalk<'_> {
    /// The next id, within its bucket in order.
    ///
    /// # Errors
    ///
    /// If the store serves nobody.
    pub(super) async fn next(&mut self) -> Result<Option<Box<str>>, Error> {
        while let Some(partition) = self.state.partitions.get(self.bucket) {
            let read = match self.ids.is_starved() {
                true => self.ids.fill(&self.state.store, std::slice::from_ref(partition)).await,
                false => Ok(()),
            };
            if let Err(error) = read {
                self.state.skip(self.job, &format_args!("bucket {}", self.bucket), error)?;
            } else if self.ids.next(&mut self.key, false).is_some() {
                match keys::id_of_key(&self.key) {
                    Some(id) => return Ok(Some(id.into())),
                    None => continue,
                }
            }
            self.bucket += 1;
            self.ids = ids_of_bucket();
        }
        Ok(None)
    }
}

fn ids_of_bucket() -> Union {
    Union::new(Buckets::ONE, &[keys::entities_range(), keys::history_headers_range()], PAGE_IDS)
}
