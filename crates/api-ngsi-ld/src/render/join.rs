//! Entities inside of the relationships that point to them (NGSI-LD 4.5.23, linked entity retrieval).

use std::collections::HashMap;

use model_entities::{AttributeView, Entity, EntityView, InstanceView, Kind};

use crate::render::entity::write_below;
use crate::render::{Object, Projection, RenderPlan};

/// The entities that relationships of a page point to, fetched level by level by the route.
#[derive(Debug, Default)]
pub(crate) struct Linked<'a> {
    /// By id; entities the client names in `containedBy` are not among them.
    pub entities: HashMap<Box<str>, Entity>,
    /// Their ids in the order they were met, each with what is shown of it where it was met first.
    pub order: Vec<(Projection<'a>, Box<str>)>,
    /// How many levels are shown inside of each other.
    pub level_max: usize,
    /// What all of them take as they are stored.
    pub bytes: usize,
    /// From this size of the answer on, none is shown any more: what was written does not count.
    pub out_bytes_max: usize,
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
        EntityView::parse(&linked.entities.get(&*id)?.bytes).ok()
    }
}

/// Appends the ids of entities that shown relationships of `entity` point to, each with what is shown
/// of it there.
pub(crate) fn targets<'a>(
    entity: &EntityView<'_>,
    plan: &RenderPlan<'a>,
    found: &mut Vec<(Projection<'a>, Box<str>)>,
) {
    let shown = entity.attributes().filter(|attribute| plan.projection.shows_attribute(attribute.name()));
    for attribute in shown {
        let projection = plan.projection.linked_by(attribute.name());
        for instance in attribute.instances().filter(|instance| plan.shows_instance(instance)) {
            if matches!(instance.kind(), Kind::Relationship | Kind::ListRelationship) {
                found.extend(objects(instance.value()).filter_map(|object| {
                    let id = lang_json::string_value(object)?.into_owned().into_boxed_str();
                    Some((projection, id))
                }));
            }
        }
    }
}

/// Whether the answer is so large already that it is not given.
fn is_full(plan: &RenderPlan<'_>, out: &str) -> bool {
    plan.linked.is_some_and(|linked| out.len() >= linked.out_bytes_max)
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
    if plan.linked.is_none() {
        return;
    }
    if is_full(plan, object.out) {
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
        if is_full(plan, out) {
            break;
        }
        if index > 0 {
            out.push(',');
        }
        write_below(out, &entity, &inner, Some(above));
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
    if is_full(plan, out)
        || plan.linked.is_none()
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
        if index > 0 {
            out.push(',');
        }
        match above.entity(plan, target) {
            Some(entity) if !is_full(plan, out) => write_below(out, &entity, &inner, Some(above)),
            _ => out.push_str(target),
        }
    }
    if many {
        out.push(']');
    }
    true
}
