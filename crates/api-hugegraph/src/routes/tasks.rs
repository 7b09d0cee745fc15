//! `/tasks`: work that outlasts a request.

use api_http::{Given, Operation, Request, Response, Share, json_response, no_content};
use http::StatusCode;
use lang_json::{ObjectWriter, write_string};
use model_graph::{Error, Task, TaskId, TaskIds, TaskStatus, Tasks};

use crate::operation::{DONE, done, json_of, operation};
use crate::params;
use crate::problem::{JSON, Problem};
use crate::state::Api;
use crate::wire::{Page, put_time};

/// Tasks of an answer where the client does not say.
const LIMIT_DEFAULT: u64 = 100;

/// GET `/tasks`
pub(crate) const LIST: Operation = operation("tasks", "listTasks", "Tasks, by number.")
    .query(&[&[params::STATUS, params::TASK_IDS, params::LIMIT, params::PAGE]])
    .gives(&[(200, done(json_of("Tasks")))])
    .refuses(&[400, 404]);

/// GET `/tasks`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let status = given.get(&params::STATUS).map(status_named).transpose()?;
    let page = given.get(&params::PAGE);
    let limit = params::limit(&given, &params::LIMIT, LIMIT_DEFAULT)?;
    let ids = given.all(&params::TASK_IDS).map(task_id).collect::<Result<Vec<_>, _>>()?;
    if !ids.is_empty() && (status.is_some() || page.is_some()) {
        let message = "Not support status or page when query task by ids";
        return Err(Problem::illegal_argument(message));
    }
    let tasks = api.graph(&request).await?.tasks();
    let mut found = Page::begin("tasks");
    if !ids.is_empty() {
        for id in ids {
            put_task(found.item(), &tasks.get(id).await?, Detail::Short);
        }
        return Ok(json_response(StatusCode::OK, JSON, found.end()));
    }
    let after = page.filter(|page| !page.is_empty()).map(task_id).transpose()?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let next = put_tasks(&mut found, &tasks, (status, after, limit), &mut request.memory.share()).await?;
    let out = match page {
        None => found.end(),
        Some(_) => found.end_with(next.map(|next| next.to_string()).as_deref()),
    };
    Ok(json_response(StatusCode::OK, JSON, out))
}

/// Writes up to `limit` tasks of a status from behind one on, each as it is read: with what came of it a task may be of megabytes. The last
/// of them, if there are more behind it.
async fn put_tasks(
    out: &mut Page,
    tasks: &Tasks,
    (status, mut after, limit): (Option<TaskStatus>, Option<TaskId>, usize),
    share: &mut Share,
) -> Result<Option<TaskId>, Problem> {
    let mut left = limit;
    while left > 0 {
        let TaskIds { ids, next } = tasks.ids(status, after, left).await?;
        for id in ids {
            match tasks.get(id).await {
                // Another has changed or removed it meanwhile.
                Ok(task) if status.is_some_and(|status| task.status != status) => {}
                Err(Error::NotFound(_)) => {}
                task => {
                    put_task(out.item(), &task?, Detail::Short);
                    left -= 1;
                }
            }
        }
        share.grow(out.out.len()).await?;
        after = next;
        if after.is_none() {
            break;
        }
    }
    Ok(after)
}

/// GET `/tasks/{id}`
pub(crate) const GET: Operation = operation("tasks", "getTask", "One task, with what came of it.")
    .gives(&[(200, done(json_of("Task")))])
    .refuses(&[400, 404]);

/// GET `/tasks/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let id = task_id(request.capture(2))?;
    let task = api.graph(&request).await?.tasks().get(id).await?;
    let mut out = String::with_capacity(512);
    put_task(&mut out, &task, Detail::Full);
    Ok(json_response(StatusCode::OK, JSON, out))
}

/// PUT `/tasks/{id}`
pub(crate) const CANCEL: Operation = operation("tasks", "cancelTask", "Has a task end.")
    .query(&[&[params::TASK_ACTION]])
    .gives(&[(202, done(json_of("Task")))])
    .refuses(&[400, 404, 415]);

/// PUT `/tasks/{id}`
pub(crate) async fn cancel(api: Api, request: Request) -> Result<Response, Problem> {
    let id = task_id(request.capture(2))?;
    match Given::of(&request).get(&params::TASK_ACTION) {
        Some("cancel") => {}
        other => {
            let other = other.unwrap_or("null");
            return Err(Problem::not_supported(format!("Not support action '{other}'")));
        }
    }
    let tasks = api.graph(&request).await?.tasks();
    if !tasks.cancel(id, api.shared.clock.now()).await? {
        return Err(Problem::bad_body(format!("Can't cancel task '{id}' which is completed or cancelling")));
    }
    let task = tasks.get(id).await?;
    let mut out = String::with_capacity(512);
    put_task(&mut out, &task, Detail::Cancelled);
    Ok(json_response(StatusCode::ACCEPTED, JSON, out))
}

/// DELETE `/tasks/{id}`
pub(crate) const REMOVE: Operation = operation("tasks", "removeTask", "Removes a task that is finished.")
    .query(&[&[params::FORCE]])
    .gives(DONE)
    .refuses(&[400, 404]);

/// DELETE `/tasks/{id}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let id = task_id(request.capture(2))?;
    let force = params::flag(&Given::of(&request), &params::FORCE, false)?;
    api.graph(&request).await?.tasks().delete(id, force).await?;
    Ok(no_content())
}

fn task_id(text: &str) -> Result<TaskId, Problem> {
    let id = text.parse().map(TaskId);
    id.map_err(|_| Problem::illegal_argument(format!("The id of a task must be a number, but got '{text}'")))
}

fn status_named(name: &str) -> Result<TaskStatus, Problem> {
    TaskStatus::from_name(&name.to_ascii_lowercase()).ok_or_else(|| {
        let known: Vec<_> = TaskStatus::ALL.iter().map(|status| status.name()).collect();
        Problem::illegal_argument(format!("Status value must be in [{}], but got '{name}'", known.join(", ")))
    })
}

/// How much an answer says of a task.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Detail {
    /// In a list.
    Short,
    /// Alone: also what it was given, and what came of it.
    Full,
    /// The same, and that it will end.
    Cancelled,
}

fn put_task(out: &mut String, task: &Task, detail: Detail) {
    let mut object = ObjectWriter::begin(out);
    object.raw("id", &task.id.to_string());
    object.string("task_name", &task.name);
    object.string("task_type", &task.kind);
    object.string("task_status", task.status.name());
    object.raw("task_progress", &task.progress.to_string());
    put_time(object.member("task_create"), task.created);
    put_time(object.member("task_update"), task.updated);
    object.raw("task_retries", &task.retries.to_string());
    if detail != Detail::Short {
        for (name, text) in [("task_input", &task.input), ("task_result", &task.result)] {
            if !text.is_empty() {
                write_string(object.member(name), text);
            }
        }
    }
    if detail == Detail::Cancelled {
        object.raw("cancelled", "true");
    }
    object.end();
}
