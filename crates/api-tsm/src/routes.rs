//! Handlers, one file per resource: read, call, answer.

pub(crate) mod conditions;
pub(crate) mod attributes;
mod slots;
mod reading;
mod answer;
mod writing;
pub(crate) mod bulk;
pub(crate) mod data;
pub(crate) mod docs;
pub(crate) mod hooks;
pub(crate) mod repositories;
pub(crate) mod series;
pub(crate) mod units;

use std::sync::Arc;

use api_http::{Request, Response, json_response, located};
use http::{Method, StatusCode};
use model_series::{Definition, Repositories, Repository, RepositoryDraft, TenantName};
use serde::Serialize;

use self::conditions::state_condition;
use crate::problem::{JSON, Problem};
use crate::shapes;
use crate::state::Api;

/// The tenant that a request names. Cost without the headers: two header look-ups.
fn tenant(request: &Request) -> Result<TenantName, Problem> {
    Ok(api_http::tenant(request, TenantName::new)?)
}

impl Api {
    /// The repositories of the tenant that the request names.
    async fn repositories(&self, request: &Request) -> Result<Repositories, Problem> {
        Ok(self.shared.repositories.of(&tenant(request)?).await?)
    }

    /// The repository that the address names.
    async fn repository(&self, request: &Request) -> Result<Repository, Problem> {
        Ok(self.repositories(request).await?.get(request.capture(0)).await?)
    }

    /// The same, to change or remove what is defined in it, as far as the request's conditions allow.
    async fn repository_to_change(&self, request: &Request) -> Result<Repository, Problem> {
        let condition = state_condition(request)?;
        Ok(self.repository(request).await?.when(condition))
    }

    /// The same; made if it is not there, unless something in it must be.
    async fn repository_to_fill(&self, request: &Request) -> Result<Repository, Problem> {
        let condition = state_condition(request)?;
        if condition.one_of.is_some() {
            return self.repository_to_change(request).await;
        }
        let now = self.shared.clock.now();
        let draft = RepositoryDraft::named(request.capture(0));
        let repositories = self.shared.repositories.of_or_create(&tenant(request)?, &draft).await?;
        let repository = repositories.get_or_create(&draft.name, now).await?;
        Ok(repository.when(condition))
    }
}

/// The series that a text in an address means: an ID or a name.
async fn find_series(repository: &Repository, text: &str) -> Result<Arc<Definition>, Problem> {
    let found = shapes::find_series(repository, text).await?;
    found.ok_or_else(|| Problem::not_found(format!("series {text} is not known")))
}

/// 200 with a JSON body.
fn ok<T: Serialize>(body: &T) -> Result<Response, Problem> {
    json(StatusCode::OK, body)
}

fn json<T: Serialize>(status: StatusCode, body: &T) -> Result<Response, Problem> {
    let body = serde_json::to_vec(body).map_err(|error| {
        tracing::error!(%error, "an answer cannot be written");
        Problem::internal()
    })?;
    Ok(json_response(status, JSON, body))
}

/// 201 with a JSON body, and where the new thing is: below the path of the request.
fn created<T: Serialize>(request: &Request, name: &str, body: &T) -> Result<Response, Problem> {
    let path = [request.path.trim_end_matches('/'), "/"].concat();
    Ok(located(json(StatusCode::CREATED, body)?, &path, name))
}

/// Refuses bodies of a media type other than JSON. A missing media type, or that of a form, is taken for JSON, but not with
/// POST: a page in a browser may send such a request to another origin without asking it first (CORS).
fn check_json(request: &Request) -> Result<(), Problem> {
    match request.content_type() {
        Some(media) if media.eq_ignore_ascii_case(JSON) => Ok(()),
        None | Some("" | FORM) if request.method != Method::POST => Ok(()),
        media => {
            let media = media.unwrap_or("nothing");
            Err(Problem::unsupported_media_type(format!(
                "the media type of the body must be {JSON}, not {media}"
            )))
        }
    }
}

/// The media type that curl sends by default.
const FORM: &str = "application/x-www-form-urlencoded";
