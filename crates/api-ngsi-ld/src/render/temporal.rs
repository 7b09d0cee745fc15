//! The history of an entity as JSON: straight from the model's columns into one buffer.

mod aggregates;
mod instances;
mod values;

use model_entities::{
    AggregateHistory, AggregateMethod, EntityHistory, InstanceHistory, TermId, TimeProperty,
};

use crate::render::entity::{write_scopes, write_types};
use crate::render::{Object, RenderPlan, write_time};

/// Appends an entity with the instances of its history: whole (4.5.6 to 4.5.8), or, if `values`, as series of values and
/// times (4.5.9). `time` is the one that was asked for. Cost: some tens of nanoseconds an instance.
pub(crate) fn write_history(
    out: &mut String,
    history: &EntityHistory,
    time: TimeProperty,
    values: bool,
    plan: &RenderPlan<'_>,
) {
    let mut object = open(out, history, plan);
    for series in by_attribute(&history.attributes, InstanceHistory::attribute) {
        let Some(name) = series.first().map(InstanceHistory::attribute) else { continue };
        let out = object.literal(plan.names.key(name));
        if values {
            values::write(out, series, time, plan);
        } else {
            instances::write(out, series, time, plan);
        }
    }
    object.end();
}

/// Appends an entity with aggregates of its history (4.5.19), a series for each of the `methods`.
pub(crate) fn write_aggregates(
    out: &mut String,
    history: &EntityHistory,
    aggregates: &[AggregateHistory],
    methods: &[AggregateMethod],
    plan: &RenderPlan<'_>,
) {
    let mut object = open(out, history, plan);
    for series in by_attribute(aggregates, AggregateHistory::attribute) {
        let Some(name) = series.first().map(AggregateHistory::attribute) else { continue };
        aggregates::write(object.literal(plan.names.key(name)), series, methods, plan);
    }
    object.end();
}

/// Series of the same attribute follow each other.
fn by_attribute<T>(all: &[T], attribute: impl Fn(&T) -> TermId) -> impl Iterator<Item = &[T]> {
    all.chunk_by(move |one, other| attribute(one) == attribute(other))
}

/// Begins an entity and writes all that is no attribute.
fn open<'o>(out: &'o mut String, history: &EntityHistory, plan: &RenderPlan<'_>) -> Object<'o> {
    let mut object = Object::begin(out);
    if let Some(context) = plan.context {
        object.literal("\"@context\":").push_str(context);
    }
    if plan.projection.shows(|members| members.id) {
        lang_json::write_string(object.literal("\"id\":"), &history.id);
    }
    if plan.projection.shows(|members| members.types) && !history.types.is_empty() {
        write_types(object.literal("\"type\":"), history.types.iter().copied(), plan);
    }
    if plan.projection.shows(|members| members.scope) {
        write_scopes(&mut object, history.scopes.iter().map(|scope| &**scope), plan);
    }
    if plan.sys_attrs {
        if plan.projection.shows(|members| members.created_at) {
            write_time(object.literal("\"createdAt\":"), history.created_at);
        }
        if plan.projection.shows(|members| members.modified_at) {
            write_time(object.literal("\"modifiedAt\":"), history.modified_at);
        }
    }
    if let Some(deleted) = history.deleted_at {
        write_time(object.literal("\"deletedAt\":"), deleted);
    }
    object
}

/// Writes one object, or an array of them if there are several.
fn write_each<T>(out: &mut String, each: impl Iterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    let start = out.len();
    let mut count = 0;
    for one in each {
        if count > 0 {
            out.push(',');
        }
        write(out, one);
        count += 1;
    }
    if count != 1 {
        out.insert(start, '[');
        out.push(']');
    }
}
