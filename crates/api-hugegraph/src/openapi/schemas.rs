//! The shapes of bodies.

mod users;

use api_http::schema_reference;
use graph::schema::{
    AggregateType, EdgeLabelKind, Frequency, IdStrategy, IndexKind, IndexType, SchemaStatus, WriteType,
};
use graph::update::UpdateStrategy;
use graph::{Cardinality, DataType, GraphMode, ReadMode};
use model_graph::TaskStatus;
use serde_json::{Value, json};

/// All schemas by name.
pub(super) fn schemas() -> Value {
    let mut all = server();
    for more in [elements(), graphs(), schema_parts(), schema_answers(), users::schemas()] {
        extend(&mut all, more);
    }
    all
}

fn server() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "Error": object(&["exception", "message", "cause", "trace"], json!({
            "exception": text, "message": text, "cause": text, "trace": { "type": "array" },
        })),
        "Versions": object(&["versions"], json!({
            "versions": object(&["version", "core", "gremlin", "api"], json!({
                "version": text, "core": text, "gremlin": text, "api": text,
            })),
        })),
        "Metrics": { "type": "object", "description": "Objects by name, as HugeGraph's server names what it counts." },
        "Apis": object(&["apis"], json!({ "apis": { "type": "object" } })),
        "Task": object(&["id", "task_status"], json!({
            "id": { "type": "integer" }, "task_name": text, "task_type": text, "task_status": { "enum": task_statuses() },
            "task_progress": { "type": "integer" }, "task_create": text, "task_update": text,
            "task_retries": { "type": "integer" }, "task_input": text, "task_result": text, "cancelled": { "type": "boolean" },
        })),
        "Tasks": object(&["tasks"], json!({ "tasks": list("Task"), "page": { "type": ["string", "null"] } })),
        "TaskId": object(&["task_id"], json!({ "task_id": { "type": "integer", "description": "0: nothing is left to do." } })),
        "AlgorithmParameters": { "type": "object", "description": "By the algorithm: docs/graph/algorithms.md." },
        "Variable": object(&["data"], json!({ "data": {} })),
        "Variables": { "type": "object", "description": "Values by name." },
    })
}

fn task_statuses() -> Vec<&'static str> {
    TaskStatus::ALL.iter().map(|status| status.name()).collect()
}

fn elements() -> Value {
    let text = json!({ "type": "string" });
    let id = json!({ "type": ["string", "integer"] });
    let update = |name: &str, schema: &str| {
        let mut members = json!({
            "update_strategies": { "type": "object", "additionalProperties": { "enum": strategies() } },
            "create_if_not_exist": { "const": true }, "check_vertex": { "type": "boolean", "default": false },
        });
        extend(&mut members, json!({ name: list(schema) }));
        object(&[name, "update_strategies"], members)
    };
    json!({
        "Vertices": object(&["vertices"], json!({ "vertices": list("Vertex"), "page": { "type": ["string", "null"] } })),
        "VerticesUpdate": update("vertices", "Vertex"),
        "VertexIds": { "type": "array", "items": id },
        "Edges": object(&["edges"], json!({ "edges": list("Edge"), "page": { "type": ["string", "null"] } })),
        "EdgesUpdate": update("edges", "Edge"),
        "Shards": object(&["shards"], json!({ "shards": { "type": "array", "items": object(&["start", "end"], json!({
            "start": text, "end": text, "length": { "type": "integer" },
        })) } })),
        "EdgeIds": { "type": "array", "items": text },
        "Vertex": object(&["label", "properties"], json!({
            "id": id, "label": text, "type": { "const": "vertex" }, "properties": { "type": "object" },
        })),
        "WalkRequest": { "type": "object", "description": "Where a walk begins, its steps, and what is given." },
        "WalkAnswer": { "type": "object", "description": "What a walk found, and as `measure` what it read." },
        "Edge": object(&["label", "outV", "inV", "properties"], json!({
            "id": text, "label": text, "type": { "const": "edge" }, "outV": id, "outVLabel": text, "inV": id, "inVLabel": text,
            "properties": { "type": "object" },
        })),
    })
}

fn strategies() -> Vec<&'static str> {
    UpdateStrategy::ALL.iter().map(|strategy| strategy.name()).collect()
}

