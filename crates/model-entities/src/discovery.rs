//! Which types and attributes are in use: types by leaps over the index, attributes by the notes of them (`in_use.rs`), kinds and
//! counts of one by a walk through its entities.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use entity::{AttributeView, EntityView, Error, Kind, TermId, keys};
use store::{Deadline, Direction, Partition};

use crate::TenantEntities;
use crate::in_use::{STEPS_A_READ, steps_of};
use crate::long_read::LongRead;
use crate::query::{stream::Buckets, stream::Union};
use crate::tenant::TenantState;

/// Index rows that are read in one page while entities move.
const PAGE_ROWS: usize = 4096;
/// Entities that are looked at together.
const BATCH: usize = 64;

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

/// Kinds by attribute.
type Kinds = BTreeMap<TermId, Vec<Kind>>;

impl TenantEntities {
    /// Types in use, with attributes and counts if `details`; one type only, if given.
    /// Cost: a seek for each type and bucket; with details, one for each attribute, and a count of the rows by type;
    /// for one type all its entities. Transient entities count until they are purged. What is long goes on in a slot of the lane.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] behind the deadline; if the store refuses.
    pub async fn types(
        &self,
        only: Option<TermId>,
        details: bool,
        deadline: &Deadline,
    ) -> Result<Vec<TypeSummary>, Error> {
        loop {
            let state = self.state();
            let mut long = LongRead::new(&state.lane, deadline.clone());
            let found = state.types(only, details, &mut long).await?;
            // Entities that began to move meanwhile may have moved past it.
            if state.newer().await?.is_none() {
                return Ok(found);
            }
        }
    }

    /// Attributes in use, with kinds, types and counts if `details`; one attribute only, if given.
    /// Cost: a seek for each type, attribute of that type and bucket; for details of one attribute, all entities of
    /// the types that have it. Transient instances count until they are purged. What is long goes on in a slot of the lane.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] behind the deadline; if the store refuses.
    pub async fn attributes(
        &self,
        only: Option<TermId>,
        details: bool,
        deadline: &Deadline,
    ) -> Result<Vec<AttributeSummary>, Error> {
        loop {
            let state = self.state();
            let mut long = LongRead::new(&state.lane, deadline.clone());
            let found = state.attributes(only, details, &mut long).await?;
            if state.newer().await?.is_none() {
                return Ok(found);
            }
        }
    }
}

impl TenantState {
    async fn types(
        &self,
        only: Option<TermId>,
        details: bool,
        long: &mut LongRead<'_>,
    ) -> Result<Vec<TypeSummary>, Error> {
        let mut found: BTreeMap<TermId, (usize, Kinds)> = BTreeMap::new();
        for bucket in self.buckets() {
            for of_type in bucket.types(only, long).await? {
                let (entities, attributes) = found.entry(of_type).or_default();
                if !details {
                    continue;
                }
                if !self.layout.is_moving() {
                    *entities += bucket.entities(of_type, long).await?;
                }
                match only {
                    Some(_) => bucket.all_kinds(of_type, attributes, long).await?,
                    None => _ = bucket.attributes(of_type, None, attributes, long).await?,
                }
            }
        }
        if details && self.layout.is_moving() {
            for (of_type, (entities, _)) in &mut found {
                *entities = self.count_moving(*of_type, None, long).await?;
            }
        }
        let summary = |(name, (entities, attributes)): (TermId, (usize, Kinds))| TypeSummary {
            name,
            entities,
            attributes: attributes.into_iter().collect(),
        };
        Ok(found.into_iter().map(summary).collect())
    }

    async fn attributes(
        &self,
        only: Option<TermId>,
        details: bool,
        long: &mut LongRead<'_>,
    ) -> Result<Vec<AttributeSummary>, Error> {
        let mut found: BTreeMap<TermId, AttributeSummary> = BTreeMap::new();
        for bucket in self.buckets() {
            for of_type in bucket.types(None, long).await? {
                let mut kinds = Kinds::new();
                for name in bucket.attributes(of_type, only, &mut kinds, long).await? {
                    let summary = found.entry(name).or_default();
                    summary.name = name;
                    if !details {
                        continue;
                    }
                    add(&mut summary.types, [of_type]);
                    match only {
                        Some(_) => bucket.count(of_type, summary, long).await?,
                        None => add(&mut summary.kinds, kinds.remove(&name).unwrap_or_default()),
                    }
                }
            }
        }
        found.values_mut().for_each(|summary| summary.types.sort_unstable());
        if let Some(name) = only.filter(|_| details && self.layout.is_moving())
            && let Some(summary) = found.get_mut(&name)
        {
            summary.instances = 0;
            for of_type in &summary.types {
                summary.instances += self.count_moving(*of_type, Some(name), long).await?;
            }
        }
        Ok(found.into_values().collect())
    }

