//! Query parameters, each declared once; and the values of those that several operations have.

pub(crate) mod walks;

use api_http::{Given, Parameter, ParameterValue};

use crate::problem::Problem;

/// `cypher`
pub(crate) const CYPHER: Parameter = Parameter::new("cypher", ParameterValue::Text, "A query in Cypher.");

/// `names`
pub(crate) const NAMES: Parameter =
    Parameter::new("names", ParameterValue::Text, "Only the parts of these names.").repeatable();

/// `format` of a schema
pub(crate) const FORMAT: Parameter = Parameter::new(
    "format",
    ParameterValue::Word(&["json", "groovy"]),
    "As JSON, or as a script that makes it.",
);

/// `action` of an update
pub(crate) const ACTION: Parameter = Parameter::new(
    "action",
    ParameterValue::Word(&["append", "eliminate"]),
    "Whether what is given is added, or removed.",
);

/// `action` of an update of a property key
pub(crate) const KEY_ACTION: Parameter = Parameter::new(
    "action",
    ParameterValue::Word(&["append", "eliminate", "clear"]),
    "Whether what is given is added or removed, or all values of a computed property are.",
)
.keyed("action.propertykey");

/// `action` of a task
pub(crate) const TASK_ACTION: Parameter =
    Parameter::new("action", ParameterValue::Word(&["cancel"]), "What becomes of the task.")
        .keyed("action.task");

/// `label`
pub(crate) const LABEL: Parameter =
    Parameter::new("label", ParameterValue::Text, "Only elements of this label.");

/// `limit`
pub(crate) const LIMIT: Parameter =
    Parameter::new("limit", ParameterValue::Like(&["100"]), "The most elements; -1: all. Default: 100.");

/// `page`
pub(crate) const PAGE: Parameter = Parameter::new(
    "page",
    ParameterValue::Text,
    "Where to go on, as the answer before says; empty at first. Then the answer says where to go on.",
);

/// `properties`
pub(crate) const PROPERTIES: Parameter = Parameter::new(
    "properties",
    ParameterValue::Like(&["{\"age\":29}", "{\"age\":\"P.gt(18)\"}"]),
    "Values that properties have, as a JSON object; a text that begins with P. is a predicate.",
);

/// `keep_start_p`
pub(crate) const KEEP_START_P: Parameter =
    Parameter::new("keep_start_p", ParameterValue::Flag, "Texts that begin with P. are no predicates.");

/// `offset`
pub(crate) const OFFSET: Parameter =
    Parameter::new("offset", ParameterValue::Number(0), "So many elements are passed over. Default: 0.");

/// `vertex_id`
pub(crate) const VERTEX_ID: Parameter =
    Parameter::new("vertex_id", ParameterValue::Like(&["\"1:marko\""]), "Only edges of this vertex.");

/// `direction` of a list
pub(crate) const DIRECTION: Parameter = Parameter::new(
    "direction",
    ParameterValue::Word(&["IN", "OUT", "BOTH"]),
    "Which edges of the vertex. Default: BOTH.",
)
.keyed("direction.edges");

/// `ids` of elements
pub(crate) const IDS: Parameter =
    Parameter::new("ids", ParameterValue::Text, "Ids, as addresses have them.").repeatable();

/// `split_size`
pub(crate) const SPLIT_SIZE: Parameter = Parameter::new(
    "split_size",
    ParameterValue::Number(0),
    "How many bytes a shard may be of, about; at least 1048576.",
);

/// `start`
pub(crate) const START: Parameter = Parameter::new("start", ParameterValue::Text, "Where the shard begins.");

/// `end`
pub(crate) const END: Parameter = Parameter::new("end", ParameterValue::Text, "Where the shard ends.");

/// `page_limit`
pub(crate) const PAGE_LIMIT: Parameter =
    Parameter::new("page_limit", ParameterValue::Number(1), "The most elements of a page. Default: 100000.");

/// `check_vertex`
pub(crate) const CHECK_VERTEX: Parameter = Parameter::new(
    "check_vertex",
    ParameterValue::Flag,
    "Whether edges are refused whose vertices are not there. Default: true.",
);

