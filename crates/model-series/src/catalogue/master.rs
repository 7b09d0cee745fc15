//! What series are described with: units, attribute types, hooks.

use bytes::Bytes;
use store::rows::Pages;
use store::{Condition, Cursor, Direction, Fingerprint, ReadAttempts, Row, Snapshot, StateCondition, Write};

use super::check::{check_name, check_text};
use super::context::{BACKOFF, Context};
use super::hooks::encode::{put_hook, put_registration, take_hook, take_registration};
use super::hooks::{Registration, hook_registry};
use super::pending::PendingCommit;
use super::state::{check_state, unit_fingerprint};
use super::{HOOKS_MAX, Hook, HookStatus, MASTER_DATA_BYTES_MAX, ServedHook};
use crate::encode::{damaged, put_attribute_type, put_units, take_attribute_type};
use crate::keys::{self, Index};
use crate::{AttributeKind, AttributeType};
use crate::{Error, Unit, Units};

/// Rows that are scanned in one page.
const PAGE: usize = 512;

/// A hook, or why it cannot be read; with its name.
pub(crate) type HookOfName = (Box<str>, Result<ServedHook, Error>);

/// What may be stored under a name when something is stored under it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Over {
    /// Nothing: it is created, and of two at once one is refused.
    Nothing,
    /// Anything, which is replaced.
    Anything,
}

impl Over {
    /// Refuses what is there already, if nothing may be.
    fn check(self, exists: bool, what: &str, name: &str) -> Result<(), Error> {
        match self {
            Self::Nothing if exists => Err(Error::AlreadyExists(format!("{what} {name}").into())),
            Self::Nothing | Self::Anything => Ok(()),
        }
    }
}

