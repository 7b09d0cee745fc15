//! Names as small numbers: each name of a partition has one, durable before it is used, dense from 0, for ever the same.
//!
//! ```text
//! row        value
//! n name     number (u32, big-endian)
//! i number   name
//! ```
//!
//! The partition holds nothing else under these first bytes.
//!
//! ```
//! use store::terms::{TermError, Terms};
//! use store::{Clock, FeedOptions, MemoryOptions, Partition, Space, SpaceKind, Store, Tenant, WriteIds};
//!
//! const LABELS: Space = Space { id: 200, kind: SpaceKind::Commit, name: "labels" };
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! # let options = MemoryOptions { clock: Clock::System, feed: FeedOptions::recommended() };
//! # let store = Store::memory(options);
//! # runtime.block_on(async {
//! let partition = Partition { tenant: Tenant::default(), space: LABELS, bucket: 0 };
//! let (labels, write_ids) = (Terms::default(), WriteIds::new());
//! labels.learn(&store, &partition).await?;
//! assert_eq!(labels.intern((&store, &partition, &write_ids), &["person", "knows", "person"], 1_000).await?, [0, 1, 0]);
//! assert_eq!((labels.number("knows"), labels.name(0).as_deref()), (Some(1), Some("person")));
//! # Ok::<(), TermError>(())
//! # }).unwrap();
//! ```

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;

use crate::retry::{Exhausted, RetryBackoff};
use crate::rows::Pages;
use crate::{Commit, Condition, Error, ErrorKind, Limits, Partition, Range, Store, Write, WriteIds};

/// The longest name in bytes.
pub const NAME_BYTES_MAX: usize = 2048;
/// The most new names that are stored in one commit.
const COMMIT_NAMES_MAX: usize = 512;
/// Rows and conditions of a name in a commit.
const NAME_ROWS: usize = 4;
/// How often a name is in a commit, and how many bytes beside it each time at most.
const NAME_COPIES: usize = 3;
const NAME_BESIDE_BYTES: usize = 16;
/// Names that are read in one page.
const PAGE_NAMES: usize = 1024;
/// Each commit that is lost leaves more names in use.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(256);

/// First bytes of keys: of a name's number, and of a number's name.
const NAME: u8 = b'n';
const NUMBER: u8 = b'i';

/// Why names get no numbers. Some of a call may have theirs, which is harmless.
#[derive(Debug, thiserror::Error)]
pub enum TermError {
    /// There would be more than so many.
    #[error("more than {0} names")]
    TooMany(usize),
    /// One is longer than [`NAME_BYTES_MAX`]; how it begins.
    #[error("name of over {NAME_BYTES_MAX} bytes: {0}...")]
    TooLong(String),
    /// Other writers kept coming first.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// What the store refused.
    #[error(transparent)]
    Store(#[from] Error),
}

/// The names of a partition, as far as they are known here; clones share.
///
/// Invariant: names here are durable, their numbers have no gaps, and none is ever taken back.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    names: Arc<RwLock<Names>>,
}

#[derive(Debug, Default)]
struct Names {
    by_name: HashMap<Arc<str>, u32, NameHash>,
    by_number: Vec<Arc<str>>,
}

/// How many names are in use before the first that is not; and those that are not.
type Missing<'a> = (usize, Vec<&'a str>);

