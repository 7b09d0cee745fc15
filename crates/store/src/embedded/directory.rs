//! What the engine does with whole tenants: knows those that are there when it opens, and gives back the files of those that
//! went. What the directory holds is `tenants/rows.rs`.

use std::sync::atomic::Ordering;

use rocksdb::{DB, DEFAULT_COLUMN_FAMILY_NAME, Range};

use super::failure::{engine_failed, family};
use super::format::Stored;
use super::read::{TIER_DISK, scan_options};
use super::shared::Shared;
use crate::Error;
use crate::lives::{Directory, Lives};
use crate::place::{bounds, bounds_of_tenant, head_bytes};
use crate::tenant_rows;

/// Learns the tenants that the directory holds, and their parts. Cost: a scan of the directory.
pub(crate) fn recover(db: &DB, lives: &Lives) -> Result<(), Error> {
    let partition = tenant_rows::partition();
    let head = head_bytes(&partition);
    let everything = [tenant_rows::names(&Directory::default()), tenant_rows::all_parts()];
    for (start, end) in everything.iter().filter_map(|range| bounds(&partition, range)) {
        let mut rows = db.raw_iterator_opt(scan_options((&start, &end), TIER_DISK));
        rows.seek(&start);
        while let Some((place, value)) = rows.item() {
            let entry = Stored::parse(value).and_then(|stored| tenant_rows::Entry::parse(stored.value));
            let learnt = place.get(head..).zip(entry).and_then(|(key, entry)| learn(lives, key, &entry));
            if learnt.is_none() {
                // Who asks for it is told.
                tracing::error!(row = %place.escape_ascii(), "a row of the directory of tenants is damaged");
            }
            rows.next();
        }
        rows.status().map_err(|error| engine_failed(db.path(), "open", error))?;
    }
    Ok(())
}

/// Ends the lives that the directory says were removed: a removal that failed for want of room may be found in the log later. Cost: a
/// scan of the removals that are not finished.
pub(crate) fn end_removed(db: &DB, lives: &Lives) -> Result<(), Error> {
    let partition = tenant_rows::partition();
    let head = head_bytes(&partition);
    let Some((start, end)) = bounds(&partition, &tenant_rows::removals()) else { return Ok(()) };
    let mut rows = db.raw_iterator_opt(scan_options((&start, &end), TIER_DISK));
    rows.seek(&start);
    while let Some(place) = rows.key() {
        match place.get(head..).and_then(tenant_rows::number_of_key) {
            Some(number) => lives.end(number),
            None => {
                tracing::error!(row = %place.escape_ascii(), "a row of the directory of tenants is damaged")
            }
        }
        rows.next();
    }
    rows.status().map_err(|error| engine_failed(db.path(), "open", error))?;
    // For the job that finishes removals.
    lives.removed.notify_one();
    Ok(())
}

/// `None`: the row makes no sense.
fn learn(lives: &Lives, key: &[u8], entry: &tenant_rows::Entry) -> Option<()> {
    let directory = match tenant_rows::part_of_key(key) {
        None => Directory::default(),
        Some((tenant, model)) => match lives.of_number(tenant) {
            Some(tenant) => Directory { within: Some((tenant, model)) },
            // It is being removed.
            None => return Some(()),
        },
    };
    let name = tenant_rows::name_of_key(key, tenant_rows::head_bytes(&directory))?;
    lives.learn(&directory, (entry.number, &name), lives.generation()).map(drop)
}

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
