//! `/auth/projects`: graphs with a group of administrators and one of operators.

use access::{Error, Project};
use api_http::{Given, Operation, Request, Response, no_content};

use super::{LIMIT, created, id, limit, list_answer, members, needed, of_id};
use crate::operation::{DONE, done, json_of, operation};
use crate::params;
use crate::problem::Problem;
use crate::routes::ok;
use crate::state::Api;
use crate::wire::users as wire;

/// The graph that the target of a project names: that which holds users in the original.
const SYSTEM_GRAPH: &str = model_graph::DEFAULT_GRAPH;

/// GET `/auth/projects`
pub(crate) const LIST: Operation = operation("auth", "listProjects", "Projects by name.")
    .query(&[LIMIT])
    .gives(&[(200, done(json_of("Projects")))])
    .refuses(&[400]);

/// GET `/auth/projects`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let projects = api.users(&request).await?.list_projects(limit(&request)?).await?;
    list_answer("projects", &projects, wire::project)
}

/// POST `/auth/projects`
pub(crate) const CREATE: Operation =
    operation("auth", "createProject", "Makes a project, with its groups, their target and accesses.")
        .sent(json_of("Project"))
        .gives(&[(201, done(json_of("Project")))])
        .refuses(&[400, 415]);

/// POST `/auth/projects`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let Sent { name, graphs, description } = sent(&request)?;
    let name = needed("project", "name", name)?;
    if !graphs.is_empty() {
        return Err(Problem::illegal_argument(format!(
            "The graphs '{graphs:?}' of project can't be added when creating the project '{name}'"
        )));
    }
    let space = api.space(&request).await?;
    let users = api.users_to_change(&request).await?;
    created(&wire::project(&users.create_project((&space, SYSTEM_GRAPH), name, description).await?))
}

/// What is sent of a project.
struct Sent {
    name: Option<String>,
    graphs: Vec<String>,
    description: Option<String>,
}

fn sent(request: &Request) -> Result<Sent, Problem> {
    let mut given = members("project", request)?;
    for answered in ["project_admin_group", "project_op_group", "project_target"] {
        given.value(answered);
    }
    let sent = Sent {
        name: given.text("project_name")?,
        graphs: given.texts("project_graphs")?.unwrap_or_else(Vec::new),
        description: given.text("project_description")?,
    };
    given.end()?;
    Ok(sent)
}

/// GET `/auth/projects/{id}`
pub(crate) const GET: Operation =
    operation("auth", "getProject", "One project.").gives(&[(200, done(json_of("Project")))]).refuses(&[400]);

/// GET `/auth/projects/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let project = api.users(&request).await?.get_project(id(&request)).await;
    ok(&wire::project(&project.map_err(of_id("project", &request))?))
}

/// PUT `/auth/projects/{id}`
pub(crate) const UPDATE: Operation =
    operation("auth", "updateProject", "Adds graphs to a project, removes some, or describes it.")
        .query(&[&[params::PROJECT_ACTION]])
        .sent(json_of("Project"))
        .gives(&[(200, done(json_of("Project")))])
        .refuses(&[400, 415]);

/// PUT `/auth/projects/{id}`
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let sent = sent(&request)?;
    if sent.graphs.is_empty() && sent.description.is_none() {
        return Err(Problem::illegal_argument(
            "Must specify 'graphs' or 'description' field that need to be updated",
        ));
    }
    let given = Given::of(&request);
    let action = given.get(&params::PROJECT_ACTION).unwrap_or("");
    if !matches!(action, "" | "add_graph" | "remove_graph") {
        return Err(Problem::illegal_argument(format!(
            "The action parameter can only be either add_graph or remove_graph or '', but got '{action}'"
        )));
    }
    let users = api.users_to_change(&request).await?;
    let project = users.update_project(id(&request), |project| change(project, &sent, action)).await;
    ok(&wire::project(&project.map_err(of_id("project", &request))?))
}

fn change(project: &mut Project, sent: &Sent, action: &str) -> Result<(), Error> {
    let refuse = |message: String| Err(Error::Invalid(message));
    let Sent { name, graphs, description } = sent;
    if name.as_ref().is_some_and(|name| *name != project.name) {
        return refuse("The name of project can't be updated".to_owned());
    }
    let doing = match action {
        "add_graph" => "adding",
        "remove_graph" => "removing",
        _ if !graphs.is_empty() => return refuse("The graphs of project can't be updated".to_owned()),
        _ => {
            project.description.clone_from(description);
            return Ok(());
        }
    };
    if graphs.is_empty() {
        return refuse(format!("The graphs of project can't be empty when {doing} graphs"));
    }
    if description.as_ref().is_some_and(|description| !description.is_empty()) {
        return refuse(format!("The description of project can't be updated when {doing} graphs"));
    }
    if action == "remove_graph" {
        graphs.iter().for_each(|graph| _ = project.graphs.remove(graph));
        return Ok(());
    }
    if graphs.iter().all(|graph| project.graphs.contains(graph)) {
        return refuse(format!(
            "There are graphs '{graphs:?}' of project '{}' that have been added in the graph collection",
            access::Record::id(project)
        ));
    }
    project.graphs.extend(graphs.iter().cloned());
    Ok(())
}

/// DELETE `/auth/projects/{id}`
pub(crate) const REMOVE: Operation =
    operation("auth", "removeProject", "Removes a project without graphs.").gives(DONE).refuses(&[400, 403]);

/// DELETE `/auth/projects/{id}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let users = api.users_to_change(&request).await?;
    users.delete_project(id(&request)).await.map_err(of_id("project", &request))?;
    Ok(no_content())
}