impl Terms {
    /// The number of a name, if it is in use. Cost: one hash look-up.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.names.read().by_name.get(name).copied()
    }

    /// The name of a number. Cost: one index.
    pub fn name(&self, number: u32) -> Option<Arc<str>> {
        self.names.read().by_number.get(usize::try_from(number).ok()?).cloned()
    }

    /// How many there are: they are numbered from 0 without gaps.
    pub fn len(&self) -> usize {
        self.names.read().by_number.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads names that were stored since the last look (by another process, or before the start). Cost: a scan for each 1,024.
    ///
    /// # Errors
    ///
    /// `Corrupt` for a row that is no name; if the store refuses.
    pub async fn learn(&self, store: &Store, partition: &Partition) -> Result<(), Error> {
        let mut pages = Pages::new(store, partition, names_from(self.next()), PAGE_NAMES);
        while let Some(page) = pages.next().await? {
            let mut names = self.names.write();
            for (key, value) in page.rows() {
                let (number, name) = number_of_key(key)
                    .zip(std::str::from_utf8(value).ok())
                    .ok_or_else(|| Error::new(ErrorKind::Corrupt, "reading the name of a term"))?;
                names.add(number, name);
            }
        }
        Ok(())
    }

    /// The numbers of these names, in order; new ones are stored before they are known here. There will be at most `names_max`.
    /// Cost: a look-up each, if all are in use; else a commit for each 512 new ones, and a scan.
    ///
    /// # Errors
    ///
    /// Each [`TermError`].
    pub async fn intern(
        &self,
        (store, partition, write_ids): (&Store, &Partition, &WriteIds),
        names: &[&str],
        names_max: usize,
    ) -> Result<Vec<u32>, TermError> {
        let mut rest = names;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Some((known, new)) = self.missing(rest, names_max, store.limits())? else {
                let number = |name: &&str| self.number(name).expect("a name that is in use stays so");
                return Ok(names.iter().map(number).collect());
            };
            // A name that is in use stays so: it is not looked up again.
            rest = rest.get(known..).expect("as many are known as were looked up");
            match store.commit(naming(partition, write_ids, self.next(), &new)).await {
                // Another writer, or an acknowledgement that was lost: what is stored tells.
                Err(error) if !matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Unknown) => {
                    return Err(error.into());
                }
                _ => self.learn(store, partition).await?,
            }
        }
        Err(attempts.exhausted("the names").into())
    }

    /// The first names not in use, each once, and how many are in use before them; `None` if all are.
    /// Cost: a look-up of each name up to the last that is answered.
    fn missing<'a>(
        &self,
        wanted: &[&'a str],
        names_max: usize,
        limits: Limits,
    ) -> Result<Option<Missing<'a>>, TermError> {
        let names = self.names.read();
        let Some(known) = wanted.iter().position(|name| !names.by_name.contains_key(*name)) else {
            return Ok(None);
        };
        let mut seen = HashSet::new();
        let unknown = wanted.iter().copied().skip(known).filter(|name| !names.by_name.contains_key(*name));
        let unknown = unknown.filter(|name| seen.insert(*name));
        let mut new: Vec<&str> = unknown.take(COMMIT_NAMES_MAX.min(limits.good_rows / NAME_ROWS)).collect();
        let mut bytes = 0;
        let fits = |name: &&str| {
            bytes += NAME_COPIES * (name.len() + NAME_BESIDE_BYTES);
            bytes <= limits.good_bytes
        };
        let fitting = new.iter().copied().take_while(fits).count();
        new.truncate(fitting.max(1));
        if names.by_number.len() + new.len() > names_max {
            return Err(TermError::TooMany(names_max));
        }
        if let Some(long) = new.iter().find(|name| name.len() > NAME_BYTES_MAX) {
            return Err(TermError::TooLong(long.chars().take(40).collect()));
        }
        Ok(Some((known, new)))
    }

    /// The first number that is free, as far as is known here.
    fn next(&self) -> u32 {
        u32::try_from(self.len()).expect("each name has a number")
    }
}

impl Names {
    fn add(&mut self, number: u32, name: &str) {
        if u32::try_from(self.by_number.len()) == Ok(number) {
            let name: Arc<str> = name.into();
            self.by_number.push(name.clone());
            self.by_name.insert(name, number);
        }
    }
}

/// Stores names under the numbers from `first` on, if numbers and names are both free.
fn naming(partition: &Partition, write_ids: &WriteIds, first: u32, names: &[&str]) -> Commit {
    let (mut conditions, mut writes) = (Vec::new(), Vec::new());
    for (name, number) in names.iter().zip(first..) {
        let (by_name, by_number) = (key_of_name(name), key_of_number(number));
        conditions.extend([Condition::Absent(by_name.clone()), Condition::Absent(by_number.clone())]);
        writes.push(Write::Put(by_name, Bytes::copy_from_slice(&number.to_be_bytes())));
        writes.push(Write::Put(by_number, Bytes::copy_from_slice(name.as_bytes())));
    }
    let (partition, write_id) = (partition.clone(), write_ids.next());
    Commit { partition, write_id, conditions, writes, change: None, reclaims: false }
}

fn key_of_name(name: &str) -> Bytes {
    [&[NAME], name.as_bytes()].concat().into()
}

fn key_of_number(number: u32) -> Bytes {
    let [a, b, c, d] = number.to_be_bytes();
    Bytes::copy_from_slice(&[NUMBER, a, b, c, d])
}

/// All numbers' names, from this one on, in order.
fn names_from(number: u32) -> Range {
    Range { start: key_of_number(number), end: Some(Bytes::from_static(&[NUMBER + 1])) }
}

fn number_of_key(key: &[u8]) -> Option<u32> {
    key.strip_prefix(&[NUMBER])?.try_into().ok().map(u32::from_be_bytes)
}

/// Hashes names fast, with a seed of its own, so that nobody outside can choose colliding ones.
#[derive(Clone, Debug)]
struct NameHash(u64);

struct NameHasher(u64);

impl Default for NameHash {
    fn default() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }
}

impl BuildHasher for NameHash {
    type Hasher = NameHasher;

    fn build_hasher(&self) -> NameHasher {
        NameHasher(self.0)
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxhash_rust::xxh3::xxh3_64_with_seed(bytes, self.0);
    }

    /// The end mark of a text: one text is hashed at a time, so it tells nothing.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
