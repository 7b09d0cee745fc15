//! `/variables`: values that a graph keeps under names.

use api_http::{Operation, Request, Response, json_response, no_content};
use http::StatusCode;
use lang_json::{ObjectWriter, Reader};

use super::{check_json, text};
use crate::operation::{DONE, done, json_of, operation};
use crate::problem::{JSON, Problem};
use crate::state::Api;

/// GET `/variables`
pub(crate) const LIST: Operation = operation("variables", "listVariables", "All variables.")
    .gives(&[(200, done(json_of("Variables")))])
    .refuses(&[404]);

/// GET `/variables`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let all = api.graph(&request).await?.variables().list().await?;
    Ok(answer(all.iter().map(|(name, json)| (&**name, &**json))))
}

/// GET `/variables/{key}`
pub(crate) const GET: Operation = operation("variables", "getVariable", "One variable.")
    .gives(&[(200, done(json_of("Variables")))])
    .refuses(&[404]);

/// GET `/variables/{key}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let name = request.capture(2);
    let found = api.graph(&request).await?.variables().get(name).await?;
    let json = found.ok_or_else(|| Problem::not_found(format!("Variable '{name}' does not exist")))?;
    Ok(answer(std::iter::once((name, &*json))))
}

/// PUT `/variables/{key}`
pub(crate) const PUT: Operation = operation("variables", "putVariable", "Sets a variable.")
    .sent(json_of("Variable"))
    .gives(&[(200, done(json_of("Variables")))])
    .refuses(&[400, 404]);

/// PUT `/variables/{key}`
pub(crate) async fn put(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let mut data = String::new();
    let mut reader = Reader::new(text(&request)?, api.shared.limits.depth_max);
    reader.begin_object()?;
    while let Some(name) = reader.next_key()? {
        match &*name {
            "data" => {
                data.clear();
                reader.canonical(&mut data)?;
            }
            other => return Err(Problem::bad_body(format!("Unrecognized field \"{other}\" of a variable"))),
        }
    }
    reader.end()?;
    if matches!(&*data, "" | "null") {
        return Err(Problem::illegal_argument("The variable value can't be empty"));
    }
    let name = request.capture(2);
    api.graph_to_fill(&request).await?.variables().put(name, &data).await?;
    Ok(answer(std::iter::once((name, &*data))))
}

/// DELETE `/variables/{key}`
pub(crate) const REMOVE: Operation =
    operation("variables", "removeVariable", "Removes a variable.").gives(DONE).refuses(&[404]);

/// DELETE `/variables/{key}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    api.graph(&request).await?.variables().delete(request.capture(2)).await?;
    Ok(no_content())
}

fn answer<'a>(variables: impl Iterator<Item = (&'a str, &'a str)>) -> Response {
    let mut out = String::new();
    let mut object = ObjectWriter::begin(&mut out);
    for (name, json) in variables {
        object.raw(name, json);
    }
    object.end();
    json_response(StatusCode::OK, JSON, out)
}
