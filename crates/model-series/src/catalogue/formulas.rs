//! Formulas over formulas: what a formula refers to, at any depth, without circles and without end.

use std::collections::HashMap;
use std::sync::Arc;

use super::context::{Context, put_users};
use super::find::Versioned;
use super::pending::PendingCommit;
use super::{FORMULA_DEPTH_MAX, FORMULA_SERIES_MAX, FORMULA_USERS_MAX};
use crate::{DefinedFormula, Definition};
use crate::{Error, SeriesRef};

/// The stored series that formulas refer to, at all depths, by name.
pub(crate) type Ground = HashMap<Box<str>, Versioned>;

/// The names that a definition's formula refers to.
pub(crate) fn operands(definition: &Definition) -> Vec<&str> {
    definition.formula.as_ref().map(|formula| formula.tree.names()).unwrap_or_default()
}

impl Context {
    /// Puts names in the place of IDs by which formulas refer to stored series: digits alone are an ID before they are a
    /// name. Cost: one look-up for all.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for a formula that the names make too long; if the store refuses.
    pub(crate) async fn name_operands(&self, definitions: &mut [Definition]) -> Result<(), Error> {
        let names = definitions.iter().flat_map(operands);
        let mut numbers: Vec<u32> = names.filter_map(number_of).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            return Ok(());
        }
        let found = self.find_numbers(&numbers).await?.into_iter().flatten();
        let found: HashMap<u32, Versioned> = found.map(|one| (one.definition.number, one)).collect();
        for definition in definitions {
            let name_of = |number: u32| found.get(&number).map(|found| &*found.definition.name);
            let Some(formula) = definition.formula.as_ref().and_then(|formula| formula.named(name_of)) else {
                continue;
            };
            Error::check_limit("TEXT_BYTES_MAX", lang_formula::TEXT_BYTES_MAX, formula.text.len(), || {
                format!("bytes of the formula of series {}, with names for IDs", definition.name)
            })?;
            definition.formula = Some(formula);
        }
        Ok(())
    }

    /// The stored series that the formulas of `fresh` refer to, at all depths. What is in `fresh` itself is not looked up.
    /// Cost: one look-up for each series, one read for each depth.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], naming the first series that is not there; [`Error::Limit`].
    pub(crate) async fn ground(&self, fresh: &HashMap<&str, &Definition>) -> Result<Ground, Error> {
        let mut ground = Ground::new();
        let mut wanted: Vec<Box<str>> = Vec::new();
        let want = |definition: &Definition, ground: &Ground, wanted: &mut Vec<Box<str>>| {
            for name in operands(definition) {
                if !fresh.contains_key(name) && !ground.contains_key(name) {
                    wanted.push(name.into());
                }
            }
        };
        fresh.values().for_each(|definition| want(definition, &ground, &mut wanted));
        while !wanted.is_empty() {
            wanted.sort_unstable();
            wanted.dedup();
            let level = std::mem::take(&mut wanted);
            if fresh.len().saturating_mul(FORMULA_SERIES_MAX) < ground.len() + level.len() {
                // Then one of them refers to more than it may.
                refuse_series(FORMULA_SERIES_MAX + 1)?;
            }
            let names: Vec<SeriesRef<'_>> = level.iter().map(|name| SeriesRef::Name(name)).collect();
            let found = self.find_all(&names).await?;
            for (name, found) in level.iter().zip(found) {
                let found =
                    found.ok_or_else(|| Error::NotFound(format!("series {name} of a formula").into()))?;
                ground.insert(name.clone(), found);
            }
            for name in &level {
                if let Some(found) = ground.get(name) {
                    want(&found.definition, &ground, &mut wanted);
                }
            }
        }
        Ok(ground)
    }

    /// How many formulas refer to a series, one through the other.
    pub(crate) async fn height(&self, number: u32) -> Result<usize, Error> {
        let mut level = vec![number];
        for height in 0..=FORMULA_DEPTH_MAX {
            let mut above = Vec::new();
            for number in &level {
                above.extend(self.users(*number).await?.0);
            }
            above.sort_unstable();
            above.dedup();
            if above.is_empty() {
                return Ok(height);
            }
            level = above;
        }
        Ok(FORMULA_DEPTH_MAX + 1)
    }

    /// Enters a formula in the rows of the series it refers to, on condition that nothing it refers to changes.
    pub(crate) async fn use_operands(
        &self,
        definition: &Definition,
        ground: &Ground,
        pending: &mut PendingCommit,
    ) -> Result<(), Error> {
        pending.conditions.extend(ground.values().map(Versioned::condition));
        for name in operands(definition) {
            let Some(operand) = ground.get(name) else {
                continue;
            };
            let number = operand.definition.number;
            let (mut users, condition) = self.users(number).await?;
            if let Err(place) = users.binary_search(&definition.number) {
                users.insert(place, definition.number);
            }
            check_users(name, users.len())?;
            pending.conditions.push(condition);
            pending.writes.push(put_users(number, &users));
        }
        Ok(())
    }

    /// Takes a formula out of the rows of series that it refers to, but not in its next version.
    pub(crate) async fn release_operands(
        &self,
        before: &Definition,
        after: Option<&Definition>,
        pending: &mut PendingCommit,
    ) -> Result<(), Error> {
        let kept = after.map(operands).unwrap_or_default();
        let dropped: Vec<&str> = operands(before).into_iter().filter(|name| !kept.contains(name)).collect();
        let names: Vec<SeriesRef<'_>> = dropped.into_iter().map(SeriesRef::Name).collect();
        for operand in self.find_all(&names).await?.into_iter().flatten() {
            let number = operand.definition.number;
            let (mut users, condition) = self.users(number).await?;
            users.retain(|user| *user != before.number);
            pending.conditions.push(condition);
            pending.writes.push(put_users(number, &users));
        }
        Ok(())
    }
}

