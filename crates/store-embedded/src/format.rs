//! How rows, changes and leases lie in the engine as bytes, and the page of all its families.
//!
//! | family  | key                          | value                                                   |
//! |---------|------------------------------|---------------------------------------------------------|
//! | default | place of a row (`place.rs`)  | nothing, or 0 and a plain value, or 1, sequence (u64), write id and a stamped value |
//! | feed    | sequence (u64)               | write id, tenant (u32), space (u8), bucket (u32), model (u8), format (u8), kind (u8), payload |
//! | feed    | sequence (u64), 0            | what lies before of commits that say nothing: sequence (u64), write id, partition's hash (u64), each |
//! | meta    | `m` sequence (u64)           | bytes of the feed from the mark before up to here (u64), time in microseconds (i64) |
//! | meta    | `r` name                     | sequence of the last commit that a reader of the feed has seen (u64) |
//! | meta    | `s` space (u8)               | kind (u8: 0 commit, 1 append), name                     |
//! | meta    | `d` model (u8)               | name of the model that has the number in change records |
//! | meta    | `f`                          | sequence of the oldest change stored (u64)              |
//! | meta    | `i`                          | incarnation (u64), whether an end without closing loses it (u8: 0, 1) |
//! | meta    | `l` name                     | epoch of the lease when it was last taken (u64)         |
//!
//! Beside the rows lie, for a moment, marks of loads (`marks.rs`).
//!
//! All numbers are big-endian. [`FORMAT_VERSION`] grows with every change of this page, and of how a model lays
//! out its rows and values. A store of each released format is kept in `crates/server/tests/fixtures`; a test of the server wants one of
//! this version.

use bytes::Bytes;

use store_contract::incarnation::Incarnation;
use store_contract::models::{parse_record, put_record};
use store_contract::place::{head_bytes, place};
use store_contract::register::{Models, Spaces, stored_name};
use store_contract::{
    Change, ChangeRecord, Commit, Error, ErrorKind, Model, Partition, Row, Space, SpaceKind, Tenant,
    Timestamp, WriteId,
};

/// The version of everything stored; another version is not opened.
pub(crate) const FORMAT_VERSION: u32 = 6;

/// The family of the feed.
pub(crate) const FEED: &str = "feed";
/// The family of what the store keeps for itself.
pub(crate) const META: &str = "meta";
/// The key in [`META`] of the incarnation.
pub(crate) const INCARNATION: &[u8] = b"i";
/// Keys in [`META`] of marks of the feed begin so.
pub(crate) const MARK: &[u8] = b"m";
/// Keys in [`META`] of readers of the feed begin so.
pub(crate) const READER: &[u8] = b"r";
/// Keys in [`META`] of models begin so.
pub(crate) const MODEL: &[u8] = b"d";
/// The key in [`META`] of the oldest change stored.
pub(crate) const FEED_FIRST: &[u8] = b"f";

const PLAIN: u8 = 0;
const STAMPED: u8 = 1;
/// Bytes of a commit that says nothing.
const HIDDEN_BYTES: usize = 32;

/// A stored value, taken apart without a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored<'a> {
    /// The number of the commit that wrote it; zero for plain rows.
    pub(crate) sequence: u64,
    pub(crate) write_id: WriteId,
    pub(crate) value: &'a [u8],
}

impl<'a> Stored<'a> {
    /// Takes a stored value apart; `None` if it is none.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        match bytes.split_first() {
            None => Some(Self { sequence: 0, write_id: WriteId(0), value: &[] }),
            Some((&PLAIN, value)) => Some(Self { sequence: 0, write_id: WriteId(0), value }),
            Some((&STAMPED, rest)) => {
                let (sequence, rest) = rest.split_first_chunk()?;
                let (write_id, value) = rest.split_first_chunk()?;
                let sequence = u64::from_be_bytes(*sequence);
                Some(Self { sequence, write_id: WriteId(u128::from_be_bytes(*write_id)), value })
            }
            Some(_) => None,
        }
    }

    /// The row, with a copy of the value.
    pub(crate) fn to_row(self, incarnation: Incarnation) -> Row {
        let stamp = incarnation.stamp(self.sequence);
        Row { stamp, write_id: self.write_id, value: Bytes::copy_from_slice(self.value) }
    }
}

/// Says that a stored value is none.
pub(crate) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("read {what}: its bytes make no sense"))
}

