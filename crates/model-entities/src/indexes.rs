//! Which attributes have index rows: those that some query was slow without.
//!
//! Which they are is one stamped row of the tenant, the register. An attribute is *entered* there, which nobody heeds. Whoever
//! meets it then, the job or a writer who reads the register, raises the fences and makes it *building*, over the very version that was read
//! before: so no writer who knows of it commits before the fences are raised, and none who does not commits behind (`watch.rs`).
//! The rows of the entities that are there are written behind, each on condition that its entity is still the one that was read. When
//! all have theirs it is *ready*, and queries go by it. It stays so for the life of the tenant.
//!
//! Invariant: an attribute is ready only if each entity that has it has its index rows. The set of indexed attributes only grows, so rows
//! of an entity never outlive what its next writer knows of.

mod register;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use entity::TermId;
use entity::index::Indexed;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

pub(crate) use register::{ALL, Register};

/// Notes of attributes in use that are remembered as out of date.
const DOUBTS_MAX: usize = 1 << 12;

/// Which attributes are indexed from the beginning.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum IndexPolicy {
    /// None: an attribute is indexed once queries want it.
    #[default]
    ByUse,
    /// All.
    All,
}

/// What a process knows of the indexes of a tenant.
#[derive(Debug)]
pub(crate) struct Indexes {
    /// Which were indexed when the tenant was created: what the register says while there is no row.
    pub(crate) created: IndexPolicy,
    ready: RwLock<Arc<Indexed>>,
    pub(crate) wanted: Mutex<BTreeSet<TermId>>,
    /// Types, each with an attribute that the entity named as having it has no more (`in_use.rs`).
    pub(crate) stale: Mutex<BTreeSet<(TermId, TermId)>>,
    /// Rung when something is wanted.
    alarm: Arc<Notify>,
    /// When a build met entities that could not be read.
    pub(crate) failed: Mutex<Option<Instant>>,
}

impl Indexes {
    /// Those of a tenant that was created so. None is ready before the register was read.
    pub(crate) fn new(created: IndexPolicy, alarm: Arc<Notify>) -> Self {
        let (ready, wanted, stale) = (RwLock::default(), Mutex::default(), Mutex::default());
        Self { created, ready, wanted, stale, alarm, failed: Mutex::default() }
    }

    /// The attributes whose index rows are all there.
    pub(crate) fn ready(&self) -> Arc<Indexed> {
        Arc::clone(&self.ready.read())
    }

    /// Asks for index rows of these attributes. Cost: a look in memory if they were asked for before.
    pub(crate) fn want(&self, names: &[TermId]) {
        let mut wanted = self.wanted.lock();
        let before = wanted.len();
        wanted.extend(names);
        if wanted.len() > before {
            self.alarm.notify_one();
        }
    }

    /// Notes that it is to be looked whether a type still has an attribute: when the job next comes by.
    pub(crate) fn doubt(&self, pair: (TermId, TermId)) {
        let mut stale = self.stale.lock();
        if stale.len() < DOUBTS_MAX {
            stale.insert(pair);
        }
    }

    pub(crate) fn set_ready(&self, register: &Register) {
        let ready = register.ready();
        self.wanted.lock().retain(|name| !ready.holds(*name));
        *self.ready.write() = Arc::new(ready);
    }
}
