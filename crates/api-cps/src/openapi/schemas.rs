//! The shapes of bodies.

use serde_json::{Value, json};

/// All schemas by name.
pub(super) fn schemas() -> Value {
    let text = json!({ "type": "string" });
    let file = json!({ "type": "string", "format": "binary" });
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let list = |name: &str| json!({ "type": "array", "items": reference(name) });
    json!({
        "ErrorMessage": object(&["status", "message", "details"], json!({
            "status": { "type": "string", "examples": ["400 BAD_REQUEST"] }, "message": text, "details": text,
        })),
        "DataspaceDetails": object(&["name"], json!({ "name": text })),
        "SchemaSetDetails": object(&["dataspaceName", "moduleReferences", "name"], json!({
            "dataspaceName": text, "moduleReferences": list("ModuleReference"), "name": text,
        })),
        "ModuleReference": object(&["namespace", "revision"], json!({ "namespace": text, "revision": text })),
        "AnchorDetails": object(&["name", "dataspaceName", "schemaSetName"], json!({
            "name": text, "dataspaceName": text, "schemaSetName": text,
        })),
        "MultipartFile": object(&["file"], json!({ "file": file })),
        "TargetData": object(&["targetData"], json!({ "targetData": file, "yangResourceFile": file })),
        "Data": {
            "type": "object",
            "description": "Nodes as RFC 7951 writes them; names may have the name of their module, its prefix, or neither.",
            "examples": [{ "bookstore": { "bookstore-name": "Easons", "categories": [{ "code": "1", "name": "Kids" }] } }],
        },
        "Nodes": {
            "type": "object",
            "description": "A node by its name, with the prefix of its module before it.",
            "examples": [{ "book-store:bookstore": { "bookstore-name": "Easons" } }],
        },
        "NodeList": list("Nodes"),
        "NodesOfAnchor": object(&["anchorName", "dataNodes"], json!({
            "anchorName": text, "dataNodes": list("Nodes"),
        })),
        "CompositeQuery": object(&[], json!({
            "cpsPath": text,
            "operator": { "enum": ["and", "or"] },
            "conditions": list("CompositeQuery"),
        })),
        "Delta": object(&["action", "xpath"], json!({
            "action": { "enum": ["create", "remove", "replace"] },
            "xpath": text,
            "sourceData": { "type": "object" },
            "targetData": { "type": "object" },
        })),
        "DeltaReport": list("Delta"),
        "Subscriptions": object(&[], json!({ "dataspace": { "type": "array", "items": object(&["name"], json!({
            "name": text,
            "anchors": object(&[], json!({ "anchor": { "type": "array", "items": object(&["name"], json!({
                "name": text,
                "xpaths": object(&[], json!({ "xpath": { "type": "array", "items": object(&["path"], json!({
                    "path": text,
                })) } })),
            })) } })),
        })) } })),
    })
}

#[expect(clippy::needless_pass_by_value, reason = "made by json! where it is used")]
fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}
