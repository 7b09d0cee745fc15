//! A history as it was read: columns of instances for each attribute and dataset.

use smallvec::SmallVec;
use store::Timestamp;
use strands::Points;

use super::note::{Class, Point, micros};
use super::{TimeProperty, TimeSpan};
use crate::view::Fields;
use crate::{AttributeView, Extra, InstanceId, InstanceView, Kind, TermId};

/// The history of an entity, living or gone, as far as it was asked for.
#[derive(Clone, Debug)]
pub struct EntityHistory {
    /// Its id.
    pub id: Box<str>,
    /// Its types: those it has, or had when it went.
    pub types: SmallVec<[TermId; 2]>,
    /// Its scopes, likewise; none if the answer may hold instances of them ([`TermId::SCOPE`]).
    pub scopes: Vec<Box<str>>,
    /// When it was created (the last time).
    pub created_at: Timestamp,
    /// When it was last changed, or its history was.
    pub modified_at: Timestamp,
    /// When it went; `None` while it is there.
    pub deleted_at: Option<Timestamp>,
    /// The instances found, by attribute (in the order of terms) and dataset (the default first). Attributes and
    /// datasets of which none was found are left out.
    pub attributes: Vec<InstanceHistory>,
    /// The part of the asked span that the answer holds, where it had to be cut at `instances_max`: the earliest part, or
    /// with `last_n` the latest. To go on, ask for the rest of the span.
    pub covered: Option<TimeSpan>,
}

/// The instances of one attribute and dataset, by the time that was asked for.
#[derive(Clone, Debug)]
pub struct InstanceHistory {
    /// The attribute.
    pub attribute: TermId,
    /// The datasetId; `None` for the default instance.
    pub dataset: Option<Box<str>>,
    /// Tells this attribute and dataset of this entity apart in instance ids.
    pub tag: u32,
    /// The instances, each a point.
    pub points: Points,
}

/// One instance as it was once written, or its removal.
#[derive(Clone, Copy, Debug)]
pub struct RecordedInstance<'a> {
    of: &'a InstanceHistory,
    index: usize,
}

/// The instances of an [`InstanceHistory`], in order.
#[derive(Clone, Debug)]
pub struct RecordedInstances<'a> {
    of: &'a InstanceHistory,
    places: std::ops::Range<usize>,
}

impl EntityHistory {
    /// Leaves out the instances whose `time`, by which they must be sorted, lies outside of the span.
    /// Cost: two binary searches for each attribute and dataset, and a move of what stays.
    pub fn narrow(&mut self, time: TimeProperty, span: TimeSpan) {
        self.attributes.iter_mut().for_each(|one| one.narrow(time, span));
        self.attributes.retain(|one| !one.is_empty());
    }
}

impl InstanceHistory {
    fn narrow(&mut self, time: TimeProperty, span: TimeSpan) {
        let first = self.first_from(time, span.from);
        let end = self.first_from(time, span.to).max(first);
        let points = &mut self.points;
        points.truncate(end);
        let first = first.min(points.len());
        points.times.drain(..first);
        points.values.drain(..first);
        points.flags.drain(..first);
        points.observed.drain(..first.min(points.observed.len()));
        points.notes.places.drain(..first.min(points.notes.places.len()));
    }

    /// The place of the first instance whose `time` is not before `from`.
    fn first_from(&self, time: TimeProperty, from: Timestamp) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let index = low.midpoint(high);
            match (RecordedInstance { of: self, index }).time(time) {
                Some(at) if at >= from => high = index,
                _ => low = index + 1,
            }
        }
        low
    }

    /// The kinds of its values and of what was removed (mostly one), in the order they are first met.
    /// Cost: a look at each instance; kinds are read once for each run of like ones.
    pub fn kinds(&self) -> SmallVec<[Kind; 1]> {
        let mut kinds = SmallVec::new();
        let mut last = None;
        for instance in self.instances() {
            if last == Some(instance.likeness()) {
                continue;
            }
            last = Some(instance.likeness());
            let kind = instance.kind();
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// The attribute.
    pub fn attribute(&self) -> TermId {
        self.attribute
    }

    /// The datasetId; `None` for the default instance.
    pub fn dataset(&self) -> Option<&str> {
        self.dataset.as_deref()
    }

    /// How many instances (removals included).
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The instances, in order.
    pub fn instances(&self) -> RecordedInstances<'_> {
        RecordedInstances { of: self, places: 0..self.len() }
    }
}

