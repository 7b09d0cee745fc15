//! Finds series by name and number.

use std::sync::Arc;

use bytes::Bytes;
use store::{Condition, Row, Stamp};

use super::cache::Entry;
use super::context::Context;
use crate::encode::{damaged, take_definition};
use crate::{Definition, Error, SeriesRef, keys};

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
    /// The series that there are of these, in order. Cost: about a microsecond each for what was found before; else
    /// one read of the engine for all, or two. If some are not found one look-up more, and these again if an intent came to its end.
    pub(crate) async fn find_all(&self, series: &[SeriesRef<'_>]) -> Result<Vec<Option<Versioned>>, Error> {
        let over = self.intents.over();
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
        // A name that is not at home was given another number, or none: its own row says which.
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
                *found.get_mut(place).expect("as many as series") = astray.filter(is_it);
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
                *found.get_mut(place).expect("as many as numbers") = Self::versioned(row, kept, &mut fresh)?;
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
}
