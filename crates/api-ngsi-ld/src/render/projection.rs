//! Which members of entities are shown (NGSI-LD 4.21).

use model_entities::TermId;

/// Some members of an entity, named by a projection (`pick`, `omit`, `attrs`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    /// `id`.
    pub id: bool,
    /// `type`.
    pub types: bool,
    /// `scope`.
    pub scope: bool,
    /// `createdAt`.
    pub created_at: bool,
    /// `modifiedAt`.
    pub modified_at: bool,
    /// `expiresAt`.
    pub expires_at: bool,
    /// Attributes, each with the projection of the entities it links to, if there is one.
    pub attributes: Vec<(TermId, Option<Box<Members>>)>,
}

impl Members {
    /// What `attrs` shows: everything that is no attribute, and these attributes.
    pub(crate) fn attrs(attributes: impl IntoIterator<Item = TermId>) -> Self {
        Self {
            id: true,
            types: true,
            scope: true,
            created_at: true,
            modified_at: true,
            expires_at: true,
            attributes: attributes.into_iter().map(|name| (name, None)).collect(),
        }
    }

    /// The attributes that are named whole, not for a projection of what they link to.
    pub(crate) fn names(&self) -> impl Iterator<Item = TermId> {
        self.attributes.iter().filter(|(_, inner)| inner.is_none()).map(|(name, _)| *name)
    }

    /// Whether the attribute is among [`Self::names`].
    pub(crate) fn is_whole(&self, name: TermId) -> bool {
        self.names().any(|other| other == name)
    }

    fn find(&self, name: TermId) -> Option<&(TermId, Option<Box<Members>>)> {
        self.attributes.iter().find(|(other, _)| *other == name)
    }

    /// What is named of entities that attribute `name` links to: what is said of them, or else the same as here.
    fn linked_by(&self, name: TermId) -> &Self {
        self.find(name).and_then(|(_, inner)| inner.as_deref()).unwrap_or(self)
    }
}

/// What is shown of an entity: of all its members those that are picked, without those that are omitted (4.21).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Projection<'a> {
    /// Only these, if they are given.
    pub pick: Option<&'a Members>,
    /// Not these.
    pub omit: Option<&'a Members>,
}

impl<'a> Projection<'a> {
    /// Whether a member that is no attribute is shown; `of` reads its flag.
    pub(crate) fn shows(&self, of: impl Fn(&Members) -> bool) -> bool {
        self.pick.is_none_or(&of) && !self.omit.is_some_and(&of)
    }

    /// Whether an attribute is shown. An `omit` with a projection of its own (`a{b}`) omits inside
    /// of the linked entities, not the attribute.
    pub(crate) fn shows_attribute(&self, name: TermId) -> bool {
        self.pick.is_none_or(|pick| pick.find(name).is_some())
            && !self.omit.is_some_and(|omit| matches!(omit.find(name), Some((_, None))))
    }

    /// What is shown of entities that attribute `name` links to. Lists hold for all entities of an answer (6.5.3.1), but where
    /// they say something else of those (`a{b}`).
    pub(crate) fn linked_by(&self, name: TermId) -> Self {
        Self {
            pick: self.pick.map(|pick| pick.linked_by(name)),
            omit: self.omit.map(|omit| omit.linked_by(name)),
        }
    }

    /// Tells projections apart: those of one request are parts of the same lists.
    pub(crate) fn identity(&self) -> (usize, usize) {
        let place =
            |members: Option<&Members>| members.map_or(0, |members| std::ptr::from_ref(members).addr());
        (place(self.pick), place(self.omit))
    }
}
