//! `/auth`: users, groups, targets, and what ties them; projects and managers; tokens. They belong to the tenant: the graph space of the
//! path matters to targets and managers, the graph of an older path to nothing.

mod accesses;
mod belongs;
mod groups;
mod login;
mod managers;
mod projects;
mod targets;
mod users;

use access::{Managed, Record};
use api_http::{Given, Parameter, Request, Response};
use http::{Method, StatusCode};
use serde_json::{Map, Value};

use super::{check_json, json, ok, tenant};
use crate::params;
use crate::problem::Problem;
use crate::state::Api;
use crate::table::{Table, of_users};
use crate::wire::users::Members;

/// The routes.
pub(crate) fn routes(table: &mut Table<'_>) {
    let (all, one) = (of_users!("/auth/users"), of_users!("/auth/users/{id}"));
    table.of_users(Method::GET, all, &users::LIST, users::list);
    table.of_users(Method::POST, all, &users::CREATE, users::create);
    table.of_users(Method::GET, one, &users::GET, users::get);
    table.of_users(Method::PUT, one, &users::UPDATE, users::update);
    table.of_users(Method::DELETE, one, &users::REMOVE, users::remove);
    table.of_users(Method::GET, of_users!("/auth/users/{id}/role"), &users::ROLE, users::role);
    let (all, one) = (of_users!("/auth/groups"), of_users!("/auth/groups/{id}"));
    table.of_users(Method::GET, all, &groups::LIST, groups::list);
    table.of_users(Method::POST, all, &groups::CREATE, groups::create);
    table.of_users(Method::GET, one, &groups::GET, groups::get);
    table.of_users(Method::PUT, one, &groups::UPDATE, groups::update);
    table.of_users(Method::DELETE, one, &groups::REMOVE, groups::remove);
    let (all, one) = (of_users!("/auth/targets"), of_users!("/auth/targets/{id}"));
    table.of_users(Method::GET, all, &targets::LIST, targets::list);
    table.of_users(Method::POST, all, &targets::CREATE, targets::create);
    table.of_users(Method::GET, one, &targets::GET, targets::get);
    table.of_users(Method::PUT, one, &targets::UPDATE, targets::update);
    table.of_users(Method::DELETE, one, &targets::REMOVE, targets::remove);
    let (all, one) = (of_users!("/auth/belongs"), of_users!("/auth/belongs/{id}"));
    table.of_users(Method::GET, all, &belongs::LIST, belongs::list);
    table.of_users(Method::POST, all, &belongs::CREATE, belongs::create);
    table.of_users(Method::GET, one, &belongs::GET, belongs::get);
    table.of_users(Method::PUT, one, &belongs::UPDATE, belongs::update);
    table.of_users(Method::DELETE, one, &belongs::REMOVE, belongs::remove);
    let (all, one) = (of_users!("/auth/accesses"), of_users!("/auth/accesses/{id}"));
    table.of_users(Method::GET, all, &accesses::LIST, accesses::list);
    table.of_users(Method::POST, all, &accesses::CREATE, accesses::create);
    table.of_users(Method::GET, one, &accesses::GET, accesses::get);
    table.of_users(Method::PUT, one, &accesses::UPDATE, accesses::update);
    table.of_users(Method::DELETE, one, &accesses::REMOVE, accesses::remove);
    more_routes(table);
}

fn more_routes(table: &mut Table<'_>) {
    let (all, one) = (of_users!("/auth/projects"), of_users!("/auth/projects/{id}"));
    table.of_users(Method::GET, all, &projects::LIST, projects::list);
    table.of_users(Method::POST, all, &projects::CREATE, projects::create);
    table.of_users(Method::GET, one, &projects::GET, projects::get);
    table.of_users(Method::PUT, one, &projects::UPDATE, projects::update);
    table.of_users(Method::DELETE, one, &projects::REMOVE, projects::remove);
    let all = of_users!("/auth/managers");
    table.of_users(Method::GET, all, &managers::LIST, managers::list);
    table.of_users(Method::POST, all, &managers::CREATE, managers::create);
    table.of_users(Method::DELETE, all, &managers::REMOVE, managers::remove);
    table.of_users(Method::GET, of_users!("/auth/managers/check"), &managers::CHECK, managers::check);
    table.of_users(Method::GET, of_users!("/auth/managers/role"), &managers::ROLES, managers::roles);
    table.of_users(Method::POST, of_users!("/auth/login"), &login::LOG_IN, login::log_in);
    table.of_users(Method::DELETE, of_users!("/auth/logout"), &login::LOG_OUT, login::log_out);
    table.of_users(Method::GET, of_users!("/auth/verify"), &login::VERIFY, login::verify);
}

/// What lists of users and the rest take.
const LIMIT: &[Parameter] = &[params::LIMIT];

impl Api {
    /// The users of the tenant, for whoever asks.
    async fn users(&self, request: &Request) -> Result<Managed, Problem> {
        Ok(self.shared.users.of(&tenant(request)?, self.caller(request)).await?)
    }

    /// The same to change them: the tenant is made if it is not there.
    async fn users_to_change(&self, request: &Request) -> Result<Managed, Problem> {
        Ok(self.shared.users.of_or_create(&tenant(request)?, self.caller(request)).await?)
    }

    /// The graph space of the path, which must be there.
    async fn space(&self, request: &Request) -> Result<String, Problem> {
        let name = request.capture(0);
        let spaces = match self.graphs(request).await {
            Ok(graphs) => graphs.spaces().await?,
            // A tenant that is not there has the one that is always there.
            Err(problem) if problem.status == StatusCode::NOT_FOUND => Vec::new(),
            Err(problem) => return Err(problem),
        };
        if name == model_graph::DEFAULT_SPACE || spaces.iter().any(|space| *space.name == *name) {
            return Ok(name.to_owned());
        }
        Err(Problem::illegal_argument("The graph space is not exist"))
    }
}

/// The id in the path: the last capture.
fn id(request: &Request) -> &str {
    request.captures.last().map_or("", String::as_str)
}

/// The members of the body.
fn members(kind: &'static str, request: &Request) -> Result<Members, Problem> {
    check_json(request)?;
    Members::of(kind, &request.body)
}

/// How many are wanted at most.
fn limit(request: &Request) -> Result<Option<usize>, Problem> {
    let limit = params::limit(&Given::of(request), &params::LIMIT, 100)?;
    Ok(usize::try_from(limit).ok().filter(|limit| *limit != usize::MAX))
}

/// 200 with `{"users":[…]}`.
fn list_answer<R: Record>(name: &str, all: &[R], show: fn(&R) -> Value) -> Result<Response, Problem> {
    let all: Vec<Value> = all.iter().map(show).collect();
    ok(&Map::from_iter([(name.to_owned(), all.into())]))
}

/// What changes or removes something that is not there is refused as a whole.
fn of_id(kind: &'static str, request: &Request) -> impl Fn(access::Error) -> Problem {
    let id = id(request).to_owned();
    move |error| match error {
        access::Error::NotFound { kind: of, .. } if of == kind => {
            Problem::illegal_argument(format!("Invalid {kind} id: {id}"))
        }
        other => other.into(),
    }
}

/// A member that must be given.
fn needed(kind: &str, what: &str, value: Option<String>) -> Result<String, Problem> {
    value.ok_or_else(|| Problem::illegal_argument(format!("The {what} of {kind} can't be null")))
}

/// 201.
fn created(shown: &Value) -> Result<Response, Problem> {
    json(StatusCode::CREATED, shown)
}
