//! The key page of the configuration model: every row that it stores.
//!
//! ```text
//! partition                      row                              value
//! config/{tenant}/0              n                                buckets, and how many dataspaces there are (rows.rs), stamped
//!                                d dataspace                      a dataspace (rows.rs), stamped
//!                                s dataspace schema-set           a schema set (rows.rs), stamped
//!                                x                                nothing: texts may be left that no schema set names, stamped
//!                                q                                what notifications are wanted of (subscriptions.rs), stamped
//! config/{tenant}/{bucket}       a dataspace anchor               an anchor (rows.rs), stamped: the authority of all of it
//!                                r number version                 a version: its root, and what it superseded (rows.rs)
//!                                S dataspace schema-set anchor    nothing: finds anchors by schema set
//!                                W number                         rows and pages of an anchor that was removed are to go (rows.rs)
//! config-pages/{tenant}/{bucket} p number version nonce page      a page of a tree (config/src/page.rs)
//! config-pages/{tenant}/0        b kind hash piece                text of a module, or a schema as it was compiled (blobs.rs)
//! ```
//!
//! Names are texts that end themselves, numbers big-endian. The bucket is that of dataspace and anchor. The number of an anchor is of
//! one life: one that is made again under the same name has another, and shares no row with it.

use bytes::Bytes;
use store::key::{Reader, put_text, put_u32, put_u64};
use store::{Model, Partition, Range, Space, SpaceKind, Tenant, bucket_of};

/// Whose change records these are.
pub(crate) const MODEL: Model = Model { id: 4, name: "config" };
/// Names, anchors, versions.
pub(crate) const CONFIG: Space = Space { id: 80, kind: SpaceKind::Commit, name: "config" };
/// Pages of trees, texts of modules, compiled schemas.
pub(crate) const PAGES: Space = Space { id: 81, kind: SpaceKind::Append, name: "config-pages" };

const COUNTS: u8 = b'n';
const DATASPACE: u8 = b'd';
const SCHEMA_SET: u8 = b's';
const LEFT_TEXTS: u8 = b'x';
const SUBSCRIPTIONS: u8 = b'q';
const ANCHOR: u8 = b'a';
const VERSION: u8 = b'r';
const ANCHOR_OF_SCHEMA_SET: u8 = b'S';
const REMOVAL: u8 = b'W';
const PAGE: u8 = b'p';
const BLOB: u8 = b'b';

/// Where a page lies among those of its anchor: version, nonce of the attempt, number.
pub(crate) type PageKey = (u64, u64, u32);

/// Where the names of a tenant lie.
pub(crate) fn catalogue(tenant: &Tenant) -> Partition {
    partition(tenant, 0)
}

/// A bucket of anchors.
pub(crate) fn partition(tenant: &Tenant, bucket: u32) -> Partition {
    Partition { tenant: tenant.clone(), space: CONFIG, bucket }
}

/// The pages of the anchors of a bucket.
pub(crate) fn pages(tenant: &Tenant, bucket: u32) -> Partition {
    Partition { tenant: tenant.clone(), space: PAGES, bucket }
}

/// Texts and schemas of a tenant.
pub(crate) fn blobs(tenant: &Tenant) -> Partition {
    pages(tenant, 0)
}

/// In which of so many buckets an anchor lies.
pub(crate) fn bucket(dataspace: &str, anchor: &str, buckets: u32) -> u32 {
    let [_, id @ ..] = &*texts(ANCHOR, &[dataspace, anchor]) else { return 0 };
    bucket_of(id, buckets)
}

fn texts(row: u8, texts: &[&str]) -> Vec<u8> {
    let room = texts.iter().map(|text| text.len() + 1).sum::<usize>() + 1;
    let mut key = Vec::with_capacity(room);
    key.push(row);
    texts.iter().for_each(|text| put_text(&mut key, text));
    key
}

/// How many dataspaces there are, over how many buckets.
pub(crate) fn counts() -> Bytes {
    Bytes::from_static(&[COUNTS])
}

/// A dataspace.
pub(crate) fn dataspace(name: &str) -> Bytes {
    texts(DATASPACE, &[name]).into()
}