/// Appends a plain value as it is stored; an empty one costs nothing.
#[inline]
pub(crate) fn put_plain(out: &mut Vec<u8>, value: &[u8]) {
    if !value.is_empty() {
        out.push(PLAIN);
        out.extend_from_slice(value);
    }
}

/// Appends a stamped value as it is stored.
#[inline]
pub(crate) fn put_stamped(out: &mut Vec<u8>, sequence: u64, write_id: WriteId, value: &[u8]) {
    out.push(STAMPED);
    out.extend_from_slice(&sequence.to_be_bytes());
    out.extend_from_slice(&write_id.0.to_be_bytes());
    out.extend_from_slice(value);
}

/// What a plain value that is not empty is stored behind.
pub(crate) fn plain_head() -> &'static [u8] {
    &[PLAIN]
}

/// What a stamped value is stored behind.
pub(crate) fn stamped_head(sequence: u64, write_id: WriteId) -> Vec<u8> {
    let mut head = Vec::new();
    put_stamped(&mut head, sequence, write_id, &[]);
    head
}

/// Writes the feed record of a commit.
pub(crate) fn write_change(out: &mut Vec<u8>, commit: &Commit, record: &ChangeRecord) {
    out.clear();
    out.extend_from_slice(&commit.write_id.0.to_be_bytes());
    out.extend_from_slice(&commit.partition.tenant.number().to_be_bytes());
    out.push(commit.partition.space.id);
    out.extend_from_slice(&commit.partition.bucket.to_be_bytes());
    put_record(record, out);
}

/// The write id of a feed record.
pub(crate) fn change_write_id(value: &[u8]) -> Option<WriteId> {
    let (write_id, _) = value.split_first_chunk()?;
    Some(WriteId(u128::from_be_bytes(*write_id)))
}

/// The number of the tenant of a feed record.
pub(crate) fn change_tenant(value: &[u8]) -> Option<u32> {
    let (tenant, _) = value.get(size_of::<WriteId>()..)?.split_first_chunk()?;
    Some(u32::from_be_bytes(*tenant))
}

/// Takes a feed record of a tenant apart, whose bytes the change shares.
pub(crate) fn parse_change(
    number: u64,
    value: &Bytes,
    tenant: Tenant,
    shared: (Incarnation, &Spaces, &Models),
) -> Option<Change> {
    let (incarnation, spaces, models) = shared;
    let (write_id, rest) = value.split_first_chunk()?;
    let rest = rest.get(size_of::<u32>()..)?;
    let (space, rest) = rest.split_first()?;
    let (bucket, record) = rest.split_first_chunk()?;
    let partition = Partition { tenant, space: spaces.named(*space)?, bucket: u32::from_be_bytes(*bucket) };
    let write_id = WriteId(u128::from_be_bytes(*write_id));
    let cursor = incarnation.cursor(number);
    let record = parse_record(value.slice_ref(record), |id| models.named(id))?;
    Some(Change { cursor, number, partition, write_id, record })
}

/// A sequence as stored.
pub(crate) fn parse_sequence(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

/// The row of the incarnation in [`META`]; `is_fragile`: whether an end without closing loses it.
pub(crate) fn incarnation_row(incarnation: Incarnation, is_fragile: bool) -> Vec<u8> {
    [&incarnation.0.to_be_bytes()[..], &[u8::from(is_fragile)]].concat()
}

/// Takes that row apart.
pub(crate) fn parse_incarnation(bytes: &[u8]) -> Option<(Incarnation, bool)> {
    let (incarnation, rest) = bytes.split_first_chunk()?;
    let [is_fragile @ (0 | 1)] = rest else { return None };
    Some((Incarnation(u64::from_be_bytes(*incarnation)), *is_fragile == 1))
}

/// The commit of a key of the feed, whichever of its two kinds it is.
pub(crate) fn sequence_of_key(key: &[u8]) -> Option<u64> {
    let (sequence, rest) = key.split_first_chunk()?;
    matches!(rest, [] | [0]).then_some(u64::from_be_bytes(*sequence))
}

/// Whether a key of the feed is that of commits that say nothing.
pub(crate) fn is_hidden(key: &[u8]) -> bool {
    key.len() > size_of::<u64>()
}

/// The key of commits that say nothing, up to this one.
pub(crate) fn hidden_key(sequence: u64) -> [u8; 9] {
    let [s0, s1, s2, s3, s4, s5, s6, s7] = sequence.to_be_bytes();
    [s0, s1, s2, s3, s4, s5, s6, s7, 0]
}

/// Notes a commit that says nothing.
pub(crate) fn write_hidden(out: &mut Vec<u8>, sequence: u64, commit: &Commit) {
    out.extend_from_slice(&sequence.to_be_bytes());
    out.extend_from_slice(&commit.write_id.0.to_be_bytes());
    out.extend_from_slice(&hash_of_partition(&commit.partition).to_be_bytes());
}

/// Looks for a commit among those that say nothing; `None` if the bytes are none.
#[expect(clippy::option_option, reason = "both are asked")]
pub(crate) fn find_hidden(bytes: &[u8], partition: &Partition, write_id: WriteId) -> Option<Option<u64>> {
    let (entries, rest) = bytes.as_chunks::<HIDDEN_BYTES>();
    let wanted = [&write_id.0.to_be_bytes()[..], &hash_of_partition(partition).to_be_bytes()].concat();
    let is_wanted = |entry: &&[u8; HIDDEN_BYTES]| entry.ends_with(&wanted);
    rest.is_empty().then(|| entries.iter().find(is_wanted).and_then(|entry| parse_sequence(entry.get(..8)?)))
}

fn hash_of_partition(partition: &Partition) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&place(partition, &[]))
}

