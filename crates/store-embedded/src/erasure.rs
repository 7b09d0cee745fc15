//! Rows of tenants that were removed.

use std::sync::atomic::Ordering;

use rocksdb::{DEFAULT_COLUMN_FAMILY_NAME, Range};

use store_contract::Error;
use store_contract::place::bounds_of_tenant;

use super::failure::family;
#[cfg(any(test, feature = "testing"))]
use super::read_options::{TIER_DISK, scan_options};
use super::shared::Shared;

impl Shared {
    /// Gives back the files that hold nothing but rows of a removed tenant: the rest goes when files are merged, by the engine or
    /// at rest. May block.
    pub(crate) fn drop_files_of(&self, tenant: u32) -> Result<(), Error> {
        let (start, end) = bounds_of_tenant(tenant);
        let engine = self.engine()?;
        if let Err(error) = engine.delete_file_in_range(&start, &end) {
            tracing::warn!(%error, "files of a removed tenant were not given back");
        }
        let rows = family(&engine, DEFAULT_COLUMN_FAMILY_NAME);
        let left = engine.get_approximate_sizes_cf(rows, &[Range::new(&start, &end)]);
        self.counters.erased_bytes.fetch_add(left.iter().sum(), Ordering::Relaxed);
        Ok(())
    }

    /// How many rows lie under the number of a tenant.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn count_tenant_rows(&self, number: u32) -> Result<usize, Error> {
        let (start, end) = bounds_of_tenant(number);
        let engine = self.engine()?;
        let mut rows = engine.raw_iterator_opt(scan_options((&start, &end), TIER_DISK));
        let mut count = 0;
        rows.seek(&start);
        while rows.valid() {
            count += 1;
            rows.next();
        }
        Ok(count)
    }
}
