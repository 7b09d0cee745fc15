//! Everything the store refuses for its size, with a name each, and the one place that checks it.

use bytes::Bytes;

use crate::place::is_scanned;
use crate::writes::check_set;
use crate::{Commit, Condition, Error, ErrorKind, LimitExceeded, Partition, SpaceKind, Write};

/// The longest row key in bytes.
pub const KEY_BYTES_MAX: usize = 4 * 1024;
/// The largest value of one row in bytes.
pub const ROW_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The largest commit (keys, values and change record) or append in bytes, on the engines that take the largest; what a
/// store takes is said by `store::Store::limits`.
pub const COMMIT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most writes and conditions of one commit, or rows of one append; on the engines that take the most.
pub const COMMIT_ROWS_MAX: usize = 100_000;
/// The most bytes of keys and values that a load takes at once.
pub const LOAD_ADD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most loads of a store at a time: each has memory of its own.
pub const LOADS_MAX: usize = 8;
/// The most ranges that are read at once.
pub const SCAN_RANGES_MAX: usize = 4_096;
/// So many rows are passed over by a walk in one go.
pub const SKIP_ROWS_MAX: usize = 16_384;
/// A page of the feed ends at the change that reaches this many bytes.
pub const FEED_PAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most registered readers of the feed.
pub const FEED_READERS_MAX: usize = 1_000;
/// The longest name of a registered reader in bytes.
pub const FEED_READER_NAME_BYTES_MAX: usize = 256;
/// The longest name of a lease in bytes.
pub const LEASE_NAME_BYTES_MAX: usize = 256;

/// What a store takes in one commit or append, and what it takes well.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// The most writes and conditions of a commit, or rows of an append.
    pub commit_rows: usize,
    /// The largest commit (keys, values and change record) or append in bytes.
    pub commit_bytes: usize,
    /// Of so many rows at most it holds up nobody: what jobs and batches cut by.
    pub good_rows: usize,
    /// Of so many bytes at most it holds up nobody.
    pub good_bytes: usize,
}

impl Limits {
    /// Those of the engines of one process.
    pub const EMBEDDED: Self = Self {
        commit_rows: COMMIT_ROWS_MAX,
        commit_bytes: COMMIT_BYTES_MAX,
        good_rows: 4_000,
        good_bytes: 4 * 1024 * 1024,
    };
    /// Those that every engine has at least.
    pub const PORTABLE: Self =
        Self { commit_rows: 4_000, commit_bytes: 1024 * 1024, good_rows: 100, good_bytes: 100 * 1024 };

    /// Refuses so many rows in one commit or append.
    ///
    /// # Errors
    ///
    /// `TooLarge`, which names the limit in force.
    pub fn check_rows(&self, rows: usize) -> Result<(), Error> {
        check("COMMIT_ROWS_MAX", self.commit_rows, rows, |got| format!("write {got} rows at once"))
    }

    /// Refuses so many bytes in one commit or append.
    ///
    /// # Errors
    ///
    /// `TooLarge`, which names the limit in force.
    pub fn check_bytes(&self, bytes: usize) -> Result<(), Error> {
        check("COMMIT_BYTES_MAX", self.commit_bytes, bytes, |got| format!("write {got} bytes at once"))
    }
}

/// The size of a commit, if it keeps to the limits and to its kind of space, and its writes are a set: they are brought into
/// the order of their keys.
///
/// # Errors
///
/// `TooLarge`, which names the limit; `Misuse`.
pub fn check_commit(commit: &mut Commit, limits: &Limits) -> Result<usize, Error> {
    check_space(&commit.partition, SpaceKind::Commit)?;
    limits.check_rows(commit.conditions.len().saturating_add(commit.writes.len()))?;
    let mut bytes = commit.change.as_ref().map_or(Ok(0), |record| check_value(record.payload()))?;
    for key in commit.conditions.iter().filter_map(Condition::key) {
        check_point(key, "name in a condition")?;
        bytes = bytes.saturating_add(check_key(key)?);
    }
    for write in &commit.writes {
        bytes = bytes.saturating_add(check_write(write)?);
    }
    limits.check_bytes(bytes)?;
    check_set(&mut commit.writes)?;
    Ok(bytes)
}

/// The size of an append, if it keeps to the limits and to its kind of space.
///
/// # Errors
///
/// `TooLarge`, which names the limit; `Misuse`.
pub fn check_append(partition: &Partition, rows: &[(Bytes, Bytes)], limits: &Limits) -> Result<usize, Error> {
    check_space(partition, SpaceKind::Append)?;
    limits.check_rows(rows.len())?;
    let mut bytes: usize = 0;
    for (key, value) in rows {
        bytes = bytes.saturating_add(check_key(key)?).saturating_add(check_value(value)?);
    }
    limits.check_bytes(bytes)?;
    Ok(bytes)
}

