//! Defining series: all drafts are checked, numbered, and stored in commits of many.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use store::{Condition, Timestamp, Write};

use super::check::{check_attributes, checked, index_rows};
use super::context::{ATTEMPTS_MAX, Context, Draught};
use super::encode::put_definition;
use super::formulas::check_depth;
use super::keys;
use super::refusals::Refusals;
use super::{AttributeType, AttributeValue, DRAFTS_MAX, Definition, DefinitionDraft};
use crate::feed::{self, DefinitionFate};
use crate::{Error, SeriesRef};

/// Series that are defined in one commit.
const COMMIT_SERIES_MAX: usize = 256;
/// A commit of definitions takes no more series from this many bytes of them on. Rows and index rows together are a
/// few times that, and stay below what the store takes.
const COMMIT_DEFINITIONS_BYTES: usize = 1024 * 1024;

/// What was found of the things that definitions hang on, and what holds while they stay so.
#[derive(Debug, Default)]
struct Survey {
    conditions: Vec<Condition>,
}

impl Context {
    /// Defines series; see [`crate::Repository::define`].
    pub(crate) async fn define(
        &self,
        drafts: Vec<DefinitionDraft>,
        now: Timestamp,
    ) -> Result<Vec<Arc<Definition>>, Error> {
        if drafts.len() > DRAFTS_MAX {
            return Err(Error::Limit(format!("at most {DRAFTS_MAX} series are defined at once")));
        }
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
        check_formulas(self, &definitions).await?;
        let (computed, plain): (Vec<usize>, Vec<usize>) = (0..definitions.len())
            .partition(|place| definitions.get(*place).is_some_and(Definition::is_computed));
        let all: Vec<usize> = (0..definitions.len()).collect();
        let survey = self.survey(&definitions, &all).await?;
        self.define_all(&mut definitions, plain, survey).await?;
        for place in in_order(&definitions, computed) {
            self.define_computed(&mut definitions, place).await?;
        }
        Ok(definitions.into_iter().map(Arc::new).collect())
    }

