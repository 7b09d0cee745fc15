//! `/anchors`: trees of data, each under a schema set.

use api_http::{Given, Operation, Request, Response, json_response, no_content};
use http::StatusCode;
use lang_json::Commas;
use model_config::{AnchorInfo, Error};
use serde::Serialize;

use super::{created, named, ok};
use crate::media::JSON;
use crate::names::check_name;
use crate::operation::{CREATED, GONE, NAMED, done, json_list, json_of, operation};
use crate::params::{self, required};
use crate::problem::Problem;
use crate::state::Api;

/// So many anchors are read at once.
const PAGE_ANCHORS: usize = 1_000;

/// An anchor as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AnchorDetails<'a> {
    name: &'a str,
    dataspace_name: &'a str,
    schema_set_name: &'a str,
}

/// POST `/v2/dataspaces/{dataspace}/anchors`
pub(crate) const CREATE: Operation = operation("admin", "createAnchor", "Creates an anchor without data.")
    .query(&[&[params::SCHEMA_SET, params::ANCHOR]])
    .gives(CREATED)
    .refuses(&[400, 409]);

/// POST `/v2/dataspaces/{dataspace}/anchors`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    make(&api, &request).await?;
    Ok(created())
}

/// POST `/v1/dataspaces/{dataspace}/anchors`
pub(crate) const CREATE_V1: Operation =
    operation("admin", "createAnchorV1", "Creates an anchor without data, and answers its name.")
        .query(&[&[params::SCHEMA_SET, params::ANCHOR]])
        .gives(NAMED)
        .refuses(&[400, 409]);

/// POST `/v1/dataspaces/{dataspace}/anchors`
pub(crate) async fn create_v1(api: Api, request: Request) -> Result<Response, Problem> {
    make(&api, &request).await.map(|name| named(&name))
}

async fn make(api: &Api, request: &Request) -> Result<String, Problem> {
    let given = Given::of(request);
    let (schema_set, name) = (required(&given, &params::SCHEMA_SET)?, required(&given, &params::ANCHOR)?);
    check_name(name)?;
    let dataspace = request.capture(0);
    let created = api.configs(request).await?.create_anchor(dataspace, schema_set, name).await;
    created.map_err(|error| match error {
        Error::AlreadyExists { .. } => Problem::anchor_exists(name, dataspace),
        error => error.into(),
    })?;
    Ok(name.to_owned())
}

/// GET `/dataspaces/{dataspace}/anchors`
pub(crate) const LIST: Operation =
    operation("admin", "getAnchors", "The anchors of a dataspace, all or those of some schema sets.")
        .query(&[&[params::SCHEMA_SETS]])
        .gives(&[(200, done(json_list("AnchorDetails")))])
        .refuses(&[400]);

/// GET `/dataspaces/{dataspace}/anchors`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let schema_sets: Vec<&str> = given
        .all(&params::SCHEMA_SETS)
        .flat_map(|names| names.split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let is_filtered = given.get(&params::SCHEMA_SETS).is_some();
    let dataspace = request.capture(0);
    let configs = api.configs(&request).await?;
    let (mut share, mut after, mut out) = (request.memory.share(), None::<String>, Vec::from(*b"["));
    let mut commas = Commas::default();
    loop {
        let page = configs.anchors(dataspace, None, (after.as_deref(), PAGE_ANCHORS)).await?;
        // Schema sets that are not there have no anchors.
        let wanted = |info: &&AnchorInfo| !is_filtered || schema_sets.contains(&&*info.schema_set);
        for info in page.iter().filter(wanted) {
            commas.next(&mut out);
            serde_json::to_writer(&mut out, &AnchorDetails::of(dataspace, info))
                .expect("texts are always JSON, and a vector takes them");
        }
        share.grow(out.len()).await?;
        match page.into_iter().next_back() {
            Some(last) => after = Some(last.name),
            None => break,
        }
    }
    out.push(b']');
    Ok(json_response(StatusCode::OK, JSON, out))
}

impl<'a> AnchorDetails<'a> {
    fn of(dataspace: &'a str, info: &'a AnchorInfo) -> Self {
        Self { name: &info.name, dataspace_name: dataspace, schema_set_name: &info.schema_set }
    }
}

/// GET `/dataspaces/{dataspace}/anchors/{anchor}`
pub(crate) const GET: Operation = operation("admin", "getAnchor", "One anchor.")
    .gives(&[(200, done(json_of("AnchorDetails")))])
    .refuses(&[400]);

/// GET `/dataspaces/{dataspace}/anchors/{anchor}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let (dataspace, name) = (request.capture(0), request.capture(1));
    ok(&AnchorDetails::of(dataspace, &api.configs(&request).await?.anchor_info(dataspace, name).await?))
}

/// DELETE `/dataspaces/{dataspace}/anchors/{anchor}`
pub(crate) const REMOVE: Operation =
    operation("admin", "deleteAnchor", "Deletes an anchor with its data.").gives(GONE).refuses(&[400]);

/// DELETE `/dataspaces/{dataspace}/anchors/{anchor}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    api.configs(&request).await?.remove_anchor(request.capture(0), request.capture(1)).await?;
    Ok(no_content())
}
