//! What all work on one repository needs, and how its rows are read and committed.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::try_join_all;
use parking_lot::RwLock;
use store::retry::RetryBackoff;
use store::{Condition, Direction, Page, Partition, Range, Row, Stamp, Store, Tenant, Write, WriteIds};

use super::cache::Definitions;
use super::intents::KnownIntents;
use crate::encode::{damaged, take_attribute_type, take_units};
use crate::{AttributeType, Error, Units, keys};
use strands::{Strand, Strands};

/// How often a change starts again because another writer came first.
pub(crate) const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);

/// Buckets that are read at once.
const BUCKETS_AT_ONCE: usize = 64;
/// The fewest rows that are read of a bucket for a page.
const BUCKET_ROWS_MIN: usize = 16;

/// What all work on one repository needs; clones share.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) store: Store,
    pub(crate) strands: Strands,
    pub(crate) tenant: Tenant,
    /// The catalogue's, by bucket; at least one.
    pub(super) partitions: Arc<[Partition]>,
    pub(crate) write_ids: WriteIds,
    pub(super) definitions: Arc<Definitions>,
    /// The units as they were last read, and the version of their row.
    units: Arc<RwLock<(Stamp, Arc<Units>)>>,
    pub(super) intents: Arc<KnownIntents>,
}

impl Context {
    /// That of a repository whose catalogue lies in so many buckets.
    pub(crate) fn new(
        (store, strands): (Store, Strands),
        tenant: Tenant,
        buckets: u32,
        definitions_cached_max: usize,
    ) -> Self {
        let partitions = (0..buckets.max(1)).map(|bucket| keys::catalogue_partition(&tenant, bucket));
        Self {
            partitions: partitions.collect(),
            intents: Arc::new(KnownIntents::new(buckets.max(1))),
            store,
            strands,
            tenant,
            write_ids: WriteIds::new(),
            definitions: Arc::new(Definitions::new(definitions_cached_max)),
            units: Arc::default(),
        }
    }

    /// The same, with all points as they are at one moment.
    pub(crate) fn at_one_moment(&self) -> Result<Self, Error> {
        Ok(Self { strands: self.strands.at_one_moment()?, ..self.clone() })
    }

    /// The strand of a series' points (of one quotation).
    pub(crate) fn strand(&self, number: u32, quotation: Option<i64>) -> Strand {
        Strand {
            partition: keys::series_partition(&self.tenant, number),
            name: quotation.map_or_else(Bytes::new, keys::quotation),
        }
    }

    /// How many buckets the catalogue has.
    pub(super) fn buckets(&self) -> u32 {
        self.intents.buckets()
    }

    /// The partition of a bucket.
    pub(super) fn partition(&self, bucket: u32) -> &Partition {
        self.partitions.get(bucket as usize).expect("buckets are below their number")
    }

    /// The partition of what is not of one series.
    pub(super) fn first_partition(&self) -> &Partition {
        self.partitions.first().expect("there is at least one")
    }

    fn partition_of(&self, key: &[u8]) -> &Partition {
        self.partition(keys::bucket_of_key(key, self.buckets()))
    }

    /// A row of the catalogue. Cost: a cache look-up, or one engine read.
    pub(crate) async fn row(&self, key: &[u8]) -> Result<Option<Row>, Error> {
        let partition = self.partition_of(key);
        match self.store.get_cached(partition, key) {
            Some(row) => Ok(row),
            None => Ok(self.store.get_linear(partition, key).await?),
        }
    }

    /// Rows of the catalogue, in the order of `keys`. Cost: one read for each bucket, at once.
    pub(crate) async fn rows(&self, keys: &[Bytes]) -> Result<Vec<Option<Row>>, Error> {
        if let [partition] = &*self.partitions {
            return Ok(self.store.get_many_linear(partition, keys).await?);
        }
        let mut by_bucket: BTreeMap<u32, (Vec<usize>, Vec<Bytes>)> = BTreeMap::new();
        for (place, key) in keys.iter().enumerate() {
            let (places, keys) = by_bucket.entry(keys::bucket_of_key(key, self.buckets())).or_default();
            places.push(place);
            keys.push(key.clone());
        }
        let read = async |(bucket, (places, keys)): (&u32, &(Vec<usize>, Vec<Bytes>))| {
            let rows = self.store.get_many_linear(self.partition(*bucket), keys).await?;
            Ok::<_, store::Error>(places.iter().copied().zip(rows).collect::<Vec<_>>())
        };
        let mut rows = vec![None; keys.len()];
        for (place, row) in try_join_all(by_bucket.iter().map(read)).await?.into_iter().flatten() {
            *rows.get_mut(place).expect("as many as keys") = row;
        }
        Ok(rows)
    }

