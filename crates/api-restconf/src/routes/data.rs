//! Reads of data (RFC 8040, sections 3.4, 3.5 and 4.3).

use api_http::{
    DateConditions, Given, Gives, Operation, ReadJudged, Request, Response, date_value, empty_response,
    json_response, judge_read,
};
use config::{Fault, Label, Tree};
use http::{HeaderValue, StatusCode, header};
use lang_yang::{Leaf, NodeId, NodeKind, Schema, Value, ValueRef};
use model_config::{Deadline, Reading as Moment};
use xxhash_rust::xxh3::Xxh3Default;

use super::accepted;
use super::conditions::{judge_match, seconds_of, state_of};
use super::own::{missing, own, wanted};
use super::place::segments_of;
use super::walk::{Part, Walk, choosing};
use crate::library::{is_library, library_schema};
use crate::media::{Accepted, Form};
use crate::operation::{READ_REFUSALS, data_of, done, operation};
use crate::params::{self, Reading};
use crate::problem::Problem;
use crate::shape::{Shaper, default_values, is_in_force};
use crate::state::Api;
use crate::target::{Chosen, Step, Target};

const GIVES_DATA: &[(u16, Gives)] = &[(200, done(data_of("Data")))];

/// GET `{root}/data`
pub(crate) const GET_ALL: Operation = operation("data", "getDatastore", "All data of the anchor.")
    .query(&[params::READ])
    .gives(GIVES_DATA)
    .refuses(READ_REFUSALS)
    .about_one();

/// GET `{root}/data/{path}`
pub(crate) const GET: Operation = operation(
    "data",
    "getData",
    "A container, a list or one of its entries, a leaf, a leaf-list or one of its values.",
)
.query(&[params::READ])
.gives(GIVES_DATA)
.refuses(READ_REFUSALS)
.about_one();

/// RFC 8040 4.3, GET `{root}/data` and `{root}/data/{path}`
pub(crate) async fn get(api: Api, mut request: Request) -> Result<Response, Problem> {
    let accepted = accepted(&request)?;
    let given = Given::of(&request);
    let asked = Reading::of(&given)?;
    let anchor = api.anchor(&request).await?;
    let segments = segments_of(&request)?;
    let is_own = segments.first().and_then(|first| first.module.as_deref()).is_some_and(is_library);
    if is_own {
        let target = Target::of(library_schema(), &segments)?;
        return own(anchor.schema(), &target, &asked, accepted);
    }
    let schema = anchor.schema().clone();
    let target = Target::of(&schema, &segments)?;
    let wanted = wanted(&schema, target.node(), &asked)?;
    let moment = anchor.read(None).await?;
    let found = moment.run(|tree| find(tree, &target)).await?;
    let found = found.ok_or_else(|| missing(&schema, &target))?;
    if accepted.form == Form::Xml {
        check_single(&moment, &found).await.map_err(|problem| problem.at(target.path(&schema)))?;
    }
    let tag = match judged(&mut request, accepted, &moment)? {
        ReadJudged::Unchanged(answer) => return Ok(dated(answer, &moment)),
        ReadJudged::Changed(tag) => tag,
    };
    let date = date_value(seconds_of(moment.at()));
    let shaper = Shaper::new(accepted.form, &schema, target.node(), wanted);
    let mut answer = match found {
        Found::Leaf(leaf, is_default) => leaf_answer(&schema, shaper, (&leaf, is_default), accepted),
        Found::Part(part) => {
            let walk = Walk::new(moment, shaper, part, Deadline::at(request.deadline));
            walk.answer(accepted, &api.shared.limits, request.memory.share()).await?
        }
    };
    let headers = answer.headers_mut();
    headers.insert(header::ETAG, tag);
    if let Some(date) = date {
        headers.insert(header::LAST_MODIFIED, date);
    }
    headers.append(header::VARY, HeaderValue::from_static("accept"));
    Ok(answer)
}

/// What a target is, where it is there.
enum Found {
    /// Entries.
    Part(Part),
    /// A leaf or values of a leaf-list, and whether they are the default.
    Leaf(Leaf, bool),
}

fn find(tree: &Tree<'_>, target: &Target) -> Result<Option<Found>, Fault> {
    let schema = tree.schema();
    let Some((last, above)) = target.split() else { return Ok(Some(Found::Part(Part::Top))) };
    if last.is_whole_list(schema) && schema.is_entry(last.node) {
        let Some(parent) = tree.find(&steps(above))? else { return Ok(None) };
        let first = tree.entries(&parent, last.node).next_label()?;
        return Ok(first.map(|first| Found::Part(Part::List(first, last.node))));
    }
    if schema.is_entry(last.node) {
        let label = tree.find(&steps(&target.steps))?;
        return Ok(label.map(|label| Found::Part(Part::Entry(label))));
    }
    find_leaf(tree, (last, above))
}

fn find_leaf(tree: &Tree<'_>, (last, above): (&Step, &[Step])) -> Result<Option<Found>, Fault> {
    let schema = tree.schema();
    let parent = tree.find(&steps(above))?;
    let record = parent.as_ref().map(|parent: &Label| tree.record(parent)).transpose()?.flatten();
    let stored = record.as_ref().and_then(|record| record.leaf(last.node));
    let stored: Option<Vec<Value>> = stored.map(|values| values.map(|value| value.to_value()).collect());
    let leaf = |values| Leaf { schema: last.node, values };
    match (&last.chosen, stored) {
        (Chosen::Value(value), Some(values)) => {
            let is_there = values.iter().any(|stored| stored.text == value.text);
            Ok(is_there.then(|| Found::Leaf(leaf(vec![value.clone()]), false)))
        }
        (Chosen::Value(_), None) => Ok(None),
        (_, Some(values)) => Ok(Some(Found::Leaf(leaf(values), false))),
        // Of what was never written the default counts (RFC 8040, 3.5.4).
        (_, None) => {
            let values = default_values(schema, last.node);
            let counts = !values.is_empty() && is_in_use(tree, (last, above))?;
            Ok(counts.then(|| Found::Leaf(leaf(values), true)))
        }
    }
}

