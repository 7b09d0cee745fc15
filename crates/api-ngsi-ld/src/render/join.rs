//! Entities inside of the relationships that point to them (NGSI-LD 4.5.23, linked entity retrieval).

use std::collections::{HashMap, HashSet};

use api_http::Share;
use model_entities::{AttributeView, Entity, EntityView, InstanceView, Kind, Pace};
use parking_lot::Mutex;

use crate::render::entity::write_below;
use crate::render::{Object, Projection, RenderPlan};

/// Written text goes at so many bytes a step.
const BYTES_A_STEP: usize = 64;
/// Memory for what is written is asked for in parts of this size.
const PART_BYTES: usize = 1 << 20;

/// The entities that relationships of a page point to, fetched level by level by the route.
#[derive(Debug, Default)]
pub(crate) struct Linked<'a> {
    /// By id; entities the client names in `containedBy` are not among them.
    pub entities: HashMap<Box<str>, Entity>,
    /// Their ids in the order they were met, each with what is shown of it where it was met first.
    pub order: Vec<(Projection<'a>, Box<str>)>,
    /// What all of them take as they are stored.
    pub bytes: usize,
}

/// Linked entities, ready to stand inside of others: in how many places does not make them be read again.
#[derive(Debug)]
pub(crate) struct LinkedViews<'l> {
    views: HashMap<&'l str, EntityView<'l>>,
    /// How many levels are shown inside of each other.
    level_max: usize,
    work: Mutex<Work>,
}

/// What writing linked entities may take, and has taken.
#[derive(Debug)]
pub(crate) struct Work {
    pub pace: Pace,
    /// Steps that are left.
    pub steps: usize,
    /// From this size of the answer on, no entity is shown any more.
    pub out_bytes_max: usize,
    /// Memory for what is written.
    pub memory: Share,
    /// Why it ended before all was written: what was written does not count.
    pub ended: Option<Ended>,
}

/// Why linked entities were not all written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ended {
    /// The steps are used up.
    Tired,
    /// The answer is too large.
    Large,
    /// The deadline came.
    Late,
    /// There is no memory left.
    MemoryFull,
}

impl Work {
    fn begin(&mut self, entity_bytes: usize, out_bytes: usize) -> Option<Ended> {
        let steps = 1 + entity_bytes / BYTES_A_STEP;
        self.steps = self.steps.saturating_sub(steps);
        if !self.pace.spend(steps) {
            Some(Ended::Late)
        } else if out_bytes >= self.out_bytes_max {
            Some(Ended::Large)
        } else if self.steps == 0 {
            Some(Ended::Tired)
        } else if self.memory.try_grow(out_bytes.next_multiple_of(PART_BYTES)).is_err() {
            Some(Ended::MemoryFull)
        } else {
            None
        }
    }
}

impl<'l> LinkedViews<'l> {
    /// Views of linked entities, to be shown so many levels deep. Cost: a look at each.
    pub(crate) fn new(linked: &'l Linked<'_>, level_max: usize, work: Work) -> Self {
        let entities = linked.entities.iter();
        let views = entities.filter_map(|(id, entity)| Some((&**id, entity.view().ok()?))).collect();
        Self { views, level_max, work: Mutex::new(work) }
    }

    /// A linked entity.
    pub(crate) fn view(&self, id: &str) -> Option<EntityView<'l>> {
        self.views.get(id).copied()
    }

    /// What became of the work.
    pub(crate) fn into_work(self) -> Work {
        self.work.into_inner()
    }

    /// Whether one more entity may be written; not any more once one may not.
    fn begins(&self, entity: &EntityView<'_>, out: &str) -> bool {
        let mut work = self.work.lock();
        if work.ended.is_none() {
            work.ended = work.begin(entity.bytes().len(), out.len());
        }
        work.ended.is_none()
    }

    fn has_ended(&self) -> bool {
        self.work.lock().ended.is_some()
    }
}

/// The chain of entities that one being written stands inside of: none is shown inside of itself.
pub(super) struct Above<'a> {
    id: &'a str,
    level: usize,
    outer: Option<&'a Above<'a>>,
}

impl<'a> Above<'a> {
    pub(super) fn new(id: &'a str, outer: Option<&'a Above<'a>>) -> Self {
        Self { id, level: outer.map_or(0, |outer| outer.level + 1), outer }
    }

    fn contains(&self, id: &str) -> bool {
        self.id == id || self.outer.is_some_and(|outer| outer.contains(id))
    }

