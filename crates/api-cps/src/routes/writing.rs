//! What writes of nodes have in common: where, what, and how.

use std::sync::Arc;

use api_http::{Given, Request};
use config::query::{Address, AddressError};
use config::{ApplyError, Edit, Label, Place, Step, Tree};
use lang_yang::{
    Content, DataError, DataNode, DataProblem, Envelope, Leaf, NodeId, ReadOptions, Schema, json_nodes_bound,
    read_json, read_xml, xml_nodes_bound,
};
use model_config::{Anchor, Error, NODE_BYTES_HELD, Refusal, TEXT_BYTES_AT_ONCE, WriteOptions};

use crate::media::{Form, body_form};
use crate::params::{self, flag, observed};
use crate::problem::Problem;
use crate::state::Api;

/// What may stand around the nodes of the top: the datastore, as NETCONF and CPS name it.
const ENVELOPES: &[Envelope] = &[Envelope {
    module: "ietf-netconf",
    namespace: "urn:ietf:params:xml:ns:netconf:base:1.0",
    name: "data",
}];

/// A write of nodes below one that is there.
pub(super) struct Writing {
    pub(super) anchor: Anchor,
    /// Below which entry, by steps from the top.
    parent: Vec<Step>,
    xpath: String,
    options: WriteOptions,
    /// The containers and list entries of the body.
    pub(super) nodes: Arc<[DataNode]>,
    /// Its leaves, which are those of the entry itself.
    pub(super) leaves: Arc<[Leaf]>,
}

impl Writing {
    /// What a request writes, and where.
    ///
    /// # Errors
    ///
    /// 400, 413, 415.
    pub(super) async fn of(api: &Api, request: &Request, xpath: &str) -> Result<Self, Problem> {
        let mut options = options(&Given::of(request))?;
        options.is_long = request.body.len() > TEXT_BYTES_AT_ONCE;
        let anchor = api.anchor(request).await?;
        let schema = anchor.schema();
        let parent = match address(schema, xpath, names(request))? {
            Address::Top => Vec::new(),
            Address::Entry(steps) => steps,
            Address::List { .. } => return Err(no_entry(xpath)),
        };
        let node = parent.last().map(|step| step.node);
        let form = body_form(request)?;
        reserve(api, request, (form, &request.body)).await?;
        let read = || read_body(api, (form, &request.body), schema, node);
        let content = api.shared.configs.work_on_text(request.body.len(), read).await?;
        if content.leaves.is_empty() && content.children.is_empty() {
            return Err(Problem::invalid_data("the body has no data"));
        }
        let (nodes, leaves) = (content.children.into(), content.leaves.into());
        Ok(Self { parent, xpath: xpath.to_owned(), options, nodes, leaves, anchor })
    }

    /// Whether it is only tried.
    pub(super) fn is_dry_run(&self) -> bool {
        self.options.dry_run
    }

    /// Does it, as `edits` says of the label that it happens below.
    ///
    /// # Errors
    ///
    /// Whatever `edits` or the model refuses with.
    pub(super) async fn write(
        &self,
        edits: impl Fn(&Tree<'_>, &Label) -> Result<Vec<Edit>, Refusal<Refused>>,
    ) -> Result<(), Problem> {
        let place = (self.anchor.dataspace(), self.anchor.name());
        let all = |tree: &Tree<'_>| match tree.find(&self.parent)? {
            Some(label) => edits(tree, &label),
            None => Err(Refusal::Refused(Refused::Here(Problem::no_node(&self.xpath, place)))),
        };
        let written = Box::pin(self.anchor.write(all, self.options)).await;
        written.map(drop).map_err(|refused| refused.worded(place))
    }

    /// What the model is to be told of a node that must be there and is not.
    pub(super) fn missing(&self) -> Refusal<Refused> {
        let place = (self.anchor.dataspace(), self.anchor.name());
        Refusal::Refused(Refused::Here(Problem::no_node_of_body(place)))
    }
}

/// Deletes what a path names: an entry, a whole list, or everything.
///
/// # Errors
///
/// 400 where nothing is.
pub(super) async fn delete(
    api: &Api,
    request: &Request,
    xpath: &str,
    is_deletable: impl Fn(&Address) -> Result<(), Problem>,
) -> Result<bool, Problem> {
    let options = options(&Given::of(request))?;
    let anchor = api.anchor(request).await?;
    let place = (anchor.dataspace(), anchor.name());
    let address = address(anchor.schema(), xpath, place)?;
    is_deletable(&address)?;
    let edit = match address {
        Address::Top => Edit::Delete { entry: Place::Label(Label::top()) },
        Address::Entry(steps) => Edit::Delete { entry: Place::Steps(steps) },
        Address::List { parent, list } => Edit::DeleteList { parent: Place::Steps(parent), list },
    };
    match Box::pin(anchor.write_edits(&[edit], options)).await {
        Ok(_) => Ok(options.dry_run),
        Err(Error::Edit(ApplyError::NotFound(_))) => Err(Problem::no_node(xpath, place)),
        Err(error) => Err(Refused::from(error).worded(place)),
    }
}