/// All dataspaces, by name.
pub(crate) fn dataspaces() -> Range {
    Range::prefix(vec![DATASPACE])
}

/// The name in the key of a dataspace.
pub(crate) fn name_of_dataspace(key: &[u8]) -> Option<String> {
    last_text(key, DATASPACE, 0)
}

/// A schema set.
pub(crate) fn schema_set(dataspace: &str, name: &str) -> Bytes {
    texts(SCHEMA_SET, &[dataspace, name]).into()
}

/// All schema sets of a dataspace, by name.
pub(crate) fn schema_sets(dataspace: &str) -> Range {
    Range::prefix(texts(SCHEMA_SET, &[dataspace]))
}

/// All schema sets of a tenant.
pub(crate) fn all_schema_sets() -> Range {
    Range::prefix(vec![SCHEMA_SET])
}

/// The name in the key of a schema set.
pub(crate) fn name_of_schema_set(key: &[u8]) -> Option<String> {
    last_text(key, SCHEMA_SET, 1)
}

/// That texts may be left which no schema set names.
pub(crate) fn left_texts() -> Bytes {
    Bytes::from_static(&[LEFT_TEXTS])
}

/// What notifications are wanted of.
pub(crate) fn subscriptions() -> Bytes {
    Bytes::from_static(&[SUBSCRIPTIONS])
}

/// An anchor.
pub(crate) fn anchor(dataspace: &str, name: &str) -> Bytes {
    texts(ANCHOR, &[dataspace, name]).into()
}

/// The anchors of a dataspace, by name.
pub(crate) fn anchors(dataspace: &str) -> Range {
    Range::prefix(texts(ANCHOR, &[dataspace]))
}

/// All anchors of a bucket.
pub(crate) fn all_anchors() -> Range {
    Range::prefix(vec![ANCHOR])
}

/// Dataspace and name in the key of an anchor.
pub(crate) fn names_of_anchor(key: &[u8]) -> Option<(String, String)> {
    let mut reader = Reader::new(key.strip_prefix(&[ANCHOR])?);
    let (dataspace, name) = (reader.text()?.into_owned(), reader.text()?.into_owned());
    reader.rest().is_empty().then_some((dataspace, name))
}

/// A version of an anchor.
pub(crate) fn version(number: u64, version: u64) -> Bytes {
    let mut key = Vec::with_capacity(17);
    key.push(VERSION);
    put_u64(&mut key, number);
    put_u64(&mut key, version);
    key.into()
}

/// All versions of an anchor, oldest first.
pub(crate) fn versions(number: u64) -> Range {
    Range::prefix(of_number(VERSION, number))
}

/// The version in the key of one.
pub(crate) fn version_of_key(key: &[u8]) -> Option<u64> {
    let mut reader = Reader::new(key.strip_prefix(&[VERSION])?);
    let _number = reader.u64()?;
    let version = reader.u64()?;
    reader.rest().is_empty().then_some(version)
}

/// Finds an anchor by its schema set.
pub(crate) fn anchor_of_schema_set(dataspace: &str, schema_set: &str, anchor: &str) -> Bytes {
    texts(ANCHOR_OF_SCHEMA_SET, &[dataspace, schema_set, anchor]).into()
}

/// Finds the anchors of a schema set, by name.
pub(crate) fn anchors_of_schema_set(dataspace: &str, schema_set: &str) -> Range {
    Range::prefix(texts(ANCHOR_OF_SCHEMA_SET, &[dataspace, schema_set]))
}

/// The anchor in the key of what finds one.
pub(crate) fn anchor_of_index(key: &[u8]) -> Option<String> {
    last_text(key, ANCHOR_OF_SCHEMA_SET, 2)
}

/// That an anchor was removed, and what is left of it is to go.
pub(crate) fn removal(number: u64) -> Bytes {
    of_number(REMOVAL, number).into()
}

/// All of these.
pub(crate) fn removals() -> Range {
    Range::prefix(vec![REMOVAL])
}

/// The number in the key of one.
pub(crate) fn number_of_removal(key: &[u8]) -> Option<u64> {
    let mut reader = Reader::new(key.strip_prefix(&[REMOVAL])?);
    let number = reader.u64()?;
    reader.rest().is_empty().then_some(number)
}