fn graphs() -> Value {
    let text = json!({ "type": "string" });
    let modes: Vec<_> = GraphMode::ALL.iter().map(|mode| mode.name()).collect();
    let read_modes: Vec<_> = ReadMode::ALL.iter().map(|mode| mode.name()).collect();
    json!({
        "Graphs": object(&["graphs"], json!({ "graphs": { "type": "array", "items": text } })),
        "Graph": object(&["name", "backend"], json!({
            "name": text, "backend": text, "nickname": text, "description": text,
        })),
        "GraphSpaces": object(&["graphSpaces"], json!({ "graphSpaces": { "type": "array", "items": text } })),
        "GraphSpace": object(&["name"], json!({ "name": text, "nickname": text, "description": text })),
        "GraphSpaceProfile": object(&["name", "authed", "create_time", "update_time", "default"], json!({
            "name": text, "nickname": text, "authed": { "const": true }, "create_time": text, "update_time": text,
            "default": { "const": false },
        })),
        "GraphSpaceAction": object(&["action"], json!({ "action": { "const": "update" }, "update": schema_reference("GraphSpace") })),
        "GraphSettings": { "type": "object" },
        "GraphsAction": { "type": "object" },
        "ModeName": { "enum": modes },
        "Mode": object(&["mode"], json!({ "mode": { "enum": modes } })),
        "ReadModeName": { "enum": read_modes },
        "ReadMode": object(&["graph_read_mode"], json!({ "graph_read_mode": { "enum": read_modes } })),
        "Compacted": { "type": "object" },
    })
}

/// The names of all kinds of an enumeration.
macro_rules! names {
    ($kind:ty) => {
        <$kind>::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>()
    };
}

fn schema_parts() -> Value {
    let text = json!({ "type": "string" });
    let index_types = [names!(IndexKind), names!(IndexType)].concat();
    let names = json!({ "type": "array", "items": { "type": "string" } });
    let id = json!({ "type": "integer", "description": "Sent only while a graph is restored." });
    let status = json!({ "enum": names!(SchemaStatus), "readOnly": true });
    let user_data = json!({ "type": "object" });
    let check_exist = json!({ "type": "boolean", "default": true, "writeOnly": true });
    let label = json!({
        "id": id, "name": text, "properties": names, "nullable_keys": names, "index_labels": names, "status": status,
        "ttl": { "type": "integer", "default": 0, "description": "Milliseconds; 0: for ever." },
        "ttl_start_time": text, "enable_label_index": { "type": "boolean", "default": true }, "user_data": user_data,
        "check_exist": check_exist,
    });
    let (mut vertex_label, mut edge_label) = (label.clone(), label);
    extend(
        &mut vertex_label,
        json!({ "id_strategy": { "enum": names!(IdStrategy) }, "primary_keys": names }),
    );
    let edge_kinds = json!({
        "edgelabel_type": { "enum": names!(EdgeLabelKind) }, "parent_label": text, "source_label": text,
        "target_label": text, "links": { "type": "array", "items": { "type": "object" } },
        "frequency": { "enum": names!(Frequency) }, "sort_keys": names,
    });
    extend(&mut edge_label, edge_kinds);
    json!({
        "PropertyKey": object(&["name"], json!({
            "id": id, "name": text, "data_type": { "enum": names!(DataType), "default": "TEXT" },
            "cardinality": { "enum": names!(Cardinality), "default": "SINGLE" },
            "aggregate_type": { "enum": names!(AggregateType), "default": "NONE" },
            "write_type": { "enum": names!(WriteType), "default": "OLTP" }, "properties": names, "status": status,
            "user_data": user_data, "check_exist": check_exist,
        })),
        "VertexLabel": object(&["name"], vertex_label),
        "EdgeLabel": object(&["name"], edge_label),
        "IndexLabel": object(&["name"], json!({
            "id": id, "name": text, "base_type": { "enum": ["VERTEX_LABEL", "EDGE_LABEL"] }, "base_value": text,
            "index_type": { "enum": index_types }, "fields": names,
            "rebuild": { "type": "boolean", "default": true, "writeOnly": true }, "status": status, "user_data": user_data,
            "check_exist": check_exist,
        })),
    })
}

fn schema_answers() -> Value {
    let text = json!({ "type": "string" });
    let task = json!({ "type": "integer" });
    json!({
        "PropertyKeys": object(&["propertykeys"], json!({ "propertykeys": list("PropertyKey") })),
        "VertexLabels": object(&["vertexlabels"], json!({ "vertexlabels": list("VertexLabel") })),
        "EdgeLabels": object(&["edgelabels"], json!({ "edgelabels": list("EdgeLabel") })),
        "IndexLabels": object(&["indexlabels"], json!({ "indexlabels": list("IndexLabel") })),
        "Schema": object(&[], json!({
            "propertykeys": list("PropertyKey"), "vertexlabels": list("VertexLabel"), "edgelabels": list("EdgeLabel"),
            "indexlabels": list("IndexLabel"), "schema": text,
        })),
        "PropertyKeyTask": object(&["property_key", "task_id"], json!({
            "property_key": schema_reference("PropertyKey"), "task_id": task,
        })),
        "IndexLabelTask": object(&["index_label", "task_id"], json!({
            "index_label": schema_reference("IndexLabel"), "task_id": task,
        })),
    })
}

/// Adds the members of one object to another.
fn extend(object: &mut Value, more: Value) {
    let (Value::Object(object), Value::Object(more)) = (object, more) else {
        panic!("schemas and their members are objects")
    };
    object.extend(more);
}

fn list(schema: &str) -> Value {
    json!({ "type": "array", "items": schema_reference(schema) })
}

#[expect(clippy::needless_pass_by_value, reason = "made by json! where it is used")]
fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}
