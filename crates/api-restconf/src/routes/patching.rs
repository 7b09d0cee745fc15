//! YANG Patch (RFC 8072): edits of a resource in their order, all of them or none, each with its own status.

use std::sync::atomic::{AtomicUsize, Ordering};

use api_http::{Request, Response, json_response};
use config::Tree;
use http::StatusCode;
use lang_json::{ArrayWriter, ObjectWriter, string_to};
use lang_yang::Schema;
use model_config::Refusal;

use super::accepted;
use super::body::{Given, Keys, read_text, reserve, single};
use super::change::{Change, Edits, Spot, is_stored};
use super::conditions::Demands;
use super::trial::{PATCH_BYTES_MAX, Pause, try_all};
use super::writing::{self, Write, check_config, check_own, check_single};
use crate::identifier::{Segment, parse_identifier};
use crate::media::{Accepted, Form};
use crate::patch::{NAMESPACE, Operation, Patch, PatchEdit, parse_patch};
use crate::problem::{Problem, Tag};
use crate::state::{Api, Limits};
use crate::target::{Step, Target};
use crate::text::element_into;

/// The methods of the datastore, and of the resources in it.
const METHODS: (&str, &str) =
    ("GET, HEAD, PATCH, POST, PUT, OPTIONS", "DELETE, GET, HEAD, PATCH, POST, PUT, OPTIONS");
/// A patch of more edits is tried and carried out in a slot for long work: each of them writes pages of its own.
const EDITS_AT_ONCE: usize = 16;
/// No edit.
const NONE: usize = usize::MAX;

/// RFC 8040 4.6, PATCH `{root}/data`
pub(crate) async fn merge_all_data(api: Api, request: Request) -> Result<Response, Problem> {
    match patch_form(&request) {
        Some(form) => patch(&api, &request, form).await,
        None => writing::merge_all_data(api, request).await,
    }
}

/// RFC 8040 4.6, PATCH `{root}/data/{path}`
pub(crate) async fn merge(api: Api, request: Request) -> Result<Response, Problem> {
    match patch_form(&request) {
        Some(form) => patch(&api, &request, form).await,
        None => writing::merge(api, request).await,
    }
}

fn patch_form(request: &Request) -> Option<Form> {
    request.content_type().and_then(Form::of_patch)
}

/// An edit that is understood, or why it is not.
struct Prepared {
    edit: Result<Understood, Problem>,
    target: Target,
}

/// What is done where.
struct Understood {
    step: Step,
    above: Vec<Step>,
    spot: Option<Spot>,
    action: Action,
}

enum Action {
    Make(Given),
    Merge(Given),
    Replace(Given),
    Shift,
    Delete,
    Remove,
}

/// Whether an edit may take much work although it gives little: by what it replaces, or moves with all below.
fn may_be_long(prepared: &Prepared) -> bool {
    matches!(&prepared.edit, Ok(Understood { action: Action::Replace(Given::Node(_)) | Action::Shift, .. }))
}

/// RFC 8072 2, PATCH with a list of edits
async fn patch(api: &Api, request: &Request, form: Form) -> Result<Response, Problem> {
    let accepted = accepted(request)?;
    let write = Write::of(api, request).await?;
    let limits = &api.shared.limits;
    reserve(api, request, form).await?;
    let read = || -> Result<(Patch, Vec<Prepared>), Problem> {
        let patch = parse_patch(form, &request.body, limits.depth_max)?;
        let prepare = |edit: &PatchEdit| prepare(&write, edit, (limits, form));
        let prepared = patch.edits.iter().map(prepare).collect();
        Ok((patch, prepared))
    };
    let (patch, prepared) = write.anchor.configs().work_on_text(request.body.len(), read).await?;
    let mut demands = Demands::of(request, &write.anchor).await?;
    demands.options.is_long |= prepared.len() > EDITS_AT_ONCE || prepared.iter().any(may_be_long);
    let (failed, pause) = (AtomicUsize::new(NONE), Pause::default());
    let edits = |tree: &Tree<'_>| {
        judge(tree, &write.target, &demands)?;
        edits_of(tree, &prepared, (&failed, &pause))
    };
    let written = write.anchor.write(edits, demands.options).await;
    let problem: Problem = match written {
        Ok(written) => {
            let body = Status { patch: &patch, failed: None }.text(accepted.form);
            return Ok(write.tagged(json_response(StatusCode::OK, accepted.media, body), &written));
        }
        Err(problem) => problem,
    };
    let problem = problem.named(write.schema());
    let failed = failed.into_inner();
    let (failed, problem) = match prepared.get(failed) {
        Some(prepared) => (Some(failed), problem.at(prepared.target.path(write.schema()))),
        None => (None, problem),
    };
    Ok(refused(&patch, &write.target, (failed, problem), accepted))
}

