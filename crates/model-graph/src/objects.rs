//! Objects of a tenant that front ends know: JSON texts under a kind and an id, found by some of their values. Users, groups, targets,
//! accesses, belongs, projects. They change one after the other: a change says which generation of all of them it follows.

use std::collections::BTreeMap;

use bytes::Bytes;
use store::wire::{Malformed, Reader, put_text, put_varint};
use store::{Direction, LimitExceeded, Range, Stamp, Write};

use crate::records::{Pending, Records, damaged, unchanged};
use crate::{Error, keys};

/// The most bytes of an object.
pub const OBJECT_BYTES_MAX: usize = 256 * 1024;
/// The most objects in a page.
pub const OBJECT_PAGE_MAX: usize = 1_000;
/// The most objects of one kind.
pub const OBJECTS_MAX: usize = 10_000;
/// The most bytes of a kind, an id, or a value by which objects are found.
const KEY_BYTES_MAX: usize = 512;
const VERSION: u8 = 1;

/// An object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Object {
    /// Its id among those of its kind.
    pub id: String,
    /// JSON text that the caller knows.
    pub json: String,
    /// By what it is found: names of indexes, and its value in each.
    pub values: Vec<(String, String)>,
}

/// What becomes of one object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ObjectChange {
    /// It is stored, whether there was one of its kind and id or not.
    Put(&'static str, Object),
    /// The one of this kind and id is removed, if there is one.
    Remove(&'static str, String),
}

/// All objects of a tenant at one moment: two that are equal mean the same objects.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Generation {
    /// The version of its row; none before the first object.
    stamp: Option<Stamp>,
    counts: BTreeMap<String, usize>,
}

impl Generation {
    /// How many objects there are of a kind.
    pub fn count(&self, kind: &str) -> usize {
        self.counts.get(kind).copied().unwrap_or(0)
    }
}

/// The objects of a tenant.
#[derive(Clone, Debug)]
pub struct Objects {
    records: Records,
}

impl Objects {
    pub(crate) fn new(records: Records) -> Self {
        Self { records }
    }

    /// Which objects there are now. Cost: one read.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn generation(&self) -> Result<Generation, Error> {
        let Some(row) = self.records.get(&keys::generation()).await? else {
            return Ok(Generation::default());
        };
        let counts = take_counts(&row.value).map_err(|_| damaged("the counts of objects"))?;
        Ok(Generation { stamp: Some(row.stamp), counts })
    }

    /// Changes objects in one commit, each at most once; `false`, and nothing, if others were changed since that generation.
    /// Cost: a read for each, one commit.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`], [`Error::TooMany`]; if the store refuses.
    pub async fn change(&self, since: &Generation, changes: &[ObjectChange]) -> Result<bool, Error> {
        let mut counts = since.counts.clone();
        let mut writes = Vec::new();
        for change in changes {
            let (kind, id) = match change {
                ObjectChange::Put(kind, object) => (*kind, object.id.as_str()),
                ObjectChange::Remove(kind, id) => (*kind, id.as_str()),
            };
            let old = self.get(kind, id).await?;
            let count = counts.entry(kind.to_owned()).or_default();
            let gone = old.as_ref().map_or_else(Vec::new, |old| values_of(kind, old));
            match change {
                ObjectChange::Put(_, object) => {
                    check_limits(kind, object)?;
                    *count += usize::from(old.is_none());
                    if *count > OBJECTS_MAX {
                        return Err(Error::TooMany { what: "objects of one kind", max: OBJECTS_MAX });
                    }
                    let new = values_of(kind, object);
                    writes.push(Write::Put(keys::object(kind, id), stored(object)));
                    writes.extend(gone.into_iter().filter(|key| !new.contains(key)).map(Write::Delete));
                    writes.extend(new.into_iter().map(|key| Write::Put(key, Bytes::new())));
                }
                ObjectChange::Remove(..) if old.is_some() => {
                    // One that was not counted came since: the commit would be refused.
                    let Some(left) = count.checked_sub(1) else { return Ok(false) };
                    *count = left;
                    writes.push(Write::Delete(keys::object(kind, id)));
                    writes.extend(gone.into_iter().map(Write::Delete));
                }
                ObjectChange::Remove(..) => {}
            }
        }
        self.commit(since, &counts, writes).await
    }

    /// Writes on condition that no object was changed since.
    async fn commit(
        &self,
        since: &Generation,
        counts: &BTreeMap<String, usize>,
        mut writes: Vec<Write>,
    ) -> Result<bool, Error> {
        let key = keys::generation();
        let row = self.records.get(&key).await?;
        if row.as_ref().map(|row| row.stamp) != since.stamp {
            return Ok(false);
        }
        let conditions = vec![unchanged(&key, row.as_ref())];
        writes.push(Write::PutStamped(key, stored_counts(counts)));
        Ok(self.records.commit(Pending { conditions, writes }).await?.is_some())
    }

    /// An object. Cost: one read.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn get(&self, kind: &str, id: &str) -> Result<Option<Object>, Error> {
        let row = self.records.get(&keys::object(kind, id)).await?;
        row.map(|row| read(id, &row.value)).transpose()
    }

    /// Up to `limit` objects of a kind, by id, from behind `after` on. Cost: a scan, and a read for each.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list(&self, kind: &str, after: Option<&str>, limit: usize) -> Result<Vec<Object>, Error> {
        let range = keys::objects(kind);
        let range = after.map_or(range.clone(), |after| range.after_key(&keys::object(kind, after)));
        self.found(kind, &range, limit, keys::id_of_object).await
    }

    /// Up to `limit` objects of a kind with a value, by id, from behind `after` on. Cost: a scan, and a read for each.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn find(
        &self,
        kind: &str,
        value: (&str, &str),
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Object>, Error> {
        let range = keys::objects_of_value(kind, value);
        let range =
            after.map_or(range.clone(), |after| range.after_key(&keys::object_value(kind, value, after)));
        let mut found = self.found(kind, &range, limit, keys::id_of_object_value).await?;
        // Another may have changed one since.
        found.retain(|object| {
            object.values.iter().any(|(index, stored)| (index.as_str(), stored.as_str()) == value)
        });
        Ok(found)
    }

    async fn found(
        &self,
        kind: &str,
        range: &Range,
        limit: usize,
        id_of: fn(&[u8]) -> Option<String>,
    ) -> Result<Vec<Object>, Error> {
        let (store, partition) = self.records.place();
        let limit = limit.clamp(1, OBJECT_PAGE_MAX);
        let page = store.scan(partition, range, Direction::Forward, limit).await?;
        let mut objects = Vec::new();
        for (key, _) in page.rows() {
            let id = id_of(key).ok_or_else(|| damaged("the id of an object"))?;
            objects.extend(self.get(kind, &id).await?);
        }
        Ok(objects)
    }
}