impl<'a> Iterator for RecordedInstances<'a> {
    type Item = RecordedInstance<'a>;

    fn next(&mut self) -> Option<RecordedInstance<'a>> {
        Some(RecordedInstance { of: self.of, index: self.places.next()? })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl ExactSizeIterator for RecordedInstances<'_> {}

impl DoubleEndedIterator for RecordedInstances<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        Some(RecordedInstance { of: self.of, index: self.places.next_back()? })
    }
}

impl<'a> RecordedInstance<'a> {
    fn point(&self) -> Point<'a> {
        Point::new(&self.of.points, self.index)
    }

    /// Whether this is a removal: it has times, and no value.
    pub fn is_deleted(&self) -> bool {
        self.point().class == Class::Removal
    }

    /// The time that a property says; `None` if it says none.
    pub fn time(&self, property: TimeProperty) -> Option<Timestamp> {
        match property {
            TimeProperty::ObservedAt => self.observed_at(),
            TimeProperty::CreatedAt => Some(self.created_at()),
            TimeProperty::ModifiedAt => Some(self.modified_at()),
            TimeProperty::DeletedAt => self.deleted_at(),
        }
    }

    /// What kind of value it holds; for a removal, the kind of what was removed.
    pub fn kind(&self) -> Kind {
        self.point().kind()
    }

    /// Appends the value: canonical JSON text, as it was sent (`null` for a removal).
    /// Cost: numbers are printed, others copied.
    pub fn write_value(&self, out: &mut String) {
        self.point().write_value(out);
    }

    /// The unit.
    pub fn unit_code(&self) -> Option<&'a str> {
        self.point().note().and_then(|note| note.unit_code())
    }

    /// When the value was observed.
    pub fn observed_at(&self) -> Option<Timestamp> {
        self.point().observed_at()
    }

    /// When the instance ceases to be, as was said then.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.point().note().and_then(|note| note.expires_at())
    }

    /// When the attribute's instance was first written (for a removal: when it was removed).
    pub fn created_at(&self) -> Timestamp {
        self.point().created_at()
    }

    /// When this state was written.
    pub fn modified_at(&self) -> Timestamp {
        self.point().modified_at()
    }

    /// When it was removed, if this is a removal.
    pub fn deleted_at(&self) -> Option<Timestamp> {
        let point = self.point();
        (point.class == Class::Removal).then(|| micros(point.time))
    }

    /// What it shares with others of its [`InstanceHistory`]: where this is the same, and neither is a removal, all but values,
    /// observedAt, and createdAt and modifiedAt is alike. Cost: a look-up; nothing is read.
    pub fn likeness(&self) -> Option<u32> {
        self.of.points.notes.places.get(self.index).copied()
    }

    /// Its name.
    pub fn instance_id(&self) -> InstanceId {
        InstanceId { time: self.point().time, tag: self.of.tag }
    }

    /// Whether it has sub-attributes.
    pub fn has_members(&self) -> bool {
        self.point().note().is_some_and(|note| !note.member_bytes().is_empty())
    }

    /// Members that ride along: canonical JSON text by tag.
    pub fn extras(&self) -> impl Iterator<Item = (Extra, &'a str)> + use<'a> {
        self.point().note().into_iter().flat_map(|note| note.extras())
    }

    /// Sub-attributes. Times of theirs that are this instance's own read as `Timestamp(i64::MIN)`: for readers that do not
    /// show them. Others take [`Self::stored`].
    pub fn members(&self) -> impl Iterator<Item = AttributeView<'a>> + use<'a> {
        self.point().note().into_iter().flat_map(|note| note.members())
    }

    /// The instance in its stored form, as a living one: for whoever renders all of it. `None` for a removal.
    /// Cost: a copy to `scratch`.
    pub fn stored<'s>(&self, scratch: &'s mut Vec<u8>) -> Option<InstanceView<'s>> {
        scratch.clear();
        self.point().put_stored(scratch, self.of.dataset());
        let body = Fields::new(scratch).bytes()?;
        InstanceView::body(body, scratch)
    }
}
