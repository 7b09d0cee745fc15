//! The shapes of bodies about users.

use access::{Action, ManagerKind, ResourceType};
use serde_json::{Value, json};

use super::{list, object};

/// The schemas by name.
pub(super) fn schemas() -> Value {
    let text = json!({ "type": "string" });
    let shown = |kind: &str, needed: &[&str], mut members: Value| {
        let all = members.as_object_mut().expect("members are an object");
        for member in
            ["id".to_owned(), format!("{kind}_creator"), format!("{kind}_create"), format!("{kind}_update")]
        {
            all.insert(member, json!({ "type": "string", "readOnly": true }));
        }
        object(needed, members)
    };
    let of = |name: &str, schema: &str| object(&[name], json!({ name: list(schema) }));
    let kinds: Vec<_> = ManagerKind::ALL.iter().map(|kind| kind.name()).collect();
    json!({
        "User": shown("user", &["user_name"], json!({
            "user_name": text, "user_password": { "type": "string", "description": "Shown as ******." },
            "user_phone": text, "user_email": text, "user_avatar": text, "user_description": text,
        })),
        "Users": of("users", "User"),
        "Role": object(&["roles"], json!({
            "roles": { "type": "object", "description": "Resources by graph and action." },
        })),
        "Group": shown("group", &["group_name"], json!({ "group_name": text, "group_description": text })),
        "Groups": of("groups", "Group"),
        "Resource": object(&["type"], json!({
            "type": { "enum": ResourceType::ALL.map(ResourceType::name) },
            "label": { "type": "string", "description": "A regular expression of the whole label, or *." },
            "properties": { "type": ["object", "null"] },
        })),
        "Target": shown("target", &["target_name", "target_graph", "target_url"], json!({
            "target_name": text, "target_graph": text, "target_url": text, "target_resources": list("Resource"),
        })),
        "Targets": of("targets", "Target"),
        "Belong": shown("belong", &["user", "group"], json!({
            "user": text, "group": text, "belong_description": text,
        })),
        "Belongs": of("belongs", "Belong"),
        "Access": shown("access", &["group", "target", "access_permission"], json!({
            "group": text, "target": text, "access_permission": { "enum": Action::ALL.map(Action::name) },
            "access_description": text,
        })),
        "Accesses": of("accesses", "Access"),
        "Project": shown("project", &["project_name"], json!({
            "project_name": text, "project_admin_group": text, "project_op_group": text, "project_target": text,
            "project_graphs": { "type": "array", "items": text }, "project_description": text,
        })),
        "Projects": of("projects", "Project"),
        "Manager": object(&["user", "type"], json!({
            "user": text, "type": { "enum": kinds }, "graphspace": text,
        })),
        "Managers": object(&["admins"], json!({ "admins": { "type": "array", "items": text } })),
        "ManagerCheck": object(&["check"], json!({ "check": { "type": "boolean" } })),
        "ManagerRoles": object(&["user", "graphspace", "roles"], json!({
            "user": text, "graphspace": text, "roles": { "type": "array", "items": text },
        })),
        "Login": object(&["user_name", "user_password"], json!({
            "user_name": text, "user_password": text,
            "token_expire": { "type": "integer", "description": "For how many milliseconds the token is good: 1000 or more; 0: as long as the server lets it be." },
        })),
        "Token": object(&["token"], json!({ "token": text })),
        "TokenOf": object(&["user_name", "user_id"], json!({ "user_name": text, "user_id": text })),
    })
}