/// Whether the default of a leaf that is not stored is in use: what it lies in is there, or is a container that is there anyway, and of
/// choices on the way the right cases are chosen.
fn is_in_use(tree: &Tree<'_>, (last, above): (&Step, &[Step])) -> Result<bool, Fault> {
    let schema = tree.schema();
    let counts = |parent: Option<&Label>, around: Option<NodeId>, node| {
        let present = match parent {
            Some(label) if !schema.node(node).choices.is_empty() => {
                let mut present = choosing(tree, label, around)?;
                let record = tree.record(label)?;
                present.extend(record.iter().flat_map(|record| record.leaves()).map(|(leaf, _)| leaf));
                present
            }
            Some(_) | None => Vec::new(),
        };
        Ok(is_in_force(schema, node, &present))
    };
    let (mut parent, mut around) = (Some(Label::top()), None);
    for step in above {
        let found = match &parent {
            Some(label) => tree.find_below(label, &steps(std::slice::from_ref(step)))?,
            None => None,
        };
        let makes_itself = schema.node(step.node).kind == (NodeKind::Container { presence: false });
        if found.is_none() && !(makes_itself && counts(parent.as_ref(), around, step.node)?) {
            return Ok(false);
        }
        (parent, around) = (found, Some(step.node));
    }
    counts(parent.as_ref(), around, last.node)
}

/// Whether an entry is there, or is a container that needs nobody to make it, in one that is.
pub(super) fn is_implied(tree: &Tree<'_>, path: &[Step]) -> Result<bool, Fault> {
    let schema = tree.schema();
    let makes_itself = |step: &Step| schema.node(step.node).kind == (NodeKind::Container { presence: false });
    let count = path.iter().rev().take_while(|step| makes_itself(step)).count();
    let there = path.get(..path.len().saturating_sub(count)).unwrap_or(path);
    Ok(tree.find(&steps(there))?.is_some())
}

/// Steps as trees take them.
pub(super) fn steps(path: &[Step]) -> Vec<config::Step> {
    let step = |step: &Step| match &step.chosen {
        Chosen::Entry(keys) => config::Step::entry(
            step.node,
            keys.iter().map(|(key, value)| (*key, value.text.clone())).collect(),
        ),
        Chosen::All | Chosen::Value(_) => config::Step::container(step.node),
    };
    path.iter().map(step).collect()
}

/// XML has one outermost element, so of a list or leaf-list it shows one entry at the most (RFC 8040, 4.3).
async fn check_single(moment: &Moment, found: &Found) -> Result<(), Problem> {
    let is_single = match found {
        Found::Leaf(leaf, _) => leaf.values.len() <= 1,
        Found::Part(Part::Top | Part::Entry(_)) => true,
        Found::Part(Part::List(first, list)) => {
            let second = |tree: &Tree<'_>| {
                let mut entries = tree.entries(
                    &first.parent(tree.schema()).expect("an entry of a list lies in something"),
                    *list,
                );
                entries.next_label()?;
                entries.next_label()
            };
            moment.run(second).await?.is_none()
        }
    };
    if is_single {
        return Ok(());
    }
    Err(Problem::invalid(
        "the resource has more than one entry, which XML cannot show as one document: name one of them, or accept application/yang-data+json",
    ))
}

/// Whether the client has the answer already. That only the tag of this very answer says, not another one of the same state: what a write was
/// answered with is the tag of no body (RFC 9110, section 13.1.2).
fn judged(request: &mut Request, accepted: Accepted, moment: &Moment) -> Result<ReadJudged, Problem> {
    let state = state_of(moment.anchor(), moment.version());
    let dates = DateConditions::of(&request.method, &request.headers);
    judge_match(&request.headers, state)?;
    // It is judged now.
    request.headers.remove(header::IF_MATCH);
    let is_unchanged = dates.judge(seconds_of(moment.at()))?;
    let mut form = Xxh3Default::new();
    form.update(accepted.media.as_bytes());
    form.update(request.path.as_bytes());
    for (name, value) in request.params.iter() {
        [name, "=", value, "&"].iter().for_each(|text| form.update(text.as_bytes()));
    }
    let judged = judge_read(request, state, form.digest())?;
    Ok(match judged {
        ReadJudged::Changed(tag) if is_unchanged => {
            let mut answer = empty_response(StatusCode::NOT_MODIFIED);
            answer.headers_mut().insert(header::ETAG, tag);
            ReadJudged::Unchanged(answer)
        }
        judged => judged,
    })
}

/// What tells a client that it has the answer, with what that answer had (RFC 9110, section 15.4.5).
fn dated(mut answer: Response, moment: &Moment) -> Response {
    if let Some(date) = date_value(seconds_of(moment.at())) {
        answer.headers_mut().insert(header::LAST_MODIFIED, date);
    }
    answer.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    answer
}

fn leaf_answer(
    schema: &Schema,
    mut shaper: Shaper,
    (leaf, is_default): (&Leaf, bool),
    accepted: Accepted,
) -> Response {
    shaper.leaf(schema, leaf.schema, leaf.values.iter().map(ValueRef::from), is_default);
    shaper.end(schema);
    json_response(StatusCode::OK, accepted.media, shaper.writer.out)
}
