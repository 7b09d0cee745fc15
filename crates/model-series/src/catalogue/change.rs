//! Changing and removing series.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use store::{Condition, StateCondition, Timestamp, Write};

use super::check::{check_attributes, checked, index_rows};
use super::context::{BACKOFF, Context};
use super::define::check_series;
use super::find::Versioned;
use super::formulas::{check_depth, refuse_depth};
use super::pending::PendingCommit;
use super::state::check_state;
use crate::encode::{damaged, put_definition};
use crate::feed::{self, DefinitionFate};
use crate::keys;
use crate::{DefinedFormula, Definition, DefinitionChange};
use crate::{Error, SeriesRef};
use strands::Strand;

/// Strands that are listed, and rows that are scanned, in one page.
const PAGE: usize = 1_024;
/// How long the number of a removed series is not given again: longer than any request that found the series lasts,
/// so that no write under way ends up in a new series.
const REMOVAL_GRACE_US: i64 = 15 * 60 * 1_000_000;
/// The most names that a refusal lists.
const NAMES_TOLD_MAX: usize = 5;

impl Context {
    /// Changes a definition; see [`crate::Repository::change`].
    pub(crate) async fn change(
        &self,
        series: SeriesRef<'_>,
        change: DefinitionChange,
        condition: &StateCondition,
        now: Timestamp,
    ) -> Result<Arc<Definition>, Error> {
        self.carry_out_met().await?;
        // By number from here on: another change may rename it meanwhile.
        let mut before = self.find(series).await?;
        let number = before.definition.number;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let was = &before.definition;
            check_state(condition, Some(|| was.fingerprint()), "series", &was.name)?;
            let draft = before.definition.to_draft().with(change.clone());
            let mut after = checked(draft, number, now)?;
            after.created = before.definition.created;
            if after.formula != before.definition.formula {
                self.name_operands(std::slice::from_mut(&mut after)).await?;
            }
            let pending = self.think_change(&before, &after).await?;
            if self.commit(pending).await? {
                return Ok(Arc::new(after));
            }
            before = self.find(SeriesRef::Id(number)).await?;
        }
        Err(attempts.exhausted(before.definition.name.clone()).into())
    }

    /// What makes a definition another.
    async fn think_change(&self, before: &Versioned, after: &Definition) -> Result<PendingCommit, Error> {
        let was = &*before.definition;
        let number = was.number;
        let mut pending = PendingCommit { conditions: vec![before.condition()], ..PendingCommit::default() };
        self.check_surroundings(after, &mut pending).await?;
        if was.differs_in_points(after) {
            self.check_empty(was).await?;
        }
        let is_formula_new = was.formula != after.formula;
        if is_formula_new {
            self.change_formula(was, after, &mut pending).await?;
        }
        if was.name != after.name {
            self.rename(was, after, &mut pending).await?;
        }
        let (old_rows, new_rows) = (index_rows(was), index_rows(after));
        pending.writes.extend(old_rows.difference(&new_rows).map(|(key, _)| Write::Delete(key.clone())));
        for (key, is_numbered) in new_rows.difference(&old_rows) {
            let value = if *is_numbered { keys::value_of_number(number) } else { Bytes::new() };
            pending.writes.push(Write::Put(key.clone(), value));
        }
        put_changed(after, &mut pending);
        Ok(pending)
    }

    /// Checks units, attribute types and series that a definition names.
    async fn check_surroundings(&self, after: &Definition, pending: &mut PendingCommit) -> Result<(), Error> {
        if after.uses_units() {
            let (units, condition) = self.units().await?;
            after.used_units().try_for_each(|unit| units.get(unit).map(drop))?;
            pending.conditions.push(condition);
        }
        let (types, conditions) = self.types_of(std::iter::once(after)).await?;
        pending.conditions.extend(conditions);
        check_attributes(&after.attributes, &types)?;
        check_series(after, &self.series_of(std::iter::once(after)).await?)
    }

    /// Refuses unless the series holds no points; what rows of points it has are removed.
    async fn check_empty(&self, series: &Definition) -> Result<(), Error> {
        let mut after: Option<Bytes> = None;
        let partition = keys::series_partition(&self.tenant, series.number);
        loop {
            let names = self.strands.list(&partition, &[], after.as_deref(), PAGE).await?;
            for name in &names {
                let strand = Strand { partition: partition.clone(), name: name.clone() };
                // What an audited series held once is still held for reads as of then.
                if series.switches.audit || self.strands.extent(&strand).await?.is_some() {
                    let held = if series.switches.audit { "has held" } else { "holds" };
                    return Err(Error::Invalid(format!(
                        "series {} {held} points: alignment, interval, zone, beginning of days, quotations, audit \
                         and a first formula can be set only on a series that holds none",
                        series.name
                    )));
                }
                self.strands.erase(&strand, Vec::new(), None).await?;
            }
            if names.len() < PAGE {
                return Ok(());
            }
            after = names.last().cloned();
        }
    }

    /// Checks the new formula, and enters the series in the rows of those it refers to.
    async fn change_formula(
        &self,
        was: &Definition,
        after: &Definition,
        pending: &mut PendingCommit,
    ) -> Result<(), Error> {
        // Under the name that other formulas know, so that circles through the series itself are seen.
        let mut same_name = after.clone();
        same_name.name = was.name.clone();
        let fresh = HashMap::from([(&*was.name, &same_name)]);
        let ground = self.ground(&fresh).await?;
        let depth = check_depth(&was.name, &fresh, &ground)?;
        if after.is_computed() {
            refuse_depth(depth + self.height(was.number).await?)?;
        }
        self.use_operands(&same_name, &ground, pending).await?;
        self.release_operands(was, Some(&same_name), pending).await
    }

    /// Moves the row of the name, and writes the new name into the formulas that refer to the series.
    async fn rename(
        &self,
        was: &Definition,
        after: &Definition,
        pending: &mut PendingCommit,
    ) -> Result<(), Error> {
        let key = keys::name(&after.name);
        if self.row(&key).await?.is_some() {
            return Err(Error::AlreadyExists(format!("series {}", after.name).into()));
        }
        pending.conditions.push(Condition::Absent(key.clone()));
        pending.writes.push(Write::Delete(keys::name(&was.name)));
        pending.writes.push(Write::PutStamped(key, keys::value_of_number(was.number)));
        let (users, condition) = self.users(was.number).await?;
        pending.conditions.push(condition);
        for (number, user) in users.iter().zip(self.find_numbers(&users).await?) {
            let Some(user) = user else {
                // It is being defined; when it is there, it is to be renamed in, too.
                pending.conditions.push(Condition::Absent(keys::definition(*number)));
                continue;
            };
            let Some(formula) = &user.definition.formula else {
                pending.conditions.push(user.condition());
                continue;
            };
            let tree = formula.tree.with_renamed(&was.name, &after.name);
            let text = tree.to_string();
            Error::check_limit("TEXT_BYTES_MAX", lang_formula::TEXT_BYTES_MAX, text.len(), || {
                format!("bytes of the formula of series {}, which refers to it", user.definition.name)
            })?;
            let mut renamed = Definition::clone(&user.definition);
            renamed.formula = Some(DefinedFormula { text: text.into(), tree: Arc::new(tree) });
            renamed.changed = after.changed;
            pending.conditions.push(user.condition());
            put_changed(&renamed, pending);
        }
        Ok(())
    }

    /// Removes a series; see [`crate::Repository::remove`].
    pub(crate) async fn remove(
        &self,
        series: SeriesRef<'_>,
        condition: &StateCondition,
        now: Timestamp,
    ) -> Result<Arc<Definition>, Error> {
        self.carry_out_met().await?;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let found = self.find(series).await?;
            let was = &found.definition;
            check_state(condition, Some(|| was.fingerprint()), "series", &was.name)?;
            let (users, unused) = self.users(found.definition.number).await?;
            if !users.is_empty() {
                return Err(self.in_use(&found.definition, &users).await?);
            }
            let mut pending =
                PendingCommit { conditions: vec![found.condition(), unused], ..PendingCommit::default() };
            self.release_operands(&found.definition, None, &mut pending).await?;
            put_removal(&found.definition, now, &mut pending);
            if self.commit(pending).await? {
                self.erase_points(found.definition.number).await?;
                return Ok(found.definition);
            }
        }
        Err(attempts.exhausted("the catalogue").into())
    }

    /// The refusal to remove what formulas refer to.
    async fn in_use(&self, series: &Definition, users: &[u32]) -> Result<Error, Error> {
        let told: Vec<u32> = users.iter().copied().take(NAMES_TOLD_MAX).collect();
        let found = self.find_numbers(&told).await?;
        let names: Vec<&str> = found.iter().flatten().map(|user| &*user.definition.name).collect();
        let more = if users.len() > told.len() { ", ..." } else { "" };
        let text = format!("series {} is used in formulas of: {}{more}", series.name, names.join(", "));
        Ok(Error::Invalid(text))
    }

    /// Removes all rows of points under a number.
    pub(crate) async fn erase_points(&self, number: u32) -> Result<(), Error> {
        let partition = keys::series_partition(&self.tenant, number);
        loop {
            let names = self.strands.list(&partition, &[], None, PAGE).await?;
            let is_last = names.len() < PAGE;
            let strand = |name| Strand { partition: partition.clone(), name };
            self.strands.erase_all(&names.into_iter().map(strand).collect::<Vec<_>>()).await?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Finishes removals that were broken off, and gives numbers free that nobody can be writing to any more.
    /// Answers whether some wait still; those that fail are skipped, and wait.
    pub(crate) async fn sweep_removals(&self, now: Timestamp) -> Result<bool, Error> {
        let (mut range, mut is_waiting) = (Some(keys::removals()), false);
        while let Some(rest) = range {
            let page = self.scan(&rest, PAGE).await?;
            for (key, value) in page.rows() {
                let Some(number) = keys::number_of_key(key) else { continue };
                match self.sweep_removal(number, value, now).await {
                    Ok(is_free) => is_waiting |= !is_free,
                    Err(error) => {
                        is_waiting = true;
                        self.skip("sweep", &format_args!("removed series {number}"), error)?;
                    }
                }
            }
            range = rest.after_page(&page);
        }
        Ok(is_waiting)
    }

    /// Finishes one removal; answers whether its number is free.
    async fn sweep_removal(&self, number: u32, value: &[u8], now: Timestamp) -> Result<bool, Error> {
        let removed = value.try_into().map(i64::from_le_bytes).map_err(|_| damaged("a removal"))?;
        self.erase_points(number).await?;
        if removed.saturating_add(REMOVAL_GRACE_US) > now.0 {
            return Ok(false);
        }
        let writes = vec![Write::Delete(keys::removal(number))];
        self.commit(PendingCommit { writes, ..PendingCommit::default() }).await
    }
}

/// The rows of a definition that changed, index rows left out.
fn put_changed(definition: &Definition, pending: &mut PendingCommit) {
    let bytes = Bytes::from(put_definition(definition));
    feed::put_definition(&mut pending.change, DefinitionFate::Changed, definition.number, &bytes);
    pending.writes.push(Write::PutStamped(keys::definition(definition.number), bytes));
}

/// Takes away all rows of a definition, and notes that its points are to go.
fn put_removal(definition: &Definition, now: Timestamp, pending: &mut PendingCommit) {
    let number = definition.number;
    pending.reclaims = true;
    pending.writes.push(Write::Delete(keys::definition(number)));
    pending.writes.push(Write::Delete(keys::name(&definition.name)));
    pending.writes.extend(index_rows(definition).into_iter().map(|(key, _)| Write::Delete(key)));
    let removed = Bytes::copy_from_slice(&now.0.to_le_bytes());
    pending.writes.push(Write::PutStamped(keys::removal(number), removed));
    let bytes = put_definition(definition);
    feed::put_definition(&mut pending.change, DefinitionFate::Removed, number, &bytes);
}
