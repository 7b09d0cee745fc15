//! Bodies of writes: data of the schema, in either form, and what of it a request must say.

use std::sync::Arc;

use api_http::Request;
use lang_yang::{
    Content, DataError, DataNode, DataProblem, Envelope, Leaf, NodeId, ReadOptions, Schema, Value,
    json_nodes_bound, read_json, read_xml, xml_nodes_bound,
};
use model_config::NODE_BYTES_HELD;
use quick_xml::events::Event;
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use crate::media::Form;
use crate::names::place;
use crate::place::ErrorPath;
use crate::problem::{Problem, Tag};
use crate::state::{Api, Limits};
use crate::target::{Chosen, Step, instance_path};

/// What stands around the nodes of the top where a body is all of the datastore.
const DATA: &[Envelope] = &[Envelope {
    module: "ietf-restconf",
    namespace: "urn:ietf:params:xml:ns:yang:ietf-restconf",
    name: "data",
}];

/// The one thing that a body gives.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Given {
    /// A container, or an entry of a list: one, shared by the edits that give it.
    Node(Arc<[DataNode; 1]>),
    /// A leaf, or an entry of a leaf-list.
    Leaf(NodeId, Value),
    /// `[]`
    Nothing,
}

/// Which parts of a body may be missing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Keys {
    /// All must be there.
    Needed,
    /// Those of the entry that the path names may be left out (RFC 8040, 4.6.1).
    OfPath,
}

/// What a body gives below what these steps lead to. A long one is read in a slot for long work.
///
/// # Errors
///
/// 400, 413, 415; the path says where in the data. 503.
pub(super) async fn read(
    api: &Api,
    schema: &Schema,
    above: &[Step],
    (request, keys): (&Request, Keys),
) -> Result<Content, Problem> {
    let form = form_of(request)?;
    if request.body.is_empty() {
        return Err(Problem::protocol(Tag::MalformedMessage, "the body is empty: it must give the data"));
    }
    reserve(api, request, form).await?;
    let limits = &api.shared.limits;
    let read = || read_text(schema, above, ("the body", form, &request.body), (limits, keys));
    api.shared.configs.work_on_text(request.body.len(), read).await
}

/// Asks for the memory that the data of a body take which is about to be read: many times that of their text, if they are small.
///
/// # Errors
///
/// 503.
pub(super) async fn reserve(api: &Api, request: &Request, form: Form) -> Result<(), Problem> {
    let nodes = match form {
        Form::Json => json_nodes_bound(&request.body),
        Form::Xml => xml_nodes_bound(&request.body),
    };
    // What has more is refused when so many are read.
    let nodes = nodes.min(api.shared.limits.body_nodes_max);
    Ok(request.memory.share().grow(nodes.saturating_mul(NODE_BYTES_HELD)).await?)
}

/// The same of a text, which messages call by this name.
///
/// # Errors
///
/// 400, 413.
pub(super) fn read_text(
    schema: &Schema,
    above: &[Step],
    (name, form, text): (&str, Form, &[u8]),
    (limits, keys): (&Limits, Keys),
) -> Result<Content, Problem> {
    let options = ReadOptions {
        envelopes: DATA,
        outermost_without_keys: keys == Keys::OfPath,
        depth_max: limits.depth_max,
        nodes_max: limits.body_nodes_max,
        ..ReadOptions::RFC7951
    };
    let parent = above.last().map(|step| step.node);
    let content = match form {
        Form::Json => read_json(schema, parent, text, &options),
        Form::Xml => read_xml(schema, parent, text, &options),
    };
    content.map_err(|error| refused(schema, above, (name, &error)))
}

