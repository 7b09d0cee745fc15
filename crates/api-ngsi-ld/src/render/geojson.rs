//! Entities as GeoJSON features (NGSI-LD 4.5.16).

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
    let mut feature = Object::open(out);
    lang_json::write_string(feature.member("\"id\":"), entity.id());
    feature.member("\"type\":\"Feature\"");
    feature.member("\"geometry\":").push_str(geometry_of(entity, geometry, plan).unwrap_or("null"));
    let mut properties = Object::open(feature.member("\"properties\":"));
    write_members(&mut properties, entity, plan, None);
    properties.close();
    if let Some(context) = plan.context {
        feature.member("\"@context\":").push_str(context);
    }
    feature.close();
}

/// Appends entities as a FeatureCollection.
pub(crate) fn write_features<'e>(
    out: &mut String,
    entities: impl Iterator<Item = EntityView<'e>>,
    geometry: Option<TermId>,
    plan: &RenderPlan<'_>,
) {
    out.push_str("{\"type\":\"FeatureCollection\",\"features\":[");
    let inner = RenderPlan { context: None, ..*plan };
    for (index, entity) in entities.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_feature(out, &entity, geometry, &inner);
    }
    out.push(']');
    if let Some(context) = plan.context {
        out.push_str(",\"@context\":");
        out.push_str(context);
    }
    out.push('}');
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