/// So many bytes of the feed lie before a commit, behind the mark before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Mark {
    pub(crate) sequence: u64,
    pub(crate) bytes: u64,
    pub(crate) at: Timestamp,
}

impl Mark {
    /// Its key in [`META`].
    pub(crate) fn key(&self) -> Vec<u8> {
        [MARK, &self.sequence.to_be_bytes()].concat()
    }

    /// Its row in [`META`].
    pub(crate) fn row(&self) -> Vec<u8> {
        [self.bytes.to_be_bytes(), self.at.0.to_be_bytes()].concat()
    }
}

/// Takes the row of a mark apart.
pub(crate) fn parse_mark(key: &[u8], value: &[u8]) -> Option<Mark> {
    let sequence = parse_sequence(key.strip_prefix(MARK)?)?;
    let (bytes, at) = value.split_first_chunk()?;
    let at = Timestamp(i64::from_be_bytes(at.try_into().ok()?));
    Some(Mark { sequence, bytes: u64::from_be_bytes(*bytes), at })
}

/// The key of a reader of the feed in [`META`].
pub(crate) fn reader_key(name: &str) -> Vec<u8> {
    [READER, name.as_bytes()].concat()
}

/// The key of a space's row in [`META`].
pub(crate) fn space_key(id: u8) -> [u8; 2] {
    [b's', id]
}

/// The row of a space in [`META`].
pub(crate) fn space_row(kind: SpaceKind, name: &str) -> Vec<u8> {
    let kind = match kind {
        SpaceKind::Commit => 0,
        SpaceKind::Append => 1,
    };
    [&[kind], name.as_bytes()].concat()
}

/// Notes a space's row of [`META`]; false if it is none.
pub(crate) fn remember_space(spaces: &Spaces, key: &[u8], value: &[u8]) -> bool {
    let (Some((b's', [id])), Some((kind, name))) = (key.split_first(), value.split_first()) else {
        return false;
    };
    let kind = match kind {
        0 => SpaceKind::Commit,
        1 => SpaceKind::Append,
        _ => return false,
    };
    let Ok(name) = std::str::from_utf8(name) else { return false };
    spaces.remember(Space { id: *id, kind, name: stored_name(name) });
    true
}

/// The key of a model's row in [`META`].
pub(crate) fn model_key(id: u8) -> [u8; 2] {
    [b'd', id]
}

/// Notes a model's row of [`META`]; false if it is none.
pub(crate) fn remember_model(models: &Models, key: &[u8], name: &[u8]) -> bool {
    let (Some([id]), Ok(name)) = (key.strip_prefix(MODEL), std::str::from_utf8(name)) else {
        return false;
    };
    models.remember(Model { id: *id, name: stored_name(name) });
    true
}

/// The key of a lease's epoch in [`META`].
pub(crate) fn lease_key(name: &str) -> Vec<u8> {
    [b"l", name.as_bytes()].concat()
}

/// Whether a partition's rows begin behind this many bytes of a place; checked before a page is cut.
pub(crate) fn row_key<'a>(place: &'a [u8], partition: &Partition) -> Option<&'a [u8]> {
    place.get(head_bytes(partition)..)
}
