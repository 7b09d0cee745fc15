//! Which types and attributes are in use: by leaps over the index, row to row where a name changes.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use store::{Direction, Partition, Range, Store};

use crate::entities::next_range;
use crate::index::kind_and_instances;
use crate::query::stream::{Buckets, Union};
use crate::tenant::Context;
use crate::{EntityView, Error, Kind, TenantEntities, TermId, keys};

/// Index rows that are read in one page.
const PAGE_ROWS: usize = 4096;
/// Entities that are looked at together.
const BATCH: usize = 256;

/// A type or attribute in use (NGSI-LD 5.7.5 to 5.7.10).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeSummary {
    /// The type.
    pub name: TermId,
    /// How many entities have it; counted with details.
    pub entities: usize,
    /// Attributes that entities of this type have (with details), and kinds that occur: all of them
    /// where one type is asked for, or else at least one.
    pub attributes: Vec<(TermId, Vec<Kind>)>,
}

/// An attribute in use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributeSummary {
    /// The attribute.
    pub name: TermId,
    /// How many instances of it are stored; counted with details, where one attribute is asked for.
    pub instances: usize,
    /// The kinds that occur (with details): all of them where one attribute is asked for, or else at
    /// least one.
    pub kinds: Vec<Kind>,
    /// Types of entities that have it; with details.
    pub types: Vec<TermId>,
}

impl TenantEntities {
    /// Types in use, with attributes and counts if `details`; one type only, if given.
    /// Cost: a seek for each type and bucket; with details, one for each attribute and all rows by type,
    /// and for one type all its rows by value. Transient entities count until they are purged.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn types(&self, only: Option<TermId>, details: bool) -> Result<Vec<TypeSummary>, Error> {
        loop {
            let context = self.context();
            let found = context.types(only, details).await?;
            // Entities that began to move meanwhile may have moved past it.
            if context.newer().await?.is_none() {
                return Ok(found);
            }
        }
    }

    /// Attributes in use, with kinds, types and counts if `details`; one attribute only, if given.
    /// Cost: a seek for each type, attribute of that type and bucket; for details of one attribute, all
    /// its rows by value. Transient instances count until they are purged.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn attributes(
        &self,
        only: Option<TermId>,
        details: bool,
    ) -> Result<Vec<AttributeSummary>, Error> {
        loop {
            let context = self.context();
            let found = context.attributes(only, details).await?;
            if context.newer().await?.is_none() {
                return Ok(found);
            }
        }
    }
}

impl Context {
    async fn types(&self, only: Option<TermId>, details: bool) -> Result<Vec<TypeSummary>, Error> {
        let mut found: BTreeMap<TermId, (usize, Kinds)> = BTreeMap::new();
        for bucket in self.buckets() {
            for of_type in bucket.types(only).await? {
                let (entities, attributes) = found.entry(of_type).or_default();
                if !details {
                    continue;
                }
                if !self.layout.is_moving() {
                    *entities += bucket.entities(of_type).await?;
                }
                for attribute in bucket.attributes(of_type, None).await? {
                    let (kinds, _) = bucket.kinds(of_type, attribute, only.is_some()).await?;
                    add(attributes.entry(attribute).or_default(), kinds);
                }
            }
        }
        if details && self.layout.is_moving() {
            for (of_type, (entities, _)) in &mut found {
                *entities = self.count_moving(*of_type, None).await?;
            }
        }
        let summary = |(name, (entities, attributes)): (TermId, (usize, Kinds))| TypeSummary {
            name,
            entities,
            attributes: attributes.into_iter().collect(),
        };
        Ok(found.into_iter().map(summary).collect())
    }

    async fn attributes(&self, only: Option<TermId>, details: bool) -> Result<Vec<AttributeSummary>, Error> {
        let mut found: BTreeMap<TermId, AttributeSummary> = BTreeMap::new();
        for bucket in self.buckets() {
            for of_type in bucket.types(None).await? {
                for name in bucket.attributes(of_type, only).await? {
                    let summary = found.entry(name).or_default();
                    summary.name = name;
                    if !details {
                        continue;
                    }
                    let (kinds, instances) = bucket.kinds(of_type, name, only.is_some()).await?;
                    add(&mut summary.kinds, kinds);
                    add(&mut summary.types, [of_type]);
                    summary.instances += instances;
                }
            }
        }
        found.values_mut().for_each(|summary| summary.types.sort_unstable());
        if let Some(name) = only.filter(|_| details && self.layout.is_moving())
            && let Some(summary) = found.get_mut(&name)
        {
            summary.instances = 0;
            for of_type in &summary.types {
                summary.instances += self.count_moving(*of_type, Some(name)).await?;
            }
        }
        Ok(found.into_values().collect())
    }

