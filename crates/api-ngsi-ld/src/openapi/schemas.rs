//! The shapes of bodies. Entities have attributes of any name; what is fixed is the shape of each.

use api_http::schema_reference;
use serde_json::{Value, json};

/// All schemas by name.
pub(super) fn schemas() -> Value {
    let mut all = entities();
    for more in [history(), queries(), names(), outcomes()] {
        if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
            all.extend(more);
        }
    }
    all
}

fn object(required: &[&str], properties: &Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn texts() -> Value {
    json!({ "type": "array", "items": text() })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn id() -> Value {
    json!({ "type": "string", "format": "uri", "examples": ["urn:ngsi-ld:Station:north"] })
}

fn one_or_many(schema: &Value) -> Value {
    json!({ "oneOf": [schema, { "type": "array", "items": schema }] })
}

fn context() -> Value {
    json!({ "description": "URL, object, or array of them.", "type": ["string", "object", "array"] })
}

fn entities() -> Value {
    let attribute = json!({
        "type": "object",
        "properties": {
            "type": { "enum": [
                "Property", "Relationship", "GeoProperty", "LanguageProperty", "VocabProperty", "JsonProperty",
                "ListProperty", "ListRelationship",
            ] },
            "value": { "description": "Of a Property any JSON but null, of a GeoProperty GeoJSON.", "examples": [41] },
            "object": one_or_many(&id()),
            "objectType": one_or_many(&text()),
            "languageMap": { "type": "object" },
            "vocab": one_or_many(&text()),
            "json": {},
            "valueList": { "type": "array" },
            "objectList": { "type": "array" },
            "unitCode": text(),
            "observedAt": time(),
            "datasetId": id(),
            "expiresAt": time(),
        },
        "additionalProperties": { "description": "Sub-attributes." },
    });
    let members = json!({
        "@context": context(),
        "id": id(),
        "type": one_or_many(&text()),
        "scope": one_or_many(&text()),
        "location": schema_reference("Attribute"),
        "expiresAt": time(),
    });
    let mut entity = object(&["id", "type"], &members);
    let mut fragment = object(&[], &members);
    for shape in [&mut entity, &mut fragment] {
        if let Some(shape) = shape.as_object_mut() {
            shape.insert("additionalProperties".into(), one_or_many(&schema_reference("Attribute")));
        }
    }
    json!({ "Attribute": attribute, "Entity": entity, "Fragment": fragment, "Id": id() })
}

fn history() -> Value {
    let instances = json!({ "type": "array", "items": schema_reference("Attribute") });
    let members = json!({ "@context": context(), "id": id(), "type": one_or_many(&text()) });
    let mut whole = object(&["id", "type"], &members);
    let mut fragment = object(&[], &json!({ "@context": context() }));
    for shape in [&mut whole, &mut fragment] {
        if let Some(shape) = shape.as_object_mut() {
            shape.insert("additionalProperties".into(), instances.clone());
        }
    }
    json!({ "Past": whole, "PastFragment": fragment })
}

fn queries() -> Value {
    let selector = object(&["type"], &json!({ "id": id(), "idPattern": text(), "type": text() }));
    let members = json!({
        "@context": context(),
        "type": { "const": "Query" },
        "entities": { "type": "array", "items": selector },
        "attrs": texts(),
        "pick": texts(),
        "omit": texts(),
        "q": text(),
        "geoQ": object(&["geometry", "coordinates", "georel"], &json!({
            "geometry": text(), "coordinates": { "type": "array" }, "georel": text(), "geoproperty": text(),
        })),
        "scopeQ": text(),
        "lang": text(),
        "temporalQ": object(&["timerel", "timeAt"], &json!({
            "timerel": text(), "timeAt": time(), "endTimeAt": time(), "timeproperty": text(),
        })),
        "aggrParams": object(&[], &json!({ "aggrMethods": texts(), "aggrPeriodDuration": text() })),
    });
    json!({ "Query": object(&["type"], &members) })
}

fn names() -> Value {
    let list = |of: &str| object(&["id", "type"], &json!({ "id": id(), "type": text(), of: texts() }));
    json!({
        "TypeList": list("typeList"),
        "AttributeList": list("attributeList"),
        "TypeInfo": object(&["id", "type"], &json!({
            "id": id(), "type": text(), "typeName": text(), "entityCount": { "type": "integer" },
            "attributeDetails": { "type": "array", "items": schema_reference("AttributeInfo") },
        })),
        "AttributeInfo": object(&["id", "type"], &json!({
            "id": id(), "type": text(), "attributeName": text(), "attributeCount": { "type": "integer" },
            "attributeTypes": texts(), "typeNames": texts(),
        })),
        "ContextDocument": object(&["@context"], &json!({ "@context": context() })),
        "ContextInfo": { "oneOf": [id(), object(&["URL", "localId", "kind"], &json!({
            "URL": id(), "localId": id(), "kind": text(), "createdAt": time(),
        }))] },
        "SourceIdentity": object(&["id", "type"], &json!({
            "id": id(), "type": text(), "contextSourceAlias": text(), "contextSourceUptime": text(),
            "contextSourceTimeAt": time(),
        })),
    })
}

fn outcomes() -> Value {
    let problem = object(
        &["type", "title", "status"],
        &json!({
            "type": id(), "title": text(), "detail": text(), "status": { "type": "integer" },
        }),
    );
    let failed = object(
        &["entityId", "error"],
        &json!({
            "entityId": id(), "error": schema_reference("ProblemDetails"),
        }),
    );
    let not_updated =
        object(&["attributeName", "reason"], &json!({ "attributeName": text(), "reason": text() }));
    json!({
        "ProblemDetails": problem,
        "BatchOperationResult": object(&["success", "errors"], &json!({
            "success": texts(), "errors": { "type": "array", "items": failed },
        })),
        "UpdateResult": object(&["updated", "notUpdated"], &json!({
            "updated": texts(), "notUpdated": { "type": "array", "items": not_updated },
        })),
    })
}
