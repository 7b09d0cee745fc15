//! The operations on parts of a schema, as they are declared.

use api_http::Operation;

use graph::schema::SchemaKind;

use crate::operation::{done, json_of, operation};
use crate::params;

/// GET `/schema`
pub(crate) const ALL: Operation = operation("schema", "getSchema", "The whole schema of a graph.")
    .query(&[&[params::FORMAT]])
    .gives(&[(200, done(json_of("Schema")))])
    .refuses(&[400, 404]);

/// PUT `/jobs/rebuild/vertexlabels/{name}`
pub(crate) const REBUILD_VERTEX_LABEL: Operation =
    operation("schema", "rebuildVertexLabel", "Builds the indexes of a vertex label anew.")
        .gives(&[(202, done(json_of("TaskId")))])
        .refuses(&[400, 404]);

/// PUT `/jobs/rebuild/edgelabels/{name}`
pub(crate) const REBUILD_EDGE_LABEL: Operation =
    operation("schema", "rebuildEdgeLabel", "Builds the indexes of an edge label anew.")
        .gives(&[(202, done(json_of("TaskId")))])
        .refuses(&[400, 404]);

/// PUT `/jobs/rebuild/indexlabels/{name}`
pub(crate) const REBUILD_INDEX_LABEL: Operation =
    operation("schema", "rebuildIndexLabel", "Builds the indexes of one name anew.")
        .gives(&[(202, done(json_of("TaskId")))])
        .refuses(&[400, 404]);

/// The operations on parts of one kind.
#[derive(Debug)]
pub(crate) struct PartOperations {
    pub(crate) list: Operation,
    pub(crate) create: Operation,
    pub(crate) get: Operation,
    pub(crate) update: Operation,
    pub(crate) remove: Operation,
}

/// Those of a kind.
pub(crate) fn operations_of(kind: SchemaKind) -> &'static PartOperations {
    match kind {
        SchemaKind::PropertyKey => &PROPERTY_KEY,
        SchemaKind::VertexLabel => &VERTEX_LABEL,
        SchemaKind::EdgeLabel => &EDGE_LABEL,
        SchemaKind::IndexLabel => &INDEX_LABEL,
    }
}

static PROPERTY_KEY: PartOperations = PartOperations {
    // GET `/schema/propertykeys`
    list: operation("schema", "listPropertyKeys", "All property keys.")
        .query(&[&[params::NAMES]])
        .gives(&[(200, done(json_of("PropertyKeys")))])
        .refuses(&[404]),
    // POST `/schema/propertykeys`
    create: operation("schema", "createPropertyKey", "Makes a property key.")
        .sent(json_of("PropertyKey"))
        .gives(&[(202, done(json_of("PropertyKeyTask")))])
        .refuses(&[400, 404, 415]),
    // GET `/schema/propertykeys/{name}`
    get: operation("schema", "getPropertyKey", "One property key.")
        .gives(&[(200, done(json_of("PropertyKey")))])
        .refuses(&[404]),
    // PUT `/schema/propertykeys/{name}`
    update: operation("schema", "updatePropertyKey", "Adds to a property key, or removes from it.")
        .query(&[&[params::KEY_ACTION]])
        .sent(json_of("PropertyKey"))
        .gives(&[(202, done(json_of("PropertyKeyTask")))])
        .refuses(&[400, 404]),
    // DELETE `/schema/propertykeys/{name}`
    remove: operation(
        "schema",
        "removePropertyKey",
        "Removes a property key; a task removes what it leaves.",
    )
    .gives(&[(202, done(json_of("TaskId")))])
    .refuses(&[400, 404]),
};