    /// A page of about `limit` rows of a range of all buckets, in the order of keys. Cost: one scan for each bucket, at once.
    pub(super) async fn scan(&self, range: &Range, limit: usize) -> Result<Page, Error> {
        if let [partition] = &*self.partitions {
            return Ok(self.store.scan(partition, range, Direction::Forward, limit).await?);
        }
        // A page ends where the first of a bucket does, so that what others read beyond is read again.
        let limit = limit.div_ceil(self.partitions.len()).saturating_mul(2).max(BUCKET_ROWS_MIN);
        let mut pages = Vec::with_capacity(self.partitions.len());
        for partitions in self.partitions.chunks(BUCKETS_AT_ONCE) {
            let scan = |partition| self.store.scan(partition, range, Direction::Forward, limit);
            pages.extend(try_join_all(partitions.iter().map(scan)).await?);
        }
        Ok(Page::merged(&pages))
    }

    /// The same, each with an error of its own: for jobs. Cost: one read for all, or one each if that fails.
    ///
    /// # Errors
    ///
    /// If the store serves nobody.
    pub(crate) async fn rows_each(&self, keys: &[Bytes]) -> Result<Vec<Result<Option<Row>, Error>>, Error> {
        match self.rows(keys).await {
            Ok(rows) => return Ok(rows.into_iter().map(Ok).collect()),
            Err(error) if error.is_outage() => return Err(error),
            Err(_) => {}
        }
        let mut rows = Vec::with_capacity(keys.len());
        for key in keys {
            rows.push(self.row(key).await);
        }
        Ok(rows)
    }

    /// Notes that a job failed on a part of the repository and goes on.
    ///
    /// # Errors
    ///
    /// The same error if the store serves nobody: then there is nothing to go on with.
    pub(crate) fn skip(&self, job: &'static str, what: &dyn Display, error: Error) -> Result<(), Error> {
        if error.is_outage() {
            return Err(error);
        }
        self.strands.skips().note(job, &self.tenant, what, &error);
        Ok(())
    }

    /// All units, and what holds while nobody changes them. Cost: a cached look-up.
    pub(crate) async fn units(&self) -> Result<(Arc<Units>, Condition), Error> {
        let Some(row) = self.row(&keys::units()).await? else {
            return Ok((Arc::default(), Condition::Absent(keys::units())));
        };
        let condition = Condition::Version(keys::units(), row.stamp);
        let (stamp, units) = self.units.read().clone();
        if stamp == row.stamp {
            return Ok((units, condition));
        }
        let units = take_units(&row.value).map_err(|_| damaged("units"))?;
        let units = Arc::new(Units::new(units));
        *self.units.write() = (row.stamp, units.clone());
        Ok((units, condition))
    }

    /// Attribute types by name, in order, each with what holds while nobody changes it.
    pub(crate) async fn attribute_types(
        &self,
        names: &[&str],
    ) -> Result<Vec<Option<(AttributeType, Condition)>>, Error> {
        let keys: Vec<Bytes> = names.iter().map(|name| keys::attribute_type(name)).collect();
        let mut types = Vec::with_capacity(names.len());
        for (key, row) in keys.iter().zip(self.rows(&keys).await?) {
            types.push(match row {
                None => None,
                Some(row) => {
                    let of = take_attribute_type(&row.value).map_err(|_| damaged("an attribute type"))?;
                    Some((of, Condition::Version(key.clone(), row.stamp)))
                }
            });
        }
        Ok(types)
    }

    /// The numbers of the formulas that refer to a series, ascending, and what holds while there are no others.
    pub(crate) async fn users(&self, number: u32) -> Result<(Vec<u32>, Condition), Error> {
        let key = keys::users(number);
        let Some(row) = self.row(&key).await? else {
            return Ok((Vec::new(), Condition::Absent(key)));
        };
        let (numbers, rest) = row.value.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(damaged("the users of a series"));
        }
        let numbers = numbers.iter().map(|number| u32::from_be_bytes(*number)).collect();
        Ok((numbers, Condition::Version(key, row.stamp)))
    }
}

/// The write that makes these the users of a series.
pub(crate) fn put_users(number: u32, users: &[u32]) -> Write {
    let key = keys::users(number);
    if users.is_empty() {
        return Write::Delete(key);
    }
    Write::PutStamped(key, users.iter().flat_map(|user| user.to_be_bytes()).collect())
}
