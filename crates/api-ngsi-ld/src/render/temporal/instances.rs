//! Instances whole: an array of them for each attribute (NGSI-LD 4.5.6 to 4.5.8).

use lang_json::{ArrayWriter, write_string};
use model_entities::{InstanceHistory, Kind, RecordedInstance, TimeProperty};

use crate::render::entity::{is_geometry, names, write_attribute, write_extras, write_objects};
use crate::render::{Form, Object, RenderPlan, write_iris, write_time};

/// The NGSI-LD null, as each member that holds a value has it (4.5.0).
pub(super) fn null(kind: Kind) -> &'static str {
    match kind {
        Kind::LanguageProperty => "{\"@none\":\"urn:ngsi-ld:null\"}",
        Kind::ListProperty | Kind::ListRelationship => "[\"urn:ngsi-ld:null\"]",
        _ => "\"urn:ngsi-ld:null\"",
    }
}

/// Appends the instances of one attribute, those of each datasetId together.
pub(super) fn write(out: &mut String, series: &[InstanceHistory], time: TimeProperty, plan: &RenderPlan<'_>) {
    let mut array = ArrayWriter::begin(out);
    for one in series {
        let mut writer = Writer::new(one, time, plan);
        for instance in one.instances() {
            writer.write(array.item(), &instance);
        }
    }
    array.end();
}

/// Writes the instances of one attribute and datasetId.
struct Writer<'a> {
    plan: &'a RenderPlan<'a>,
    time: TimeProperty,
    attribute: &'a InstanceHistory,
    /// The kind of the last value.
    kind: Kind,
    /// What instances like the last one have in common.
    shared: Shared,
    /// A value on its way, and an instance in its stored form.
    value: String,
    stored: Vec<u8>,
}

impl<'a> Writer<'a> {
    fn new(attribute: &'a InstanceHistory, time: TimeProperty, plan: &'a RenderPlan<'a>) -> Self {
        Self {
            plan,
            time,
            attribute,
            kind: Kind::Property,
            shared: Shared::default(),
            value: String::new(),
            stored: Vec::new(),
        }
    }

    fn write(&mut self, out: &mut String, instance: &RecordedInstance<'_>) {
        if !instance.is_deleted() && self.shared.likeness != Some(instance.likeness()) {
            self.kind = instance.kind();
            self.shared = Shared::new(instance, self.attribute.dataset(), self.plan);
        }
        if self.shared.is_plain && !instance.is_deleted() {
            self.write_plain(out, instance);
        } else {
            self.write_members(out, instance);
        }
    }

    /// An instance of which nothing differs from others but value and times.
    fn write_plain(&self, out: &mut String, instance: &RecordedInstance<'_>) {
        out.push_str(&self.shared.before);
        instance.write_value(out);
        out.push_str(&self.shared.unit);
        let time = |out: &mut String, name: &str, time| {
            out.push_str(name);
            write_time(out, time);
        };
        if let Some(observed) = instance.observed_at() {
            time(out, ",\"observedAt\":", observed);
        }
        if self.shows(TimeProperty::CreatedAt) {
            time(out, ",\"createdAt\":", instance.created_at());
        }
        if self.shows(TimeProperty::ModifiedAt) {
            time(out, ",\"modifiedAt\":", instance.modified_at());
        }
        out.push_str(&self.shared.behind);
        instance.instance_id().write(out);
        out.push_str("\"}");
    }

    fn write_members(&mut self, out: &mut String, instance: &RecordedInstance<'_>) {
        let mut object = Object::begin(out);
        if instance.is_deleted() {
            let (kind_name, value_name) = names(self.plan.release.kind(instance.kind()));
            object.literal("\"type\":").push_str(kind_name);
            object.literal(value_name).push_str(null(instance.kind()));
            self.write_times(&mut object, instance);
        } else {
            self.write_value(&mut object, instance);
            self.write_rest(&mut object, instance);
        }
        if let Some(dataset) = self.attribute.dataset() {
            write_string(object.literal("\"datasetId\":"), dataset);
        }
        let out = object.literal("\"instanceId\":");
        out.push('"');
        instance.instance_id().write(out);
        out.push('"');
        object.end();
    }

