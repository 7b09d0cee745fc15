//! `/hooks`: receivers that are notified of changes.

use api_http::{Operation, Request, Response, no_content};
use model_series::HookStatus;

use super::conditions::tagged_answer;
use super::{check_json, created, ok};
use crate::operation::{
    DONE, FIND_REFUSALS, NEW_REFUSALS, PUT_REFUSALS, done, json_list, json_of, operation,
};
use crate::problem::Problem;
use crate::shapes::{HookGiven, HookShape, read_json};
use crate::state::Api;

/// GET `/repositories/{repository}/hooks`
pub(crate) const LIST: Operation = operation("hooks", "listHooks", "All hooks and their delivery status.")
    .gives(&[(200, done(json_list("Hook")))])
    .refuses(FIND_REFUSALS);

/// GET `/repositories/{repository}/hooks`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let hooks = api.repository(&request).await?.hooks().await?;
    ok(&hooks.iter().map(|(hook, state)| HookShape::new(hook, state)).collect::<Vec<_>>())
}

/// POST `/repositories/{repository}/hooks`
pub(crate) const CREATE: Operation =
    operation("hooks", "createHook", "Creates a hook, which is notified of changes from now on.")
        .sent(json_of("Hook"))
        .gives(&[(201, done(json_of("Hook")))])
        .refuses(NEW_REFUSALS)
        .making_one();

/// POST `/repositories/{repository}/hooks`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let hook = read_json::<HookGiven>(&request.body)?.hook(None)?;
    let repository = api.repository_to_fill(&request).await?;
    repository.create_hook(&hook).await?;
    created(&request, &hook.name, &HookShape::new(&hook, &HookStatus::default()))
}

/// GET `/repositories/{repository}/hooks/{hook}`
pub(crate) const GET: Operation = operation("hooks", "getHook", "One hook.")
    .gives(&[(200, done(json_of("Hook")))])
    .refuses(FIND_REFUSALS)
    .about_one();

/// GET `/repositories/{repository}/hooks/{hook}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let name = request.capture(1);
    let found = api.repository(&request).await?.hook(name).await?;
    let (hook, status) = found.ok_or_else(|| Problem::not_found(format!("hook {name} is not known")))?;
    let answer = ok(&HookShape::new(&hook, &status))?;
    tagged_answer(&request, hook.fingerprint(), answer)
}

/// PUT `/repositories/{repository}/hooks/{hook}`
pub(crate) const PUT: Operation = operation("hooks", "putHook", "Creates or replaces a hook.")
    .sent(json_of("Hook"))
    .gives(DONE)
    .refuses(PUT_REFUSALS)
    .about_one();

/// PUT `/repositories/{repository}/hooks/{hook}`
pub(crate) async fn put(api: Api, request: Request) -> Result<Response, Problem> {
    check_json(&request)?;
    let hook = read_json::<HookGiven>(&request.body)?.hook(Some(request.capture(1)))?;
    api.repository_to_fill(&request).await?.put_hook(hook).await?;
    Ok(no_content())
}

/// DELETE `/repositories/{repository}/hooks/{hook}`
pub(crate) const REMOVE: Operation =
    operation("hooks", "removeHook", "Deletes a hook.").gives(DONE).refuses(FIND_REFUSALS).about_one();

/// DELETE `/repositories/{repository}/hooks/{hook}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    api.repository_to_change(&request).await?.remove_hook(request.capture(1)).await?;
    Ok(no_content())
}