impl Context {
    /// Stores a unit; see [`crate::Repository::put_unit`].
    pub(crate) async fn put_unit(
        &self,
        unit: Unit,
        over: Over,
        condition: &StateCondition,
    ) -> Result<(), Error> {
        check_name("a unit", &unit.name)?;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let (units, unchanged) = self.units().await?;
            check_state(condition, held_unit(&units, &unit.name), "unit", &unit.name)?;
            over.check(units.get(&unit.name).is_ok(), "unit", &unit.name)?;
            let mut units = Units::clone(&units);
            units.insert(unit.clone())?;
            if self.commit(units_pending(&units, unchanged)?).await? {
                return Ok(());
            }
        }
        Err(attempts.exhausted("the units").into())
    }

    /// Removes a unit; see [`crate::Repository::remove_unit`].
    pub(crate) async fn remove_unit(&self, name: &str, condition: &StateCondition) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let (units, unchanged) = self.units().await?;
            let removed = units.get(name)?.clone();
            check_state(condition, held_unit(&units, name), "unit", name)?;
            let names = |other: &Option<Box<str>>| other.as_deref() == Some(name);
            if let Some(user) = units.iter().find(|one| names(&one.base) || names(&one.integral)) {
                return Err(Error::Invalid(format!("unit {name} is used by unit {}", user.name)));
            }
            self.check_unit_unused(name).await?;
            let left = Units::new(units.iter().filter(|one| *one.name != *name).cloned());
            if !self.commit(units_pending(&left, unchanged)?).await? {
                continue;
            }
            // A series that was given the unit meanwhile is seen now; from now on none can be given it.
            let used = self.check_unit_unused(name).await;
            if used.is_err() {
                self.put_unit(removed, Over::Anything, &StateCondition::NONE).await?;
            }
            return used;
        }
        Err(attempts.exhausted("the units").into())
    }

    async fn check_unit_unused(&self, name: &str) -> Result<(), Error> {
        for index in [Index::Unit(name), Index::FormulaUnit(name)] {
            if let Some(user) = self.first_of(index).await? {
                return Err(Error::Invalid(format!("unit {name} is used by series {user}")));
            }
        }
        Ok(())
    }

    /// The name of the first series in an index.
    async fn first_of(&self, index: Index<'_>) -> Result<Option<Box<str>>, Error> {
        let page = self.scan(&index.range("", None), 1).await?;
        let name = page.row(0).and_then(|(key, _)| keys::name_of_key(key, index.head().len()));
        Ok(name.map(Box::from))
    }

    /// All attribute types, by name, as they are at one moment.
    pub(crate) async fn all_attribute_types(&self) -> Result<Vec<AttributeType>, Error> {
        let mut attempts = ReadAttempts::default();
        loop {
            match self.attribute_types_of(&self.store.snapshot()?).await {
                Err(Error::Store(error)) if attempts.again(&error) => {}
                told => return told,
            }
        }
    }

    async fn attribute_types_of(&self, snapshot: &Snapshot) -> Result<Vec<AttributeType>, Error> {
        let mut types = Vec::new();
        let (partition, range) = (self.first_partition(), keys::attribute_types());
        let mut pages = Pages::new(snapshot, partition, range, PAGE);
        while let Some(page) = pages.next().await? {
            for (_, value) in page.rows() {
                types.push(take_attribute_type(value).map_err(|_| damaged("an attribute type"))?);
            }
        }
        Ok(types)
    }

    /// Stores an attribute type; see [`crate::Repository::put_attribute_type`].
    pub(crate) async fn put_attribute_type(
        &self,
        attribute_type: &AttributeType,
        over: Over,
        condition: &StateCondition,
    ) -> Result<(), Error> {
        check_attribute_type(attribute_type)?;
        let name = &*attribute_type.name;
        let key = keys::attribute_type(name);
        let bytes = Bytes::from(put_attribute_type(attribute_type));
        Error::check_limit("MASTER_DATA_BYTES_MAX", MASTER_DATA_BYTES_MAX, bytes.len(), || {
            format!("attribute type {name}: bytes as it is stored")
        })?;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let found = self.attribute_types(&[name]).await?.pop().flatten();
            let held = found.as_ref().map(|(held, _)| || held.fingerprint());
            check_state(condition, held, "attribute type", name)?;
            let unchanged = match found {
                None => Condition::Absent(key.clone()),
                Some((before, unchanged)) => {
                    over.check(true, "attribute type", name)?;
                    let is_other = before.kind.name() != attribute_type.kind.name();
                    let is_narrower = before.is_multiple && !attribute_type.is_multiple;
                    if (is_other || is_narrower)
                        && let Some(user) = self.first_of(Index::Attribute(name)).await?
                    {
                        return Err(Error::Invalid(format!(
                            "attribute type {name} is used by series {user}: its kind stays, and it stays multiple"
                        )));
                    }
                    unchanged
                }
            };
            let writes = vec![Write::PutStamped(key.clone(), bytes.clone())];
            if self
                .commit(PendingCommit { conditions: vec![unchanged], writes, ..PendingCommit::default() })
                .await?
            {
                return Ok(());
            }
        }
        Err(attempts.exhausted(attribute_type.name.clone()).into())
    }

    /// Removes an attribute type; see [`crate::Repository::remove_attribute_type`].
    pub(crate) async fn remove_attribute_type(
        &self,
        name: &str,
        condition: &StateCondition,
    ) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Some((removed, unchanged)) = self.attribute_types(&[name]).await?.pop().flatten() else {
                return Err(Error::NotFound(format!("attribute type {name}").into()));
            };
            check_state(condition, Some(|| removed.fingerprint()), "attribute type", name)?;
            self.check_type_unused(name).await?;
            let writes = vec![Write::Delete(keys::attribute_type(name))];
            if !self
                .commit(PendingCommit { conditions: vec![unchanged], writes, ..PendingCommit::default() })
                .await?
            {
                continue;
            }
            // As with units: what came meanwhile is seen now.
            let used = self.check_type_unused(name).await;
            if used.is_err() {
                self.put_attribute_type(&removed, Over::Anything, &StateCondition::NONE).await?;
            }
            return used;
        }
        Err(attempts.exhausted(name).into())
    }

    async fn check_type_unused(&self, name: &str) -> Result<(), Error> {
        match self.first_of(Index::Attribute(name)).await? {
            Some(user) => Err(Error::Invalid(format!("attribute type {name} is used by series {user}"))),
            None => Ok(()),
        }
    }

    /// All hooks with their statuses, by name.
    pub(crate) async fn hooks(&self) -> Result<Vec<(Hook, HookStatus)>, Error> {
        let mut hooks = Vec::new();
        for (_, hook) in self.hooks_each().await? {
            let ServedHook { hook, receiver, .. } = hook?;
            hooks.push((hook, delivery::read_status(&self.store, &self.tenant, receiver).await?));
        }
        Ok(hooks)
    }

    /// All hooks with their names, each with an error of its own.
    pub(crate) async fn hooks_each(&self) -> Result<Vec<HookOfName>, Error> {
        let page =
            self.store.scan(self.first_partition(), &keys::hooks(), Direction::Forward, HOOKS_MAX).await?;
        let name = |key| keys::name_of_key(key, 1).ok_or_else(|| damaged("a hook"));
        let names = page.rows().map(|(key, _)| name(key)).collect::<Result<Vec<&str>, Error>>()?;
        let registrations: Vec<Bytes> = names.iter().map(|name| keys::hook_registration(name)).collect();
        let registrations = self.rows_each(&registrations).await?;
        let served = |value: &[u8], registration: Row| {
            let hook = take_hook(value).map_err(|_| damaged("a hook"))?;
            self.served_hook(hook, &registration)
        };
        let hooks = page.rows().zip(names).zip(registrations);
        // Both rows are removed together: one without its registration was removed since the scan.
        let hooks = hooks.filter_map(|(((_, value), name), row)| {
            let row = row.transpose()?;
            Some((name.into(), row.and_then(|row| served(value, row))))
        });
        Ok(hooks.collect())
    }

    /// One hook with its status; see [`crate::Repository::hook`].
    pub(crate) async fn hook(&self, name: &str) -> Result<Option<(Hook, HookStatus)>, Error> {
        let Some(row) = self.row(&keys::hook(name)).await? else { return Ok(None) };
        // Both rows are written and removed together.
        let Some(registration) = self.row(&keys::hook_registration(name)).await? else { return Ok(None) };
        let hook = take_hook(&row.value).map_err(|_| damaged("a hook"))?;
        let ServedHook { hook, receiver, .. } = self.served_hook(hook, &registration)?;
        Ok(Some((hook, delivery::read_status(&self.store, &self.tenant, receiver).await?)))
    }

    /// The commit that registered it names a hook for ever.
    fn served_hook(&self, hook: Hook, row: &Row) -> Result<ServedHook, Error> {
        let registration =
            take_registration(&row.value).map_err(|_| damaged("the registration of a hook"))?;
        let since = registration.since.iter().map(|cursor| self.store.adopt_cursor(*cursor)).collect();
        Ok(ServedHook::new(&self.tenant, hook, row.write_id.0, Registration { since }))
    }

    /// Stores a hook; see [`crate::Repository::put_hook`].
    pub(crate) async fn put_hook(
        &self,
        hook: &Hook,
        over: Over,
        condition: &StateCondition,
    ) -> Result<(), Error> {
        check_name("a hook", &hook.name)?;
        check_text("the address of a hook", &hook.url)?;
        if hook.url.is_empty() {
            return Err(Error::Invalid(format!("hook {} has no address", hook.name)));
        }
        let key = keys::hook(&hook.name);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let mut pending = PendingCommit::default();
            let row = self.row(&key).await?;
            let held = row.as_ref().map(|row| || Fingerprint::of(&row.value));
            check_state(condition, held, "hook", &hook.name)?;
            match row {
                Some(row) => {
                    over.check(true, "hook", &hook.name)?;
                    pending.conditions.push(Condition::Version(key.clone(), row.stamp));
                }
                None => {
                    let what = || "hooks of a repository".into();
                    Error::check_limit("HOOKS_MAX", HOOKS_MAX, self.hooks().await?.len() + 1, what)?;
                    // It is notified of what comes after the feed's end of now.
                    let registration = Registration { since: self.feed_ends() };
                    pending.conditions.push(Condition::Absent(key.clone()));
                    let row_key = keys::hook_registration(&hook.name);
                    pending.writes.push(Write::PutStamped(row_key, put_registration(&registration).into()));
                }
            }
            pending.writes.push(Write::PutStamped(key.clone(), put_hook(hook).into()));
            if self.commit(pending).await? {
                return Ok(hook_registry(&self.store).note_change().await?);
            }
        }
        Err(attempts.exhausted(hook.name.clone()).into())
    }

    /// The end of each shard of the feed.
    fn feed_ends(&self) -> Vec<Cursor> {
        (0..self.store.feed_shards()).map(|shard| self.store.feed_end(shard)).collect()
    }

    /// Removes a hook; see [`crate::Repository::remove_hook`].
    pub(crate) async fn remove_hook(&self, name: &str, condition: &StateCondition) -> Result<(), Error> {
        if let Some(receiver) = self.unregister_hook(name, condition).await? {
            delivery::forget(&self.store, &self.tenant, receiver).await?;
        }
        Ok(())
    }

    /// Removes a hook, but for its status and outbox, which it is found by ([`crate::Repositories::sweep_hooks`]); its number as a receiver.
    pub(super) async fn unregister_hook(
        &self,
        name: &str,
        condition: &StateCondition,
    ) -> Result<Option<u128>, Error> {
        let key = keys::hook(name);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Some(row) = self.row(&key).await? else {
                return Err(Error::NotFound(format!("hook {name}").into()));
            };
            check_state(condition, Some(|| Fingerprint::of(&row.value)), "hook", name)?;
            let registration = self.row(&keys::hook_registration(name)).await?;
            let receiver = registration.map(|registration| registration.write_id.0);
            let registry = hook_registry(&self.store);
            if let Some(receiver) = receiver {
                registry.note_removal(&self.tenant, receiver).await?;
            }
            let conditions = vec![Condition::Version(key.clone(), row.stamp)];
            let writes = vec![Write::Delete(key.clone()), Write::Delete(keys::hook_registration(name))];
            if !self.commit(PendingCommit { conditions, writes, ..PendingCommit::default() }).await? {
                continue;
            }
            registry.note_change().await?;
            return Ok(receiver);
        }
        Err(attempts.exhausted(name).into())
    }
}