/// What a body gives as all of the datastore (RFC 8040, section 4.5): the one thing in it is `data`, or who means a part would delete
/// all others.
///
/// # Errors
///
/// As of [`read`].
pub(super) async fn read_all(api: &Api, schema: &Schema, request: &Request) -> Result<Content, Problem> {
    let content = read(api, schema, &[], (request, Keys::Needed)).await?;
    let form = form_of(request)?;
    let is_all = || match form {
        Form::Json => is_data_json(&request.body),
        Form::Xml => is_data_xml(&request.body),
    };
    let right = match form {
        Form::Json => "{\"ietf-restconf:data\":{...}}",
        Form::Xml => "<data xmlns=\"urn:ietf:params:xml:ns:yang:ietf-restconf\">...</data>",
    };
    if api.shared.configs.work_on_text(request.body.len(), is_all).await {
        return Ok(content);
    }
    Err(Problem::protocol(
        Tag::MalformedMessage,
        format!(
            "the body must be {right}, with all data of the anchor in it: what it does not give is deleted; to write one resource, name it in the path"
        ),
    ))
}

/// Whether JSON that was read has one member, the datastore. Cost: one pass over the text.
fn is_data_json(text: &[u8]) -> bool {
    let only_member = || {
        let mut json = lang_json::Reader::new(std::str::from_utf8(text).ok()?, usize::MAX);
        json.begin_object().ok()?;
        let name = json.next_key().ok()??;
        json.skip().ok()?;
        json.next_key().ok()?.is_none().then_some(name)
    };
    only_member().is_some_and(|name| {
        let name = name.strip_prefix("ietf-restconf:").unwrap_or(&name);
        DATA.iter().any(|envelope| envelope.name == name)
    })
}

