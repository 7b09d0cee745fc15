//! What becomes of an entity's types, scopes and expiry.

use std::collections::HashSet;

use smallvec::SmallVec;
use store::Timestamp;

use super::check::{check_scopes_count, check_types_count};
use crate::{Draft, EntityView, Error, TermId};

/// What becomes of id, types, scopes and expiry.
#[derive(Default)]
pub(super) struct Header<'a> {
    pub(super) add_types: &'a [TermId],
    pub(super) set_types: &'a [TermId],
    pub(super) scopes: Scopes<'a>,
    /// Whether an expiry that is not given is taken away.
    pub(super) set_expiry: bool,
    pub(super) expires: Option<Timestamp>,
}

/// What becomes of scopes.
#[derive(Clone, Copy, Default)]
pub(super) enum Scopes<'a> {
    /// They stay.
    #[default]
    Keep,
    /// These are added.
    Add(&'a [Box<str>]),
    /// These replace them.
    Set(&'a [Box<str>]),
    /// The same, if there are any.
    Update(&'a [Box<str>]),
}

impl<'a> Scopes<'a> {
    /// What `change` makes of those that were given, if any were.
    pub(super) fn given(draft: &'a Draft, change: fn(&'a [Box<str>]) -> Self) -> Self {
        draft.scopes.as_deref().map_or(Self::Keep, change)
    }
}

impl<'a> Header<'a> {
    pub(super) fn adding(draft: &'a Draft, scopes: Scopes<'a>) -> Self {
        Self { add_types: &draft.types, scopes, expires: draft.expires_at, ..Self::default() }
    }

    pub(super) fn setting(draft: &'a Draft) -> Self {
        Self {
            set_types: &draft.types,
            scopes: Scopes::Set(draft.scopes()),
            set_expiry: true,
            expires: draft.expires_at,
            ..Self::default()
        }
    }

    /// The types, where they change.
    pub(super) fn types(&self, existing: &EntityView<'_>) -> Result<Option<SmallVec<[TermId; 4]>>, Error> {
        let mut types: SmallVec<[TermId; 4]> = SmallVec::new();
        if self.set_types.is_empty() {
            types.extend(existing.types());
        }
        for given in self.set_types.iter().chain(self.add_types) {
            if !types.contains(given) {
                types.push(*given);
            }
        }
        let same = existing.types().eq(types.iter().copied());
        if same {
            return Ok(None);
        }
        check_types_count(types.len())?;
        Ok(Some(types))
    }

    /// The scopes, where they change.
    pub(super) fn scopes<'b>(&self, existing: &EntityView<'b>) -> Result<Option<Vec<&'b str>>, Error>
    where
        'a: 'b,
    {
        let given = match self.scopes {
            Scopes::Keep => return Ok(None),
            Scopes::Update(_) if existing.scoped_at().is_none() => return Ok(None),
            Scopes::Update(given) | Scopes::Set(given) => {
                let same = existing.scopes().eq(given.iter().map(|scope| &**scope));
                return Ok((!same).then(|| given.iter().map(|scope| &**scope).collect()));
            }
            Scopes::Add(given) => given,
        };
        let mut scopes: Vec<&str> = existing.scopes().collect();
        let count = scopes.len();
        let mut seen: HashSet<&str> = scopes.iter().copied().collect();
        scopes.extend(given.iter().map(|scope| &**scope).filter(|scope| seen.insert(scope)));
        if scopes.len() == count {
            return Ok(None);
        }
        check_scopes_count(scopes.len())?;
        Ok(Some(scopes))
    }
}
