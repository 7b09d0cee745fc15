//! What all work on one repository needs, and how its rows are read and committed.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::try_join_all;
use parking_lot::RwLock;
use store::retry::RetryBackoff;
use store::{Condition, Direction, Page, Partition, Range, Row, Stamp, Store, Tenant, Write, WriteIds};

use super::cache::{Definitions, Entry};
use super::encode::{damaged, take_attribute_type, take_definition, take_units};
use super::keys;
use super::pending::Settled;
use crate::{AttributeType, Definition, Error, SeriesRef, Units};
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
    definitions: Arc<Definitions>,
    /// The units as they were last read, and the version of their row.
    units: Arc<RwLock<(Stamp, Arc<Units>)>>,
    /// What is known of intents.
    pub(super) settled: Arc<Settled>,
}

/// A definition and the version of its row.
#[derive(Clone, Debug)]
pub(crate) struct Versioned {
    pub(crate) stamp: Stamp,
    pub(crate) definition: Arc<Definition>,
}

impl Versioned {
    /// Holds while nobody changed or removed it.
    pub(crate) fn condition(&self) -> Condition {
        Condition::Version(keys::definition(self.definition.number), self.stamp)
    }
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
            settled: Arc::new(Settled::new(buckets.max(1))),
            store,
            strands,
            tenant,
            write_ids: WriteIds::new(),
            definitions: Arc::new(Definitions::new(definitions_cached_max)),
            units: Arc::default(),
        }
    }

    /// The same, with all points as they stand at one moment.
    pub(crate) fn at_one_moment(&self) -> Result<Self, Error> {
        Ok(Self { strands: self.strands.at_one_moment()?, ..self.clone() })
    }

    /// The strand of a series' points (of one quotation).
    pub(crate) fn strand(&self, number: u32, quotation: Option<i64>) -> Strand {
        Strand {
            partition: keys::series_partition(&self.tenant, number),
            name: quotation.map(keys::quotation).unwrap_or_default(),
        }
    }

    /// How many buckets the catalogue has.
    pub(super) fn buckets(&self) -> u32 {
        self.settled.buckets()
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
            if let Some(slot) = rows.get_mut(place) {
                *slot = row;
            }
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

    /// The series that there are of these, in order. Cost: about a microsecond each for what was found before; else
    /// one read of the engine for all, or two. If some are not found one look-up more, and these again if an intent came to its end.
    pub(crate) async fn find_all(&self, series: &[SeriesRef<'_>]) -> Result<Vec<Option<Versioned>>, Error> {
        let over = self.settled.over();
        let mut found = self.find_as_stored(series).await?;
        // One that was being renamed may have been under neither name. What was decided before the look is seen now.
        if found.iter().any(Option::is_none) && self.carry_out_for_reader().await != over {
            let missing = series.iter().zip(&found).filter(|(_, found)| found.is_none());
            let missing: Vec<SeriesRef<'_>> = missing.map(|(series, _)| *series).collect();
            let again = self.find_as_stored(&missing).await?;
            for (slot, again) in found.iter_mut().filter(|found| found.is_none()).zip(again) {
                *slot = again;
            }
        }
        Ok(found)
    }

    async fn find_as_stored(&self, series: &[SeriesRef<'_>]) -> Result<Vec<Option<Versioned>>, Error> {
        let home = |one: &SeriesRef<'_>| match one {
            SeriesRef::Name(name) => keys::home_number(name),
            SeriesRef::Id(number) => *number,
        };
        let numbers: Vec<u32> = series.iter().map(home).collect();
        let mut found = self.find_numbers(&numbers).await?;
        // A name that is not at home was given another number, or none: its own row tells.
        let mut astray = Vec::new();
        for (place, (one, found)) in series.iter().zip(&mut found).enumerate() {
            if let SeriesRef::Name(name) = one
                && found.as_ref().is_none_or(|found| &*found.definition.name != *name)
            {
                *found = None;
                astray.push((place, keys::name(name)));
            }
        }
        if !astray.is_empty() {
            let keys: Vec<Bytes> = astray.iter().map(|(_, key)| key.clone()).collect();
            let rows = self.rows(&keys).await?;
            let number = |row: &Option<Row>| row.as_ref().and_then(|row| keys::number_of_value(&row.value));
            let known = astray.iter().zip(&rows).filter_map(|((place, _), row)| Some((*place, number(row)?)));
            let (places, numbers): (Vec<usize>, Vec<u32>) = known.unzip();
            for (place, astray) in places.into_iter().zip(self.find_numbers(&numbers).await?) {
                let name = series.get(place);
                let is_it = |one: &Versioned| name == Some(&SeriesRef::Name(&one.definition.name));
                if let Some(found) = found.get_mut(place) {
                    *found = astray.filter(is_it);
                }
            }
        }
        Ok(found)
    }

    /// One series.
    pub(crate) async fn find(&self, series: SeriesRef<'_>) -> Result<Versioned, Error> {
        let found = self.find_all(&[series]).await?.pop().flatten();
        found.ok_or_else(|| Error::NotFound(format!("series {series}").into()))
    }

    /// Definitions by number, in order.
    pub(crate) async fn find_numbers(&self, numbers: &[u32]) -> Result<Vec<Option<Versioned>>, Error> {
        let kept = self.definitions.get_all(numbers.iter().copied());
        let (mut found, mut fresh) = (Vec::with_capacity(numbers.len()), Vec::new());
        let mut unread = Vec::new();
        for (number, kept) in numbers.iter().zip(kept) {
            match self.store.get_cached(
                self.partition(keys::bucket_of_number(*number, self.buckets())),
                &keys::definition_array(*number),
            ) {
                Some(row) => found.push(Self::versioned(row, kept, &mut fresh)?),
                None => {
                    unread.push((found.len(), kept));
                    found.push(None);
                }
            }
        }
        if !unread.is_empty() {
            let key = |(place, _): &(usize, _)| {
                keys::definition(*numbers.get(*place).expect("the place of one of the numbers"))
            };
            let keys: Vec<Bytes> = unread.iter().map(key).collect();
            for ((place, kept), row) in unread.into_iter().zip(self.rows(&keys).await?) {
                if let Some(found) = found.get_mut(place) {
                    *found = Self::versioned(row, kept, &mut fresh)?;
                }
            }
        }
        if !fresh.is_empty() {
            self.definitions.put_all(fresh);
        }
        Ok(found)
    }

    /// The same, each with an error of its own: for jobs. Cost: as for all together, or if that fails one by one.
    ///
    /// # Errors
    ///
    /// If the store serves nobody.
    pub(crate) async fn find_each(
        &self,
        numbers: &[u32],
    ) -> Result<Vec<Result<Option<Versioned>, Error>>, Error> {
        match self.find_numbers(numbers).await {
            Ok(found) => return Ok(found.into_iter().map(Ok).collect()),
            Err(error) if error.is_outage() => return Err(error),
            Err(_) => {}
        }
        let mut found = Vec::with_capacity(numbers.len());
        for number in numbers {
            found.push(self.find_numbers(&[*number]).await.map(|found| found.into_iter().flatten().next()));
        }
        Ok(found)
    }

    /// What a row says: what is kept if it is of the row's version, else decoded, and noted in `fresh`.
    fn versioned(
        row: Option<Row>,
        kept: Option<Entry>,
        fresh: &mut Vec<Entry>,
    ) -> Result<Option<Versioned>, Error> {
        let Some(row) = row else {
            return Ok(None);
        };
        if let Some(Entry { stamp, definition }) = kept.filter(|kept| kept.stamp == row.stamp) {
            return Ok(Some(Versioned { stamp, definition }));
        }
        let definition = Arc::new(take_definition(&row.value).map_err(|_| damaged("a definition"))?);
        fresh.push(Entry { stamp: row.stamp, definition: definition.clone() });
        Ok(Some(Versioned { stamp: row.stamp, definition }))
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