    /// Type and value.
    fn write_value(&mut self, object: &mut Object<'_>, instance: &RecordedInstance<'_>) {
        let plan = self.plan;
        let normalized = plan.form == Form::Normalized;
        let known = plan.release.kind(self.kind);
        let (kind_name, value_name) = names(known);
        if normalized && matches!(self.kind, Kind::Property | Kind::GeoProperty | Kind::Relationship) {
            object.literal("\"type\":").push_str(kind_name);
            instance.write_value(object.literal(value_name));
            return;
        }
        self.value.clear();
        instance.write_value(&mut self.value);
        let value = &*self.value;
        let languages = plan.languages.filter(|_| self.kind == Kind::LanguageProperty);
        if let Some((tag, text)) = languages.and_then(|languages| languages.choose(value)) {
            // A text in one language is a Property.
            let (kind_name, value_name) = names(Kind::Property);
            if normalized {
                object.literal("\"type\":").push_str(kind_name);
            }
            object.literal(value_name).push_str(text);
            write_string(object.literal("\"lang\":"), &tag);
            return;
        }
        if normalized || self.kind == Kind::Property && is_geometry(value) {
            object.literal("\"type\":").push_str(kind_name);
        }
        let out = object.literal(value_name);
        match self.kind {
            Kind::VocabProperty => write_iris(out, value, plan.names),
            Kind::ListRelationship if normalized && known == self.kind => write_objects(out, value),
            _ => out.push_str(value),
        }
    }

    /// What is neither type, value nor name.
    fn write_rest(&mut self, object: &mut Object<'_>, instance: &RecordedInstance<'_>) {
        let plan = self.plan;
        if let Some(unit) = instance.unit_code() {
            write_string(object.literal("\"unitCode\":"), unit);
        }
        self.write_times(object, instance);
        write_extras(object, instance.extras(), plan);
        if !instance.has_members() {
            return;
        }
        if plan.sys_attrs {
            // Their own times are in the stored form alone.
            if let Some(stored) = instance.stored(&mut self.stored) {
                stored.members().for_each(|member| write_attribute(object, &member, plan, None));
            }
        } else {
            instance.members().for_each(|member| write_attribute(object, &member, plan, None));
        }
    }

    /// The times: those that the client may see, and the one it asked for.
    fn write_times(&self, object: &mut Object<'_>, instance: &RecordedInstance<'_>) {
        if let Some(observed) = instance.observed_at() {
            write_time(object.literal("\"observedAt\":"), observed);
        }
        if let Some(expires) = self.plan.shown_expiry(instance.expires_at()) {
            write_time(object.literal("\"expiresAt\":"), expires);
        }
        if self.shows(TimeProperty::CreatedAt) {
            write_time(object.literal("\"createdAt\":"), instance.created_at());
        }
        if self.shows(TimeProperty::ModifiedAt) {
            write_time(object.literal("\"modifiedAt\":"), instance.modified_at());
        }
        if let Some(deleted) = instance.deleted_at() {
            write_time(object.literal("\"deletedAt\":"), deleted);
        }
    }

    fn shows(&self, time: TimeProperty) -> bool {
        self.plan.sys_attrs || self.time == time
    }
}

/// What instances that are alike have in common, in the normalized form.
#[derive(Default)]
struct Shared {
    likeness: Option<Option<u32>>,
    /// Whether this is all, but value and times.
    is_plain: bool,
    /// What comes before the value.
    before: String,
    /// The unit, with the comma before it.
    unit: String,
    /// What comes between the times and the instance's id.
    behind: String,
}

impl Shared {
    fn new(instance: &RecordedInstance<'_>, dataset: Option<&str>, plan: &RenderPlan<'_>) -> Self {
        let kind = instance.kind();
        let is_plain = plan.form == Form::Normalized
            && matches!(kind, Kind::Property | Kind::GeoProperty | Kind::Relationship)
            && !instance.has_members()
            && instance.expires_at().is_none()
            && instance.extras().next().is_none();
        let mut shared = Self { likeness: Some(instance.likeness()), is_plain, ..Self::default() };
        if is_plain {
            let (kind_name, value_name) = names(kind);
            shared.before = ["{\"type\":", kind_name, ",", value_name].concat();
            if let Some(unit) = instance.unit_code() {
                shared.unit.push_str(",\"unitCode\":");
                write_string(&mut shared.unit, unit);
            }
            if let Some(dataset) = dataset {
                shared.behind.push_str(",\"datasetId\":");
                write_string(&mut shared.behind, dataset);
            }
            shared.behind.push_str(",\"instanceId\":\"");
        }
        shared
    }
}