    /// Checks the definitions at `places` against what is stored.
    async fn survey(&self, definitions: &[Definition], places: &[usize]) -> Result<Survey, Error> {
        let chosen = || places.iter().filter_map(|place| Some((*place, definitions.get(*place)?)));
        let mut refusals = Refusals::of(definitions.len());
        let mut conditions = Vec::new();
        let keys: Vec<Bytes> = chosen().map(|(_, definition)| keys::name(&definition.name)).collect();
        let mut names = HashSet::with_capacity(places.len());
        for ((place, definition), row) in chosen().zip(self.rows(&keys).await?) {
            if row.is_some() || !names.insert(&*definition.name) {
                let error = Error::AlreadyExists(format!("series {}", definition.name).into());
                refusals.add(place, &definition.name, error)?;
            }
        }
        let (units, condition) = self.units().await?;
        if chosen().any(|(_, definition)| definition.uses_units()) {
            conditions.push(condition);
        }
        let (types, of_types) = self.types_of(chosen().map(|(_, definition)| definition)).await?;
        conditions.extend(of_types);
        let known = self.series_of(chosen().map(|(_, definition)| definition)).await?;
        for (place, definition) in chosen() {
            let unknown = definition.used_units().find_map(|unit| units.get(unit).err());
            let checked = unknown.map_or(Ok(()), Err);
            let checked = checked.and_then(|()| check_attributes(&definition.attributes, &types));
            let checked = checked.and_then(|()| check_series(definition, &known));
            if let Err(error) = checked {
                refusals.add(place, &definition.name, error)?;
            }
        }
        refusals.settle()?;
        Ok(Survey { conditions })
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

    /// Stores definitions without formulas, many in a commit, all commits in one group; again where others came first.
    async fn define_all(
        &self,
        definitions: &mut [Definition],
        places: Vec<usize>,
        mut survey: Survey,
    ) -> Result<(), Error> {
        let mut left = places;
        for _ in 0..ATTEMPTS_MAX {
            if left.is_empty() {
                return Ok(());
            }
            self.give_numbers(definitions, &left).await?;
            let chunks = put_all(definitions, &left, &survey.conditions);
            let (places, draughts): (Vec<Vec<usize>>, Vec<Draught>) = chunks.into_iter().unzip();
            let mut lost = Vec::new();
            for (places, outcome) in places.into_iter().zip(self.commit_all(draughts).await) {
                if !outcome? {
                    lost.extend(places);
                }
            }
            left = lost;
            if !left.is_empty() {
                survey = self.survey(definitions, &left).await?;
            }
        }
        Err(Error::Contention("the catalogue".into()))
    }

    /// Stores one definition with a formula, whose operands are all stored.
    async fn define_computed(&self, definitions: &mut [Definition], place: usize) -> Result<(), Error> {
        for _ in 0..ATTEMPTS_MAX {
            let survey = self.survey(definitions, &[place]).await?;
            self.give_numbers(definitions, &[place]).await?;
            let Some(definition) = definitions.get(place) else {
                return Ok(());
            };
            let fresh = HashMap::from([(&*definition.name, definition)]);
            let ground = self.ground(&fresh).await?;
            check_depth(&definition.name, &fresh, &ground)?;
            let mut draught = Draught { conditions: survey.conditions, ..Draught::default() };
            self.use_operands(definition, &ground, &mut draught).await?;
            put_new(definition, &mut draught);
            if self.commit(draught).await? {
                return Ok(());
            }
        }
        Err(Error::Contention("the catalogue".into()))
    }

    /// Gives each its number: that of its name, or the next that is free.
    async fn give_numbers(&self, definitions: &mut [Definition], places: &[usize]) -> Result<(), Error> {
        let mut given = HashSet::with_capacity(places.len());
        let mut left: Vec<(usize, u32)> = Vec::with_capacity(places.len());
        for place in places {
            left.extend(definitions.get(*place).map(|one| (*place, keys::home_number(&one.name))));
        }
        while !left.is_empty() {
            let of = |key: fn(u32) -> Bytes| left.iter().map(|(_, number)| key(*number)).collect::<Vec<_>>();
            let defined = self.rows(&of(keys::definition)).await?;
            let removed = self.rows(&of(keys::removal)).await?;
            let mut taken = Vec::new();
            for ((place, number), (defined, removed)) in
                left.into_iter().zip(defined.into_iter().zip(removed))
            {
                if defined.is_none() && removed.is_none() && given.insert(number) {
                    if let Some(definition) = definitions.get_mut(place) {
                        definition.number = number;
                    }
                } else {
                    taken.push((place, number.wrapping_add(1)));
                }
            }
            left = taken;
        }
        Ok(())
    }
}

/// The commits that store the definitions at `places`, each with the places it stores.
fn put_all(
    definitions: &[Definition],
    places: &[usize],
    conditions: &[Condition],
) -> Vec<(Vec<usize>, Draught)> {
    let mut chunks: Vec<(Vec<usize>, Draught)> = Vec::new();
    for place in places {
        let Some(definition) = definitions.get(*place) else {
            continue;
        };
        let is_full = |(places, draught): &(Vec<usize>, Draught)| {
            places.len() >= COMMIT_SERIES_MAX || draught.change.len() >= COMMIT_DEFINITIONS_BYTES
        };
        if chunks.last().is_none_or(is_full) {
            let draught = Draught { conditions: conditions.to_vec(), ..Draught::default() };
            chunks.push((Vec::new(), draught));
        }
        if let Some((places, draught)) = chunks.last_mut() {
            places.push(*place);
            put_new(definition, draught);
        }
    }
    chunks
}

/// The rows of a new series.
fn put_new(definition: &Definition, draught: &mut Draught) {
    let number = definition.number;
    let (by_number, by_name) = (keys::definition(number), keys::name(&definition.name));
    draught.conditions.extend([
        Condition::Absent(by_number.clone()),
        Condition::Absent(by_name.clone()),
        Condition::Absent(keys::removal(number)),
    ]);
    let bytes = Bytes::from(put_definition(definition));
    feed::put_definition(&mut draught.change, DefinitionFate::Defined, number, &bytes);
    draught.writes.push(Write::PutStamped(by_number, bytes));
    draught.writes.push(Write::PutStamped(by_name, keys::value_of_number(number)));
    for (key, is_numbered) in index_rows(definition) {
        let value = if is_numbered { keys::value_of_number(number) } else { Bytes::new() };
        draught.writes.push(Write::Put(key, value));
    }
}

/// Checks the formulas of definitions that are to be stored together: operands, circles, depth.
async fn check_formulas(context: &Context, definitions: &[Definition]) -> Result<(), Error> {
    if !definitions.iter().any(Definition::is_computed) {
        return Ok(());
    }
    let fresh: HashMap<&str, &Definition> = definitions.iter().map(|one| (&*one.name, one)).collect();
    let ground = context.ground(&fresh).await?;
    let mut refusals = Refusals::of(definitions.len());
    for (place, definition) in definitions.iter().enumerate() {
        if let Err(error) = check_depth(&definition.name, &fresh, &ground) {
            refusals.add(place, &definition.name, error)?;
        }
    }
    refusals.settle()
}

/// Places of definitions with formulas, those that others refer to first. There are no circles.
fn in_order(definitions: &[Definition], mut left: Vec<usize>) -> Vec<usize> {
    let mut ordered = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let names: HashSet<&str> =
            left.iter().filter_map(|place| definitions.get(*place)).map(|one| &*one.name).collect();
        let waits = |place: &usize| {
            let formula = definitions.get(*place).and_then(|one| one.formula.as_ref());
            formula.is_some_and(|formula| formula.tree.names().iter().any(|name| names.contains(name)))
        };
        let (later, now): (Vec<usize>, Vec<usize>) = left.iter().partition(|place| waits(place));
        if now.is_empty() {
            ordered.extend(later);
            break;
        }
        ordered.extend(now);
        left = later;
    }
    ordered
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
