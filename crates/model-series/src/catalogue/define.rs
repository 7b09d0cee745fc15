//! Defining series: all drafts are checked, numbered, and stored together.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use store::{Condition, Timestamp, Write};

use super::DRAFTS_MAX;
use super::check::{check_attributes, checked, index_rows};
use super::context::{BACKOFF, Context, put_users};
use super::find::Versioned;
use super::formulas::{Ground, check_depth, check_users, operands};
use super::pending::PendingCommit;
use super::refusals::Refusals;
use crate::encode::put_definition;
use crate::feed::{self, DefinitionFate};
use crate::keys;
use crate::{AttributeType, AttributeValue, Definition, DefinitionDraft};
use crate::{Error, SeriesRef};

impl Context {
    /// Defines series; see [`crate::Repository::define`].
    pub(crate) async fn define(
        &self,
        drafts: Vec<DefinitionDraft>,
        now: Timestamp,
    ) -> Result<Vec<Arc<Definition>>, Error> {
        let what = || "series that are defined at once".into();
        Error::check_limit("DRAFTS_MAX", DRAFTS_MAX, drafts.len(), what)?;
        let mut refusals = Refusals::of(drafts.len());
        let mut definitions = Vec::with_capacity(drafts.len());
        for (place, draft) in drafts.into_iter().enumerate() {
            let name = draft.name.clone();
            match checked(draft, 0, now) {
                Ok(definition) => definitions.push(definition),
                Err(error) => refusals.add(place, &name, error)?,
            }
        }
        refusals.settle()?;
        if definitions.is_empty() {
            return Ok(Vec::new());
        }
        self.carry_out_met().await?;
        self.name_operands(&mut definitions).await?;
        // Again where another writer came first: what it did is seen then.
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let pending = self.put_all(&mut definitions).await?;
            match self.commit(pending).await {
                Ok(true) => return Ok(definitions.into_iter().map(Arc::new).collect()),
                Ok(false) => {}
                Err(Error::Limit { what, limit }) => {
                    let what = format!("{} series defined at once: {what}", definitions.len()).into();
                    return Err(Error::Limit { what, limit });
                }
                Err(error) => return Err(error),
            }
        }
        Err(attempts.exhausted("the catalogue").into())
    }

    /// The commit that stores all definitions, once they are checked against what is stored now, and numbered.
    async fn put_all(&self, definitions: &mut [Definition]) -> Result<PendingCommit, Error> {
        let ground = self.check_formulas(definitions).await?;
        let mut pending =
            PendingCommit { conditions: self.survey(definitions).await?, ..PendingCommit::default() };
        self.give_numbers(definitions).await?;
        for definition in &*definitions {
            put_new(definition, &mut pending);
        }
        self.use_operands_of_all(definitions, &ground, &mut pending).await?;
        Ok(pending)
    }

    /// Checks the formulas of definitions that are to be stored together: operands, circles, depth. Answers the stored
    /// series that they refer to.
    async fn check_formulas(&self, definitions: &[Definition]) -> Result<Ground, Error> {
        if !definitions.iter().any(Definition::is_computed) {
            return Ok(Ground::new());
        }
        let fresh: HashMap<&str, &Definition> = definitions.iter().map(|one| (&*one.name, one)).collect();
        let ground = self.ground(&fresh).await?;
        let mut refusals = Refusals::of(definitions.len());
        for (place, definition) in definitions.iter().enumerate() {
            if let Err(error) = check_depth(&definition.name, &fresh, &ground) {
                refusals.add(place, &definition.name, error)?;
            }
        }
        refusals.settle()?;
        Ok(ground)
    }

    /// Checks definitions against the units, attribute types and series that are stored; answers what holds while all
    /// that they hang on stays so.
    async fn survey(&self, definitions: &[Definition]) -> Result<Vec<Condition>, Error> {
        let mut refusals = Refusals::of(definitions.len());
        let mut conditions = Vec::new();
        let keys: Vec<Bytes> = definitions.iter().map(|definition| keys::name(&definition.name)).collect();
        let mut names = HashSet::with_capacity(definitions.len());
        for ((place, definition), row) in definitions.iter().enumerate().zip(self.rows(&keys).await?) {
            if row.is_some() || !names.insert(&*definition.name) {
                let error = Error::AlreadyExists(format!("series {}", definition.name).into());
                refusals.add(place, &definition.name, error)?;
            }
        }
        let (units, condition) = self.units().await?;
        if definitions.iter().any(Definition::uses_units) {
            conditions.push(condition);
        }
        let (types, of_types) = self.types_of(definitions.iter()).await?;
        conditions.extend(of_types);
        let known = self.series_of(definitions.iter()).await?;
        for (place, definition) in definitions.iter().enumerate() {
            let unknown = definition.used_units().find_map(|unit| units.get(unit).err());
            let checked = unknown.map_or(Ok(()), |error| Err(error.into()));
            let checked = checked.and_then(|()| check_attributes(&definition.attributes, &types));
            let checked = checked.and_then(|()| check_series(definition, &known));
            if let Err(error) = checked {
                refusals.add(place, &definition.name, error)?;
            }
        }
        refusals.settle()?;
        Ok(conditions)
    }

    /// The attribute types that definitions use, and what holds while they stay as they are.
    pub(crate) async fn types_of<'a>(
        &self,
        definitions: impl Iterator<Item = &'a Definition>,
    ) -> Result<(HashMap<&'a str, AttributeType>, Vec<Condition>), Error> {
        let names: HashSet<&str> = definitions
            .flat_map(|definition| definition.attributes.iter().map(|attribute| &*attribute.name))
            .collect();
        let names: Vec<&str> = names.into_iter().collect();
        let (mut types, mut conditions) = (HashMap::new(), Vec::new());
        for (name, found) in names.iter().zip(self.attribute_types(&names).await?) {
            if let Some((of_type, condition)) = found {
                types.insert(*name, of_type);
                conditions.push(condition);
            }
        }
        Ok((types, conditions))
    }

    /// Which of the series that attributes of definitions name there are.
    pub(crate) async fn series_of<'a>(
        &self,
        definitions: impl Iterator<Item = &'a Definition>,
    ) -> Result<HashSet<u32>, Error> {
        let numbers: HashSet<u32> = definitions.flat_map(Definition::attribute_series).collect();
        let numbers: Vec<u32> = numbers.into_iter().collect();
        let found = self.find_numbers(&numbers).await?;
        Ok(found.into_iter().flatten().map(|found| found.definition.number).collect())
    }

    /// Enters the formulas of new series in the rows of those they refer to, new and stored ones, on condition that
    /// nothing they refer to changes.
    async fn use_operands_of_all(
        &self,
        definitions: &[Definition],
        ground: &Ground,
        pending: &mut PendingCommit,
    ) -> Result<(), Error> {
        pending.conditions.extend(ground.values().map(Versioned::condition));
        let numbers: HashMap<&str, u32> = definitions.iter().map(|one| (&*one.name, one.number)).collect();
        let stored = |name: &str| ground.get(name).map(|found| found.definition.number);
        let mut users_of: BTreeMap<u32, (&str, Vec<u32>)> = BTreeMap::new();
        for definition in definitions {
            for name in operands(definition) {
                let Some(number) = numbers.get(name).copied().or_else(|| stored(name)) else {
                    continue;
                };
                users_of.entry(number).or_insert((name, Vec::new())).1.push(definition.number);
            }
        }
        for (number, (name, added)) in users_of {
            let (mut users, condition) = self.users(number).await?;
            users.extend(added);
            users.sort_unstable();
            users.dedup();
            check_users(name, users.len())?;
            pending.conditions.push(condition);
            pending.writes.push(put_users(number, &users));
        }
        Ok(())
    }

    /// Gives each its number: that of its name, or the next that is free.
    async fn give_numbers(&self, definitions: &mut [Definition]) -> Result<(), Error> {
        let mut given = HashSet::with_capacity(definitions.len());
        let home = |(place, one): (usize, &Definition)| (place, keys::home_number(&one.name));
        let mut left: Vec<(usize, u32)> = definitions.iter().enumerate().map(home).collect();
        while !left.is_empty() {
            let of = |key: fn(u32) -> Bytes| left.iter().map(|(_, number)| key(*number)).collect::<Vec<_>>();
            let defined = self.rows(&of(keys::definition)).await?;
            let removed = self.rows(&of(keys::removal)).await?;
            let mut taken = Vec::new();
            for ((place, number), (defined, removed)) in
                left.into_iter().zip(defined.into_iter().zip(removed))
            {
                if defined.is_none() && removed.is_none() && given.insert(number) {
                    definitions.get_mut(place).expect("a place among them").number = number;
                } else {
                    taken.push((place, number.wrapping_add(self.buckets())));
                }
            }
            left = taken;
        }
        Ok(())
    }
}

