//! The OpenAPI document, apart from its operations, which are declared with their handlers.

mod schemas;

use api_http::ApiDescription;

/// The groups of operations.
const TAGS: &[(&str, &str)] = &[
    ("server", "What this server is."),
    ("graphs", "Graphs, and what they are set to."),
    ("schema", "What the elements of a graph are made of, and how they are found."),
    ("vertices", "Vertices: read, write, find, delete."),
    ("edges", "Edges: read, write, find, delete."),
    ("tasks", "Work that outlasts a request."),
    ("variables", "Values that a graph keeps under names."),
    ("traversers", "Walks over a graph: neighbourhoods, paths, similarities, ranks."),
    ("auth", "Users, groups, what they may do; tokens."),
    ("languages", "Gremlin and Cypher."),
    ("refused", "What HugeGraph has and this server has no use for."),
    ("docs", "This description."),
];

const PATH: &[(&str, &str)] = &[
    ("graphspace", "Name of the graph space; one is always there: DEFAULT."),
    ("graph", "Name of the graph; one is always there: hugegraph."),
    ("name", "Name of the part of the schema."),
    ("id", "The id; of a vertex as JSON: \"1:marko\", 123, U\"4a7d1a2b-…\"; of a user -63:boss, or boss."),
    ("key", "Name of the variable."),
];

/// The description of the API.
pub(crate) fn description() -> ApiDescription {
    ApiDescription {
        title: "HugeGraph: property graphs",
        description: "Property graphs as Apache HugeGraph 1.7 serves them. All paths below /graphspaces/DEFAULT are also available \
            without these two segments. Parameters that an operation does not have are passed over.",
        tags: TAGS,
        schemas: schemas::schemas(),
        path: PATH,
        refusal_schema: "Error",
        refusal,
    }
}

fn refusal(status: u16) -> &'static str {
    match status {
        400 => "The request is malformed, or asks what may not be; the message says why.",
        401 => "Whoever asks is not who he says.",
        403 => "Whoever asks may not do that, or it may not be done.",
        404 => "Something that the request names does not exist.",
        415 => "The body is of a media type that is not read here.",
        501 => "Not built.",
        504 => "The walk did not end before its deadline.",
        _ => unreachable!("no operation declares that it refuses with {status}"),
    }
}

#[cfg(test)]
mod tests;
