//! An attribute and its instances (NGSI-LD 4.5.2 to 4.5.5 and 4.5.18 to 4.5.24).

use lang_json::{ArrayWriter, Kind as JsonKind, write_string};
use model_entities::{AttributeView, Extra, InstanceView, Kind};

use super::join::{Above, write_linked};
use crate::render::{Form, Object, RenderPlan, write_iris, write_time};

/// Writes the member of an attribute, unless none of its instances is shown. `above` is the entity
/// it belongs to; `None` for a sub-attribute.
pub(crate) fn write_attribute(
    object: &mut Object<'_>,
    attribute: &AttributeView<'_>,
    plan: &RenderPlan<'_>,
    above: Option<&Above<'_>>,
) {
    let shown = |instance: &InstanceView<'_>| match above {
        Some(_) => plan.shows_instance(instance),
        None => plan.alive(instance),
    };
    let mut instances = attribute.instances().filter(shown);
    let Some(first) = instances.next() else { return };
    let out = object.literal(plan.names.key(attribute.name()));
    let start = out.len();
    let write = |out: &mut String, instance: &InstanceView<'_>| {
        write_instance(out, attribute, instance, plan, above);
    };
    let Some(second) = instances.next() else { return write(out, &first) };
    if plan.release.lacks(3) {
        let of_default = [first, second].into_iter().chain(instances).find(|one| one.dataset().is_none());
        return write(out, &of_default.unwrap_or(first));
    }
    let rest = std::iter::once(second).chain(instances);
    if plan.form == Form::Simplified {
        out.push_str("{\"dataset\":");
        let mut datasets = Object::begin(out);
        for instance in std::iter::once(first).chain(rest) {
            write(datasets.member(instance.dataset().unwrap_or("@none")), &instance);
        }
        datasets.end();
        out.push('}');
        return;
    }
    write(out, &first);
    for instance in rest {
        out.push(',');
        write(out, &instance);
    }
    out.insert(start, '[');
    out.push(']');
}

fn write_instance(
    out: &mut String,
    attribute: &AttributeView<'_>,
    instance: &InstanceView<'_>,
    plan: &RenderPlan<'_>,
    above: Option<&Above<'_>>,
) {
    let shape = Shape::new(instance, plan);
    match plan.form {
        Form::Simplified => write_simplified(out, attribute, instance, plan, above),
        Form::Concise if shape.bare => shape.write_value(out, instance, plan),
        Form::Concise | Form::Normalized => {
            let mut object = Object::begin(out);
            if plan.form == Form::Normalized || shape.type_needed {
                object.literal("\"type\":").push_str(shape.type_name);
            }
            shape.write_value(object.literal(shape.value_name), instance, plan);
            if let (Kind::Relationship | Kind::ListRelationship, Some(above)) = (instance.kind(), above) {
                write_linked(&mut object, attribute, instance, plan, above);
            }
            write_rest(&mut object, instance, plan, &shape);
            object.end();
        }
    }
}

/// Writes what is neither type nor value.
fn write_rest(
    object: &mut Object<'_>,
    instance: &InstanceView<'_>,
    plan: &RenderPlan<'_>,
    shape: &Shape<'_>,
) {
    if let Some((tag, _)) = &shape.text {
        write_string(object.literal("\"lang\":"), tag);
    }
    let release = plan.release;
    if let Some(unit) = instance.unit_code().filter(|_| !release.lacks(3)) {
        write_string(object.literal("\"unitCode\":"), unit);
    }
    if let Some(observed) = instance.observed_at().filter(|_| !release.lacks(3)) {
        write_time(object.literal("\"observedAt\":"), observed);
    }
    if let Some(dataset) = instance.dataset().filter(|_| !release.lacks(3)) {
        write_string(object.literal("\"datasetId\":"), dataset);
    }
    if let Some(expires) = plan.shown_expiry(instance.expires_at()) {
        write_time(object.literal("\"expiresAt\":"), expires);
    }
    write_extras(object, instance.extras(), plan);
    if plan.sys_attrs {
        write_time(object.literal("\"createdAt\":"), instance.created_at());
        write_time(object.literal("\"modifiedAt\":"), instance.modified_at());
    }
    for member in instance.members() {
        write_attribute(object, &member, plan, None);
    }
}

/// Writes members that few instances have.
pub(crate) fn write_extras<'e>(
    object: &mut Object<'_>,
    extras: impl Iterator<Item = (Extra, &'e str)>,
    plan: &RenderPlan<'_>,
) {
    for (tag, text) in extras {
        match tag {
            Extra::ObjectType if plan.release.lacks(8) => {}
            Extra::ObjectType => write_iris(object.literal("\"objectType\":"), text, plan.names),
            Extra::ValueType if plan.release.lacks(9) => {}
            Extra::ValueType => write_iris(object.literal("\"valueType\":"), text, plan.names),
            Extra::Proof => object.literal("\"ngsildproof\":").push_str(text),
            // NGSIv2 alone knows this member.
            Extra::V2Type => {}
        }
    }
}

/// How an instance's value is written.
struct Shape<'i> {
    type_name: &'static str,
    value_name: &'static str,
    /// The chosen member of a language map.
    text: Option<(std::borrow::Cow<'i, str>, &'i str)>,
    /// The client's release does not know the kind: one it knows is written in its place.
    lowered: bool,
    /// In the concise form, the type does not follow from the rest.
    type_needed: bool,
    /// In the concise form, the value alone says everything.
    bare: bool,
}