/// The rows of a new series.
fn put_new(definition: &Definition, pending: &mut PendingCommit) {
    let number = definition.number;
    let (by_number, by_name) = (keys::definition(number), keys::name(&definition.name));
    pending.conditions.extend([
        Condition::Absent(by_number.clone()),
        Condition::Absent(by_name.clone()),
        Condition::Absent(keys::removal(number)),
    ]);
    let bytes = Bytes::from(put_definition(definition));
    feed::put_definition(&mut pending.change, DefinitionFate::Defined, number, &bytes);
    pending.writes.push(Write::PutStamped(by_number, bytes));
    pending.writes.push(Write::PutStamped(by_name, keys::value_of_number(number)));
    for (key, is_numbered) in index_rows(definition) {
        let value = if is_numbered { keys::value_of_number(number) } else { Bytes::new() };
        pending.writes.push(Write::Put(key, value));
    }
}

/// Refuses attributes that name series which are not there.
pub(crate) fn check_series(definition: &Definition, known: &HashSet<u32>) -> Result<(), Error> {
    match definition.attribute_series().find(|number| !known.contains(number)) {
        Some(number) => Err(Error::NotFound(SeriesRef::Id(number).to_string().into())),
        None => Ok(()),
    }
}

impl Definition {
    /// The units that it names, itself and in its formula.
    pub(crate) fn used_units(&self) -> impl Iterator<Item = &str> {
        let references = self.formula.iter().flat_map(|formula| formula.tree.references());
        self.unit.as_deref().into_iter().chain(references.filter_map(|reference| reference.unit.as_deref()))
    }

    pub(crate) fn uses_units(&self) -> bool {
        self.used_units().next().is_some()
    }

    /// The series that its attributes name.
    fn attribute_series(&self) -> impl Iterator<Item = u32> {
        self.attributes.iter().filter_map(|attribute| match attribute.value {
            AttributeValue::Series(number) => Some(number),
            _ => None,
        })
    }
}