/// The answer to a patch that was not carried out.
fn refused(
    patch: &Patch,
    target: &Target,
    (failed, problem): (Option<usize>, Problem),
    accepted: Accepted,
) -> Response {
    // The resource of the request can be written, if that of an edit cannot.
    let problem = match problem.status {
        StatusCode::METHOD_NOT_ALLOWED if target.steps.is_empty() => problem.with_allowed(METHODS.0),
        StatusCode::METHOD_NOT_ALLOWED => problem.with_allowed(METHODS.1),
        _ => problem,
    };
    // What is no fault of the request is told as by any other.
    let mut response = problem.response(accepted);
    if problem.status.is_client_error() {
        let body = Status { patch, failed: Some((failed, &problem)) }.text(accepted.form);
        *response.body_mut() = body.into_bytes().into();
    }
    response
}

fn judge(tree: &Tree<'_>, target: &Target, demands: &Demands) -> Result<(), Refusal<Problem>> {
    let is_there = match target.split() {
        Some((step, above)) => is_stored(tree, above, step)?,
        None => true,
    };
    demands.judge(is_there).map_err(Refusal::Refused)
}

/// All edits of the tree, each told of what those before it have made; `failed` says of which it was that none are.
fn edits_of(tree: &Tree<'_>, prepared: &[Prepared], (failed, pause): (&AtomicUsize, &Pause)) -> Edits {
    failed.store(NONE, Ordering::Relaxed);
    let tell =
        |number: usize, tree: &Tree<'_>| prepared.get(number).map_or(Ok(Vec::new()), |one| one.edits(tree));
    try_all(*tree, (prepared.len(), PATCH_BYTES_MAX), pause, tell).map_err(|(number, refusal)| {
        if let Refusal::Refused(_) = refusal {
            failed.store(number, Ordering::Relaxed);
        }
        refusal
    })
}

impl Prepared {
    fn edits(&self, tree: &Tree<'_>) -> Edits {
        let Understood { step, above, spot, action } = match &self.edit {
            Ok(understood) => understood,
            Err(problem) => return Err(Refusal::Refused(problem.clone())),
        };
        let change = Change::new(Demands::default(), (above, step.clone()), spot.clone());
        match action {
            Action::Make(given) => change.make(tree, given),
            Action::Merge(given) => change.merge_or_make(tree, given),
            Action::Replace(given) => change.replace(tree, given),
            Action::Shift => change.shift(tree),
            Action::Delete => change.delete(tree),
            Action::Remove => change.remove(tree),
        }
    }
}

fn prepare(write: &Write<'_>, edit: &PatchEdit, (limits, form): (&Limits, Form)) -> Prepared {
    match target_of(write, &edit.target, "target") {
        Err(problem) => Prepared { edit: Err(problem), target: write.target.clone() },
        Ok(target) => Prepared { edit: understand(write, edit, &target, (limits, form)), target },
    }
}

/// What a path below the resource of the request means.
fn target_of(write: &Write<'_>, text: &str, name: &str) -> Result<Target, Problem> {
    let wrong = |reason: String| Problem::invalid(format!("{name} {text:?}: {reason}"));
    if !text.starts_with('/') {
        return Err(wrong(
            "it must begin with \"/\", which is the resource of the request itself".to_owned(),
        ));
    }
    let segments: Vec<Segment<'_>> = match text {
        "/" => Vec::new(),
        path => parse_identifier(path).map_err(|error| wrong(error.to_string()))?,
    };
    if write.target.steps.is_empty() {
        check_own(&segments)?;
    }
    write.target.clone().below(write.schema(), &segments)
}

fn understand(
    write: &Write<'_>,
    edit: &PatchEdit,
    target: &Target,
    (limits, form): (&Limits, Form),
) -> Result<Understood, Problem> {
    let schema = write.schema();
    check_config(schema, target)?;
    let (step, above) = target.split().ok_or_else(|| {
        Problem::invalid(
            "the datastore itself is no target of an edit: name a resource in it, as \"/MODULE:NAME\"",
        )
    })?;
    check_single(schema, step)?;
    let given = || given(schema, edit, (above, step), (limits, form));
    let action = match edit.operation {
        Operation::Create | Operation::Insert => Action::Make(given()?),
        Operation::Merge => Action::Merge(given()?),
        Operation::Replace => Action::Replace(given()?),
        Operation::Move => Action::Shift,
        Operation::Delete => Action::Delete,
        Operation::Remove => Action::Remove,
    };
    let point = |text: &str| target_of(write, text, "point");
    let spot = edit.insert().map(|insert| Spot::with(schema, insert, point, (above, step))).transpose()?;
    Ok(Understood { step: step.clone(), above: above.to_vec(), spot, action })
}

