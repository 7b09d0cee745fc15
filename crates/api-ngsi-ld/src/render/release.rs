//! Answers as an older release of the standard has them (NGSI-LD 4.3.6.8).

use std::sync::atomic::{AtomicBool, Ordering};

use model_entities::Kind;

/// The minor release 1.x of the standard that entities are written by, unless another is preferred.
pub(crate) const RELEASE: u8 = 9;

/// The release 1.x that something is written by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release<'a> {
    minor: u8,
    /// Set once anything is left out, or written as something else.
    altered: Option<&'a AtomicBool>,
}

impl<'a> Release<'a> {
    /// The newest, by which nothing is altered.
    pub(crate) const NEWEST: Self = Self { minor: RELEASE, altered: None };

    /// Release `1.minor`; `altered` is set once that makes a difference.
    pub(crate) fn new(minor: u8, altered: &'a AtomicBool) -> Self {
        Self { minor, altered: Some(altered) }
    }

    /// Whether what release `1.since` brought is not written. To be asked only where there is something of it.
    pub(super) fn lacks(self, since: u8) -> bool {
        let lacks = self.minor < since;
        if let Some(altered) = self.altered.filter(|_| lacks) {
            altered.store(true, Ordering::Relaxed);
        }
        lacks
    }

    /// What is written in place of a kind of attribute.
    pub(super) fn kind(self, kind: Kind) -> Kind {
        let (since, fallback) = match kind {
            Kind::Property | Kind::GeoProperty | Kind::Relationship => return kind,
            Kind::LanguageProperty => (4, Kind::Property),
            Kind::VocabProperty | Kind::JsonProperty | Kind::ListProperty => (8, Kind::Property),
            Kind::ListRelationship => (8, Kind::Relationship),
        };
        if self.lacks(since) { fallback } else { kind }
    }
}
