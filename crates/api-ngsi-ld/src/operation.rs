//! What operations have in common: the headers that they heed, and how bodies and answers are described.

use api_http::{Content, Gives, Header, Operation, schema_reference};
use serde_json::{Value, json};

use crate::media::{GEO_JSON, JSON, JSON_LD};

const TENANT: Header = Header {
    name: "NGSILD-Tenant",
    text: "Whose data is meant; Fiware-Service is another name for it. Nobody's: the default tenant's.",
};

const LINK: Header = Header {
    name: "Link",
    text: "The context that names are spelled in, with the relation http://www.w3.org/ns/json-ld#context.",
};

pub(crate) const READ_REFUSALS: &[u16] = &[400, 403, 404, 406, 422, 504];
pub(crate) const WRITE_REFUSALS: &[u16] = &[400, 404, 413, 415, 422, 504];
pub(crate) const NEW_REFUSALS: &[u16] = &[400, 409, 413, 415, 422, 504];
pub(crate) const REMOVE_REFUSALS: &[u16] = &[400, 404, 422];
pub(crate) const BATCH_REFUSALS: &[u16] = &[400, 413, 415, 422, 504];

pub(crate) const DONE: Gives = Gives::nothing("Done.");
pub(crate) const MADE: Gives = Gives::nothing("Made; the header Location says where.");
pub(crate) const PARTLY: Gives = Gives::new(
    "Done in part: what was done, and what was not, and why.",
    Content::new("BatchOperationResult", |schema| json!({ JSON: { "schema": schema_reference(schema) } })),
);
pub(crate) const NOT_ALL: Gives = Gives::new(
    "Done in part: some attributes are as they were, and why.",
    Content::new("UpdateResult", |schema| json!({ JSON: { "schema": schema_reference(schema) } })),
);
pub(crate) const ENTITY: Gives = Gives::new(
    "The entity.",
    Content::new("Entity", |schema| geo_too(&schema_reference(schema), "A GeoJSON feature.")),
);
pub(crate) const ENTITIES: Gives = Gives::new(
    "A page of entities; the header Link leads to the next.",
    Content::new("Entity", |schema| geo_too(&list_of(schema), "A GeoJSON feature collection.")),
);

/// An operation on the data of a tenant, whose names a context spells.
pub(crate) const fn declare(tag: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(tag, id, summary).headers(&[TENANT, LINK])
}

/// JSON of a schema.
pub(crate) const fn json_of(schema: &'static str) -> Content {
    Content::new(schema, |schema| plain(&schema_reference(schema)))
}

/// A list of them.
pub(crate) const fn json_list(schema: &'static str) -> Content {
    Content::new(schema, |schema| plain(&list_of(schema)))
}

/// JSON of a schema, by the media type of fragments too.
pub(crate) const fn merge_patch(schema: &'static str) -> Content {
    Content::new(schema, |schema| {
        let schema = schema_reference(schema);
        json!({
            JSON: { "schema": schema },
            JSON_LD: { "schema": schema },
            "application/merge-patch+json": { "schema": schema },
        })
    })
}

/// An answer with this body.
pub(crate) const fn done(content: Content) -> Gives {
    Gives::new("Done.", content)
}

/// A part of an answer.
pub(crate) const fn part(content: Content) -> Gives {
    Gives::new("A part of what there is; the header Content-Range says which times it covers.", content)
}

fn plain(schema: &Value) -> Value {
    json!({ JSON: { "schema": schema }, JSON_LD: { "schema": schema } })
}

fn geo_too(schema: &Value, feature: &str) -> Value {
    let feature = json!({ "type": "object", "description": feature });
    json!({
        JSON: { "schema": schema },
        JSON_LD: { "schema": schema },
        GEO_JSON: { "schema": feature },
    })
}

fn list_of(schema: &str) -> Value {
    json!({ "type": "array", "items": schema_reference(schema) })
}