/// Dataspace and anchor as the address names them.
pub(super) fn names(request: &Request) -> (&str, &str) {
    (request.capture(0), request.capture(1))
}

/// What a path names.
///
/// # Errors
///
/// 400; 404 where the schema has no such node.
pub(super) fn address(schema: &Schema, xpath: &str, place: (&str, &str)) -> Result<Address, Problem> {
    let path = lang_cps_path::parse(xpath).map_err(|error| Problem::bad_path(error.detail()))?;
    Address::new(schema, &path).map_err(|error| match error {
        AddressError::Unknown(_) => Problem::no_node(xpath, place),
        AddressError::Search(_) | AddressError::Keys { .. } => Problem::bad_path(error.to_string()),
    })
}

fn no_entry(xpath: &str) -> Problem {
    Problem::bad_path(format!(
        "{xpath} is a whole list: name one of its entries by its keys, or what the list lies in"
    ))
}

/// How a write is to be made.
///
/// # Errors
///
/// 400.
pub(super) fn options(given: &Given<'_>) -> Result<WriteOptions, Problem> {
    let (dry_run, observed) = (flag(given, &params::DRY_RUN)?, observed(given)?);
    Ok(WriteOptions { dry_run, observed, ..WriteOptions::default() })
}

/// Asks for the memory that data take which are about to be read: many times that of their text, if they are small.
///
/// # Errors
///
/// 503.
pub(super) async fn reserve(
    api: &Api,
    request: &Request,
    (form, text): (Form, &[u8]),
) -> Result<(), Problem> {
    let nodes = match form {
        Form::Json => json_nodes_bound(text),
        Form::Xml => xml_nodes_bound(text),
    };
    // What has more is refused when so many are read.
    let nodes = nodes.min(api.shared.limits.body_nodes_max);
    Ok(request.memory.share().grow(nodes.saturating_mul(NODE_BYTES_HELD)).await?)
}

/// The data of a body, which lie below a node, or at the top. Whoever reads long ones does it in a slot for long work.
///
/// # Errors
///
/// 400, 413.
pub(super) fn read_body(
    api: &Api,
    (form, body): (Form, &[u8]),
    schema: &Schema,
    parent: Option<NodeId>,
) -> Result<Content, Problem> {
    let limits = &api.shared.limits;
    let options = ReadOptions {
        envelopes: ENVELOPES,
        depth_max: limits.depth_max,
        nodes_max: limits.body_nodes_max,
        ..ReadOptions::CPS
    };
    let read = match form {
        Form::Json => read_json(schema, parent, body, &options),
        Form::Xml => read_xml(schema, parent, body, &options),
    };
    read.map_err(|error| invalid(form, parent, &error))
}

/// Words why a body is no data of the schema, as CPS does where a name is not known.
fn invalid(form: Form, parent: Option<NodeId>, error: &DataError) -> Problem {
    let form = match form {
        Form::Json => "json",
        Form::Xml => "xml",
    };
    match &error.problem {
        DataProblem::TooMany { .. } => Problem::too_large(format!("{error} (cps_body_nodes_max)")),
        DataProblem::UnknownNode { name, .. } => {
            let above = match (&*error.path, parent) {
                ("", None) => "(urn:ietf:params:xml:ns:netconf:base:1.0)data",
                ("", Some(_)) => "the node of the xpath",
                (path, _) => path,
            };
            Problem::invalid_data(format!(
                "Failed to parse {form} data. Schema node with name {name} was not found under {above}."
            ))
        }
        _ => Problem::invalid_data(format!("Failed to parse {form} data. {error}")),
    }
}

/// The step to an entry as a body gives it.
pub(super) fn step_to(schema: &Schema, node: &DataNode) -> Step {
    let keys = schema.keys(node.schema);
    if keys.is_empty() {
        return Step::container(node.schema);
    }
    let value = |key: &NodeId| {
        let leaf = node.content.leaves.iter().find(|leaf| leaf.schema == *key);
        let value = leaf.and_then(|leaf| leaf.values.first());
        (*key, value.expect("an entry that was read has its keys").text.clone())
    };
    Step::entry(node.schema, keys.iter().map(value).collect())
}

/// Why a write was refused, while it still may be worded in several ways.
pub(super) enum Refused {
    Model(Error),
    Here(Problem),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Model(error)
    }
}

impl Refused {
    /// In the words of CPS, about an anchor (with its dataspace).
    pub(super) fn worded(self, (dataspace, anchor): (&str, &str)) -> Problem {
        match self {
            Self::Here(problem) => problem,
            Self::Model(Error::Edit(ApplyError::Exists(paths))) => Problem::nodes_exist(paths.len(), anchor),
            Self::Model(Error::Edit(ApplyError::NotFound(_))) => {
                Problem::no_node_of_body((dataspace, anchor))
            }
            Self::Model(error) => Problem::from(error),
        }
    }
}
