//! The operations, one line each.

use crate::params;

/// What the operations are grouped by.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("entities", "Entities: made, found, changed, removed."),
    ("attributes", "Attributes of one entity."),
    ("batches", "Many entities in one request."),
    ("past", "What entities were: instances of their attributes over time."),
    ("names", "Types and attributes in use, and the contexts that spell their names."),
    ("broker", "This broker, and this description."),
];

/// One operation.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) tag: &'static str,
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    /// Names of query parameters.
    pub(super) query: &'static [&'static str],
    pub(super) body: Body,
    /// What it answers, by status.
    pub(super) gives: &'static [(u16, Gives)],
    /// Statuses it refuses with.
    pub(super) refusals: &'static [u16],
}

/// What an operation is sent.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Body {
    None,
    /// JSON of a schema.
    Json(&'static str),
    /// A list of them.
    List(&'static str),
    /// JSON of a schema, by its own media type too.
    Merge(&'static str),
}

/// What an operation answers.
#[derive(Clone, Copy)]
pub(super) enum Gives {
    Nothing,
    Created,
    Json(&'static str),
    List(&'static str),
    /// What of a batch was done.
    Partly,
    /// What of an entity was changed.
    NotAll,
    Part(&'static str),
    Parts(&'static str),
    Entity,
    Entities,
    Page,
    Document,
}

impl Operation {
    /// The keys of the headers that it heeds.
    pub(super) fn headers(&self) -> impl Iterator<Item = String> {
        let is_page = matches!(self.gives, [(_, Gives::Page | Gives::Document)]);
        let names: &[&str] = if is_page { &[] } else { &["NGSILD-Tenant", "Link"] };
        names.iter().map(|name| format!("header.{name}"))
    }

    /// The key of a query parameter: the same word means different things to different operations.
    pub(super) fn parameter_key(&self, name: &str) -> String {
        match name {
            "options" if self.method != "GET" && self.id != "queryEntitiesByPost" => {
                "options.write".to_owned()
            }
            "observedAt" | "lang" if self.body != Body::None => format!("merge.{name}"),
            "type" if self.method != "GET" && self.id != "purgeEntities" => "type.write".to_owned(),
            "options" | "format" if self.tag == "past" => format!("past.{name}"),
            name => name.to_owned(),
        }
    }
}

const READ: &[u16] = &[400, 403, 404, 406, 422, 504];
const WRITE: &[u16] = &[400, 404, 413, 415, 422, 504];
const NEW: &[u16] = &[400, 409, 413, 415, 422, 504];
const REMOVE: &[u16] = &[400, 404, 422];
const BATCH: &[u16] = &[400, 413, 415, 422, 504];

const NOTHING: &[(u16, Gives)] = &[(204, Gives::Nothing)];
const NOTHING_OR_NOT_ALL: &[(u16, Gives)] = &[(204, Gives::Nothing), (207, Gives::NotAll)];
const NOTHING_OR_PARTLY: &[(u16, Gives)] = &[(204, Gives::Nothing), (207, Gives::Partly)];
const CREATED: &[(u16, Gives)] = &[(201, Gives::Created)];
const ENTITIES: &[(u16, Gives)] = &[(200, Gives::Entities)];
const PAST: &[(u16, Gives)] = &[(200, Gives::Json("Past")), (206, Gives::Part("Past"))];
const PASTS: &[(u16, Gives)] = &[(200, Gives::List("Past")), (206, Gives::Parts("Past"))];

const WRITING: &[&str] = &["options", "format", "local"];
const WRITING_ONE: &[&str] = &["options", "format", "type", "local"];
const MERGING: &[&str] = &["options", "format", "local", "observedAt", "lang"];
const MERGING_ONE: &[&str] = &["options", "format", "type", "local", "observedAt", "lang"];

/// An operation: what it is, what it is sent, what it answers, and with what it refuses.
const fn operation(
    (method, path): (&'static str, &'static str),
    (tag, id, summary): (&'static str, &'static str, &'static str),
    (query, body): (&'static [&'static str], Body),
    gives: &'static [(u16, Gives)],
    refusals: &'static [u16],
) -> Operation {
    Operation { method, path, tag, id, summary, query, body, gives, refusals }
}

/// All operations, in the order of the route table.
pub(super) const OPERATIONS: &[Operation] = &[
    operation(
        ("POST", "/ngsi-ld/v1/entities"),
        ("entities", "createEntity", "Makes an entity."),
        (WRITING, Body::Json("Entity")),
        CREATED,
        NEW,
    ),
    operation(
        ("GET", "/ngsi-ld/v1/entities"),
        ("entities", "queryEntities", "Entities that fit, in pages."),
        (params::QUERY, Body::None),
        ENTITIES,
        READ,
    ),
    operation(
        ("DELETE", "/ngsi-ld/v1/entities"),
        ("entities", "purgeEntities", "Removes entities that fit, or some attributes of theirs."),
        (params::PURGE, Body::None),
        NOTHING_OR_PARTLY,
        REMOVE,
    ),
    operation(
        ("GET", "/ngsi-ld/v1/entities/{id}"),
        ("entities", "retrieveEntity", "One entity."),
        (params::ENTITY, Body::None),
        &[(200, Gives::Entity)],
        READ,
    ),
    operation(
        ("DELETE", "/ngsi-ld/v1/entities/{id}"),
        ("entities", "deleteEntity", "Removes an entity."),
        (&["type", "local"], Body::None),
        NOTHING,
        REMOVE,
    ),
    operation(
        ("PUT", "/ngsi-ld/v1/entities/{id}"),
        ("entities", "replaceEntity", "Gives an entity other attributes, all of them."),
        (WRITING_ONE, Body::Json("Entity")),
        NOTHING,
        WRITE,
    ),
    operation(
        ("PATCH", "/ngsi-ld/v1/entities/{id}"),
        ("entities", "mergeEntity", "Merges a fragment into an entity; null markers remove."),
        (MERGING_ONE, Body::Merge("Fragment")),
        NOTHING,
        WRITE,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/entities/{id}/attrs"),
        ("attributes", "appendAttributes", "Adds attributes, and replaces those of the same name."),
        (WRITING_ONE, Body::Json("Fragment")),
        NOTHING_OR_NOT_ALL,
        WRITE,
    ),
    operation(
        ("PATCH", "/ngsi-ld/v1/entities/{id}/attrs"),
        ("attributes", "updateAttributes", "Replaces attributes, and adds those that are not there."),
        (WRITING_ONE, Body::Json("Fragment")),
        NOTHING_OR_NOT_ALL,
        WRITE,
    ),
    operation(
        ("PATCH", "/ngsi-ld/v1/entities/{id}/attrs/{attr}"),
        ("attributes", "updateAttribute", "Changes members of an attribute."),
        (WRITING_ONE, Body::Merge("Attribute")),
        NOTHING,
        WRITE,
    ),
    operation(
        ("DELETE", "/ngsi-ld/v1/entities/{id}/attrs/{attr}"),
        ("attributes", "deleteAttribute", "Removes an attribute, or an instance of it."),
        (&["datasetId", "deleteAll", "type", "local"], Body::None),
        NOTHING,
        REMOVE,
    ),
    operation(
        ("PUT", "/ngsi-ld/v1/entities/{id}/attrs/{attr}"),
        ("attributes", "replaceAttribute", "Replaces an attribute."),
        (WRITING_ONE, Body::Json("Attribute")),
        NOTHING,
        WRITE,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/entityOperations/create"),
        ("batches", "createBatch", "Makes entities."),
        (WRITING, Body::List("Entity")),
        &[(201, Gives::List("Id")), (207, Gives::Partly)],
        BATCH,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/entityOperations/upsert"),
        ("batches", "upsertBatch", "Makes entities, and replaces or updates those that are there."),
        (WRITING, Body::List("Entity")),
        &[(201, Gives::List("Id")), (204, Gives::Nothing), (207, Gives::Partly)],
        BATCH,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/entityOperations/update"),
        ("batches", "updateBatch", "Adds attributes to entities, and replaces those of the same name."),
        (WRITING, Body::List("Entity")),
        NOTHING_OR_PARTLY,
        BATCH,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/entityOperations/delete"),
        ("batches", "deleteBatch", "Removes entities."),
        (WRITING, Body::List("Id")),
        NOTHING_OR_PARTLY,
        BATCH,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/entityOperations/query"),
        ("entities", "queryEntitiesByPost", "Entities that fit, in pages; the query is the body."),
        (&["count", "limit", "offset", "options", "format", "local"], Body::Json("Query")),
        ENTITIES,
        READ,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/entityOperations/merge"),
        ("batches", "mergeBatch", "Merges fragments into entities."),
        (MERGING, Body::List("Entity")),
        NOTHING_OR_PARTLY,
        BATCH,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/temporal/entities"),
        ("past", "createPast", "Adds to the past of an entity, or makes one."),
        (&["local"], Body::Json("Past")),
        &[(201, Gives::Created), (204, Gives::Nothing)],
        NEW,
    ),
    operation(
        ("GET", "/ngsi-ld/v1/temporal/entities"),
        ("past", "queryPast", "The past of entities that fit."),
        (params::temporal::QUERY, Body::None),
        PASTS,
        READ,
    ),
    operation(
        ("GET", "/ngsi-ld/v1/temporal/entities/{id}"),
        ("past", "retrievePast", "The past of one entity."),
        (params::temporal::ENTITY, Body::None),
        PAST,
        READ,
    ),
    operation(
        ("DELETE", "/ngsi-ld/v1/temporal/entities/{id}"),
        ("past", "deletePast", "Removes the past of an entity."),
        (&["local"], Body::None),
        NOTHING,
        REMOVE,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/temporal/entities/{id}/attrs"),
        ("past", "appendPastAttributes", "Adds instances of attributes."),
        (&["local"], Body::Json("PastFragment")),
        NOTHING,
        WRITE,
    ),
    operation(
        ("DELETE", "/ngsi-ld/v1/temporal/entities/{id}/attrs/{attr}"),
        ("past", "deletePastAttribute", "Removes the past of an attribute."),
        (&["datasetId", "deleteAll", "local"], Body::None),
        NOTHING,
        REMOVE,
    ),
    operation(
        ("PATCH", "/ngsi-ld/v1/temporal/entities/{id}/attrs/{attr}/{instance}"),
        ("past", "updatePastInstance", "Corrects an instance."),
        (&["local"], Body::Json("PastFragment")),
        NOTHING,
        WRITE,
    ),
    operation(
        ("DELETE", "/ngsi-ld/v1/temporal/entities/{id}/attrs/{attr}/{instance}"),
        ("past", "deletePastInstance", "Removes an instance."),
        (&["local"], Body::None),
        NOTHING,
        REMOVE,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/temporal/entityOperations/query"),
        ("past", "queryPastByPost", "The past of entities that fit; the query is the body."),
        (&["count", "limit", "offset", "options", "format", "local"], Body::Json("Query")),
        PASTS,
        READ,
    ),
    operation(
        ("GET", "/ngsi-ld/v1/types"),
        ("names", "listTypes", "The types in use."),
        (&["details", "local"], Body::None),
        &[(200, Gives::Json("TypeList"))],
        READ,
    ),
    operation(
        ("GET", "/ngsi-ld/v1/types/{type}"),
        ("names", "retrieveType", "A type: how many entities have it, and which attributes they have."),
        (&["local"], Body::None),
        &[(200, Gives::Json("TypeInfo"))],
        READ,
    ),
    operation(
        ("GET", "/ngsi-ld/v1/attributes"),
        ("names", "listAttributes", "The attributes in use."),
        (&["details", "local"], Body::None),
        &[(200, Gives::Json("AttributeList"))],
        READ,
    ),
    operation(
        ("GET", "/ngsi-ld/v1/attributes/{attr}"),
        (
            "names",
            "retrieveAttribute",
            "An attribute: how many entities have it, and of which types they are.",
        ),
        (&["local"], Body::None),
        &[(200, Gives::Json("AttributeInfo"))],
        READ,
    ),
    operation(
        ("POST", "/ngsi-ld/v1/jsonldContexts"),
        ("names", "hostContext", "Keeps a context for the tenant."),
        (&[], Body::Json("ContextDocument")),
        CREATED,
        &[400, 413, 415, 422, 504],
    ),
    operation(
        ("GET", "/ngsi-ld/v1/jsonldContexts"),
        ("names", "listContexts", "The contexts that there are for the tenant."),
        (&["details", "kind"], Body::None),
        &[(200, Gives::List("ContextInfo"))],
        &[400, 404, 406],
    ),
    operation(
        ("GET", "/ngsi-ld/v1/jsonldContexts/{id}"),
        ("names", "retrieveContext", "A context, or what is known of it."),
        (&["details"], Body::None),
        &[(200, Gives::Json("ContextDocument"))],
        &[400, 404, 406, 422],
    ),
    operation(
        ("DELETE", "/ngsi-ld/v1/jsonldContexts/{id}"),
        ("names", "deleteContext", "Removes a context, or fetches it again."),
        (&["reload"], Body::None),
        NOTHING,
        &[400, 404, 422, 504],
    ),
    operation(
        ("GET", "/ngsi-ld/v1/info/sourceIdentity"),
        ("broker", "sourceIdentity", "Who this broker is, and since when."),
        (&[], Body::None),
        &[(200, Gives::Json("SourceIdentity"))],
        &[400, 406],
    ),
    operation(
        ("GET", "/ngsi-ld/v1/docs"),
        ("broker", "docs", "This description, for people."),
        (&[], Body::None),
        &[(200, Gives::Page)],
        &[400],
    ),
    operation(
        ("GET", "/ngsi-ld/v1/docs/openapi.json"),
        ("broker", "openapi", "This description, for programs."),
        (&[], Body::None),
        &[(200, Gives::Document)],
        &[400],
    ),
];
