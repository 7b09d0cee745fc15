//! Users and what ties them, as JSON: `{"user_name":"boss","user_password":"******",…}`. Passwords are never shown.

use access::{Access, Belong, Group, Origin, Project, Record, Resource, ResourceType, Role, Target, User};
use serde_json::{Map, Value, json};

use super::dates::put_time;
use crate::problem::Problem;

/// What is shown of any password.
pub const PASSWORD: &str = "******";

/// A time as it is shown.
fn time(at: model_graph::Timestamp) -> String {
    let mut out = String::new();
    put_time(&mut out, at);
    out.trim_matches('"').to_owned()
}

/// An object with its id, members that are there, and who made it when.
fn shown(kind: &str, id: String, members: Vec<(&str, Option<Value>)>, origin: &Origin) -> Value {
    let mut all = Map::new();
    all.insert("id".to_owned(), id.into());
    all.extend(members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    all.insert(format!("{kind}_creator"), origin.creator.as_str().into());
    all.insert(format!("{kind}_create"), time(origin.created()).into());
    all.insert(format!("{kind}_update"), time(origin.updated()).into());
    Value::Object(all)
}

fn text(text: &str) -> Option<Value> {
    Some(text.into())
}

fn maybe(text: &Option<String>) -> Option<Value> {
    text.as_deref().map(Value::from)
}

/// A user.
pub fn user(user: &User) -> Value {
    let members = vec![
        ("user_name", text(&user.name)),
        ("user_password", text(PASSWORD)),
        ("user_phone", maybe(&user.phone)),
        ("user_email", maybe(&user.email)),
        ("user_avatar", maybe(&user.avatar)),
        ("user_description", maybe(&user.description)),
    ];
    shown("user", user.id(), members, &user.origin)
}

/// A group.
pub fn group(group: &Group) -> Value {
    let members = vec![("group_name", text(&group.name)), ("group_description", maybe(&group.description))];
    shown("group", group.id(), members, &group.origin)
}

/// A target.
pub fn target(target: &Target) -> Value {
    let resources = target.resources.as_ref().map(|all| all.iter().map(resource).collect());
    let members = vec![
        ("target_name", text(&target.name)),
        ("target_graph", text(&target.graph)),
        ("target_url", text(&target.url)),
        ("target_resources", resources),
    ];
    shown("target", target.id(), members, &target.origin)
}

fn resource(resource: &Resource) -> Value {
    json!({ "type": resource.kind.name(), "label": resource.label, "properties": resource.properties })
}

/// Who is in a group.
pub fn belong(belong: &Belong) -> Value {
    let members = vec![
        ("user", text(&belong.user)),
        ("group", text(&belong.group)),
        ("belong_description", maybe(&belong.description)),
    ];
    shown("belong", belong.shown_id(), members, &belong.origin)
}

/// What a group may do.
pub fn access(access: &Access) -> Value {
    let members = vec![
        ("group", text(&access.group)),
        ("target", text(&access.target)),
        ("access_permission", text(access.action.name())),
        ("access_description", maybe(&access.description)),
    ];
    shown("access", access.shown_id(), members, &access.origin)
}

/// A project.
pub fn project(project: &Project) -> Value {
    let graphs = (!project.graphs.is_empty()).then(|| json!(project.graphs));
    let members = vec![
        ("project_name", text(&project.name)),
        ("project_admin_group", Some(access::group_id(&project.admin_group()).into())),
        ("project_op_group", Some(access::group_id(&project.op_group()).into())),
        ("project_target", Some(access::target_id(&project.target()).into())),
        ("project_graphs", graphs),
        ("project_description", maybe(&project.description)),
    ];
    shown("project", project.id(), members, &project.origin)
}

/// What somebody may do: `{"roles":{"hugegraph":{"READ":[…]}}}`.
pub fn role(role: &Role) -> Value {
    let mut roles = Map::new();
    for (graph, action, resources) in role.grants() {
        let of_graph = roles.entry(graph).or_insert_with(|| Value::Object(Map::new()));
        let resources: Vec<Value> = resources.into_iter().map(resource).collect();
        if let Value::Object(of_graph) = of_graph {
            of_graph.insert(action.name().to_owned(), resources.into());
        }
    }
    json!({ "roles": roles })
}

/// The largest body that says anything of users.
const BODY_BYTES_MAX: usize = 256 * 1024;

/// The members of a body, taken one by one.
pub struct Members {
    kind: &'static str,
    all: Map<String, Value>,
}

impl Members {
    /// Those of a body. What only answers say is passed over: clients send back what they have read.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn of(kind: &'static str, body: &[u8]) -> Result<Self, Problem> {
        if body.len() > BODY_BYTES_MAX {
            let message =
                format!("the body has {} bytes, at most {BODY_BYTES_MAX} are taken here", body.len());
            return Err(Problem::limit(message));
        }
        let mut all: Map<String, Value> = super::read_json(body)?;
        all.shift_remove("id");
        for answered in ["creator", "create", "update"] {
            all.shift_remove(&format!("{kind}_{answered}"));
        }
        all.retain(|_, value| !value.is_null());
        Ok(Self { kind, all })
    }

    /// A text, if it is given.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        match self.all.shift_remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(name, "a text")),
        }
    }

    /// Any value, if it is given.
    pub fn value(&mut self, name: &str) -> Option<Value> {
        self.all.shift_remove(name)
    }

    /// A whole number, if it is given.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn number(&mut self, name: &str) -> Result<Option<i64>, Problem> {
        match self.all.shift_remove(name) {
            None => Ok(None),
            Some(value) => value.as_i64().map(Some).ok_or_else(|| self.wrong(name, "a whole number")),
        }
    }

    /// Texts, if they are given.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, Problem> {
        let Some(value) = self.all.shift_remove(name) else { return Ok(None) };
        let texts =
            value.as_array().map(|all| all.iter().map(|one| one.as_str().map(str::to_owned)).collect());
        texts.flatten().map(Some).ok_or_else(|| self.wrong(name, "a list of texts"))
    }

    /// Resources, if they are given.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn resources(&mut self, name: &str) -> Result<Option<Vec<Resource>>, Problem> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let wrong = || Problem::illegal_argument(format!("Invalid format of resources: {value}"));
        let all = value.as_array().ok_or_else(wrong)?;
        all.iter().map(|one| read_resource(one).ok_or_else(wrong)).collect::<Result<_, _>>().map(Some)
    }

    /// Nothing else may be there.
    ///
    /// # Errors
    ///
    /// 400.
    pub fn end(self) -> Result<(), Problem> {
        match self.all.keys().next() {
            None => Ok(()),
            Some(name) => Err(Problem::bad_body(format!("Unrecognized field \"{name}\" of {}", self.kind))),
        }
    }

    fn wrong(&self, name: &str, expected: &str) -> Problem {
        Problem::bad_body(format!("The member \"{name}\" of {} must be {expected}", self.kind))
    }
}

/// `{"type":"VERTEX","label":"person","properties":{"city":"Beijing"}}`; of label and properties none means any.
fn read_resource(value: &Value) -> Option<Resource> {
    let members = value.as_object()?;
    let kind = match members.get("type") {
        None | Some(Value::Null) => ResourceType::None,
        Some(name) => ResourceType::from_name(name.as_str()?)?,
    };
    let mut resource = Resource::any(kind);
    match members.get("label") {
        None | Some(Value::Null) => {}
        Some(label) => label.as_str()?.clone_into(&mut resource.label),
    }
    match members.get("properties") {
        None | Some(Value::Null) => {}
        Some(properties) => resource.properties = Some(properties.as_object()?.clone()),
    }
    Some(resource)
}
