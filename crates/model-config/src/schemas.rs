//! Compiled schemas in memory: shared, evicted by size. One is read as it was stored; it is compiled again only if that form is of an older
//! version of this software.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lang_yang::{CompileOptions, Features, Schema, Strict, YangFile, compile};
use parking_lot::RwLock;
use std::collections::HashMap;
use store::retry::RetryLocks;
use store::{Lane, Tenant};

use crate::Error;
use crate::blobs::{BlobKind, Blobs};
use crate::error::damaged;

/// A compiled schema takes so many times its stored bytes in memory, but for its patterns.
const SCHEMA_FACTOR: usize = 4;
/// What libyang makes of texts takes so many times their bytes.
const STRICT_FACTOR: usize = 16;
/// Loads of different schemas at a time.
const LOADS: u32 = 16;

/// What a schema set is made of.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Names of files, and the hashes of their texts.
    pub(crate) files: Vec<(Box<str>, u128)>,
    pub(crate) features: Features,
}

/// The number of a tenant, and the hash of a schema.
type SchemaKey = (u32, u128);

/// The schemas that this process knows.
#[derive(Debug)]
pub(crate) struct Schemas {
    schemas: Shelf<Schema>,
    validators: Shelf<Strict>,
    /// One loads, the others wait.
    loading: RetryLocks,
    lane: Lane,
}

/// Things by schema, the least used of which go.
#[derive(Debug)]
struct Shelf<T> {
    things: RwLock<Things<T>>,
    ticks: AtomicU64,
    bytes_max: usize,
}

#[derive(Debug)]
struct Things<T> {
    by_key: HashMap<SchemaKey, Thing<T>>,
    bytes: usize,
}

#[derive(Debug)]
struct Thing<T> {
    value: Arc<T>,
    bytes: usize,
    used: AtomicU64,
}

impl<T> Shelf<T> {
    fn new(bytes_max: usize) -> Self {
        let things = Things { by_key: HashMap::new(), bytes: 0 };
        Self { things: RwLock::new(things), ticks: AtomicU64::new(0), bytes_max }
    }

    /// Cost: a look-up.
    fn get(&self, key: SchemaKey) -> Option<Arc<T>> {
        let things = self.things.read();
        let thing = things.by_key.get(&key)?;
        thing.used.store(self.ticks.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(thing.value.clone())
    }

    /// Takes a thing up, whatever must go for it. Cost: a look at each for each that goes.
    fn put(&self, key: SchemaKey, value: Arc<T>, bytes: usize) {
        let used = AtomicU64::new(self.ticks.fetch_add(1, Ordering::Relaxed));
        let mut things = self.things.write();
        if let Some(old) = things.by_key.insert(key, Thing { value, bytes, used }) {
            things.bytes -= old.bytes;
        }
        things.bytes += bytes;
        while things.bytes > self.bytes_max && things.by_key.len() > 1 {
            let oldest = things.by_key.iter().min_by_key(|(_, thing)| thing.used.load(Ordering::Relaxed));
            let oldest = oldest.map(|(key, _)| *key).expect("there are more than one");
            let gone = things.by_key.remove(&oldest).expect("it was just found");
            things.bytes -= gone.bytes;
        }
    }

    fn bytes(&self) -> usize {
        self.things.read().bytes
    }
}

impl Schemas {
    /// Half of the bytes are for schemas, half for what libyang makes of them.
    pub(crate) fn new(bytes_max: usize, lane: Lane) -> Self {
        let (schemas, validators) = (Shelf::new(bytes_max / 2), Shelf::new(bytes_max / 2));
        Self { schemas, validators, loading: RetryLocks::new(LOADS), lane }
    }

    /// One that is in memory. Cost: a look-up.
    pub(crate) fn cached(&self, tenant: &Tenant, hash: u128) -> Option<Arc<Schema>> {
        self.schemas.get((tenant.number(), hash))
    }

    /// Takes up one that takes so many bytes, as [`memory_bytes`] reckons.
    pub(crate) fn put(&self, tenant: &Tenant, schema: Arc<Schema>, bytes: usize) {
        self.schemas.put((tenant.number(), schema.hash), schema, bytes);
    }

