//! Spaces, partitions and commits that the tests of all engines and of the store share.

use std::time::Duration;

use bytes::Bytes;

use crate::lives::Directory;
use crate::{
    ChangeRecord, Commit, Condition, FeedOptions, Model, Partition, Space, SpaceKind, Tenant, TenantName,
    Write, WriteId, tenant_rows,
};

/// What the feed of a store under test keeps: some [`FEED_RECORDS_MIN`] changes of the suite, and more if somebody has
/// not read them.
pub const FEED: FeedOptions = FeedOptions {
    bytes_min: FEED_RECORDS_MIN * 48,
    age_min: Duration::ZERO,
    bytes_max: FEED_RECORDS_MIN * 96,
};
/// How many changes of the suite are kept at least.
pub const FEED_RECORDS_MIN: u64 = 64;

/// A commit space of the suite.
pub const THINGS: Space = Space { id: 200, kind: SpaceKind::Commit, name: "things" };
/// Another commit space of the suite, the neighbour of [`THINGS`].
pub const OTHERS: Space = Space { id: 201, kind: SpaceKind::Commit, name: "others" };
/// An append space of the suite.
pub const BLOCKS: Space = Space { id: 202, kind: SpaceKind::Append, name: "blocks" };
/// The model of [`record`].
pub const TESTS: Model = Model { id: 200, name: "tests" };

/// A tenant that is in no directory; number 0 is the default one.
///
/// # Panics
///
/// Never: the name is one.
pub fn tenant(number: u32) -> Tenant {
    let name = TenantName::new(&format!("t{number}")).expect("letters and digits");
    Tenant::numbered(number, name, None)
}

/// Where the directory has a tenant, or a part of one: `within` names the tenant and the model.
pub fn directory_row(within: Option<(&Tenant, Model)>, name: &str) -> (Partition, Bytes) {
    let directory = Directory { within: within.map(|(tenant, model)| (tenant.clone(), model.id)) };
    (tenant_rows::partition(), tenant_rows::named(&directory, name))
}

/// A partition of [`THINGS`] of the default tenant.
pub fn things(bucket: u32) -> Partition {
    Partition { tenant: Tenant::default(), space: THINGS, bucket }
}

/// What a commit says of itself.
pub fn record(said: impl Into<Bytes>) -> ChangeRecord {
    ChangeRecord::new(TESTS, 1, 2, said)
}

/// A commit in bucket 0 of [`THINGS`] that says nothing of itself.
pub fn commit(write_id: u128, conditions: Vec<Condition>, writes: Vec<Write>) -> Commit {
    Commit {
        partition: things(0),
        write_id: WriteId(write_id),
        conditions,
        writes,
        change: Some(record(format!("change {write_id}"))),
        reclaims: false,
    }
}
