//! The shapes of bodies.

use serde_json::{Value, json};

/// All schemas by name.
pub(super) fn schemas() -> Value {
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
        "Apis": object(&["apis"], json!({ "apis": { "type": "object" } })),
    })
}

#[expect(clippy::needless_pass_by_value, reason = "made by json! where it is used")]
fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}
