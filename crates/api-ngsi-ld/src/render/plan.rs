//! How a request wants its entities written; made once a request.

use model_entities::{InstanceView, Kind, TermId, Timestamp};

use crate::context::Names;
use crate::render::Linked;

/// The representation of attributes (NGSI-LD 4.5.2 to 4.5.4).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Form {
    /// Everything, with types.
    #[default]
    Normalized,
    /// Everything, without what can be told from the rest.
    Concise,
    /// Values alone (`keyValues`).
    Simplified,
}

/// The minor release 1.x of the standard that entities are written by, unless another is preferred.
pub(crate) const RELEASE: u8 = 9;

/// What stands for a kind of attribute in release 1.x, which may not know it yet.
pub(super) fn kind_in(release: u8, kind: Kind) -> Kind {
    match kind {
        Kind::LanguageProperty if release < 4 => Kind::Property,
        Kind::VocabProperty | Kind::JsonProperty | Kind::ListProperty if release < 8 => Kind::Property,
        Kind::ListRelationship if release < 8 => Kind::Relationship,
        known => known,
    }
}

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
        self.names().any(|held| held == name)
    }

    fn find(&self, name: TermId) -> Option<&(TermId, Option<Box<Members>>)> {
        self.attributes.iter().find(|(held, _)| *held == name)
    }
}

/// Languages a client wants, best first, as language ranges (`fr`, `en-GB`, `*`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Languages(pub Vec<Box<str>>);

impl Languages {
    /// The member of a language map to show: the first wanted range that a tag is in, then what a
    /// wanted tag narrows, then `@none`, then the first there is.
    pub(crate) fn choose<'t>(&self, map: &'t str) -> Option<(std::borrow::Cow<'t, str>, &'t str)> {
        let within = |range: &str, tag: &str| {
            range == "*"
                || tag.eq_ignore_ascii_case(range)
                || tag.get(..range.len()).is_some_and(|front| front.eq_ignore_ascii_case(range))
                    && tag.as_bytes().get(range.len()) == Some(&b'-')
        };
        for range in &self.0 {
            let mut range = &**range;
            loop {
                let named =
                    |(tag, _): &(std::borrow::Cow<'_, str>, &str)| tag != "@none" && within(range, tag);
                if let Some(found) = lang_json::members(map).find(named) {
                    return Some(found);
                }
                // RFC 4647 3.4: `de-CH-1996` is tried as `de-CH`, then as `de`.
                let Some((front, _)) = range.rsplit_once('-') else { break };
                range = front;
            }
        }
        lang_json::members(map).find(|(tag, _)| tag == "@none").or_else(|| lang_json::members(map).next())
    }
}

/// How a request wants its entities written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenderPlan<'a> {
    /// Spells terms.
    pub names: &'a Names,
    /// The representation.
    pub form: Form,
    /// The minor release of the standard whose kinds of attributes are written.
    pub release: u8,
    /// Whether createdAt and modifiedAt are shown.
    pub sys_attrs: bool,
    /// Only these members are shown.
    pub pick: Option<&'a Members>,
    /// These members are not shown.
    pub omit: Option<&'a Members>,
    /// Language maps become texts in one of these languages.
    pub languages: Option<&'a Languages>,
    /// Only instances of these datasetIds are shown; empty: all.
    pub datasets: &'a [Option<Box<str>>],
    /// JSON text of the `@context` member to put in every entity.
    pub context: Option<&'a str>,
    /// Entities to show inside of the relationships that point to them.
    pub linked: Option<&'a Linked>,
    /// Instances that expired before are not shown.
    pub now: Timestamp,
}

impl<'a> RenderPlan<'a> {
    /// A plan that shows everything in the normalized form.
    pub(crate) fn new(names: &'a Names, now: Timestamp) -> Self {
        Self {
            names,
            form: Form::Normalized,
            release: RELEASE,
            sys_attrs: false,
            pick: None,
            omit: None,
            languages: None,
            datasets: &[],
            context: None,
            linked: None,
            now,
        }
    }

    /// Whether a member that is no attribute is shown; `of` reads its flag from a projection.
    pub(crate) fn shows(&self, of: impl Fn(&Members) -> bool) -> bool {
        self.pick.is_none_or(&of) && !self.omit.is_some_and(&of)
    }

    /// Whether an attribute is shown. An `omit` with a projection of its own (`a{b}`) omits inside
    /// of the linked entities, not the attribute.
    pub(crate) fn shows_attribute(&self, name: TermId) -> bool {
        self.pick.is_none_or(|pick| pick.find(name).is_some())
            && !self.omit.is_some_and(|omit| matches!(omit.find(name), Some((_, None))))
    }

    /// Whether an instance of an attribute of the entity is shown.
    pub(crate) fn shows_instance(&self, instance: &InstanceView<'_>) -> bool {
        self.alive(instance)
            && (self.datasets.is_empty()
                || self.datasets.iter().any(|wanted| wanted.as_deref() == instance.dataset()))
    }

    /// Whether an instance has not expired.
    pub(crate) fn alive(&self, instance: &InstanceView<'_>) -> bool {
        instance.expires_at().is_none_or(|expires| expires > self.now)
    }

    /// The plan for entities that attribute `name` links to: its own projection, if it has one.
    pub(crate) fn linked_by(&self, name: TermId) -> Self {
        fn inner(members: &Members, name: TermId) -> Option<&Members> {
            members.find(name).and_then(|(_, inner)| inner.as_deref())
        }
        Self {
            pick: self.pick.and_then(|pick| inner(pick, name)),
            omit: self.omit.and_then(|omit| inner(omit, name)),
            datasets: &[],
            context: None,
            ..*self
        }
    }
}
