//! `/versions`, `/apis`: what this server says that it is.

use std::collections::BTreeMap;

use api_http::{Line, Operation, Request, Response};
use serde::Serialize;
use serde_json::json;

use super::ok;
use crate::operation::{done, json_of};
use crate::problem::Problem;
use crate::state::Api;

/// The version of HugeGraph whose API this is. Clients read from it which paths there are.
pub(crate) const CORE: &str = "1.7.0";
/// The version of its REST API. Clients refuse servers beyond those that they know.
const API: &str = "0.71.0.0";
/// The version of the Gremlin that belongs to it.
const GREMLIN: &str = "3.5.1";

/// GET `/versions`
pub(crate) const VERSIONS: Operation =
    Operation::new("server", "versions", "The version of HugeGraph whose API this is.")
        .gives(&[(200, done(json_of("Versions")))]);

/// GET `/versions`
pub(crate) async fn versions(_: Api, _: Request) -> Result<Response, Problem> {
    ok(&json!({ "versions": { "version": "v1", "core": CORE, "gremlin": GREMLIN, "api": API } }))
}

/// GET `/apis`
pub(crate) const APIS: Operation =
    Operation::new("server", "apis", "All operations, by resource.").gives(&[(200, done(json_of("Apis")))]);

/// An operation as it is listed.
#[derive(Serialize)]
struct Profile {
    url: &'static str,
    method: String,
    parameters: Vec<ProfileParameter>,
}

/// One of its parameters.
#[derive(Serialize)]
struct ProfileParameter {
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    default_value: Option<&'static str>,
}

/// GET `/apis`
pub(crate) async fn apis(lines: Vec<Line>) -> Result<Response, Problem> {
    let mut apis: BTreeMap<&str, BTreeMap<&str, Vec<Profile>>> = BTreeMap::new();
    for (method, path, operation) in lines {
        let parameters = operation.query.iter().flat_map(|group| group.iter());
        let parameters = parameters.map(|parameter| ProfileParameter {
            name: parameter.name,
            kind: "String",
            default_value: None,
        });
        let profile = Profile { url: path, method: method.to_string(), parameters: parameters.collect() };
        apis.entry(operation.tag).or_default().entry(operation.id).or_default().push(profile);
    }
    ok(&json!({ "apis": apis }))
}