fn check_limits(kind: &str, object: &Object) -> Result<(), Error> {
    let limit = |limit| Error::Limit { what: format!("{kind} '{}'", object.id).into(), limit };
    LimitExceeded::check("OBJECT_BYTES_MAX", OBJECT_BYTES_MAX, object.json.len()).map_err(limit)?;
    let of_values = object.values.iter().flat_map(|(index, value)| [index.len(), value.len()]);
    let longest =
        of_values.chain([kind.len(), object.id.len()]).max().expect("an object has a kind and an id");
    LimitExceeded::check("KEY_BYTES_MAX", KEY_BYTES_MAX, longest).map_err(limit)
}

fn values_of(kind: &str, object: &Object) -> Vec<Bytes> {
    let key = |(index, value): &(String, String)| keys::object_value(kind, (index, value), &object.id);
    let mut keys: Vec<Bytes> = object.values.iter().map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn stored(object: &Object) -> Bytes {
    let mut out = vec![VERSION];
    put_text(&mut out, &object.json);
    put_varint(&mut out, object.values.len() as u64);
    for (index, value) in &object.values {
        put_text(&mut out, index);
        put_text(&mut out, value);
    }
    out.into()
}

fn read(id: &str, stored: &[u8]) -> Result<Object, Error> {
    take(id, stored).map_err(|_| damaged("an object"))
}

fn take(id: &str, stored: &[u8]) -> Result<Object, Malformed> {
    let mut reader = Reader::new(stored);
    if reader.byte()? != VERSION {
        return Err(Malformed);
    }
    let json = reader.text()?.to_owned();
    let mut values = Vec::new();
    for _ in 0..reader.count()? {
        values.push((reader.text()?.to_owned(), reader.text()?.to_owned()));
    }
    reader.end()?;
    Ok(Object { id: id.to_owned(), json, values })
}

fn stored_counts(counts: &BTreeMap<String, usize>) -> Bytes {
    let mut out = vec![VERSION];
    put_varint(&mut out, counts.len() as u64);
    for (kind, count) in counts {
        put_text(&mut out, kind);
        put_varint(&mut out, *count as u64);
    }
    out.into()
}

fn take_counts(stored: &[u8]) -> Result<BTreeMap<String, usize>, Malformed> {
    let mut reader = Reader::new(stored);
    if reader.byte()? != VERSION {
        return Err(Malformed);
    }
    let mut counts = BTreeMap::new();
    for _ in 0..reader.count()? {
        let kind = reader.text()?.to_owned();
        counts.insert(kind, usize::try_from(reader.varint()?).map_err(|_| Malformed)?);
    }
    reader.end()?;
    Ok(counts)
}

/// What is written of a stored object that was read.
#[cfg(feature = "testing")]
pub(crate) fn printed_again(bytes: &[u8]) -> Result<Bytes, Malformed> {
    take("id", bytes).map(|object| stored(&object))
}

/// What is written of counts that were read.
#[cfg(feature = "testing")]
pub(crate) fn counts_printed_again(bytes: &[u8]) -> Result<Bytes, Malformed> {
    take_counts(bytes).map(|counts| stored_counts(&counts))
}
