//! `/node`: a node is read, with as many levels below it as are wanted.

use api_http::{Given, Operation, Request, Response, chunked_response};
use config::query::Address;
use config::{Fault, Label, Step, Tree};

use super::answer::{NodesWriter, Shape};
use super::writing::{address, names};
use crate::media::{Form, answer_form};
use crate::operation::{data_of, done, json_of, operation};
use crate::params::{self, Descendants};
use crate::problem::Problem;
use crate::state::Api;

/// GET `/v1/dataspaces/{dataspace}/anchors/{anchor}/node`
pub(crate) const GET_V1: Operation =
    operation("data", "getNodeByDataspaceAndAnchor", "The first node at a path.")
        .query(&[&[params::XPATH, params::INCLUDE_DESCENDANTS]])
        .gives(&[(200, done(json_of("Nodes")))])
        .refuses(&[400, 404]);

/// GET `/v1/dataspaces/{dataspace}/anchors/{anchor}/node`
pub(crate) async fn get_v1(api: Api, request: Request) -> Result<Response, Problem> {
    let levels = params::include_descendants(&Given::of(&request))?;
    read(&api, &request, levels, (Shape::First, Form::Json)).await
}

/// GET `/v2/dataspaces/{dataspace}/anchors/{anchor}/node`
pub(crate) const GET: Operation =
    operation("data", "getNodeByDataspaceAndAnchorV2", "The nodes at a path, one by one.")
        .query(&[&[params::XPATH, params::DESCENDANTS]])
        .gives(&[(200, done(data_of("NodeList")))])
        .refuses(&[400, 404]);

/// GET `/v2/dataspaces/{dataspace}/anchors/{anchor}/node`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let levels = params::descendants(&Given::of(&request))?;
    read(&api, &request, levels, (Shape::List, answer_form(&request))).await
}

/// GET `/v3/dataspaces/{dataspace}/anchors/{anchor}/node`
pub(crate) const GET_V3: Operation =
    operation("data", "getNodeByDataspaceAndAnchorV3", "The nodes at a path, entries of a list together.")
        .query(&[&[params::XPATH, params::DESCENDANTS]])
        .gives(&[(200, done(data_of("Nodes")))])
        .refuses(&[400, 404]);

/// GET `/v3/dataspaces/{dataspace}/anchors/{anchor}/node`
pub(crate) async fn get_v3(api: Api, request: Request) -> Result<Response, Problem> {
    let levels = params::descendants(&Given::of(&request))?;
    read(&api, &request, levels, (Shape::Grouped, answer_form(&request))).await
}

async fn read(
    api: &Api,
    request: &Request,
    levels: Descendants,
    (shape, form): (Shape, Form),
) -> Result<Response, Problem> {
    let given = Given::of(request);
    let xpath = params::xpath(&given);
    let anchor = api.anchor(request).await?;
    let address = address(anchor.schema(), xpath, names(request))?;
    let reading = anchor.read(None).await?;
    let labels = reading.run(|tree| find(tree, &address)).await?;
    if labels.is_empty() {
        return Err(Problem::no_node(xpath, names(request)));
    }
    let writer = NodesWriter::new(reading, labels, levels, (shape, form));
    chunked_response(form.media_type(), api.shared.limits.stall_max, writer.chunks()).await
}

/// The entries at an address, in document order; at the top that itself, too, if it has leaves.
pub(super) fn find(tree: &Tree<'_>, address: &Address) -> Result<Vec<Label>, Fault> {
    match address {
        Address::Entry(steps) => Ok(tree.find(steps)?.into_iter().collect()),
        Address::List { parent, list } => {
            let mut steps = parent.clone();
            steps.push(Step::container(*list));
            tree.find_all(&steps)
        }
        Address::Top => {
            let (mut cursor, mut labels) = (tree.cursor(&Label::top()), Vec::new());
            while let Some(label) = cursor.next_label()? {
                if !label.is_top() {
                    cursor.skip_below();
                }
                labels.push(label);
            }
            Ok(labels)
        }
    }
}
