//! A schema as the script that makes it.

use graph::schema::AggregateType;
use graph::schema::{
    EdgeLabel, EdgeLabelKind, Frequency, IdStrategy, IndexBase, IndexKind, IndexLabel, Label, PropertyKey,
    Schema, VertexLabel, WriteType,
};
use graph::{Cardinality, DataType, PropertyKeyId};

/// What every statement begins with.
const BEGIN: &str = "graph.schema().";
/// What every statement ends with.
const END: &str = ".ifNotExist().create();\n";

/// The script: property keys, vertex labels, edge labels and index labels, with a line between.
pub fn script(schema: &Schema) -> String {
    let mut groups = [String::new(), String::new(), String::new(), String::new()];
    let [keys, vertices, edges, indexes] = &mut groups;
    schema.property_keys().for_each(|key| put_property_key(keys, key));
    schema.vertex_labels().for_each(|label| put_vertex_label(vertices, schema, label));
    // A parent is made before its sub labels.
    let is_sub = |label: &EdgeLabel| label.kind == EdgeLabelKind::Sub;
    schema
        .edge_labels()
        .filter(|label| !is_sub(label))
        .for_each(|label| put_edge_label(edges, schema, label));
    schema.edge_labels().filter(|label| is_sub(label)).for_each(|label| put_edge_label(edges, schema, label));
    schema.index_labels().for_each(|index| put_index_label(indexes, schema, index));
    groups.into_iter().filter(|group| !group.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Appends a text between quotes.
fn put_text(out: &mut String, text: &str) {
    out.push('\'');
    for character in text.chars() {
        if matches!(character, '\'' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('\'');
}

/// Appends `.name('a','b')`, if there is anything to name.
fn put_call<'a>(out: &mut String, name: &str, texts: impl Iterator<Item = &'a str>) {
    let mut separator = [".", name, "("].concat();
    for text in texts {
        out.push_str(&separator);
        put_text(out, text);
        separator = ",".to_owned();
    }
    if separator == "," {
        out.push(')');
    }
}

fn begin(out: &mut String, part: &str, name: &str) {
    out.push_str(BEGIN);
    out.push_str(part);
    out.push('(');
    put_text(out, name);
    out.push(')');
}

fn put_property_key(out: &mut String, key: &PropertyKey) {
    begin(out, "propertyKey", &key.name);
    out.push_str(match key.data_type {
        DataType::Object => ".dataType(DataType.OBJECT)",
        DataType::Boolean => ".asBoolean()",
        DataType::Byte => ".asByte()",
        DataType::Int => ".asInt()",
        DataType::Long => ".asLong()",
        DataType::Float => ".asFloat()",
        DataType::Double => ".asDouble()",
        DataType::Text => ".asText()",
        DataType::Blob => ".asBlob()",
        DataType::Date => ".asDate()",
        DataType::Uuid => ".asUUID()",
    });
    out.push_str(match key.cardinality {
        Cardinality::Single => "",
        Cardinality::List => ".valueList()",
        Cardinality::Set => ".valueSet()",
    });
    out.push_str(match key.aggregate_type {
        AggregateType::None => "",
        AggregateType::Max => ".calcMax()",
        AggregateType::Min => ".calcMin()",
        AggregateType::Sum => ".calcSum()",
        AggregateType::Old => ".calcOld()",
        AggregateType::Set => ".calcSet()",
        AggregateType::List => ".calcList()",
    });
    if key.write_type != WriteType::Oltp {
        out.push_str(".writeType('");
        out.push_str(key.write_type.name());
        out.push_str("')");
    }
    out.push_str(END);
}

fn put_vertex_label(out: &mut String, schema: &Schema, label: &VertexLabel) {
    begin(out, "vertexLabel", &label.name);
    put_call(out, "properties", schema.names_of(&label.properties));
    match label.id_strategy {
        IdStrategy::PrimaryKey => put_call(out, "primaryKeys", schema.names_of(&label.primary_keys)),
        IdStrategy::CustomizeString => out.push_str(".useCustomizeStringId()"),
        IdStrategy::CustomizeNumber => out.push_str(".useCustomizeNumberId()"),
        IdStrategy::CustomizeUuid => out.push_str(".useCustomizeUuidId()"),
        IdStrategy::Automatic | IdStrategy::Default => out.push_str(".useAutomaticId()"),
    }
    put_label(out, schema, label);
}

fn put_edge_label(out: &mut String, schema: &Schema, label: &EdgeLabel) {
    begin(out, "edgeLabel", &label.name);
    match label.kind {
        EdgeLabelKind::Normal => {}
        EdgeLabelKind::Parent => out.push_str(".asBase()"),
        EdgeLabelKind::General => out.push_str(".asGeneral()"),
        EdgeLabelKind::Sub => {
            let parent = label.parent.and_then(|parent| schema.edge_label(parent));
            put_call(out, "withBase", parent.into_iter().map(|parent| &*parent.name));
        }
    }
    // The links of a parent are those of its sub labels.
    if label.kind != EdgeLabelKind::Parent {
        for link in &label.links {
            let ends = [link.source, link.target].into_iter().filter_map(|end| schema.vertex_label(end));
            put_call(out, "link", ends.map(|end| &*end.name));
        }
    }
    put_call(out, "properties", schema.names_of(&label.properties));
    if label.frequency == Frequency::Multiple {
        out.push_str(".multiTimes()");
        put_call(out, "sortKeys", schema.names_of(&label.sort_keys));
    }
    put_label(out, schema, label);
}

fn put_label(out: &mut String, schema: &Schema, label: &Label) {
    put_call(out, "nullableKeys", schema.names_of(&label.nullable_keys));
    if label.ttl_ms > 0 {
        out.push_str(&format!(".ttl({})", label.ttl_ms));
        let start: Vec<PropertyKeyId> = label.ttl_start_time.into_iter().collect();
        put_call(out, "ttlStartTime", schema.names_of(&start));
    }
    if label.enable_label_index {
        out.push_str(".enableLabelIndex(true)");
    } else {
        out.push_str(".enableLabelIndex(false)");
    }
    out.push_str(END);
}

fn put_index_label(out: &mut String, schema: &Schema, index: &IndexLabel) {
    begin(out, "indexLabel", &index.name);
    let (call, base) = match index.base {
        IndexBase::Vertex(label) => ("onV", schema.vertex_label(label).map(|label| &*label.name)),
        IndexBase::Edge(label) => ("onE", schema.edge_label(label).map(|label| &*label.name)),
    };
    put_call(out, call, base.into_iter());
    put_call(out, "by", schema.names_of(&index.fields));
    out.push_str(match index.index_type.kind() {
        IndexKind::Secondary => ".secondary()",
        IndexKind::Range => ".range()",
        IndexKind::Search => ".search()",
        IndexKind::Shard => ".shard()",
        IndexKind::Unique => ".unique()",
    });
    out.push_str(END);
}
