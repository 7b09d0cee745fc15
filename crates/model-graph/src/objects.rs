//! Objects of a tenant that front ends know: JSON texts under a kind and an id, found by some of their values. Users, groups, targets,
//! accesses, belongs, projects.

use bytes::Bytes;
use store::wire::{Malformed, Reader, put_text, put_varint};
use store::{Condition, Direction, LimitExceeded, Range, Write};

use crate::records::{BACKOFF, Pending, Records, damaged, unchanged};
use crate::{Error, keys};

/// The most bytes of an object.
pub const OBJECT_BYTES_MAX: usize = 256 * 1024;
/// The most objects in a page.
pub const OBJECT_PAGE_MAX: usize = 1_000;
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

/// What is to be there before an object is stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ObjectPut {
    /// Nothing.
    New,
    /// One of this id.
    Known,
    /// That does not matter.
    Either,
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

    /// Stores an object. Cost: one read, one commit.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`] or [`Error::NotFound`], if something else is there than is demanded; [`Error::Limit`]; if the store
    /// refuses.
    pub async fn put(&self, kind: &str, object: &Object, put: ObjectPut) -> Result<(), Error> {
        check_limits(kind, object)?;
        let key = keys::object(kind, &object.id);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let row = self.records.get(&key).await?;
            match (put, &row) {
                (ObjectPut::New, Some(_)) => return Err(Error::AlreadyExists(named(kind, &object.id))),
                (ObjectPut::Known, None) => return Err(Error::NotFound(named(kind, &object.id))),
                (ObjectPut::Either, _) | (ObjectPut::New, None) | (ObjectPut::Known, Some(_)) => {}
            }
            let old = row.as_ref().map(|row| read(&object.id, &row.value)).transpose()?;
            let mut pending = Pending::default();
            pending.conditions.push(unchanged(&key, row.as_ref()));
            pending.writes.push(Write::PutStamped(key.clone(), stored(object)));
            let new = values_of(kind, object);
            if let Some(old) = old {
                let gone = values_of(kind, &old).into_iter().filter(|key| !new.contains(key));
                pending.writes.extend(gone.map(Write::Delete));
            }
            pending.writes.extend(new.into_iter().map(|key| Write::Put(key, Bytes::new())));
            if self.records.commit(pending).await?.is_some() {
                return Ok(());
            }
        }
        Err(attempts.exhausted(named(kind, &object.id)).into())
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

    /// Removes an object; answers with it. Cost: one read, one commit.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn delete(&self, kind: &str, id: &str) -> Result<Option<Object>, Error> {
        let key = keys::object(kind, id);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Some(row) = self.records.get(&key).await? else { return Ok(None) };
            let object = read(id, &row.value)?;
            let mut writes = vec![Write::Delete(key.clone())];
            writes.extend(values_of(kind, &object).into_iter().map(Write::Delete));
            let pending = Pending { conditions: vec![Condition::Version(key.clone(), row.stamp)], writes };
            if self.records.commit(pending).await?.is_some() {
                return Ok(Some(object));
            }
        }
        Err(attempts.exhausted(named(kind, id)).into())
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

fn named(kind: &str, id: &str) -> Box<str> {
    format!("{kind} '{id}'").into()
}

fn check_limits(kind: &str, object: &Object) -> Result<(), Error> {
    let limit = |limit| Error::Limit { what: named(kind, &object.id), limit };
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

/// What is written of a stored object that was read.
#[cfg(feature = "testing")]
pub(crate) fn printed_again(bytes: &[u8]) -> Result<Bytes, Malformed> {
    take("id", bytes).map(|object| stored(&object))
}