/// Whether the outermost element of XML that was read is the datastore. Cost: that of its start.
fn is_data_xml(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut xml = NsReader::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    loop {
        match xml.read_event() {
            Ok(Event::Start(start) | Event::Empty(start)) => {
                let (namespace, name) = xml.resolver().resolve_element(start.name());
                let name = name.into_inner();
                return DATA.iter().any(|envelope| {
                    envelope.name == name
                        && matches!(namespace, ResolveResult::Bound(bound) if bound.0 == envelope.namespace)
                });
            }
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

/// The form that a body is in.
fn form_of(request: &Request) -> Result<Form, Problem> {
    let media = request.content_type();
    media.and_then(Form::of_media).ok_or_else(|| {
        Problem::unsupported_media_type(format!(
            "the media type of the body must be application/yang-data+json or application/yang-data+xml, not {}",
            media.filter(|media| !media.is_empty()).unwrap_or("nothing")
        ))
    })
}

/// The one thing in what a body gives.
///
/// # Errors
///
/// 400 if it is none, or more than one.
pub(super) fn single(content: Content) -> Result<Given, Problem> {
    let Content { leaves, children } = content;
    let count = leaves.len() + children.len();
    if count != 1 {
        return Err(Problem::protocol(
            Tag::MalformedMessage,
            format!("the body must give exactly one resource, not {count}"),
        ));
    }
    match (leaves.into_iter().next(), children.into_iter().next()) {
        (Some(Leaf { schema, mut values }), _) if values.len() == 1 => {
            Ok(values.pop().map_or(Given::Nothing, |value| Given::Leaf(schema, value)))
        }
        (Some(leaf), _) => Err(Problem::protocol(
            Tag::MalformedMessage,
            format!("the body must give one value of the leaf-list, not {}", leaf.values.len()),
        )),
        (None, Some(node)) => Ok(Given::Node(Arc::new([node]))),
        (None, None) => Ok(Given::Nothing),
    }
}

impl Given {
    /// The step from where the body is read to what it gives.
    pub(super) fn step(&self, schema: &Schema) -> Option<Step> {
        match self {
            Self::Node(nodes) => {
                let [node] = &**nodes;
                let keys = schema.keys(node.schema).iter();
                let keys: Vec<_> = keys.filter_map(|key| Some((*key, key_of(node, *key)?.clone()))).collect();
                let chosen = if keys.is_empty() { Chosen::All } else { Chosen::Entry(keys) };
                Some(Step { node: node.schema, chosen })
            }
            Self::Leaf(leaf, value) => {
                let is_list = matches!(schema.node(*leaf).kind, lang_yang::NodeKind::LeafList { .. });
                let chosen = if is_list { Chosen::Value(value.clone()) } else { Chosen::All };
                Some(Step { node: *leaf, chosen })
            }
            Self::Nothing => None,
        }
    }

    /// Checks that it is what the path names; keys that are left out are filled in.
    ///
    /// # Errors
    ///
    /// 400: another node, or another entry.
    pub(super) fn of_path(mut self, schema: &Schema, step: &Step) -> Result<Self, Problem> {
        let found = match &self {
            Self::Node(nodes) => nodes.first().map(|node| node.schema),
            Self::Leaf(leaf, _) => Some(*leaf),
            Self::Nothing => None,
        };
        if found != Some(step.node) {
            return Err(Problem::invalid(format!(
                "the body must give {}, which the path names{}",
                place(schema, Some(step.node)),
                found.map_or_else(String::new, |found| format!(", not {}", place(schema, Some(found))))
            )));
        }
        match (&mut self, &step.chosen) {
            (Self::Node(nodes), Chosen::Entry(keys)) => {
                let [node] = Arc::make_mut(nodes);
                for (key, value) in keys {
                    match key_of(node, *key).map(|stored| stored.text == value.text) {
                        Some(true) => {}
                        Some(false) => return Err(other(schema, *key, value)),
                        None => {
                            let leaf = Leaf { schema: *key, values: vec![value.clone()] };
                            node.content.leaves.push(leaf);
                        }
                    }
                }
                node.content.leaves.sort_by_key(|leaf| schema.node(leaf.schema).slot);
            }
            (Self::Leaf(leaf, value), Chosen::Value(wanted)) if value.text != wanted.text => {
                return Err(other(schema, *leaf, wanted));
            }
            _ => {}
        }
        Ok(self)
    }
}

fn key_of(node: &DataNode, key: NodeId) -> Option<&Value> {
    node.content.leaves.iter().find(|leaf| leaf.schema == key)?.values.first()
}

fn other(schema: &Schema, leaf: NodeId, wanted: &Value) -> Problem {
    let name = &schema.node(leaf).name;
    Problem::invalid(format!(
        "{name} in the body must be {:?}, as the path says: what names an entry cannot change",
        wanted.text
    ))
}

/// Words what is wrong with a body.
fn refused(schema: &Schema, above: &[Step], (name, error): (&str, &DataError)) -> Problem {
    let tag = match &error.problem {
        DataProblem::Syntax(_) => Tag::MalformedMessage,
        DataProblem::UnknownNode { .. } => Tag::UnknownElement,
        DataProblem::NoModule { .. } => Tag::UnknownNamespace,
        DataProblem::Shape { .. } | DataProblem::Value(_) | DataProblem::State => Tag::InvalidValue,
        DataProblem::NoKey { .. } => Tag::MissingElement,
        DataProblem::SameKeys
        | DataProblem::SameValue { .. }
        | DataProblem::Twice
        | DataProblem::OtherCase { .. } => Tag::BadElement,
        DataProblem::Metadata { .. } => Tag::InvalidValue,
        DataProblem::TooDeep { .. } | DataProblem::TooMany { .. } => Tag::TooBig,
    };
    let message =
        format!("{name}, line {} column {}: {}", error.place.line, error.place.column, error.problem);
    let problem = match tag {
        Tag::MalformedMessage => Problem::protocol(tag, message),
        _ => Problem::application(tag, message),
    };
    // Of a body as a whole the path of the request tells.
    if error.path.is_empty() {
        return problem;
    }
    problem.at(ErrorPath::of(schema, path_below(schema, above, &error.path)))
}

/// A path that begins below these steps as one from the top: within one module its name is said once.
fn path_below(schema: &Schema, above: &[Step], path: &str) -> String {
    let module = above.last().map(|step| schema.module_name(step.node));
    let inner = module.and_then(|module| path.strip_prefix('/')?.strip_prefix(module)?.strip_prefix(':'));
    let mut text = instance_path(schema, above).text;
    match inner {
        Some(inner) => {
            text.push('/');
            text.push_str(inner);
        }
        None => text.push_str(path),
    }
    text
}
