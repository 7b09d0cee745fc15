//! The shapes of bodies.

use serde_json::{Value, json};

/// All schemas by name.
pub(super) fn schemas() -> Value {
    let mut all = master_data();
    for more in [kinds_and_lists(), points()] {
        extend(&mut all, more);
    }
    all
}

fn master_data() -> Value {
    let text = json!({ "type": "string" });
    let time = json!({ "type": "string", "format": "date-time" });
    json!({
        "Error": object(&["Error", "Message"], json!({
            "Error": text,
            "Message": text,
            "Details": { "type": "array", "items": object(&["Reason"], json!({
                "Series": text, "Position": { "type": "integer", "minimum": 0 }, "Reason": text,
            })) },
        })),
        "Repository": object(&["Name"], json!({
            "Name": text, "Description": text, "Created": read_only(&time),
        })),
        "IntervalValue": {
            "enum": ["Millisecond", "Second", "Minute", "Hour", "Day", "Week", "Month", "Quarter", "Year"],
        },
        "Interval": object(&["Value"], json!({
            "Value": { "$ref": "#/components/schemas/IntervalValue" },
            "Multiplier": { "type": "integer", "minimum": 1, "default": 1 },
        })),
        "Series": object(&["Name", "Type"], json!({
            "ID": read_only(&text),
            "Name": text,
            "Type": { "enum": ["Begin", "End", "Spontaneous"] },
            "Interval": { "$ref": "#/components/schemas/Interval" },
            "Unit": text,
            "Description": text,
            "TimeZone": { "type": "string", "default": "UTC", "examples": ["Europe/Berlin"] },
            "DayStart": { "type": "string", "default": "00:00", "examples": ["06:00"] },
            "Formula": { "type": "string", "examples": ["[Meter 1] + [Meter 2]"] },
            "Compression": { "type": "boolean", "default": true },
            "Audit": { "type": "boolean", "default": false },
            "Quotation": { "type": "boolean", "default": false },
            "Retention": { "type": "string", "format": "duration", "examples": ["P10Y"] },
            "Attributes": { "type": "array", "items": { "$ref": "#/components/schemas/Attribute" } },
            "Created": read_only(&time),
            "Changed": read_only(&time),
        })),
        "Definitions": { "oneOf": [
            object(&["TimeSeries"], json!({ "TimeSeries": list("Series") })),
            list("Series"),
        ] },
        "Defined": object(&["ID", "Name"], json!({ "ID": text, "Name": text })),
        "Attribute": object(&["Name", "Value"], json!({
            "Name": text,
            "Value": { "type": ["string", "boolean"] },
            "From": time,
            "To": time,
        })),
    })
}

fn kinds_and_lists() -> Value {
    let text = json!({ "type": "string" });
    let time = json!({ "type": "string", "format": "date-time" });
    let names = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "AttributeType": object(&["Name", "Type"], json!({
            "Name": text,
            "Type": { "enum": ["Category", "Text", "Date", "YesOrNo", "Series", "Node"] },
            "Values": names,
            "Multiple": { "type": "boolean", "default": false },
            "Description": text,
        })),
        "Unit": object(&["Name"], json!({
            "Name": text,
            "BaseUnit": text,
            "Offset": { "type": "number", "default": 0 },
            "Factor": { "type": "number", "default": 1 },
            "IntegralUnit": text,
            "Aggregation": { "enum": ["AVG", "SUM"], "default": "AVG" },
        })),
        "Hook": object(&["Name", "Url"], json!({
            "Name": text,
            "Url": { "type": "string", "format": "uri" },
            "Series": { "type": "string", "description": "A pattern for names; all series if it is left out." },
            "Attributes": names,
            "Secret": { "type": "string", "writeOnly": true },
            "Active": { "type": "boolean", "default": true },
            "Signed": read_only(&json!({ "type": "boolean" })),
            "State": read_only(&object(&[], json!({
                "Delivered": { "type": "integer" }, "Failed": { "type": "integer" }, "Cuts": { "type": "integer" },
                "Pending": { "type": "integer" }, "Overflowed": { "type": "integer" },
                "RetryAt": time, "LastError": text,
            }))),
        })),
        "Modifications": object(&["ID", "Name", "Modifications"], json!({
            "ID": text,
            "Name": text,
            "Modifications": { "type": "array", "items": object(&["Written", "From", "To", "Points"], json!({
                "Written": time, "From": time, "To": time, "Points": { "type": "integer" },
            })) },
        })),
        "Quotations": object(&["ID", "Name", "Quotations"], json!({
            "ID": text, "Name": text, "Quotations": { "type": "array", "items": time },
        })),
    })
}

fn points() -> Value {
    let text = json!({ "type": "string" });
    let time = json!({ "type": "string", "format": "date-time" });
    let value = json!({ "type": ["number", "null"] });
    let flag = json!({ "$ref": "#/components/schemas/Flag" });
    let points = json!({
        "Data": { "type": "array", "items": object(&["From", "Value"], json!({
            "From": time, "Value": value, "Flag": flag,
        })) },
        "Start": time,
        "Values": { "type": "array", "items": value },
        "Flags": { "type": "array", "items": { "oneOf": [flag, { "type": "null" }] } },
    });
    let mut data = points.clone();
    let head = json!({
        "ID": text,
        "Name": text,
        "Unit": text,
        "Interval": { "$ref": "#/components/schemas/Interval" },
        "TimeZone": text,
    });
    extend(&mut data, head);
    let names = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "Flag": { "enum": [
            "NoValue", "Accounted", "ManuallyReplaced", "Valid", "Schedule", "Estimated", "Faulty", "Interpolated",
            "Missing",
        ] },
        "Points": object(&[], points),
        "Data": object(&[], data),
        "Collection": object(&["TimeSeries"], json!({ "TimeSeries": list("Data") })),
        "Selection": object(&[], json!({
            "Names": names, "IDs": names, "Attributes": names,
            "From": text, "To": text, "Interval": crate::params::interval(),
            "IntervalMultiplier": { "type": "integer", "minimum": 1 }, "DayStart": text, "Unit": text,
            "Timezone": text, "Aggregation": text, "Gaps": text, "AsOf": time, "Quotation": text, "Form": text, "MediaType": text,
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

#[expect(clippy::needless_pass_by_value, reason = "made by json! where it is used")]
fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

fn list(schema: &str) -> Value {
    json!({ "type": "array", "items": { "$ref": format!("#/components/schemas/{schema}") } })
}

fn read_only(schema: &Value) -> Value {
    let mut schema = schema.clone();
    extend(&mut schema, json!({ "readOnly": true }));
    schema
}
