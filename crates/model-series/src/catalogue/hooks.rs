//! Hooks: who is notified of changes. The model decides whom; `delivery` keeps what they have not acknowledged, and sending is the
//! server's business.

pub(super) mod encode;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use delivery::Registry;
use store::{Cursor, Stamp, Store, Tenant};

use super::pattern::Pattern;
use super::search::AttributeFilter;
use crate::{AttributeSearch, Definition, SeriesChange};

/// Whom to notify of changes of which series.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// Unique in its repository.
    pub name: Box<str>,
    /// Where to.
    pub url: Box<str>,
    /// A pattern for the names of series (as in [`crate::Search`]); all if none is given.
    pub series: Option<Box<str>>,
    /// Attributes that the series must have.
    pub attributes: Vec<AttributeSearch>,
    /// What the sender signs notifications with.
    pub secret: Option<Box<str>>,
    /// Whether it is notified.
    pub is_active: bool,
}

/// When a hook was made: a row written with it, never changed, and removed with it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Registration {
    /// By shard of the feed, its end before the hook was there.
    pub(crate) since: Vec<Cursor>,
}

/// What a hook was sent, and what waits for it.
pub type HookStatus = delivery::Status;

/// A hook with what its notifications need.
#[derive(Clone, Debug)]
pub struct ServedHook {
    /// The name of its repository.
    pub repository_name: Box<str>,
    /// Its repository, as a part of a tenant.
    pub tenant: Tenant,
    /// Whom to notify of what.
    pub hook: Hook,
    /// Names the hook for as long as it is there, and never another, not even under its name.
    pub receiver: u128,
    /// By shard of the feed, its end before the hook was there.
    pub since: Vec<Cursor>,
    pub(crate) filter: HookFilter,
}

/// All hooks of all repositories, as they were read last.
#[derive(Clone, Debug, Default)]
pub struct ServedHooks {
    /// Of the set that was read; `None` if none was.
    pub(crate) version: Option<Option<Stamp>>,
    /// By the number of the repository.
    pub(crate) hooks: HashMap<u32, Vec<Arc<ServedHook>>>,
}

impl ServedHooks {
    /// The hooks, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ServedHook>> {
        self.hooks.values().flatten()
    }
}

impl ServedHook {
    pub(crate) fn new(tenant: &Tenant, hook: Hook, receiver: u128, registration: Registration) -> Self {
        Self {
            repository_name: tenant.name().into(),
            tenant: tenant.clone(),
            filter: hook.filter(),
            hook,
            receiver,
            since: registration.since,
        }
    }
}

/// The hooks of all repositories, as their notifications know them.
pub(crate) fn hook_registry(store: &Store) -> Registry {
    Registry::new(store.clone(), "hooks")
}

/// A change that a hook is to be notified of.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEvent {
    /// The number of its commit: grows from change to change of one partition.
    pub number: u64,
    /// The series, as it is now; as it was, if it was removed.
    pub series: Arc<Definition>,
    /// What happened.
    pub change: SeriesChange,
}

/// A hook's choice of series, ready to match.
#[derive(Clone, Debug)]
pub(crate) struct HookFilter {
    is_active: bool,
    name: Option<Pattern>,
    attributes: AttributeFilter,
}

impl HookFilter {
    /// Whether changes of this series are for the hook. Cost: matching the name; attributes count whenever they hold.
    pub(crate) fn wants(&self, series: &Definition) -> bool {
        self.is_active
            && self.name.as_ref().is_none_or(|name| name.matches(&series.name))
            && self.attributes.matches(series, None)
    }
}

impl Hook {
    /// The hook's choice, ready to match.
    pub(crate) fn filter(&self) -> HookFilter {
        HookFilter {
            is_active: self.is_active,
            name: self.series.as_deref().map(Pattern::new),
            attributes: AttributeFilter::new(&self.attributes),
        }
    }
}
