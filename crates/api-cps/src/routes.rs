//! Handlers, one file per resource: read, call, answer.

pub(crate) mod dataspaces;
pub(crate) mod schema_sets;
pub(crate) mod anchors;
pub(crate) mod subscriptions;
mod writing;
pub(crate) mod data;
pub(crate) mod lists;
mod answer;
pub(crate) mod node;
pub(crate) mod query;
pub(crate) mod across;
pub(crate) mod delta;
pub(crate) mod docs;

use api_http::{Request, Response, empty_response, json_response};
use http::StatusCode;
use model_config::{Anchor, Configs, TenantName};
use serde::Serialize;

use crate::media::JSON;
use crate::problem::Problem;
use crate::state::Api;

impl Api {
    /// The configuration of the tenant that the request names. Cost without the headers: two header look-ups.
    async fn configs(&self, request: &Request) -> Result<Configs, Problem> {
        let tenant = api_http::tenant(request, TenantName::new)?;
        Ok(self.shared.configs.of(&tenant).await?)
    }

    /// The same, of a tenant that is made if it is new.
    async fn configs_or_create(&self, request: &Request) -> Result<Configs, Problem> {
        let tenant = api_http::tenant(request, TenantName::new)?;
        Ok(self.shared.configs.of_or_create(&tenant).await?)
    }

    /// The anchor that the address names.
    async fn anchor(&self, request: &Request) -> Result<Anchor, Problem> {
        Ok(self.configs(request).await?.anchor(request.capture(0), request.capture(1)).await?)
    }
}

/// 200 with a JSON body.
fn ok<T: Serialize>(body: &T) -> Result<Response, Problem> {
    let body = serde_json::to_vec(body).map_err(|error| {
        tracing::error!(%error, "an answer cannot be written");
        Problem::internal()
    })?;
    Ok(json_response(StatusCode::OK, JSON, body))
}

/// 201 without a body.
fn created() -> Response {
    empty_response(StatusCode::CREATED)
}

/// 201 with the name of what was created.
fn named(name: &str) -> Response {
    json_response(StatusCode::CREATED, "text/plain;charset=UTF-8", name.to_owned())
}