static VERTEX_LABEL: PartOperations = PartOperations {
    // GET `/schema/vertexlabels`
    list: operation("schema", "listVertexLabels", "All vertex labels.")
        .query(&[&[params::NAMES]])
        .gives(&[(200, done(json_of("VertexLabels")))])
        .refuses(&[404]),
    // POST `/schema/vertexlabels`
    create: operation("schema", "createVertexLabel", "Makes a vertex label.")
        .sent(json_of("VertexLabel"))
        .gives(&[(201, done(json_of("VertexLabel")))])
        .refuses(&[400, 404, 415]),
    // GET `/schema/vertexlabels/{name}`
    get: operation("schema", "getVertexLabel", "One vertex label.")
        .gives(&[(200, done(json_of("VertexLabel")))])
        .refuses(&[404]),
    // PUT `/schema/vertexlabels/{name}`
    update: operation("schema", "updateVertexLabel", "Adds to a vertex label, or removes from it.")
        .query(&[&[params::ACTION]])
        .sent(json_of("VertexLabel"))
        .gives(&[(200, done(json_of("VertexLabel")))])
        .refuses(&[400, 404]),
    // DELETE `/schema/vertexlabels/{name}`
    remove: operation(
        "schema",
        "removeVertexLabel",
        "Removes a vertex label; a task removes what it leaves.",
    )
    .gives(&[(202, done(json_of("TaskId")))])
    .refuses(&[400, 404]),
};

static EDGE_LABEL: PartOperations = PartOperations {
    // GET `/schema/edgelabels`
    list: operation("schema", "listEdgeLabels", "All edge labels.")
        .query(&[&[params::NAMES]])
        .gives(&[(200, done(json_of("EdgeLabels")))])
        .refuses(&[404]),
    // POST `/schema/edgelabels`
    create: operation("schema", "createEdgeLabel", "Makes an edge label.")
        .sent(json_of("EdgeLabel"))
        .gives(&[(201, done(json_of("EdgeLabel")))])
        .refuses(&[400, 404, 415]),
    // GET `/schema/edgelabels/{name}`
    get: operation("schema", "getEdgeLabel", "One edge label.")
        .gives(&[(200, done(json_of("EdgeLabel")))])
        .refuses(&[404]),
    // PUT `/schema/edgelabels/{name}`
    update: operation("schema", "updateEdgeLabel", "Adds to an edge label, or removes from it.")
        .query(&[&[params::ACTION]])
        .sent(json_of("EdgeLabel"))
        .gives(&[(200, done(json_of("EdgeLabel")))])
        .refuses(&[400, 404]),
    // DELETE `/schema/edgelabels/{name}`
    remove: operation("schema", "removeEdgeLabel", "Removes an edge label; a task removes what it leaves.")
        .gives(&[(202, done(json_of("TaskId")))])
        .refuses(&[400, 404]),
};

static INDEX_LABEL: PartOperations = PartOperations {
    // GET `/schema/indexlabels`
    list: operation("schema", "listIndexLabels", "All index labels.")
        .query(&[&[params::NAMES]])
        .gives(&[(200, done(json_of("IndexLabels")))])
        .refuses(&[404]),
    // POST `/schema/indexlabels`
    create: operation("schema", "createIndexLabel", "Makes an index label.")
        .sent(json_of("IndexLabel"))
        .gives(&[(202, done(json_of("IndexLabelTask")))])
        .refuses(&[400, 404, 415]),
    // GET `/schema/indexlabels/{name}`
    get: operation("schema", "getIndexLabel", "One index label.")
        .gives(&[(200, done(json_of("IndexLabel")))])
        .refuses(&[404]),
    // PUT `/schema/indexlabels/{name}`
    update: operation("schema", "updateIndexLabel", "Adds to an index label, or removes from it.")
        .query(&[&[params::ACTION]])
        .sent(json_of("IndexLabel"))
        .gives(&[(200, done(json_of("IndexLabel")))])
        .refuses(&[400, 404]),
    // DELETE `/schema/indexlabels/{name}`
    remove: operation("schema", "removeIndexLabel", "Removes an index label; a task removes what it leaves.")
        .gives(&[(202, done(json_of("TaskId")))])
        .refuses(&[400, 404]),
};