impl<'i> Shape<'i> {
    fn new(instance: &InstanceView<'i>, plan: &RenderPlan<'_>) -> Self {
        let text = match (instance.kind(), plan.languages) {
            (Kind::LanguageProperty, Some(languages)) => languages.choose(instance.value()),
            _ => None,
        };
        let known = plan.release.kind(instance.kind());
        let lowered = known != instance.kind();
        let kind = if text.is_some() { Kind::Property } else { known };
        let (type_name, value_name) = names(kind);
        let mut shape = Self { type_name, value_name, text, lowered, type_needed: false, bare: false };
        if plan.form == Form::Concise {
            shape.simplify(kind, instance, plan);
        }
        shape
    }

    fn simplify(&mut self, kind: Kind, instance: &InstanceView<'_>, plan: &RenderPlan<'_>) {
        let alone = self.text.is_none()
            && !plan.sys_attrs
            && instance.unit_code().is_none()
            && instance.observed_at().is_none()
            && instance.dataset().is_none()
            && instance.extras().all(|(tag, _)| tag == Extra::V2Type)
            && instance.members().next().is_none();
        match kind {
            Kind::Property if self.text.is_none() => {
                self.type_needed = is_geometry(instance.value());
                self.bare = alone && !self.type_needed && is_plain(instance.value());
            }
            Kind::GeoProperty => self.bare = alone,
            _ => {}
        }
    }

    fn write_value(&self, out: &mut String, instance: &InstanceView<'_>, plan: &RenderPlan<'_>) {
        let value = instance.value();
        match (&self.text, instance.kind()) {
            (Some((_, text)), _) => out.push_str(text),
            (None, Kind::VocabProperty) => write_iris(out, value, plan.names),
            (None, Kind::ListRelationship) if plan.form == Form::Normalized && !self.lowered => {
                write_objects(out, value)
            }
            (None, _) => out.push_str(value),
        }
    }
}

fn write_simplified(
    out: &mut String,
    attribute: &AttributeView<'_>,
    instance: &InstanceView<'_>,
    plan: &RenderPlan<'_>,
    above: Option<&Above<'_>>,
) {
    let shape = Shape::new(instance, plan);
    match instance.kind() {
        Kind::Property | Kind::GeoProperty => out.push_str(instance.value()),
        _ if shape.lowered => shape.write_value(out, instance, plan),
        Kind::LanguageProperty if shape.text.is_some() => shape.write_value(out, instance, plan),
        Kind::ListProperty => out.push_str(instance.value()),
        Kind::Relationship | Kind::ListRelationship => {
            let joined = above.is_some_and(|above| {
                super::join::write_simplified(out, attribute, instance.value(), plan, above)
            });
            if !joined {
                out.push_str(instance.value());
            }
        }
        Kind::LanguageProperty | Kind::VocabProperty | Kind::JsonProperty => {
            let mut object = Object::begin(out);
            shape.write_value(object.literal(shape.value_name), instance, plan);
            object.end();
        }
    }
}

/// The type of a kind as a JSON string, and the name of its value's member.
pub(crate) fn names(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Property => ("\"Property\"", "\"value\":"),
        Kind::GeoProperty => ("\"GeoProperty\"", "\"value\":"),
        Kind::Relationship => ("\"Relationship\"", "\"object\":"),
        Kind::LanguageProperty => ("\"LanguageProperty\"", "\"languageMap\":"),
        Kind::VocabProperty => ("\"VocabProperty\"", "\"vocab\":"),
        Kind::JsonProperty => ("\"JsonProperty\"", "\"json\":"),
        Kind::ListProperty => ("\"ListProperty\"", "\"valueList\":"),
        Kind::ListRelationship => ("\"ListRelationship\"", "\"objectList\":"),
    }
}

/// Whether a value can be written in place of its attribute without being read as one instance or several.
fn is_plain(value: &str) -> bool {
    match lang_json::kind(value) {
        Some(JsonKind::String | JsonKind::Number | JsonKind::Bool) => true,
        Some(JsonKind::Array) => lang_json::elements(value).all(|element| {
            matches!(
                lang_json::kind(element),
                Some(JsonKind::String | JsonKind::Number | JsonKind::Bool | JsonKind::Null)
            )
        }),
        _ => false,
    }
}

/// Whether a reader of the concise form would take a value for a GeoProperty's.
pub(crate) fn is_geometry(value: &str) -> bool {
    const TYPES: [&str; 7] = [
        "\"Point\"",
        "\"MultiPoint\"",
        "\"LineString\"",
        "\"MultiLineString\"",
        "\"Polygon\"",
        "\"MultiPolygon\"",
        "\"GeometryCollection\"",
    ];
    value.starts_with('{') && lang_json::member(value, "type").is_some_and(|kind| TYPES.contains(&kind))
}

/// Writes an array of URIs as an array of `{"object":URI}`.
pub(crate) fn write_objects(out: &mut String, value: &str) {
    let mut array = ArrayWriter::begin(out);
    for element in lang_json::elements(value) {
        let mut object = Object::begin(array.item());
        object.literal("\"object\":").push_str(element);
        object.end();
    }
    array.end();
}
