//! `/nodes`: nodes of an anchor are created, changed, replaced, deleted.

use std::sync::Arc;

use api_http::{Given, Operation, Request, Response, empty_response, no_content};
use config::{Edit, Label, LeafLists, MergeOptions, Place, Position, Tree};
use http::StatusCode;

use super::created;
use super::writing::{Writing, delete, step_to};
use crate::operation::{CREATED_OR_CHECKED, DONE, GONE, data_of, operation};
use crate::params::{self, WRITE};
use crate::problem::Problem;
use crate::state::Api;

/// POST `/dataspaces/{dataspace}/anchors/{anchor}/nodes`
pub(crate) const CREATE: Operation =
    operation("data", "createNode", "Creates trees, at the top or below a node.")
        .query(&[&[params::XPATH], WRITE])
        .sent(data_of("Data"))
        .gives(CREATED_OR_CHECKED)
        .refuses(&[400, 409, 413, 415]);

/// POST `/dataspaces/{dataspace}/anchors/{anchor}/nodes`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    add(&api, &request, params::xpath(&given)).await
}

/// Adds the nodes of a body below the node of a path.
///
/// # Errors
///
/// 400, 409 if one is there.
pub(super) async fn add(api: &Api, request: &Request, xpath: &str) -> Result<Response, Problem> {
    let writing = Writing::of(api, request, xpath).await?;
    let edits = |_: &Tree<'_>, parent: &Label| {
        let nodes = Arc::clone(&writing.nodes);
        let create = Edit::Create { parent: Place::Label(parent.clone()), nodes, at: Position::Last };
        Ok(with_leaves(create, &writing, parent))
    };
    writing.write(edits).await?;
    Ok(if writing.is_dry_run() { empty_response(StatusCode::OK) } else { created() })
}

/// An edit, and one that sets leaves of the node itself if there are some.
fn with_leaves(edit: Edit, writing: &Writing, parent: &Label) -> Vec<Edit> {
    let mut edits = vec![edit];
    if !writing.leaves.is_empty() {
        let leaves = Arc::clone(&writing.leaves);
        edits.push(Edit::SetLeaves { parent: Place::Label(parent.clone()), leaves });
    }
    edits
}

/// PATCH `/dataspaces/{dataspace}/anchors/{anchor}/nodes`
pub(crate) const UPDATE: Operation =
    operation("data", "updateNodeLeaves", "Sets leaves of nodes that are there; all else stays.")
        .query(&[&[params::XPATH], WRITE])
        .sent(data_of("Data"))
        .gives(DONE)
        .refuses(&[400, 413, 415]);

/// PATCH `/dataspaces/{dataspace}/anchors/{anchor}/nodes`
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let writing = Writing::of(&api, &request, params::xpath(&given)).await?;
    let edits = |_: &Tree<'_>, parent: &Label| {
        let options = MergeOptions { must_exist: true, leaf_lists: LeafLists::Replace };
        let nodes = Arc::clone(&writing.nodes);
        let merge = Edit::Merge { parent: Place::Label(parent.clone()), nodes, options };
        Ok(with_leaves(merge, &writing, parent))
    };
    writing.write(edits).await?;
    Ok(empty_response(StatusCode::OK))
}

/// PUT `/dataspaces/{dataspace}/anchors/{anchor}/nodes`
pub(crate) const REPLACE: Operation =
    operation("data", "replaceNode", "Replaces nodes that are there, with all below them.")
        .query(&[&[params::XPATH], WRITE])
        .sent(data_of("Data"))
        .gives(DONE)
        .refuses(&[400, 413, 415]);

/// PUT `/dataspaces/{dataspace}/anchors/{anchor}/nodes`
pub(crate) async fn replace(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let writing = Writing::of(&api, &request, params::xpath(&given)).await?;
    let edits = |tree: &Tree<'_>, parent: &Label| {
        if !tree.has_all(parent, writing.nodes.iter().map(|node| step_to(tree.schema(), node)))? {
            return Err(writing.missing());
        }
        let nodes = Arc::clone(&writing.nodes);
        let replace = Edit::Replace { parent: Place::Label(parent.clone()), nodes, at: None };
        Ok(with_leaves(replace, &writing, parent))
    };
    writing.write(edits).await?;
    Ok(empty_response(StatusCode::OK))
}

/// DELETE `/dataspaces/{dataspace}/anchors/{anchor}/nodes`
pub(crate) const REMOVE: Operation =
    operation("data", "deleteDataNode", "Deletes a node with all below it, a whole list, or all data.")
        .query(&[&[params::XPATH], WRITE])
        .gives(GONE)
        .refuses(&[400]);

/// DELETE `/dataspaces/{dataspace}/anchors/{anchor}/nodes`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    removed(delete(&api, &request, params::xpath(&given), |_| Ok(())).await?)
}

/// 204, or 200 for a dry run.
#[expect(clippy::unnecessary_wraps, reason = "the last line of handlers")]
pub(super) fn removed(is_dry_run: bool) -> Result<Response, Problem> {
    Ok(if is_dry_run { empty_response(StatusCode::OK) } else { no_content() })
}