    /// A schema. Cost: a look-up; for one that is not in memory its stored form is read and decoded.
    pub(crate) async fn get(
        &self,
        (tenant, blobs): (&Tenant, &Blobs),
        hash: u128,
        source: impl AsyncFnOnce() -> Result<Source, Error>,
    ) -> Result<Arc<Schema>, Error> {
        if let Some(cached) = self.cached(tenant, hash) {
            return Ok(cached);
        }
        let _one = self.loading.lock(self.loading.of(&[&hash.to_be_bytes()])).await;
        if let Some(cached) = self.cached(tenant, hash) {
            return Ok(cached);
        }
        let stored = blobs.read((BlobKind::Schema, hash)).await?;
        let decode = |stored: &[u8]| {
            let schema = Schema::decode(stored).ok()?;
            let bytes = memory_bytes(&schema, stored.len());
            Some((schema, bytes))
        };
        let decoded = match stored {
            Some(stored) => self.lane.run(|| decode(&stored)).await,
            None => None,
        };
        let (schema, bytes) = match decoded {
            Some(decoded) => decoded,
            None => {
                let source = source().await?;
                let (files, _) = read_files(blobs, &source).await?;
                let options = CompileOptions { features: source.features };
                let compiled = self.lane.run(|| {
                    let schema = compile(&files, &options)?.schema;
                    let bytes = memory_bytes(&schema, schema.encode().len());
                    Ok::<_, Error>((schema, bytes))
                });
                compiled.await?
            }
        };
        if schema.hash != hash {
            return Err(damaged("a compiled schema"));
        }
        let schema = Arc::new(schema);
        self.put(tenant, schema.clone(), bytes);
        Ok(schema)
    }

    /// What checks all rules of a schema. Cost: a look-up; for one that is not in memory its modules are compiled.
    pub(crate) async fn strict(
        &self,
        (tenant, blobs): (&Tenant, &Blobs),
        hash: u128,
        source: impl AsyncFnOnce() -> Result<Source, Error>,
    ) -> Result<Arc<Strict>, Error> {
        let key = (tenant.number(), hash);
        if let Some(cached) = self.validators.get(key) {
            return Ok(cached);
        }
        let _one = self.loading.lock(self.loading.of(&[&hash.to_be_bytes()])).await;
        if let Some(cached) = self.validators.get(key) {
            return Ok(cached);
        }
        let source = source().await?;
        let (files, bytes) = read_files(blobs, &source).await?;
        let options = CompileOptions { features: source.features };
        let strict = Arc::new(self.lane.run(|| Strict::new(&files, &options)).await?);
        self.validators.put(key, strict.clone(), bytes.saturating_mul(STRICT_FACTOR));
        Ok(strict)
    }

    /// Bytes that all take, as they are reckoned.
    pub(crate) fn bytes(&self) -> usize {
        self.schemas.bytes() + self.validators.bytes()
    }
}

/// What a schema takes in memory, and its patterns with it, which this compiles: they take far more than their texts. Cost: as
/// [`Schema::pattern_bytes`].
pub(crate) fn memory_bytes(schema: &Schema, stored_bytes: usize) -> usize {
    stored_bytes.saturating_mul(SCHEMA_FACTOR).saturating_add(schema.pattern_bytes())
}

/// The files of a schema set.
pub(crate) async fn files_of(blobs: &Blobs, source: &Source) -> Result<Vec<YangFile>, Error> {
    Ok(read_files(blobs, source).await?.0)
}

/// The files of a schema set, and the bytes of their texts.
async fn read_files(blobs: &Blobs, source: &Source) -> Result<(Vec<YangFile>, usize), Error> {
    let (mut files, mut bytes) = (Vec::with_capacity(source.files.len()), 0);
    for (name, hash) in &source.files {
        let text =
            blobs.read((BlobKind::Text, *hash)).await?.ok_or_else(|| damaged("the text of a module"))?;
        bytes += text.len();
        let text = String::from_utf8(text).map_err(|_| damaged("the text of a module"))?;
        files.push(YangFile { name: name.clone(), text: text.into() });
    }
    Ok((files, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_count() {
        let schema = |type_: &str| {
            let text = format!("module a {{ namespace urn:a; prefix a; leaf x {{ type string {type_} }} }}");
            let files = [YangFile { name: "a.yang".into(), text: text.into() }];
            compile(&files, &CompileOptions { features: Features::All }).unwrap().schema
        };
        let bytes = |schema: &Schema| memory_bytes(schema, schema.encode().len());
        let (plain, restricted) = (schema(";"), schema("{ pattern 'a{2000}'; }"));
        assert_eq!(bytes(&plain), SCHEMA_FACTOR * plain.encode().len());
        assert!(bytes(&restricted) > bytes(&plain) + 100_000, "{}", bytes(&restricted));
        let read = Schema::decode(&restricted.encode()).unwrap();
        assert_eq!(bytes(&read), bytes(&restricted), "one that was read has not been used yet");
    }

    #[test]
    fn the_least_used_goes() {
        let shelf = Shelf::new(100);
        for key in 0..3_u128 {
            shelf.put((0, key), Arc::new(key), 40);
            assert_eq!(shelf.get((0, 0)).as_deref(), Some(&0), "it is used all the time");
        }
        assert_eq!((shelf.get((0, 1)), shelf.get((1, 0))), (None, None));
        assert_eq!((shelf.get((0, 2)).as_deref(), shelf.bytes()), (Some(&2), 80));
        shelf.put((0, 9), Arc::new(9), 1_000);
        assert_eq!(shelf.get((0, 9)).as_deref(), Some(&9), "one is always kept");
        shelf.put((0, 9), Arc::new(9), 10);
        assert_eq!(shelf.bytes(), 10);
    }
}
