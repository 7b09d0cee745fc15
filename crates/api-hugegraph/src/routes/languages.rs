//! `/gremlin`, `/cypher`: languages of queries, which are not served yet.

use api_http::{Operation, Request, Response};

use super::{check_json, text};
use crate::operation::operation;
use crate::params;
use crate::problem::Problem;
use crate::state::Api;

/// GET `/cypher` of a graph
pub(crate) const CYPHER_BY_QUERY: Operation =
    operation("languages", "cypherByQuery", "Cypher: not served yet.")
        .query(&[&[params::CYPHER]])
        .refuses(&[501]);

/// POST `/cypher` of a graph
pub(crate) const CYPHER: Operation =
    operation("languages", "cypher", "Cypher: not served yet.").refuses(&[501]);

/// POST `/jobs/gremlin` of a graph
pub(crate) const GREMLIN_JOB: Operation =
    operation("languages", "gremlinJob", "Gremlin as a task: not served yet.").refuses(&[400, 415, 501]);

/// GET `/gremlin`
pub(crate) const GREMLIN_BY_QUERY: Operation =
    operation("languages", "gremlinByQuery", "Gremlin: not served yet.").refuses(&[501]);

/// POST `/gremlin`
pub(crate) const GREMLIN: Operation =
    operation("languages", "gremlin", "Gremlin: not served yet.").refuses(&[400, 415, 501]);

/// Refuses a query that is sent as JSON.
pub(crate) async fn refuse_json(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    lang_json::canonical(text(&request)?, api.shared.limits.depth_max)?;
    refuse(api, request).await
}

/// Refuses a query in either language.
pub(crate) async fn refuse(_: Api, _: Request) -> Result<Response, Problem> {
    Err(Problem::unsupported("Gremlin and Cypher are not served yet: use the REST API of the graph"))
}
