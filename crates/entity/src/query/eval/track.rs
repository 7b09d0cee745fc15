//! What a path leads to in a stored entity, and in the entities that Relationships point to.

use smallvec::SmallVec;

use super::{BYTES_A_STEP, Visible, Walk};
use crate::expiry::is_expired;
use crate::query::value::{Target, each_at, each_language, each_scalar, text_of};
use crate::query::{LinkedPath, Meta, Path};
use crate::{EntityView, InstanceView, Kind, TermId};

/// A path, made ready.
#[derive(Debug)]
pub struct Track {
    pub(super) attribute: Option<TermId>,
    members: SmallVec<[TermId; 2]>,
    meta: Option<Meta>,
    json: Vec<Box<str>>,
    pub(super) linked: Option<Box<LinkedTrack>>,
    /// It holds a name that is nowhere used.
    pub(super) nowhere: bool,
}

/// A path in an entity that a Relationship points to, made ready.
#[derive(Debug)]
pub(super) struct LinkedTrack {
    /// The entity must have one of these; empty: whatever types.
    types: Vec<Option<TermId>>,
    track: Track,
}

/// Shown what a path leads to, says whether to stop.
type See<'s> = &'s mut dyn FnMut(Target<'_>) -> bool;

impl Track {
    pub(crate) fn new(path: &Path) -> Self {
        let linked = path.linked.as_ref().map(|path| Box::new(LinkedTrack::new(path)));
        let entity_meta = path.meta.is_some() && path.members.is_empty() && path.linked.is_none();
        Self {
            nowhere: path.members.contains(&None) || (path.attribute.is_none() && !entity_meta),
            attribute: path.attribute,
            members: path.members.iter().flatten().copied().collect(),
            meta: path.meta,
            json: path.json.clone(),
            linked,
        }
    }

    /// Shows `see` everything the path leads to, until it says to stop; answers whether it did.
    pub fn each(&self, entity: &EntityView<'_>, view: &Visible, walk: &mut Walk<'_>, see: See<'_>) -> bool {
        if self.nowhere {
            return false;
        }
        let Some(name) = self.attribute else {
            return match self.meta {
                Some(Meta::CreatedAt) => see(Target::Time(entity.created_at())),
                Some(Meta::ModifiedAt) => see(Target::Time(entity.modified_at())),
                _ => false,
            };
        };
        let Some(attribute) = entity.attribute(name) else {
            return false;
        };
        attribute
            .instances()
            .filter(|instance| view.counts(instance))
            .any(|instance| self.members_of(&instance, &self.members, view, walk, see))
    }

    fn members_of(
        &self,
        instance: &InstanceView<'_>,
        members: &[TermId],
        view: &Visible,
        walk: &mut Walk<'_>,
        see: See<'_>,
    ) -> bool {
        let Some((name, rest)) = members.split_first() else {
            return match &self.linked {
                Some(linked) => linked.each(instance, view, walk, see),
                None => {
                    walk.pace.spend(1 + instance.value_length() / BYTES_A_STEP)
                        && self.in_instance(instance, see)
                }
            };
        };
        let Some(member) = instance.member(*name) else {
            return false;
        };
        member
            .instances()
            .filter(|instance| view.lives(instance))
            .any(|instance| self.members_of(&instance, rest, view, walk, see))
    }

    fn in_instance(&self, instance: &InstanceView<'_>, see: See<'_>) -> bool {
        match self.meta {
            Some(Meta::CreatedAt) => see(Target::Time(instance.created_at())),
            Some(Meta::ModifiedAt) => see(Target::Time(instance.modified_at())),
            Some(Meta::ObservedAt) => instance.observed_at().is_some_and(|time| see(Target::Time(time))),
            Some(Meta::UnitCode) => instance.unit_code().is_some_and(|unit| see(Target::Text(unit))),
            Some(Meta::DatasetId) => instance.dataset().is_some_and(|dataset| see(Target::Text(dataset))),
            None => self.in_value(instance, see),
        }
    }

    fn in_value(&self, instance: &InstanceView<'_>, see: See<'_>) -> bool {
        let kind = instance.kind();
        let see = &mut |value: &str| {
            see(match kind {
                Kind::JsonProperty | Kind::GeoProperty | Kind::LanguageProperty => Target::Plain(value),
                Kind::Relationship | Kind::ListRelationship => Target::Link(value),
                Kind::Property | Kind::VocabProperty | Kind::ListProperty => Target::Json(value),
            })
        };
        match (kind, self.json.as_slice()) {
            (Kind::LanguageProperty, []) => each_language(instance.value(), "*", see),
            (Kind::LanguageProperty, [tag]) => each_language(instance.value(), tag, see),
            (Kind::LanguageProperty, _) => false,
            (_, path) => each_at(instance.value(), path, see),
        }
    }
}

impl LinkedTrack {
    fn new(linked: &LinkedPath) -> Self {
        Self { types: linked.types.clone(), track: Track::new(&linked.path) }
    }

    /// Continues in the entities that a Relationship points to.
    fn each(&self, instance: &InstanceView<'_>, view: &Visible, walk: &mut Walk<'_>, see: See<'_>) -> bool {
        if !matches!(instance.kind(), Kind::Relationship | Kind::ListRelationship) {
            return false;
        }
        let beyond = Visible { datasets: Vec::new(), now: view.now };
        each_scalar(instance.value(), false, &mut |target| {
            let Some(id) = text_of(target) else {
                return false;
            };
            let Some(found) = walk.links.fetched.get(&*id) else {
                walk.links.wanted.push(id.into());
                return false;
            };
            let Some(bytes) = found.clone() else {
                return false;
            };
            EntityView::peek(&bytes).is_ok_and(|entity| {
                !is_expired(entity.expires_at(), view.now)
                    && self.is_of_type(&entity)
                    && self.track.each(&entity, &beyond, walk, see)
            })
        })
    }

    fn is_of_type(&self, entity: &EntityView<'_>) -> bool {
        self.types.is_empty() || entity.types().any(|of_type| self.types.contains(&Some(of_type)))
    }
}