    /// Each entity that moves is in the first bucket, or in another behind it, or in both.
    fn buckets(&self) -> impl Iterator<Item = Bucket<'_>> {
        self.partitions.iter().map(|partition| Bucket { store: &self.store, partition })
    }

    /// How many entities are of a type while entities move, or how many instances of an attribute those have whose first type it is:
    /// each is counted once. Cost: all rows by type; for instances, a look at each entity.
    async fn count_moving(&self, of_type: TermId, name: Option<TermId>) -> Result<usize, Error> {
        let mut ids = Union::new(Buckets::of(self), &[keys::type_range(of_type)], PAGE_ROWS);
        let (mut count, mut key, mut is_done) = (0, Vec::new(), false);
        while !is_done {
            let mut some: Vec<Box<str>> = Vec::new();
            while some.len() < BATCH {
                if ids.is_starved() {
                    ids.fill(&self.store, &self.partitions).await?;
                    continue;
                }
                is_done = ids.next(&mut key, false).is_none();
                match keys::id_of_key(&key) {
                    Some(id) if !is_done => some.push(id.into()),
                    _ => break,
                }
            }
            let Some(name) = name else {
                count += some.len();
                continue;
            };
            let some: Vec<&str> = some.iter().map(|id| &**id).collect();
            for row in self.rows(&some).await?.into_iter().flatten() {
                let view = EntityView::peek(&row.value)?;
                if view.types().next() == Some(of_type) {
                    count += view.attribute(name).map_or(0, |attribute| attribute.instances().count());
                }
            }
        }
        Ok(count)
    }
}

/// Kinds by attribute.
type Kinds = BTreeMap<TermId, Vec<Kind>>;

fn add<T: PartialEq>(all: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

/// One bucket's index.
struct Bucket<'a> {
    store: &'a Store,
    partition: &'a Partition,
}

impl Bucket<'_> {
    async fn types(&self, only: Option<TermId>) -> Result<Vec<TermId>, Error> {
        match only {
            Some(of_type) => self.leaps(keys::type_range(of_type), |_| None, keys::type_of_key).await,
            None => {
                let from = |term| Some(keys::types_from(term));
                self.leaps(keys::types_from(TermId(0)), from, keys::type_of_key).await
            }
        }
    }

    async fn attributes(&self, of_type: TermId, only: Option<TermId>) -> Result<Vec<TermId>, Error> {
        match only {
            Some(name) => {
                self.leaps(keys::attribute_range(of_type, name), |_| None, keys::attribute_of_key).await
            }
            None => {
                let from = |term| Some(keys::attributes_from(of_type, term));
                self.leaps(keys::attributes_from(of_type, TermId(0)), from, keys::attribute_of_key).await
            }
        }
    }

    /// The terms in a range of rows, each found by a leap behind all rows of the one before.
    async fn leaps(
        &self,
        first: Range,
        from: impl Fn(TermId) -> Option<Range>,
        read: impl Fn(&[u8]) -> Option<TermId>,
    ) -> Result<Vec<TermId>, Error> {
        let mut found = Vec::new();
        let mut range = Some(first);
        while let Some(rest) = range {
            let page = self.store.scan(self.partition, &rest, Direction::Forward, 1).await?;
            let Some(term) = page.row(0).and_then(|(key, _)| read(key)) else {
                break;
            };
            found.push(term);
            range = term.0.checked_add(1).and_then(|next| from(TermId(next)));
        }
        Ok(found)
    }

    async fn entities(&self, of_type: TermId) -> Result<usize, Error> {
        let mut count = 0;
        let mut range = Some(keys::type_range(of_type));
        while let Some(rest) = range {
            let page = self.store.scan(self.partition, &rest, Direction::Forward, PAGE_ROWS).await?;
            count += page.len();
            range = next_range(&rest, &page);
        }
        Ok(count)
    }

    /// Kinds that occur and number of instances: of all rows, or as the first row tells.
    async fn kinds(&self, of_type: TermId, name: TermId, all: bool) -> Result<(Vec<Kind>, usize), Error> {
        let (mut kinds, mut instances) = (Vec::new(), 0);
        let mut range = Some(keys::attribute_range(of_type, name));
        let rows_max = if all { PAGE_ROWS } else { 1 };
        while let Some(rest) = range {
            let page = self.store.scan(self.partition, &rest, Direction::Forward, rows_max).await?;
            for (kind, told) in page.rows().filter_map(|(_, value)| kind_and_instances(value)) {
                add(&mut kinds, [kind]);
                instances += usize::try_from(told).unwrap_or_default();
            }
            range = next_range(&rest, &page).filter(|_| all);
        }
        Ok((kinds, if all { instances } else { 0 }))
    }
}
