//! An entity as JSON or JSON-LD (NGSI-LD 4.5.1 to 4.5.4).

mod join;
mod attribute;

pub(crate) use attribute::names;
pub(super) use attribute::{is_geometry, write_attribute, write_extras, write_objects};
pub(crate) use join::targets;

use lang_json::ArrayWriter;
use model_entities::{EntityView, TermId};

use crate::render::{Object, RenderPlan, write_time};
use join::Above;

/// Appends an entity. Cost: one pass over it; what it copies is most of the cost.
pub(crate) fn write_entity(out: &mut String, entity: &EntityView<'_>, plan: &RenderPlan<'_>) {
    write_below(out, entity, plan, None);
}

/// Appends an array of entities.
pub(crate) fn write_entities<'e>(
    out: &mut String,
    entities: impl Iterator<Item = EntityView<'e>>,
    plan: &RenderPlan<'_>,
) {
    let mut array = ArrayWriter::begin(out);
    for entity in entities {
        write_entity(array.item(), &entity, plan);
    }
    array.end();
}

/// Appends an entity that is inside of others (`above`), or of none.
pub(super) fn write_below(
    out: &mut String,
    entity: &EntityView<'_>,
    plan: &RenderPlan<'_>,
    above: Option<&Above<'_>>,
) {
    let mut object = Object::begin(out);
    if let Some(context) = plan.context {
        object.literal("\"@context\":").push_str(context);
    }
    if plan.projection.shows(|members| members.id) {
        lang_json::write_string(object.literal("\"id\":"), entity.id());
    }
    write_members(&mut object, entity, plan, above);
    object.end();
}

/// Writes all members of an entity but its id.
pub(super) fn write_members(
    object: &mut Object<'_>,
    entity: &EntityView<'_>,
    plan: &RenderPlan<'_>,
    above: Option<&Above<'_>>,
) {
    if plan.projection.shows(|members| members.types) {
        write_types(object.literal("\"type\":"), entity.types(), plan);
    }
    if plan.projection.shows(|members| members.scope) {
        write_scopes(object, entity.scopes(), plan);
    }
    if plan.projection.shows(|members| members.expires_at)
        && let Some(expires) = plan.shown_expiry(entity.expires_at())
    {
        write_time(object.literal("\"expiresAt\":"), expires);
    }
    if plan.sys_attrs {
        if plan.projection.shows(|members| members.created_at) {
            write_time(object.literal("\"createdAt\":"), entity.created_at());
        }
        if plan.projection.shows(|members| members.modified_at) {
            write_time(object.literal("\"modifiedAt\":"), entity.modified_at());
        }
    }
    let here = Above::new(entity.id(), above);
    for attribute in entity.attributes() {
        if plan.projection.shows_attribute(attribute.name()) {
            write_attribute(object, &attribute, plan, Some(&here));
        }
    }
}

/// Writes types: one as a text, several as an array.
pub(super) fn write_types(out: &mut String, types: impl Iterator<Item = TermId>, plan: &RenderPlan<'_>) {
    let start = out.len();
    let mut count = 0;
    for term in types {
        if count > 0 {
            if plan.release.lacks(3) {
                break;
            }
            out.push(',');
        }
        lang_json::write_string(out, plan.names.compact(term));
        count += 1;
    }
    if count != 1 {
        out.insert(start, '[');
        out.push(']');
    }
}

/// Writes the member of the scopes, if there are any.
pub(super) fn write_scopes<'s>(
    object: &mut Object<'_>,
    mut scopes: impl Iterator<Item = &'s str>,
    plan: &RenderPlan<'_>,
) {
    let Some(first) = scopes.next().filter(|_| !plan.release.lacks(4)) else { return };
    let out = object.literal("\"scope\":");
    let start = out.len();
    lang_json::write_string(out, first);
    let mut many = false;
    for scope in scopes {
        many = true;
        out.push(',');
        lang_json::write_string(out, scope);
    }
    if many {
        out.insert(start, '[');
        out.push(']');
    }
}

#[cfg(test)]
mod tests;
