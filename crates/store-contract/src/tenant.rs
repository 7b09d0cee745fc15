//! Whose data: the name that clients say, and the handle of one life of a tenant, which is part of every partition.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as Memory};

use crate::{Error, ErrorKind};

/// The longest tenant name in bytes.
pub(crate) const TENANT_BYTES_MAX: usize = 128;

/// The name of a tenant: ASCII letters, digits, `_`, `-`, `.`, `:`, or empty for the default tenant.
///
/// Invariant: at most [`TENANT_BYTES_MAX`] bytes, none of them zero.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TenantName(Arc<str>);

/// A name that no tenant can have.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a tenant name has at most {TENANT_BYTES_MAX} of the characters A-Z a-z 0-9 _ - . :")]
pub struct TenantNameError;

impl TenantName {
    /// The name with this text; the empty one is that of the default tenant.
    ///
    /// # Errors
    ///
    /// If it is too long or has another character.
    pub fn new(name: &str) -> Result<Self, TenantNameError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
        if name.len() > TENANT_BYTES_MAX || !name.bytes().all(plain) {
            return Err(TenantNameError);
        }
        Ok(Self(name.into()))
    }

    /// The text; empty for the default tenant.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is that of the default tenant, which is always there.
    #[inline]
    pub fn is_default(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for TenantName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One life of a tenant: from its creation to its removal. A tenant that is created again under the same name is another one. The default
/// value is the default tenant, which has one life. What a model has under names inside a tenant (a repository of series, say)
/// has lives of its own, which end with that of the tenant at the latest: their handles are of the same type.
///
/// Handles come from the directory (`store::Tenants`), which has one of each life in a process. They are compared by number alone.
/// Cost of a clone: none for the default tenant, else that of an `Arc`.
#[derive(Clone, Debug, Default)]
pub struct Tenant(Option<Arc<Life>>);

#[derive(Debug)]
struct Life {
    /// Not zero, and never that of another life.
    number: u32,
    name: TenantName,
    /// The tenant that it is a part of.
    within: Option<Tenant>,
    is_ended: AtomicBool,
}

impl Tenant {
    /// The life of this number, or that of a part of a tenant; number 0 is the default tenant.
    pub(crate) fn numbered(number: u32, name: TenantName, within: Option<Tenant>) -> Self {
        let life = || Arc::new(Life { number, name, within, is_ended: AtomicBool::new(false) });
        Self((number > 0).then(life))
    }

    /// The text of its name; empty for the default tenant. Of a part that inside its tenant.
    pub fn name(&self) -> &str {
        self.0.as_ref().map_or("", |life| life.name.as_str())
    }

    /// Its name.
    pub fn to_name(&self) -> TenantName {
        self.0.as_ref().map_or_else(TenantName::default, |life| life.name.clone())
    }

    /// The number in the keys of its rows: 0 for the default tenant, and never that of another life.
    #[inline]
    pub fn number(&self) -> u32 {
        self.0.as_ref().map_or(0, |life| life.number)
    }

    /// Whether it is the default tenant, which is always there.
    #[inline]
    pub fn is_default(&self) -> bool {
        self.0.is_none()
    }

    /// The tenant that it is a part of.
    pub fn within(&self) -> Option<&Self> {
        self.0.as_ref()?.within.as_ref()
    }

    /// Whether it was removed, or the tenant that it is a part of, as far as this process knows. Cost: a load, or two.
    #[inline]
    pub fn is_ended(&self) -> bool {
        let is_ended = |life: &Arc<Life>| {
            life.is_ended.load(Memory::Acquire) || life.within.as_ref().is_some_and(Self::is_ended)
        };
        self.0.as_ref().is_some_and(is_ended)
    }

    /// From now on nothing is written or read of it through this handle and its clones.
    pub(crate) fn end(&self) {
        if let Some(life) = &self.0 {
            life.is_ended.store(true, Memory::Release);
        }
    }

    /// Refuses what would be done with a tenant that was removed.
    ///
    /// # Errors
    ///
    /// `TenantRemoved`, with the name for the action.
    #[inline]
    pub fn check(&self) -> Result<(), Error> {
        if !self.is_ended() {
            return Ok(());
        }
        Err(self.within().filter(|tenant| tenant.is_ended()).unwrap_or(self).removed())
    }

    /// The refusal of what would be done with it once it was removed.
    pub fn removed(&self) -> Error {
        Error::new(ErrorKind::TenantRemoved, self.name())
    }
}

impl PartialEq for Tenant {
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl Eq for Tenant {}

impl Hash for Tenant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number().hash(state);
    }
}

impl PartialOrd for Tenant {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Tenant {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number().cmp(&other.number())
    }
}

/// For people: the name; of a part behind that of its tenant.
impl fmt::Display for Tenant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tenant) = self.within() {
            write!(formatter, "{}/", tenant.name())?;
        }
        formatter.write_str(self.name())
    }
}
