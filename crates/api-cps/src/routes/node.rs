//! `/node`: a node is read, with as many levels below it as are wanted.

use api_http::{Given, Operation, Request, Response, chunked_response};
use config::query::Address;
use config::{Fault, Label, Tree};
use model_config::{Deadline, Error, Pace, Reading, Step};

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
    let labels = find(&reading, &address, Deadline::at(request.deadline)).await?;
    if labels.is_empty() {
        return Err(Problem::no_node(xpath, names(request)));
    }
    let writer = NodesWriter::new(reading, labels, levels, (shape, form));
    chunked_response(form.media_type(), api.shared.limits.stall_max, writer.chunks()).await
}

/// The entries at an address, in document order; at the top that itself, too, if it has leaves. Cost: O(entries), O(log entries) of
/// what lies below each.
///
/// # Errors
///
/// As [`Reading::run_long`].
pub(super) async fn find(
    reading: &Reading,
    address: &Address,
    deadline: Deadline,
) -> Result<Vec<Label>, Error> {
    let step = |tree: &Tree<'_>, labels: &mut Vec<Label>, pace: &mut Pace| {
        let is_done = find_on(tree, address, labels, || !pace.spend(1) || pace.is_tired())?;
        Ok(if is_done { Step::Done(std::mem::take(labels)) } else { Step::More })
    };
    reading.run_long(deadline, Vec::new(), step).await
}

/// The same, on from those that were found, until it is to rest; answers whether all are found.
pub(super) fn find_on(
    tree: &Tree<'_>,
    address: &Address,
    labels: &mut Vec<Label>,
    mut is_to_rest: impl FnMut() -> bool,
) -> Result<bool, Fault> {
    let mut cursor = match address {
        Address::Entry(steps) => {
            labels.extend(tree.find(steps)?);
            return Ok(true);
        }
        Address::List { parent, list } => match tree.find(parent)? {
            Some(parent) => tree.entries(&parent, *list),
            None => return Ok(true),
        },
        Address::Top => tree.cursor(&Label::top()),
    };
    if let Some(last) = labels.last() {
        cursor.seek(last);
        cursor.next_label()?;
        if !last.is_top() {
            cursor.skip_below();
        }
    }
    while let Some(label) = cursor.next_label()? {
        if !label.is_top() {
            cursor.skip_below();
        }
        labels.push(label);
        if is_to_rest() {
            return Ok(false);
        }
    }
    Ok(true)
}
