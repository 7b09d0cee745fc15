//! How a read wants its answer.

use std::sync::atomic::AtomicBool;

use api_http::MediaType;
use model_entities::TermId;

use crate::render::{Form, Languages, Members, Projection, Release};

/// Whether linked entities are answered, too, and where (NGSI-LD 4.5.23).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Join {
    /// They are not.
    #[default]
    None,
    /// Inside of the relationships that point to them.
    Inline,
    /// Beside the entities that point to them.
    Flat,
}

/// How a read wants its answer.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) media: MediaType,
    pub(crate) context_in_body: bool,
    pub(crate) form: Form,
    /// The minor release 1.x of the standard that the client prefers.
    pub(crate) release: Option<u8>,
    pub(crate) sys_attrs: bool,
    pub(crate) pick: Option<Members>,
    pub(crate) omit: Option<Members>,
    /// Attributes of which an entity must have one (`attrs`, `pick`); empty: none in particular.
    pub(crate) required: Vec<Option<TermId>>,
    pub(crate) languages: Option<Languages>,
    pub(crate) datasets: Vec<Option<Box<str>>>,
    pub(crate) geometry: Option<TermId>,
    pub(crate) join: Join,
    pub(crate) join_level: usize,
    pub(crate) contained_by: Vec<Box<str>>,
}

impl Reading {
    /// What is shown of an entity that is on the page, not linked to.
    pub(crate) fn projection(&self) -> Projection<'_> {
        Projection { pick: self.pick.as_ref(), omit: self.omit.as_ref() }
    }

    /// How many links deep the answer reaches.
    pub(crate) fn hops(&self) -> usize {
        if self.join == Join::None { 0 } else { self.join_level }
    }

    /// The release to write by; `altered` is set once that makes a difference.
    pub(crate) fn release<'a>(&self, altered: &'a AtomicBool) -> Release<'a> {
        self.release.map_or(Release::NEWEST, |minor| Release::new(minor, altered))
    }
}
