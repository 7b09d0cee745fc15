//! Which tenants are there when the engine opens, as the directory says whose rows are `tenant_rows.rs` of the contract.

use rocksdb::DB;

use super::failure::engine_failed;
use super::format::Stored;
use super::read_options::{TIER_DISK, scan_options};
use store_contract::Error;
use store_contract::lives::{Directory, Lives};
use store_contract::place::{bounds, head_bytes};
use store_contract::tenant_rows;

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
                // Who asks for it gets the error.
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
