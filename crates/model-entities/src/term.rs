//! Interned names of one tenant: IRIs of types and attributes as small numbers.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use bytes::Bytes;
use entity::{Error, Limit, LimitName, TermId, keys};
use parking_lot::RwLock;
use store::{Commit, Condition, Direction, ErrorKind, Limits, Partition, Store, Write, WriteIds};

/// The longest name in bytes.
pub const NAME_BYTES_MAX: usize = 2048;
/// The most new names that are stored in one commit.
const COMMIT_NAMES_MAX: usize = 512;
/// Rows and conditions of a name in a commit.
const NAME_ROWS: usize = 4;
/// How often a name stands in a commit, and what stands beside it each time at most.
const NAME_COPIES: usize = 3;
const NAME_BESIDE_BYTES: usize = 16;
/// Names that are read in one page.
const PAGE_NAMES: usize = 1024;
/// How often allotting starts again because another writer came first.
const ATTEMPTS_MAX: usize = 256;

/// The names in use in one tenant; clones share.
///
/// Invariant: names here are durable, their numbers have no gaps, and none is ever taken back.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    names: Arc<RwLock<Names>>,
}

#[derive(Debug, Default)]
struct Names {
    by_name: HashMap<Arc<str>, TermId, NameHash>,
    by_term: Vec<Arc<str>>,
}

/// How many names are in use before the first that is not; and those that are not.
type Missing<'a> = (usize, Vec<&'a str>);

impl Terms {
    /// The term of this IRI, if it is in use. Cost: one hash look-up.
    pub fn id(&self, iri: &str) -> Option<TermId> {
        self.names.read().by_name.get(iri).copied()
    }

    /// The IRI of a term. Cost: one index.
    pub fn iri(&self, term: TermId) -> Option<Arc<str>> {
        self.names.read().by_term.get(usize::try_from(term.0).ok()?).cloned()
    }

    /// How many there are: terms are numbered from 0 without gaps.
    pub fn len(&self) -> usize {
        self.names.read().by_term.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads names that were stored since the last look (by another node, or before the start).
    pub(crate) async fn learn(&self, store: &Store, partition: &Partition) -> Result<(), Error> {
        loop {
            let range = keys::names_from(self.next());
            let page = store.scan(partition, &range, Direction::Forward, PAGE_NAMES).await?;
            let mut names = self.names.write();
            for (key, value) in page.rows() {
                let (term, name) = keys::term_of_key(key)
                    .zip(std::str::from_utf8(value).ok())
                    .ok_or_else(|| store::Error::new(ErrorKind::Corrupt, "reading the name of a term"))?;
                names.add(term, name);
            }
            if !page.more() {
                return Ok(());
            }
        }
    }

    /// The terms of these names, in order; new ones are stored before they are known here.
    /// Cost: a look-up each, if all are in use.
    pub(crate) async fn allot(
        &self,
        store: &Store,
        partition: &Partition,
        write_ids: &WriteIds,
        iris: &[&str],
        terms_max: usize,
    ) -> Result<Vec<TermId>, Error> {
        let mut rest = iris;
        for _ in 0..ATTEMPTS_MAX {
            let Some((known, new)) = self.missing(rest, terms_max, store.limits())? else {
                return Ok(iris.iter().filter_map(|iri| self.id(iri)).collect());
            };
            // A name that is in use stays so: it is not looked up again.
            rest = rest.get(known..).unwrap_or_default();
            match store.commit(naming(partition, write_ids, self.next(), &new)).await {
                // Another writer, or an acknowledgement that was lost: what is stored tells.
                Err(error) if !matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Unknown) => {
                    return Err(error.into());
                }
                _ => self.learn(store, partition).await?,
            }
        }
        Err(Error::Contention("names of types and attributes".into()))
    }

    /// The first names not in use, each once, and how many are in use before them; `None` if all are.
    /// Cost: a look-up of each name up to the last that is answered.
    fn missing<'a>(
        &self,
        iris: &[&'a str],
        terms_max: usize,
        limits: Limits,
    ) -> Result<Option<Missing<'a>>, Error> {
        let names = self.names.read();
        let Some(known) = iris.iter().position(|iri| !names.by_name.contains_key(*iri)) else {
            return Ok(None);
        };
        let mut seen = HashSet::new();
        let unknown = iris.iter().copied().skip(known).filter(|iri| !names.by_name.contains_key(*iri));
        let unknown = unknown.filter(|iri| seen.insert(*iri));
        let mut new: Vec<&str> = unknown.take(COMMIT_NAMES_MAX.min(limits.good_rows / NAME_ROWS)).collect();
        let mut bytes = 0;
        let fits = |iri: &&str| {
            bytes += NAME_COPIES * (iri.len() + NAME_BESIDE_BYTES);
            bytes <= limits.good_bytes
        };
        let fitting = new.iter().copied().take_while(fits).count();
        new.truncate(fitting.max(1));
        Limit::check(LimitName::Names, terms_max, names.by_term.len() + new.len())?;
        for iri in &new {
            Limit::check(LimitName::NameBytes, NAME_BYTES_MAX, iri.len())?;
        }
        Ok(Some((known, new)))
    }

    /// The first number that is free, as far as is known here.
    fn next(&self) -> TermId {
        TermId(u32::try_from(self.len()).unwrap_or(u32::MAX))
    }
}

impl Names {
    fn add(&mut self, term: TermId, name: &str) {
        if u32::try_from(self.by_term.len()) == Ok(term.0) {
            let name: Arc<str> = name.into();
            self.by_term.push(name.clone());
            self.by_name.insert(name, term);
        }
    }
}

/// Stores names under the numbers from `first` on, if numbers and names are both free.
fn naming(partition: &Partition, write_ids: &WriteIds, first: TermId, names: &[&str]) -> Commit {
    let (mut conditions, mut writes) = (Vec::new(), Vec::new());
    for (name, number) in names.iter().zip(first.0..) {
        let (by_name, by_term) = (keys::term_of_name(name), keys::name_of_term(TermId(number)));
        conditions.extend([Condition::Absent(by_name.clone()), Condition::Absent(by_term.clone())]);
        writes.push(Write::Put(by_name, Bytes::copy_from_slice(&number.to_be_bytes())));
        writes.push(Write::Put(by_term, Bytes::copy_from_slice(name.as_bytes())));
    }
    let (partition, write_id) = (partition.clone(), write_ids.next());
    Commit { partition, write_id, conditions, writes, change: None, reclaims: false }
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
