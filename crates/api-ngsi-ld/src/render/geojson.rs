//! Entities as GeoJSON features (NGSI-LD 4.5.16).

use lang_json::ArrayWriter;
use model_entities::{EntityView, Kind, TermId};

use crate::render::entity::write_members;
use crate::render::{Object, RenderPlan};

/// Appends an entity as a Feature whose geometry is that of the GeoProperty `geometry`.
pub(crate) fn write_feature(
    out: &mut String,
    entity: &EntityView<'_>,
    geometry: Option<TermId>,
    plan: &RenderPlan<'_>,
) {
    let mut feature = Object::begin(out);
    lang_json::write_string(feature.literal("\"id\":"), entity.id());
    feature.literal("\"type\":").push_str("\"Feature\"");
    feature.literal("\"geometry\":").push_str(geometry_of(entity, geometry, plan).unwrap_or("null"));
    let mut properties = Object::begin(feature.literal("\"properties\":"));
    write_members(&mut properties, entity, plan, None);
    properties.end();
    if let Some(context) = plan.context {
        feature.literal("\"@context\":").push_str(context);
    }
    feature.end();
}

/// Appends entities as a FeatureCollection.
pub(crate) fn write_features<'e>(
    out: &mut String,
    entities: impl Iterator<Item = EntityView<'e>>,
    geometry: Option<TermId>,
    plan: &RenderPlan<'_>,
) {
    let mut collection = Object::begin(out);
    collection.literal("\"type\":").push_str("\"FeatureCollection\"");
    let mut features = ArrayWriter::begin(collection.literal("\"features\":"));
    let inner = RenderPlan { context: None, ..*plan };
    for entity in entities {
        write_feature(features.item(), &entity, geometry, &inner);
    }
    features.end();
    if let Some(context) = plan.context {
        collection.literal("\"@context\":").push_str(context);
    }
    collection.end();
}

/// 4.5.16.1: the default instance, or the first that is shown.
fn geometry_of<'e>(
    entity: &EntityView<'e>,
    geometry: Option<TermId>,
    plan: &RenderPlan<'_>,
) -> Option<&'e str> {
    let attribute = entity.attribute(geometry?)?;
    let mut shown = attribute
        .instances()
        .filter(|instance| instance.kind() == Kind::GeoProperty && plan.shows_instance(instance));
    let first = shown.next()?;
    if first.dataset().is_none() {
        return Some(first.value());
    }
    Some(shown.find(|instance| instance.dataset().is_none()).unwrap_or(first).value())
}
