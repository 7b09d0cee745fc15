//! Entities inside of the relationships that point to them (NGSI-LD 4.5.23, linked entity retrieval).

use lang_json::Commas;
use model_entities::{AttributeView, EntityView, InstanceView, Kind};

use super::write_below;
use crate::render::{LinkedViews, Object, RenderPlan, Targets};

/// The chain of entities that the one being written is inside of: none is shown inside of itself.
pub(crate) struct Above<'a> {
    id: &'a str,
    level: usize,
    outer: Option<&'a Above<'a>>,
}

impl<'a> Above<'a> {
    pub(crate) fn new(id: &'a str, outer: Option<&'a Above<'a>>) -> Self {
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

/// Writes the `entity` or `entityList` member of a relationship, if any of its targets was fetched.
pub(crate) fn write_linked(
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
    let mut found = objects(instance.value()).filter_map(|target| above.entity(plan, target)).peekable();
    if found.peek().is_none() {
        return;
    }
    let list = instance.kind() == Kind::ListRelationship;
    let out = object.literal(if list { "\"entityList\":" } else { "\"entity\":" });
    let many = list || instance.value().starts_with('[');
    if many {
        out.push('[');
    }
    let mut commas = Commas::default();
    for entity in found {
        if has_ended(plan) {
            break;
        }
        commas.next(out);
        write_inside(out, &entity, &inner, above);
    }
    if many {
        out.push(']');
    }
}

/// Writes a relationship's value with the fetched entities in place of their ids; `false` (and
/// nothing written) where there is none.
pub(crate) fn write_simplified(
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
    let mut commas = Commas::default();
    for target in objects(value) {
        if has_ended(plan) {
            break;
        }
        commas.next(out);
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
