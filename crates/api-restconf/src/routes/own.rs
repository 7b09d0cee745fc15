//! What the server says of itself (`library`), read with the parameters of data; and what all reads share.

use api_http::{Response, json_response};
use http::{HeaderValue, StatusCode, header};
use lang_yang::{Content, DataNode, Leaf, NodeId, Schema, Value, ValueRef};

use crate::fields::{Selection, parse_fields};
use crate::library::{library_content, library_schema};
use crate::media::{Accepted, Form};
use crate::params::Reading;
use crate::problem::Problem;
use crate::shape::{Shaper, Wanted};
use crate::target::{Chosen, Step, Target};

/// 404.
pub(super) fn missing(schema: &Schema, target: &Target) -> Problem {
    let path = target.path(schema);
    Problem::not_found(format!("{} does not exist", path.text)).at(path)
}

/// What is asked for below a node.
///
/// # Errors
///
/// 400 for fields that cannot be read, or are none.
pub(super) fn wanted(
    schema: &Schema,
    target: Option<NodeId>,
    asked: &Reading<'_>,
) -> Result<Wanted, Problem> {
    let selection = match asked.fields {
        None => Selection::All,
        Some(text) => {
            let fields = parse_fields(text).and_then(|fields| Selection::of(schema, target, &fields));
            fields.map_err(|reason| Problem::invalid(format!("parameter fields: {reason}")))?
        }
    };
    Ok(Wanted::new(schema, (asked.content, asked.defaults), asked.depth, selection))
}

/// What the server says of itself: of the same form as data, made on the spot.
///
/// # Errors
///
/// 400, 404.
pub(super) fn own(
    schema: &Schema,
    target: &Target,
    asked: &Reading<'_>,
    accepted: Accepted,
) -> Result<Response, Problem> {
    let own = library_schema();
    let wanted = wanted(own, target.node(), asked)?;
    let content = library_content(schema, target);
    let mut shaper = Shaper::new(accepted.form, own, target.node(), wanted);
    let entries = entries_of(own, &content, &target.steps).ok_or_else(|| missing(own, target))?;
    match entries {
        Entries::Nodes(nodes) => {
            check_single(nodes.len(), accepted.form)?;
            nodes.into_iter().for_each(|node| put_node(&mut shaper, own, 1, node));
        }
        Entries::Leaf(leaf, values) => {
            check_single(values.len(), accepted.form)?;
            shaper.leaf(own, leaf.schema, values.into_iter().map(ValueRef::from), false);
        }
    }
    shaper.end(own);
    let mut answer = json_response(StatusCode::OK, accepted.media, shaper.writer.out);
    answer.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    Ok(answer)
}

/// XML has one outermost element.
fn check_single(count: usize, form: Form) -> Result<(), Problem> {
    match form {
        Form::Xml if count > 1 => Err(Problem::invalid(
            "the resource has more than one entry: name one of them, or accept application/yang-data+json",
        )),
        Form::Xml | Form::Json => Ok(()),
    }
}

/// What steps lead to in a value.
enum Entries<'c> {
    Nodes(Vec<&'c DataNode>),
    Leaf(&'c Leaf, Vec<&'c Value>),
}

fn entries_of<'c>(schema: &Schema, content: &'c Content, path: &[Step]) -> Option<Entries<'c>> {
    let (step, below) = path.split_first()?;
    if !schema.is_entry(step.node) {
        let leaf = content.leaves.iter().find(|leaf| leaf.schema == step.node)?;
        let is_wanted = |value: &&Value| match &step.chosen {
            Chosen::Value(wanted) => value.text == wanted.text,
            Chosen::All | Chosen::Entry(_) => true,
        };
        let values: Vec<_> = leaf.values.iter().filter(is_wanted).collect();
        return (!values.is_empty()).then_some(Entries::Leaf(leaf, values));
    }
    let has_keys = |node: &&DataNode| match &step.chosen {
        Chosen::Entry(keys) => keys.iter().all(|(key, value)| {
            let leaf = node.content.leaves.iter().find(|leaf| leaf.schema == *key);
            leaf.and_then(|leaf| leaf.values.first()).is_some_and(|stored| stored.text == value.text)
        }),
        Chosen::All | Chosen::Value(_) => true,
    };
    let nodes = content.children.iter().filter(|node| node.schema == step.node).filter(has_keys);
    let nodes: Vec<_> = nodes.collect();
    let first = nodes.first()?;
    if below.is_empty() { Some(Entries::Nodes(nodes)) } else { entries_of(schema, &first.content, below) }
}

fn put_node(shaper: &mut Shaper, schema: &Schema, above: usize, node: &DataNode) {
    if shaper.entry(schema, above, node.schema, &node.content.leaves) {
        node.content.children.iter().for_each(|child| put_node(shaper, schema, above + 1, child));
    }
}
