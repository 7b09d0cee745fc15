//! The xpaths of entries, as CPS spells them: names without prefixes, keys in the order of their names.

use lang_cps_path::push_step;
use lang_yang::{DataNode, NodeId, Schema};

use crate::find::key_values;
use crate::record::Record;

/// Adds an entry to the path of its parent.
pub(super) fn push_entry(xpath: &mut String, schema: &Schema, record: &Record<'_>) {
    if let Some(node) = record.node() {
        let values = key_values(schema, record).map(|key| key.unwrap_or("")).collect();
        push(xpath, schema, node, values);
    }
}

/// Adds an entry that is a value to the path of its parent.
pub(super) fn push_node(xpath: &mut String, schema: &Schema, node: &DataNode) {
    let value = |key: &NodeId| {
        let leaf = node.content.leaves.iter().find(|leaf| leaf.schema == *key);
        leaf.and_then(|leaf| leaf.values.first()).map_or("", |value| &value.text)
    };
    push(xpath, schema, node.schema, schema.keys(node.schema).iter().map(value).collect());
}

fn push(xpath: &mut String, schema: &Schema, node: NodeId, values: Vec<&str>) {
    let names = schema.keys(node).iter().map(|key| &*schema.node(*key).name);
    let mut keys: Vec<(&str, &str)> = names.zip(values).collect();
    push_step(xpath, &schema.node(node).name, &mut keys);
}
