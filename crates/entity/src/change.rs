//! Operations on an entity, and their outcomes; `apply.rs` carries them out.

use smallvec::SmallVec;
use store::StateCondition;

use crate::{Attribute, Draft, EntityView, Error, TermId, TypeQuery};

/// An operation on one entity. Names in `wire` order of NGSI-LD 5.6; NGSIv2 uses the same.
#[derive(Clone, Debug)]
pub enum Operation {
    /// 5.6.1: create; refused if it exists.
    Create(Draft),
    /// 5.6.18 (PUT): replace all but id, types (when none are given) and createdAt; refused if absent.
    Replace(Draft),
    /// 5.6.17 (PATCH of an entity): merge, RFC 7396 per attribute instance; refused if absent.
    Merge(Draft, MergeOptions),
    /// 5.6.3 (POST attrs): add attributes; existing instances are replaced, or kept if `keep_existing`.
    /// Types given are added; scopes given replace the existing ones, or are added if `keep_existing`.
    Append {
        /// What to add.
        draft: Draft,
        /// `noOverwrite`: existing instances stay and are reported.
        keep_existing: bool,
    },
    /// 5.6.2 (PATCH attrs): replace instances that exist, and add the others. Types given are added; scopes given
    /// replace existing ones, and are ignored where there are none.
    Update(Draft),
    /// 5.6.4 (PATCH of one attribute): change members of the instance that are given, keep the rest;
    /// refused if the attribute or that instance does not exist.
    PatchAttribute(Attribute),
    /// 5.6.19 (PUT of one attribute): replace the instance; refused if it does not exist.
    ReplaceAttribute(Attribute),
    /// 5.6.5: remove an attribute's instances; refused if there is none.
    DeleteAttribute {
        /// The attribute.
        name: TermId,
        /// Which instances.
        instances: Instances,
    },
    /// 5.6.5 of the scopes: remove them; refused if there are none.
    DeleteScopes,
    /// 5.6.6: remove the entity; refused if absent.
    Delete,
    /// 5.6.8: create, or if it exists replace whole.
    UpsertReplace(Draft),
    /// 5.6.8 with `options=update`: create, or if it exists append with overwriting.
    UpsertUpdate(Draft),
    /// Purge (5.6.21) of some attributes: keep or drop those named; the entity stays.
    /// With `keep`, every other attribute is removed; otherwise the named ones are.
    Retain {
        /// The attributes named.
        names: Vec<TermId>,
        /// Whether they are the ones to keep.
        keep: bool,
    },
}

impl Operation {
    /// Whether it makes the entity if there is none.
    pub fn creates(&self) -> bool {
        matches!(self, Self::Create(_) | Self::UpsertReplace(_) | Self::UpsertUpdate(_))
    }
}

/// Which instances of an attribute.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Instances {
    /// The one without datasetId.
    Default,
    /// The one with this datasetId.
    Dataset(Box<str>),
    /// All of them (`deleteAll`).
    All,
}

impl Instances {
    /// Whether an instance of this datasetId is meant.
    pub fn means(&self, dataset: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Default => dataset.is_none(),
            Self::Dataset(named) => dataset == Some(named),
        }
    }
}

/// Options of a merge (NGSI-LD 6.5.3.4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeOptions {
    /// observedAt for merged attributes that have one and were sent none.
    pub observed_at: Option<store::Timestamp>,
    /// A language for plain strings merged into LanguageProperties.
    pub lang: Option<Box<str>>,
}

/// What must be true of an entity for an operation to be carried out; without conditions it always is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Precondition {
    /// It has these types.
    pub types: Option<TypeQuery>,
    /// It is in such a state.
    pub state: StateCondition,
}

impl Precondition {
    /// Checks it against what is stored in the moment of the write, if that `creates` or not. An entity that is not
    /// there and must be is left to the operation, which says so.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchEntity`] where the entity has other types: an id with a type names no other entity.
    /// [`Error::StateDiffers`].
    pub fn check(&self, id: &str, stored: Option<&EntityView<'_>>, creates: bool) -> Result<(), Error> {
        if let (Some(types), Some(view)) = (&self.types, stored)
            && !types.selects(view.types())
        {
            return Err(Error::NoSuchEntity(id.into()));
        }
        let decides = stored.is_some() || creates;
        if decides && !self.state.is_met_by_bytes(stored.map(EntityView::bytes)) {
            return Err(Error::StateDiffers(id.into()));
        }
        Ok(())
    }
}

/// What an operation did.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Change {
    /// What became of the entity.
    pub fate: Fate,
    /// Attributes whose instances were written or removed, in order, each once.
    pub updated: SmallVec<[TermId; 4]>,
    /// Whether its scopes are others than before.
    pub scoped: bool,
    /// Attributes that were left as they are, and why.
    pub not_updated: SmallVec<[(TermId, NotUpdated); 1]>,
}

/// What became of an entity.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Fate {
    /// It was not there and now is.
    Created,
    /// It was there and has changed.
    #[default]
    Updated,
    /// It was there and is as it was.
    Unchanged,
    /// It was there and is gone.
    Deleted,
}

/// Why an attribute was left as it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NotUpdated {
    /// It exists, and the operation overwrites none.
    Exists,
}
