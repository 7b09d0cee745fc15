//! Parts of a schema as JSON.

use graph::schema::{
    EdgeLabel, IndexBase, IndexLabel, Label, PropertyKey, Schema, SchemaPart, UserData, VertexLabel,
};
use graph::{LabelId, PropertyKeyId};
use lang_json::{ArrayWriter, ObjectWriter};

/// An object under way.
type Object<'o> = ObjectWriter<'o, String>;

/// Appends a part of any kind.
pub fn put_part(out: &mut String, schema: &Schema, part: &SchemaPart) {
    match part {
        SchemaPart::PropertyKey(key) => put_property_key(out, key),
        SchemaPart::VertexLabel(label) => put_vertex_label(out, schema, label),
        SchemaPart::EdgeLabel(label) => put_edge_label(out, schema, label),
        SchemaPart::IndexLabel(label) => put_index_label(out, schema, label),
    }
}

/// Appends a property key.
pub(crate) fn put_property_key(out: &mut String, key: &PropertyKey) {
    let mut object = ObjectWriter::begin(out);
    number(&mut object, "id", key.id.0.into());
    object.string("name", &key.name);
    object.string("data_type", key.data_type.name());
    object.string("cardinality", key.cardinality.name());
    object.string("aggregate_type", key.aggregate_type.name());
    object.string("write_type", key.write_type.name());
    object.raw("properties", "[]");
    object.string("status", key.status.name());
    put_user_data(&mut object, &key.user_data);
    object.end();
}

/// Appends a vertex label.
pub(crate) fn put_vertex_label(out: &mut String, schema: &Schema, label: &VertexLabel) {
    let mut object = ObjectWriter::begin(out);
    number(&mut object, "id", label.id.0.into());
    object.string("name", &label.name);
    object.string("id_strategy", label.id_strategy.name());
    names(&mut object, "primary_keys", schema.names_of(&label.primary_keys));
    put_label(&mut object, schema, label);
    object.end();
}

/// Appends an edge label.
pub(crate) fn put_edge_label(out: &mut String, schema: &Schema, label: &EdgeLabel) {
    let vertex_label = |id: LabelId| {
        let label = schema.vertex_label(id);
        &*label.expect("the vertex labels of a link are there as long as the edge label is").name
    };
    let mut object = ObjectWriter::begin(out);
    number(&mut object, "id", label.id.0.into());
    object.string("name", &label.name);
    object.string("edgelabel_type", label.kind.name());
    if let Some(parent) = label.parent.and_then(|parent| schema.edge_label(parent)) {
        object.string("parent_label", &parent.name);
    }
    if let [link] = &*label.links {
        object.string("source_label", vertex_label(link.source));
        object.string("target_label", vertex_label(link.target));
    }
    let mut links = ArrayWriter::begin(object.member("links"));
    for link in &label.links {
        let mut pair = ObjectWriter::begin(links.item());
        pair.string(vertex_label(link.source), vertex_label(link.target));
        pair.end();
    }
    links.end();
    object.string("frequency", label.frequency.name());
    names(&mut object, "sort_keys", schema.names_of(&label.sort_keys));
    put_label(&mut object, schema, label);
    object.end();
}

/// Appends an index label.
pub(crate) fn put_index_label(out: &mut String, schema: &Schema, label: &IndexLabel) {
    let base = match label.base {
        IndexBase::Vertex(id) => schema.vertex_label(id).map(|label| &label.label),
        IndexBase::Edge(id) => schema.edge_label(id).map(|label| &label.label),
    };
    let mut object = ObjectWriter::begin(out);
    number(&mut object, "id", label.id.0.into());
    object.string("name", &label.name);
    object.string("base_type", label.base.kind().name());
    object.string("base_value", &base.expect("an index goes with its label").name);
    object.string("index_type", label.index_type.name());
    names(&mut object, "fields", schema.names_of(&label.fields));
    object.string("status", label.status.name());
    put_user_data(&mut object, &label.user_data);
    object.end();
}

/// What vertex labels and edge labels have in common.
fn put_label(object: &mut Object<'_>, schema: &Schema, label: &Label) {
    names(object, "nullable_keys", schema.names_of(&label.nullable_keys));
    names(object, "index_labels", label.indexes.iter().map(|index| &*index.name));
    names(object, "properties", schema.names_of(&label.properties));
    object.string("status", label.status.name());
    number(object, "ttl", label.ttl_ms);
    if let Some(key) = label.ttl_start_time {
        let keys: [PropertyKeyId; 1] = [key];
        let mut name = schema.names_of(&keys);
        object.string("ttl_start_time", name.next().expect("one name for one key"));
    }
    object.raw("enable_label_index", if label.enable_label_index { "true" } else { "false" });
    put_user_data(object, &label.user_data);
}

fn put_user_data(object: &mut Object<'_>, user_data: &UserData) {
    let mut members = ObjectWriter::begin(object.member("user_data"));
    for (name, json) in user_data.iter() {
        members.raw(name, json);
    }
    members.end();
}

fn names<'a>(object: &mut Object<'_>, name: &str, names: impl Iterator<Item = &'a str>) {
    let mut array = ArrayWriter::begin(object.member(name));
    names.for_each(|name| array.string(name));
    array.end();
}

fn number(object: &mut Object<'_>, name: &str, number: u64) {
    object.raw(name, itoa::Buffer::new().format(number));
}