fn held_unit<'a>(units: &'a Units, name: &str) -> Option<impl FnOnce() -> Fingerprint + use<'a>> {
    units.get(name).ok().map(|unit| || unit_fingerprint(unit))
}

fn units_pending(units: &Units, condition: Condition) -> Result<PendingCommit, Error> {
    let mut units: Vec<&Unit> = units.iter().collect();
    units.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let bytes = put_units(units.into_iter());
    Error::check_limit("MASTER_DATA_BYTES_MAX", MASTER_DATA_BYTES_MAX, bytes.len(), || {
        "bytes of the units of a repository as they are stored".into()
    })?;
    let writes = vec![Write::PutStamped(keys::units(), bytes.into())];
    Ok(PendingCommit { conditions: vec![condition], writes, ..PendingCommit::default() })
}

fn check_attribute_type(attribute_type: &AttributeType) -> Result<(), Error> {
    check_name("an attribute type", &attribute_type.name)?;
    let name = &attribute_type.name;
    if name.contains('|') {
        return Err(Error::Invalid(format!("the name of an attribute type has no `|`: {name}")));
    }
    check_text("a description", &attribute_type.description)?;
    if let AttributeKind::Category(texts) | AttributeKind::Node(texts) = &attribute_type.kind {
        if texts.is_empty() {
            return Err(Error::Invalid(format!("attribute type {name} has no values to choose from")));
        }
        for text in texts {
            check_text("a value of an attribute type", text)?;
        }
    }
    if let AttributeKind::Node(paths) = &attribute_type.kind
        && let Some(path) = paths.iter().find(|path| path.split('/').any(str::is_empty))
    {
        return Err(Error::Invalid(format!("attribute type {name}: a part of the path `{path}` is empty")));
    }
    Ok(())
}
