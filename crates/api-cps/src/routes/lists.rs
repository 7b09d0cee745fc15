//! `/list-nodes`: entries of lists are added, replaced together, deleted.

use std::sync::Arc;

use api_http::{Given, Operation, Request, Response, empty_response};
use config::query::Address;
use config::{Edit, Label, Place, Tree};
use http::StatusCode;
use lang_yang::{DataNode, NodeId, NodeKind};

use super::data::{add as add_nodes, removed};
use super::writing::{Writing, delete};
use crate::operation::{CREATED_OR_CHECKED, DONE, GONE, data_of, operation};
use crate::params::{self, WRITE, required};
use crate::problem::Problem;
use crate::state::Api;

/// POST `/dataspaces/{dataspace}/anchors/{anchor}/list-nodes`
pub(crate) const ADD: Operation = operation("data", "addListElements", "Adds entries to lists below a node.")
    .query(&[&[params::XPATH_REQUIRED], WRITE])
    .sent(data_of("Data"))
    .gives(CREATED_OR_CHECKED)
    .refuses(&[400, 409, 413, 415]);

/// POST `/dataspaces/{dataspace}/anchors/{anchor}/list-nodes`
pub(crate) async fn add(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    add_nodes(&api, &request, required(&given, &params::XPATH_REQUIRED)?).await
}

/// PUT `/dataspaces/{dataspace}/anchors/{anchor}/list-nodes`
pub(crate) const REPLACE: Operation =
    operation("data", "replaceListContent", "Has lists below a node hold exactly the entries of the body.")
        .query(&[&[params::XPATH_REQUIRED], WRITE])
        .sent(data_of("Data"))
        .gives(DONE)
        .refuses(&[400, 413, 415]);

/// PUT `/dataspaces/{dataspace}/anchors/{anchor}/list-nodes`
pub(crate) async fn replace(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let writing = Writing::of(&api, &request, required(&given, &params::XPATH_REQUIRED)?).await?;
    let schema = writing.anchor.schema();
    let is_list = |node: &DataNode| matches!(schema.node(node.schema).kind, NodeKind::List { .. });
    if !writing.leaves.is_empty() || !writing.nodes.iter().all(is_list) {
        return Err(Problem::invalid_data("the body must have entries of lists, and nothing else"));
    }
    // Entries of one list come together.
    let lists: Vec<(NodeId, Arc<[DataNode]>)> = writing
        .nodes
        .chunk_by(|one, other| one.schema == other.schema)
        .filter_map(|entries| Some((entries.first()?.schema, entries.into())))
        .collect();
    let edits = |_: &Tree<'_>, parent: &Label| {
        let replace = |(list, nodes): &(NodeId, Arc<[DataNode]>)| Edit::ReplaceList {
            parent: Place::Label(parent.clone()),
            list: *list,
            nodes: Arc::clone(nodes),
        };
        Ok(lists.iter().map(replace).collect())
    };
    writing.write(edits).await?;
    Ok(empty_response(StatusCode::OK))
}

/// DELETE `/v1/dataspaces/{dataspace}/anchors/{anchor}/list-nodes`
pub(crate) const REMOVE_V1: Operation =
    operation("data", "deleteListOrListElement", "Deletes an entry of a list, or a whole list.")
        .query(&[&[params::XPATH_REQUIRED], WRITE])
        .gives(GONE)
        .refuses(&[400]);

/// DELETE `/v1/dataspaces/{dataspace}/anchors/{anchor}/list-nodes`
pub(crate) async fn remove_v1(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let xpath = required(&given, &params::XPATH_REQUIRED)?;
    let is_deletable = |address: &Address| match address {
        Address::List { .. } => Ok(()),
        Address::Entry(steps) if steps.last().is_some_and(|step| step.at != config::StepAt::Only) => Ok(()),
        Address::Top | Address::Entry(_) => Err(Problem::bad_path(format!(
            "{xpath} is neither a list nor an entry of one: delete it by /nodes"
        ))),
    };
    removed(delete(&api, &request, xpath, is_deletable).await?)
}