/// `confirm_message`
pub(crate) const CONFIRM_MESSAGE: Parameter =
    Parameter::new("confirm_message", ParameterValue::Text, "Says that all data may be deleted.");

/// `type` of metrics
pub(crate) const METRICS_TYPE: Parameter =
    Parameter::new("type", ParameterValue::Word(&["json"]), "As JSON. Default: text for Prometheus.")
        .keyed("type.metrics");

/// `prefix` of graph spaces
pub(crate) const PREFIX: Parameter = Parameter::new(
    "prefix",
    ParameterValue::Text,
    "Only graph spaces whose name or nickname begins like this.",
);

/// `clone_graph_name`
pub(crate) const CLONE_GRAPH_NAME: Parameter =
    Parameter::new("clone_graph_name", ParameterValue::Text, "The graph whose schema the new one gets.");

/// `status` of tasks
pub(crate) const STATUS: Parameter =
    Parameter::new("status", ParameterValue::Text, "Only tasks of this status.");

/// `ids` of tasks
pub(crate) const TASK_IDS: Parameter =
    Parameter::new("ids", ParameterValue::Number(0), "Only these tasks.").repeatable().keyed("ids.task");

/// `force`
pub(crate) const FORCE: Parameter =
    Parameter::new("force", ParameterValue::Flag, "Also a task that is not finished. Default: false.");

/// `user` of belongs and managers
pub(crate) const USER: Parameter =
    Parameter::new("user", ParameterValue::Text, "Only of this user: an id, or a name.").keyed("user.auth");

/// `group` of belongs and accesses
pub(crate) const GROUP: Parameter =
    Parameter::new("group", ParameterValue::Text, "Only of this group: an id, or a name.")
        .keyed("group.auth");

/// `target` of accesses
pub(crate) const TARGET: Parameter =
    Parameter::new("target", ParameterValue::Text, "Only of this target: an id, or a name.")
        .keyed("target.auth");

/// `type` of managers
pub(crate) const MANAGER_TYPE: Parameter = Parameter::new(
    "type",
    ParameterValue::Word(&["SPACE", "SPACE_MEMBER", "ADMIN"]),
    "What is managed: the graph space, nothing (a member of it), or the tenant.",
)
.keyed("type.manager");

/// `action` of a project
pub(crate) const PROJECT_ACTION: Parameter = Parameter::new(
    "action",
    ParameterValue::Word(&["add_graph", "remove_graph"]),
    "Whether graphs are added or removed; else the description is set.",
)
.keyed("action.project");

/// How many elements are wanted at most, and none: what `limit` says; [`u64::MAX`] for all.
///
/// # Errors
///
/// 400.
pub(crate) fn limit(given: &Given<'_>, parameter: &Parameter, default: u64) -> Result<u64, Problem> {
    let Some(text) = given.get(parameter) else { return Ok(default) };
    match text.parse::<i64>() {
        Ok(-1) => Ok(u64::MAX),
        Ok(limit) if limit >= 0 => Ok(limit.unsigned_abs()),
        _ => Err(Problem::illegal_argument(format!(
            "The {} must be >= 0 or == -1, but got '{text}'",
            parameter.name
        ))),
    }
}

/// `true` or `false`, with a default.
///
/// # Errors
///
/// 400.
pub(crate) fn flag(given: &Given<'_>, parameter: &Parameter, default: bool) -> Result<bool, Problem> {
    if given.get(parameter).is_none() { Ok(default) } else { Ok(given.flag(parameter)?) }
}

/// Whether an update adds or removes.
///
/// # Errors
///
/// 400.
pub(crate) fn is_append(given: &Given<'_>, parameter: &Parameter) -> Result<bool, Problem> {
    match given.get(parameter) {
        Some("append") => Ok(true),
        Some("eliminate") => Ok(false),
        None => Err(Problem::illegal_argument("The action parameter can't be null")),
        Some(other) => Err(Problem::not_supported(format!("Not support action '{other}'"))),
    }
}