    /// Each entity that moves is in the first bucket, or in another behind it, or in both.
    fn buckets(&self) -> impl Iterator<Item = Bucket<'_>> {
        self.partitions.iter().map(move |partition| Bucket { state: self, partition })
    }

    /// How many entities are of a type while entities move, or how many instances of an attribute those have whose first type it is:
    /// each is counted once. Cost: all rows by type; for instances, a look at each entity.
    async fn count_moving(
        &self,
        of_type: TermId,
        name: Option<TermId>,
        long: &mut LongRead<'_>,
    ) -> Result<usize, Error> {
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
            long.spend(STEPS_A_READ + some.len()).await?;
            let Some(name) = name else {
                count += some.len();
                continue;
            };
            let some: Vec<&str> = some.iter().map(|id| &**id).collect();
            for row in self.rows(&some).await?.into_iter().flatten() {
                long.spend(steps_of(&row)).await?;
                let view = EntityView::peek(&row.value)?;
                if view.types().next() == Some(of_type) {
                    count += view.attribute(name).map_or(0, |attribute| attribute.instances().count());
                }
            }
        }
        Ok(count)
    }
}

fn add<T: PartialEq>(all: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

fn kinds_of(attribute: &AttributeView<'_>) -> impl Iterator<Item = Kind> {
    attribute.instances().map(|instance| instance.kind())
}

/// One bucket's entities.
struct Bucket<'a> {
    state: &'a TenantState,
    partition: &'a Partition,
}

impl Bucket<'_> {
    /// The types in use, each found by a leap behind all rows of the one before.
    async fn types(&self, only: Option<TermId>, long: &mut LongRead<'_>) -> Result<Vec<TermId>, Error> {
        let (mut found, mut range) =
            (Vec::new(), Some(only.map_or_else(|| keys::types_from(TermId(0)), keys::type_range)));
        while let Some(rest) = range {
            let page = self.state.store.scan(self.partition, &rest, Direction::Forward, 1).await?;
            let Some(of_type) = page.last_key().and_then(keys::type_of_key) else {
                break;
            };
            found.push(of_type);
            long.spend(STEPS_A_READ).await?;
            let next = of_type.0.checked_add(1).filter(|_| only.is_none());
            range = next.map(|next| keys::types_from(TermId(next)));
        }
        Ok(found)
    }

    /// The attributes that entities of a type have, all or one, and of each a kind at least.
    async fn attributes(
        &self,
        of_type: TermId,
        only: Option<TermId>,
        kinds: &mut Kinds,
        long: &mut LongRead<'_>,
    ) -> Result<BTreeSet<TermId>, Error> {
        let mut noted = self.state.noted(self.partition, of_type, long).await?;
        if let Some(only) = only {
            noted.retain(|name, _| *name == only);
        }
        let mut see = |view: &EntityView<'_>| {
            for attribute in view.attributes().filter(|attribute| noted.contains_key(&attribute.name())) {
                add(kinds.entry(attribute.name()).or_default(), kinds_of(&attribute));
            }
            true
        };
        let (missing, misnamed) = self.state.meet(self.partition, of_type, &noted, long, &mut see).await?;
        misnamed.into_iter().for_each(|name| self.state.indexes.doubt((of_type, name)));
        Ok(noted.into_keys().filter(|name| !missing.contains(name)).collect())
    }

    /// All kinds of all attributes of the entities of a type.
    async fn all_kinds(
        &self,
        of_type: TermId,
        kinds: &mut Kinds,
        long: &mut LongRead<'_>,
    ) -> Result<(), Error> {
        let mut see = |view: &EntityView<'_>| {
            for attribute in view.attributes() {
                add(kinds.entry(attribute.name()).or_default(), kinds_of(&attribute));
            }
            true
        };
        self.state.walk_type(self.partition, of_type, long, &mut see).await.map(drop)
    }

    /// All kinds and instances of an attribute in the entities of a type.
    async fn count(
        &self,
        of_type: TermId,
        summary: &mut AttributeSummary,
        long: &mut LongRead<'_>,
    ) -> Result<(), Error> {
        let mut see = |view: &EntityView<'_>| {
            // An entity of several types is counted with its first.
            let is_first = view.types().next() == Some(of_type);
            for attribute in view.attributes().filter(|attribute| attribute.name() == summary.name) {
                add(&mut summary.kinds, kinds_of(&attribute));
                summary.instances += if is_first { attribute.instances().count() } else { 0 };
            }
            true
        };
        self.state.walk_type(self.partition, of_type, long, &mut see).await.map(drop)
    }

    async fn entities(&self, of_type: TermId, long: &mut LongRead<'_>) -> Result<usize, Error> {
        let (range, mut count) = (keys::type_range(of_type), 0);
        let mut from = Some(range.start.clone());
        while let Some(start) = from {
            let skipped = self.state.store.skip(self.partition, &range, &start, usize::MAX).await?;
            count += skipped.rows;
            from = skipped.next;
            long.spend(STEPS_A_READ).await?;
        }
        Ok(count)
    }
}