/// The ID that a name may mean: digits alone.
fn number_of(name: &str) -> Option<u32> {
    name.bytes().all(|byte| byte.is_ascii_digit()).then(|| name.parse().ok())?
}

impl DefinedFormula {
    /// The formula with names in the place of IDs; `None` if it refers to none that is known.
    fn named<'a>(&self, name_of: impl Fn(u32) -> Option<&'a str>) -> Option<Self> {
        let ids: Vec<(Box<str>, &str)> = self
            .tree
            .names()
            .into_iter()
            .filter_map(|id| Some((id.into(), name_of(number_of(id)?)?)))
            .collect();
        // A name may look like another's ID: first all IDs go, then the names come.
        let marked = |id: &str| format!("\0{id}");
        let without =
            ids.iter().fold((*self.tree).clone(), |tree, (id, _)| tree.with_renamed(id, &marked(id)));
        let named = ids.iter().fold(without, |tree, (id, name)| tree.with_renamed(&marked(id), name));
        (!ids.is_empty()).then(|| Self { text: named.to_string().into(), tree: Arc::new(named) })
    }
}

/// Refuses more formulas on a series than may refer to it.
///
/// # Errors
///
/// [`Error::Limit`].
pub(crate) fn check_users(name: &str, users: usize) -> Result<(), Error> {
    Error::check_limit("FORMULA_USERS_MAX", FORMULA_USERS_MAX, users, || {
        format!("series {name}: formulas that refer to it")
    })
}

/// Refuses a formula that refers to formulas too deep.
///
/// # Errors
///
/// [`Error::Limit`].
pub(crate) fn refuse_depth(depth: usize) -> Result<(), Error> {
    Error::check_limit("FORMULA_DEPTH_MAX", FORMULA_DEPTH_MAX, depth, || {
        "depth of formulas on formulas".into()
    })
}

fn refuse_series(series: usize) -> Result<(), Error> {
    Error::check_limit("FORMULA_SERIES_MAX", FORMULA_SERIES_MAX, series, || "series below a formula".into())
}

/// How deep the formula of `name` refers to others: 0 if it has none.
///
/// # Errors
///
/// [`Error::Invalid`] for a circle, naming the series on it; [`Error::Limit`] beyond [`FORMULA_DEPTH_MAX`] or
/// [`FORMULA_SERIES_MAX`].
pub(crate) fn check_depth<'a>(
    name: &'a str,
    fresh: &'a HashMap<&str, &Definition>,
    ground: &'a Ground,
) -> Result<usize, Error> {
    let mut walk = Walk { fresh, ground, path: Vec::new(), depths: HashMap::new() };
    let depth = walk.depth(name)?;
    refuse_series(walk.depths.len())?;
    Ok(depth)
}

struct Walk<'a> {
    fresh: &'a HashMap<&'a str, &'a Definition>,
    ground: &'a Ground,
    /// From the first formula to the one looked at.
    path: Vec<&'a str>,
    depths: HashMap<&'a str, usize>,
}

impl<'a> Walk<'a> {
    /// Recurses at most [`FORMULA_DEPTH_MAX`] times.
    fn depth(&mut self, name: &'a str) -> Result<usize, Error> {
        if let Some(depth) = self.depths.get(name) {
            return Ok(*depth);
        }
        if let Some(start) = self.path.iter().position(|one| *one == name) {
            let circle: Vec<&str> = self.path.iter().skip(start).copied().chain([name]).collect();
            return Err(Error::Invalid(format!("the formula goes in a circle: {}", circle.join(" -> "))));
        }
        refuse_depth(self.path.len())?;
        let (fresh, ground) = (self.fresh, self.ground);
        let stored = || ground.get(name).map(|found| &*found.definition);
        let definition = fresh.get(name).copied().or_else(stored);
        self.path.push(name);
        let mut depth = 0;
        for operand in operands(definition.expect("what a formula stands on was looked up")) {
            depth = depth.max(self.depth(operand)? + 1);
        }
        self.path.pop();
        self.depths.insert(name, depth);
        Ok(depth)
    }
}