/// Refuses a removal of rows that is beyond the limits, or not from an append space; answers with its size.
///
/// # Errors
///
/// `TooLarge`, which names the limit; `Misuse`.
pub fn check_removal(partition: &Partition, keys: &[Bytes], limits: &Limits) -> Result<usize, Error> {
    check_space(partition, SpaceKind::Append)?;
    limits.check_rows(keys.len())?;
    let bytes = keys.iter().try_fold(0_usize, |bytes, key| Ok(bytes.saturating_add(check_key(key)?)))?;
    limits.check_bytes(bytes)?;
    Ok(bytes)
}

/// Refuses a load of a partition that is of no commit space, or one load too many.
///
/// # Errors
///
/// `TooLarge`, which names the limit; `Misuse`.
pub fn check_load(partition: &Partition, others: usize) -> Result<(), Error> {
    check_kind(partition, SpaceKind::Commit, "load rows into")?;
    check("LOADS_MAX", LOADS_MAX, others.saturating_add(1), |got| format!("begin {got} loads at a time"))
}

/// Refuses rows that are too much for a load at once, or not for a commit space.
pub(crate) fn check_load_rows(partition: &Partition, bytes: usize) -> Result<(), Error> {
    check_kind(partition, SpaceKind::Commit, "load rows into")?;
    check("LOAD_ADD_BYTES_MAX", LOAD_ADD_BYTES_MAX, bytes, |got| format!("load {got} bytes at once"))
}

/// Refuses a row that no load takes.
#[inline]
pub(crate) fn check_loaded(key: &[u8], value: &[u8], is_stamped: bool) -> Result<(), Error> {
    if is_stamped {
        check_point(key, "stamp")?;
    }
    check_key(key)?;
    check_value(value).map(drop)
}

/// Refuses to read more ranges at once than the limit.
///
/// # Errors
///
/// `TooLarge`, which names the limit.
pub fn check_ranges(ranges: usize) -> Result<(), Error> {
    check("SCAN_RANGES_MAX", SCAN_RANGES_MAX, ranges, |got| format!("read {got} ranges at once"))
}

/// Refuses one reader of the feed too many, or one with too long a name.
///
/// # Errors
///
/// `TooLarge`, which names the limit.
pub fn check_reader(name: &str, others: usize) -> Result<(), Error> {
    check("FEED_READER_NAME_BYTES_MAX", FEED_READER_NAME_BYTES_MAX, name.len(), |got| {
        format!("register a reader of the feed under a name of {got} bytes")
    })?;
    check("FEED_READERS_MAX", FEED_READERS_MAX, others.saturating_add(1), |got| {
        format!("register {got} readers of the feed")
    })
}

/// Refuses a lease whose name is longer than the limit.
///
/// # Errors
///
/// `TooLarge`, which names the limit.
pub fn check_lease(name: &str) -> Result<(), Error> {
    check("LEASE_NAME_BYTES_MAX", LEASE_NAME_BYTES_MAX, name.len(), |got| {
        format!("take a lease under a name of {got} bytes")
    })
}

/// Refuses more than a limit allows; `action` says what was to be done with so much.
fn check(
    name: &'static str,
    max: usize,
    got: usize,
    action: impl FnOnce(usize) -> String,
) -> Result<(), Error> {
    LimitExceeded::check(name, max, got).map_err(|limit| Error::too_large(action(got), limit))
}

fn check_space(partition: &Partition, kind: SpaceKind) -> Result<(), Error> {
    let action = match kind {
        SpaceKind::Commit => "commit into",
        SpaceKind::Append => "append to",
    };
    check_kind(partition, kind, action)
}

fn check_kind(partition: &Partition, kind: SpaceKind, action: &str) -> Result<(), Error> {
    if partition.space.kind == kind {
        return Ok(());
    }
    let (name, other) = (
        partition.space.name,
        match kind {
            SpaceKind::Commit => "an append space",
            SpaceKind::Append => "a commit space",
        },
    );
    Err(Error::new(ErrorKind::Misuse, format!("{action} `{name}`, which is {other}")))
}

fn check_write(write: &Write) -> Result<usize, Error> {
    match write {
        Write::Put(key, value) => Ok(check_key(key)? + check_value(value)?),
        Write::PutStamped(key, value) => {
            check_point(key, "stamp")?;
            Ok(check_key(key)? + check_value(value)?)
        }
        Write::Delete(key) => check_key(key),
        Write::DeleteRange(range) => {
            Ok(check_key(&range.start)? + range.end.as_ref().map_or(Ok(0), |end| check_key(end))?)
        }
    }
}

fn check_point(key: &[u8], action: &str) -> Result<(), Error> {
    if is_scanned(key) {
        let action =
            format!("{action} a row whose key begins with a capital letter: it is found by scans only");
        return Err(Error::new(ErrorKind::Misuse, action));
    }
    Ok(())
}

fn check_key(key: &[u8]) -> Result<usize, Error> {
    check("KEY_BYTES_MAX", KEY_BYTES_MAX, key.len(), |got| format!("write a key of {got} bytes"))?;
    Ok(key.len())
}

fn check_value(value: &[u8]) -> Result<usize, Error> {
    check("ROW_BYTES_MAX", ROW_BYTES_MAX, value.len(), |got| format!("write a value of {got} bytes"))?;
    Ok(value.len())
}