/// The one thing that the value of an edit gives, which is its target.
fn given(
    schema: &Schema,
    edit: &PatchEdit,
    (above, step): (&[Step], &Step),
    (limits, form): (&Limits, Form),
) -> Result<Given, Problem> {
    let text = edit.value.as_deref().unwrap_or("");
    let text = match form {
        Form::Json => qualified(schema, step, text)?,
        Form::Xml => text.to_owned(),
    };
    let keys = if edit.operation == Operation::Merge { Keys::OfPath } else { Keys::Needed };
    let content = read_text(schema, above, ("the value", form, text.as_bytes()), (limits, keys))?;
    match single(content)? {
        Given::Nothing => Err(Problem::protocol(Tag::MalformedMessage, "the value holds nothing")),
        given => given.of_path(schema, step),
    }
}

/// The one member of a value, with its module: examples of RFC 8072 leave it out where it is that of the target.
fn qualified(schema: &Schema, step: &Step, text: &str) -> Result<String, Problem> {
    let mut members = lang_json::members(text);
    let (Some((name, value)), None) = (members.next(), members.next()) else {
        return Err(Problem::protocol(
            Tag::MalformedMessage,
            "the value must be an object with one member, the node that the target names",
        ));
    };
    let name = match name.contains(':') {
        true => name.into_owned(),
        false => format!("{}:{name}", schema.module_name(step.node)),
    };
    Ok(format!("{{{}:{value}}}", string_to(&name)))
}

/// What became of a patch (RFC 8072, section 2.3).
struct Status<'p> {
    patch: &'p Patch,
    /// Why it was not carried out, and for which edit, if for one.
    failed: Option<(Option<usize>, &'p Problem)>,
}

impl Status<'_> {
    fn text(&self, form: Form) -> String {
        match form {
            Form::Json => self.json(),
            Form::Xml => self.xml(),
        }
    }

    /// The edits that were looked at, and why the last of them was not done.
    fn edits(&self) -> Option<(&[PatchEdit], &PatchEdit, &Problem)> {
        let (Some(number), problem) = self.failed? else { return None };
        let before = self.patch.edits.get(..number)?;
        Some((before, self.patch.edits.get(number)?, problem))
    }

    fn json(&self) -> String {
        let mut out = String::new();
        let mut message = ObjectWriter::begin(&mut out);
        let mut status = ObjectWriter::begin(message.literal("\"ietf-yang-patch:yang-patch-status\":"));
        status.string("patch-id", &self.patch.id);
        match (self.edits(), self.failed) {
            (Some((before, failed, problem)), _) => {
                let mut of_edits = ObjectWriter::begin(status.literal("\"edit-status\":"));
                let mut list = ArrayWriter::begin(of_edits.literal("\"edit\":"));
                for edit in before {
                    let mut object = ObjectWriter::begin(list.item());
                    object.string("edit-id", &edit.id);
                    object.raw("ok", "[null]");
                    object.end();
                }
                let mut object = ObjectWriter::begin(list.item());
                object.string("edit-id", &failed.id);
                put_errors(&mut object, problem);
                object.end();
                list.end();
                of_edits.end();
            }
            (None, Some((_, problem))) => put_errors(&mut status, problem),
            (None, None) => status.raw("ok", "[null]"),
        }
        status.end();
        message.end();
        out
    }

    fn xml(&self) -> String {
        let mut out = format!("<yang-patch-status xmlns=\"{NAMESPACE}\">");
        element_into(&mut out, "patch-id", &self.patch.id);
        match (self.edits(), self.failed) {
            (Some((before, failed, problem)), _) => {
                out.push_str("<edit-status>");
                for edit in before {
                    out.push_str("<edit>");
                    element_into(&mut out, "edit-id", &edit.id);
                    out.push_str("<ok/></edit>");
                }
                out.push_str("<edit>");
                element_into(&mut out, "edit-id", &failed.id);
                put_errors_xml(&mut out, problem);
                out.push_str("</edit></edit-status>");
            }
            (None, Some((_, problem))) => put_errors_xml(&mut out, problem),
            (None, None) => out.push_str("<ok/>"),
        }
        out.push_str("</yang-patch-status>");
        out
    }
}

fn put_errors(object: &mut ObjectWriter<'_, String>, problem: &Problem) {
    let mut errors = ObjectWriter::begin(object.literal("\"errors\":"));
    problem.put_json(errors.literal("\"error\":"));
    errors.end();
}

fn put_errors_xml(out: &mut String, problem: &Problem) {
    out.push_str("<errors>");
    problem.put_xml(out);
    out.push_str("</errors>");
}