fn of_number(row: u8, number: u64) -> Vec<u8> {
    let mut key = vec![row];
    put_u64(&mut key, number);
    key
}

/// A page of an anchor.
pub(crate) fn page(number: u64, (version, nonce, page): PageKey) -> Bytes {
    let mut key = Vec::with_capacity(29);
    key.push(PAGE);
    put_u64(&mut key, number);
    put_u64(&mut key, version);
    put_u64(&mut key, nonce);
    put_u32(&mut key, page);
    key.into()
}

/// All pages of an anchor.
pub(crate) fn pages_of(number: u64) -> Range {
    Range::prefix(of_number(PAGE, number))
}

/// Which page of its anchor a key is of.
pub(crate) fn page_of_key(key: &[u8]) -> Option<PageKey> {
    let mut reader = Reader::new(key.strip_prefix(&[PAGE])?);
    let _number = reader.u64()?;
    let page = (reader.u64()?, reader.u64()?, reader.u32()?);
    reader.rest().is_empty().then_some(page)
}

/// A piece of a blob.
pub(crate) fn blob(kind: u8, hash: u128, piece: u32) -> Bytes {
    let mut key = vec![BLOB, kind];
    key.extend_from_slice(&hash.to_be_bytes());
    put_u32(&mut key, piece);
    key.into()
}

/// All blobs.
pub(crate) fn all_blobs() -> Range {
    Range::prefix(vec![BLOB])
}

/// Kind and hash in the key of a blob.
pub(crate) fn blob_of_key(key: &[u8]) -> Option<(u8, u128)> {
    let mut reader = Reader::new(key.strip_prefix(&[BLOB])?);
    let (kind, hash) = (reader.byte()?, u128::from_be_bytes(reader.array()?));
    let _piece = reader.u32()?;
    reader.rest().is_empty().then_some((kind, hash))
}

/// The text behind so many others.
fn last_text(key: &[u8], row: u8, others: usize) -> Option<String> {
    let mut reader = Reader::new(key.strip_prefix(&[row])?);
    for _ in 0..others {
        reader.text()?;
    }
    let text = reader.text()?;
    reader.rest().is_empty().then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let (space, name) = ("a\0b", "x/y='1'");
        assert_eq!(name_of_dataspace(&dataspace(space)).as_deref(), Some(space));
        assert_eq!(name_of_schema_set(&schema_set(space, name)).as_deref(), Some(name));
        assert_eq!(names_of_anchor(&anchor(space, name)), Some((space.into(), name.into())));
        assert_eq!(anchor_of_index(&anchor_of_schema_set(space, "s", name)).as_deref(), Some(name));
        assert_eq!(version_of_key(&version(7, 9)), Some(9));
        assert_eq!(number_of_removal(&removal(7)), Some(7));
        assert_eq!(page_of_key(&page(7, (1, 2, 3))), Some((1, 2, 3)));
        assert_eq!(blob_of_key(&blob(1, 1 << 90, 4)), Some((1, 1 << 90)));
        assert_eq!((names_of_anchor(b"a"), version_of_key(b"r1"), page_of_key(b"")), (None, None, None));
    }

    #[test]
    fn names_that_begin_with_others_lie_in_no_foreign_range() {
        let is_in = |range: &Range, key: &Bytes| {
            *key >= range.start && range.end.as_ref().is_none_or(|end| key < end)
        };
        assert!(is_in(&anchors("a"), &anchor("a", "b")) && !is_in(&anchors("a"), &anchor("ab", "b")));
        assert!(!is_in(&anchors_of_schema_set("a", "s"), &anchor_of_schema_set("a", "st", "x")));
        assert!(is_in(&versions(1), &version(1, u64::MAX)) && !is_in(&versions(1), &version(2, 0)));
    }

    #[test]
    fn anchors_are_spread_over_buckets() {
        let buckets: std::collections::BTreeSet<u32> =
            (0..100).map(|number| bucket("d", &format!("a{number}"), 4)).collect();
        assert_eq!(buckets.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(bucket("d", "a", 1), 0);
    }
}
