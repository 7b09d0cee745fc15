//! `edgeexist`: edges by their ends.

use api_http::{Given, Operation, Request, Response};
use traversals::{EdgeExist, defaults, edge_exist};

use super::{ANSWER, Answer, Method, Table, WalkRequest, get, of_graph, params};
use crate::operation::operation;
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::walks::{edge_label, exact_label};

pub(super) fn routes(table: &mut Table<'_>) {
    get!(table, "/traversers/edgeexist", EDGE_EXIST, get_edge_exist);
}

const EDGE_EXIST: Operation = operation("traversers", "edgeExist", "The edges from one vertex to another.")
    .query(&[&[params::SOURCE, params::TARGET, params::EDGE_LABEL, params::SORT_VALUES, params::WALK_LIMIT]])
    .gives(ANSWER)
    .refuses(&[400, 404, 504]);

/// GET `/traversers/edgeexist`
async fn get_edge_exist(api: Api, request: Request) -> Result<Response, Problem> {
    let walk = WalkRequest::of(&api, &request).await?;
    let given = Given::of(&request);
    let text = |parameter| given.get(parameter).filter(|text| !text.is_empty());
    let label = text(&params::EDGE_LABEL).map(|name| edge_label(walk.schema(), name)).transpose()?;
    let sort_values = text(&params::SORT_VALUES);
    // Of a label without sort keys they say nothing, as in HugeGraph; there is one edge of it at most.
    let sort_values = match label {
        Some(label) if label.sort_keys.is_empty() => Some(""),
        _ => sort_values,
    };
    let asked = EdgeExist {
        source: params::vertex_id(&given, &params::SOURCE)?,
        target: params::vertex_id(&given, &params::TARGET)?,
        label: label.map(exact_label),
        sort_values: sort_values.map(Into::into),
        limit: params::number(&given, &params::WALK_LIMIT, defaults::LIMIT)?,
    };
    let found = edge_exist(&walk.reader, &walk.options, &asked).await?;
    let mut answer = Answer::begin(&walk);
    answer.edges(&found, true).await?;
    Ok(answer.finish())
}