    fn entity<'l>(&self, plan: &RenderPlan<'l>, target: &str) -> Option<EntityView<'l>> {
        let linked = plan.linked.filter(|linked| self.level < linked.level_max)?;
        let id = lang_json::string_value(target)?;
        if self.contains(&id) {
            return None;
        }
        linked.view(&id)
    }
}

/// Entities that are to be shown through relationships, each once for each projection.
#[derive(Debug, Default)]
pub(crate) struct Targets<'a> {
    met: HashMap<(usize, usize), HashSet<Box<str>>>,
    /// Those that were met since they were taken last, in order.
    pub found: Vec<(Projection<'a>, Box<str>)>,
}

impl<'a> Targets<'a> {
    fn meet(&mut self, projection: Projection<'a>, id: &str) {
        let met = self.met.entry(projection.identity()).or_default();
        if !met.contains(id) {
            met.insert(id.into());
            self.found.push((projection, id.into()));
        }
    }
}

/// Takes in the ids of entities that shown relationships of `entity` point to, each with what is shown of it there.
/// Cost: one pass over the entity, and a look-up for each target.
pub(crate) fn targets<'a>(entity: &EntityView<'_>, plan: &RenderPlan<'a>, found: &mut Targets<'a>) {
    let shown = entity.attributes().filter(|attribute| plan.projection.shows_attribute(attribute.name()));
    for attribute in shown {
        let projection = plan.projection.linked_by(attribute.name());
        for instance in attribute.instances().filter(|instance| plan.shows_instance(instance)) {
            if matches!(instance.kind(), Kind::Relationship | Kind::ListRelationship) {
                let ids = objects(instance.value()).filter_map(lang_json::string_value);
                ids.for_each(|id| found.meet(projection, &id));
            }
        }
    }
}

/// Whether the answer is not given anyway.
fn has_ended(plan: &RenderPlan<'_>) -> bool {
    plan.linked.is_some_and(LinkedViews::has_ended)
}

/// Writes an entity inside of another one, unless the work has ended.
fn write_inside(out: &mut String, entity: &EntityView<'_>, plan: &RenderPlan<'_>, above: &Above<'_>) {
    if plan.linked.is_some_and(|linked| linked.begins(entity, out)) {
        write_below(out, entity, plan, Some(above));
    }
}

/// The targets of a relationship: the value itself, or its elements.
fn objects(value: &str) -> impl Iterator<Item = &str> {
    let one = (!value.starts_with('[')).then_some(value);
    one.into_iter().chain(lang_json::elements(value))
}

/// Writes the `entity` or `entityList` member of a relationship, if any of its targets is at hand.
pub(super) fn write_linked(
    object: &mut Object<'_>,
    attribute: &AttributeView<'_>,
    instance: &InstanceView<'_>,
    plan: &RenderPlan<'_>,
    above: &Above<'_>,
) {
    if plan.linked.is_none() || has_ended(plan) {
        return;
    }
    let inner = plan.linked_by(attribute.name());
    let mut held = objects(instance.value()).filter_map(|target| above.entity(plan, target)).peekable();
    if held.peek().is_none() {
        return;
    }
    let list = instance.kind() == Kind::ListRelationship;
    let out = object.member(if list { "\"entityList\":" } else { "\"entity\":" });
    let many = list || instance.value().starts_with('[');
    if many {
        out.push('[');
    }
    for (index, entity) in held.enumerate() {
        if has_ended(plan) {
            break;
        }
        if index > 0 {
            out.push(',');
        }
        write_inside(out, &entity, &inner, above);
    }
    if many {
        out.push(']');
    }
}

/// Writes a relationship's value with the entities at hand in place of their ids; `false` (and
/// nothing written) where there is none.
pub(super) fn write_simplified(
    out: &mut String,
    attribute: &AttributeView<'_>,
    value: &str,
    plan: &RenderPlan<'_>,
    above: &Above<'_>,
) -> bool {
    if plan.linked.is_none()
        || has_ended(plan)
        || !objects(value).any(|target| above.entity(plan, target).is_some())
    {
        return false;
    }
    let inner = plan.linked_by(attribute.name());
    let many = value.starts_with('[');
    if many {
        out.push('[');
    }
    for (index, target) in objects(value).enumerate() {
        if has_ended(plan) {
            break;
        }
        if index > 0 {
            out.push(',');
        }
        match above.entity(plan, target) {
            Some(entity) => write_inside(out, &entity, &inner, above),
            None => out.push_str(target),
        }
    }
    if many {
        out.push(']');
    }
    true
}
