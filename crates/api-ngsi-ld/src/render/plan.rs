//! How a request wants its entities written; made once a request.

use model_entities::{InstanceView, TermId, Timestamp};
use tenant_contexts::Names;

use crate::render::{LinkedViews, Projection, Release};

/// The representation of attributes (NGSI-LD 4.5.2 to 4.5.4).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Form {
    /// Everything, with types.
    #[default]
    Normalized,
    /// Everything, without what follows from the rest.
    Concise,
    /// Values alone (`keyValues`).
    Simplified,
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
    /// The release of the standard that is written by.
    pub release: Release<'a>,
    /// Whether createdAt, modifiedAt and expiresAt are shown.
    pub sys_attrs: bool,
    /// The members that are shown.
    pub projection: Projection<'a>,
    /// Language maps become texts in one of these languages.
    pub languages: Option<&'a Languages>,
    /// Only instances of these datasetIds are shown; empty: all.
    pub datasets: &'a [Option<Box<str>>],
    /// JSON text of the `@context` member to put in every entity.
    pub context: Option<&'a str>,
    /// Entities to show inside of the relationships that point to them.
    pub linked: Option<&'a LinkedViews<'a>>,
    /// Instances that expired before are not shown.
    pub now: Timestamp,
}

impl<'a> RenderPlan<'a> {
    /// A plan that shows everything in the normalized form.
    pub(crate) fn new(names: &'a Names, now: Timestamp) -> Self {
        Self {
            names,
            form: Form::Normalized,
            release: Release::NEWEST,
            sys_attrs: false,
            projection: Projection::default(),
            languages: None,
            datasets: &[],
            context: None,
            linked: None,
            now,
        }
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

    /// When something expires, if that is shown (6.3.11).
    pub(super) fn shown_expiry(&self, expires: Option<Timestamp>) -> Option<Timestamp> {
        expires.filter(|_| self.sys_attrs && !self.release.lacks(9))
    }

    /// The plan for entities that attribute `name` links to.
    pub(crate) fn linked_by(&self, name: TermId) -> Self {
        Self { projection: self.projection.linked_by(name), datasets: &[], context: None, ..*self }
    }
}
