//! Lists of edits (YANG Patch, RFC 8072) as they are sent: text in, edits with the text of their values out. What they do to a tree is
//! another room's.

mod xml;

use lang_json::{Kind, Reader};

use crate::media::Form;
use crate::params::Insert;
use crate::problem::{Problem, Tag};

pub(crate) use xml::NAMESPACE;

/// The most edits of one patch.
pub(crate) const EDITS_MAX: usize = 1000;

/// How deep JSON nests around values, and what an entry of a list nests beside its object.
const DEPTH_AROUND: usize = 8;

/// A list of edits, which is carried out as a whole or not at all.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Patch {
    pub(crate) id: String,
    pub(crate) edits: Vec<PatchEdit>,
}

/// One edit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PatchEdit {
    pub(crate) id: String,
    pub(crate) operation: Operation,
    /// The path of what is edited, below the resource that the request is about.
    pub(crate) target: String,
    /// Where an entry is put; nothing if it was not said.
    pub(crate) place: Option<Where>,
    /// The entry beside which it is put, as `target`.
    pub(crate) point: Option<String>,
    /// What the operation needs: in JSON an object with the one node, in XML its element.
    pub(crate) value: Option<String>,
}

/// What an edit does (RFC 8072, section 2.5).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Operation {
    /// Makes what must not be there.
    Create,
    /// Removes what must be there.
    Delete,
    /// Makes an entry, which must not be there, at its place.
    Insert,
    /// Merges into what may be there.
    Merge,
    /// Gives an entry, which must be there, another place.
    Move,
    /// Makes something be as given.
    Replace,
    /// Removes what may be there.
    Remove,
}

/// Where an entry is put.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Where {
    Before,
    After,
    First,
    Last,
}

/// The members of an edit as they are found.
#[derive(Debug, Default)]
struct Draft {
    id: Option<String>,
    operation: Option<String>,
    target: Option<String>,
    point: Option<String>,
    place: Option<String>,
    value: Option<String>,
}

/// Reads a patch whose values nest `depth_max` nodes at the most. Cost: one pass; the text of each value is copied.
///
/// # Errors
///
/// 400: no text of its form, or no patch; 413: too many edits, values that nest too deep, or too many namespaces around them.
pub(crate) fn parse_patch(form: Form, text: &[u8], depth_max: usize) -> Result<Patch, Problem> {
    let text = std::str::from_utf8(text).map_err(|_| malformed("the body is not UTF-8"))?;
    let (id, drafts) = match form {
        Form::Json => parse_json(text, depth_max)?,
        Form::Xml => xml::parse_xml(text)?,
    };
    let id = id.ok_or_else(|| missing("the patch has no \"patch-id\""))?;
    let mut edits: Vec<PatchEdit> = Vec::with_capacity(drafts.len());
    for (draft, number) in drafts.into_iter().zip(1..) {
        edits.push(draft.edit(number)?);
    }
    let mut ids: Vec<&str> = edits.iter().map(|edit| &*edit.id).collect();
    ids.sort_unstable();
    if let Some([id, _]) = ids.windows(2).find(|pair| matches!(pair, [a, b] if a == b)) {
        return Err(Problem::protocol(Tag::BadElement, format!("two edits have the edit-id {id:?}")));
    }
    Ok(Patch { id, edits })
}

impl PatchEdit {
    /// Where an entry is put, as other writes say it; nothing for what has no place, or may stay where it is.
    pub(crate) fn insert(&self) -> Option<Insert<'_>> {
        let point = self.point.as_deref().unwrap_or("");
        let has_place = matches!(self.operation, Operation::Insert | Operation::Move);
        match self.place {
            None => has_place.then_some(Insert::Last),
            Some(Where::First) => Some(Insert::First),
            Some(Where::Last) => Some(Insert::Last),
            Some(Where::Before) => Some(Insert::Before(point)),
            Some(Where::After) => Some(Insert::After(point)),
        }
    }
}

impl Draft {
    /// Puts a member, of which there may be one.
    fn put(&mut self, name: &str, text: String) -> Result<(), Problem> {
        let member = match name {
            "edit-id" => &mut self.id,
            "operation" => &mut self.operation,
            "target" => &mut self.target,
            "point" => &mut self.point,
            "where" => &mut self.place,
            "value" => &mut self.value,
            other => return Err(unknown(other, "an edit")),
        };
        match member.replace(text) {
            None => Ok(()),
            Some(_) => Err(malformed(format!("an edit has {name:?} twice"))),
        }
    }

    /// Checks that an edit has what its operation needs, and nothing else.
    fn edit(self, number: usize) -> Result<PatchEdit, Problem> {
        let id = self.id.ok_or_else(|| missing(format!("edit number {number} has no \"edit-id\"")))?;
        let name = format!("edit {id:?}");
        let operation = self.operation.ok_or_else(|| missing(format!("{name} has no \"operation\"")))?;
        let operation = Operation::of(&operation).ok_or_else(|| {
            let right = "create, delete, insert, merge, move, replace or remove";
            Problem::invalid(format!("{name}: operation must be {right}, not {operation:?}"))
        })?;
        let target = self.target.ok_or_else(|| missing(format!("{name} has no \"target\"")))?;
        let place = self.place.as_deref().map(|text| Where::of(&name, text)).transpose()?;
        check(operation.needs_value(), self.value.is_some(), (&name, "value"))?;
        let needs_point = matches!(place, Some(Where::Before | Where::After));
        check(needs_point, self.point.is_some(), (&name, "point"))?;
        if place.is_some() && !matches!(operation, Operation::Insert | Operation::Move) {
            return Err(Problem::invalid(format!("{name}: \"where\" goes with insert and move alone")));
        }
        Ok(PatchEdit { id, operation, target, place, point: self.point, value: self.value })
    }
}

/// Refuses a member that is missing, or has no business there.
fn check(is_needed: bool, is_there: bool, (edit, member): (&str, &str)) -> Result<(), Problem> {
    match (is_needed, is_there) {
        (true, false) => Err(missing(format!("{edit} needs {member:?}"))),
        (false, true) => Err(Problem::invalid(format!("{edit}: {member:?} does not go with its operation"))),
        _ => Ok(()),
    }
}

impl Operation {
    fn of(text: &str) -> Option<Self> {
        Some(match text {
            "create" => Self::Create,
            "delete" => Self::Delete,
            "insert" => Self::Insert,
            "merge" => Self::Merge,
            "move" => Self::Move,
            "replace" => Self::Replace,
            "remove" => Self::Remove,
            _ => return None,
        })
    }

    fn needs_value(self) -> bool {
        matches!(self, Self::Create | Self::Insert | Self::Merge | Self::Replace)
    }
}

impl Where {
    fn of(edit: &str, text: &str) -> Result<Self, Problem> {
        match text {
            "before" => Ok(Self::Before),
            "after" => Ok(Self::After),
            "first" => Ok(Self::First),
            "last" => Ok(Self::Last),
            other => Err(Problem::invalid(format!(
                "{edit}: where must be before, after, first or last, not {other:?}"
            ))),
        }
    }
}

type Drafts = (Option<String>, Vec<Draft>);

fn parse_json(text: &str, depth_max: usize) -> Result<Drafts, Problem> {
    // An entry of a list is an object in an array.
    let mut json = Reader::new(text, depth_max.saturating_mul(2).saturating_add(DEPTH_AROUND));
    read_json(&mut json).map_err(|stop| match stop {
        Stop::Syntax(error) if error.problem == lang_json::Problem::Depth => {
            Problem::protocol(Tag::TooBig, format!("the body nests deeper than {depth_max} nodes"))
        }
        Stop::Syntax(error) => malformed(format!("the body: {error}")),
        Stop::Refused(problem) => problem,
    })
}

/// Why a text in JSON is read no further.
enum Stop {
    Syntax(lang_json::Error),
    Refused(Problem),
}

impl From<lang_json::Error> for Stop {
    fn from(error: lang_json::Error) -> Self {
        Self::Syntax(error)
    }
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

fn read_json(json: &mut Reader<'_>) -> Result<Drafts, Stop> {
    const NAME: &str = "ietf-yang-patch:yang-patch";
    let (mut id, mut drafts) = (None, Vec::new());
    json.begin_object()?;
    if json.next_key()?.as_deref() != Some(NAME) {
        return Err(malformed(format!("the body must be an object with the one member {NAME:?}")).into());
    }
    json.begin_object()?;
    while let Some(name) = json.next_key()? {
        match &*name {
            "patch-id" => id = Some(json.string()?.into_owned()),
            "comment" => {
                json.string()?;
            }
            "edit" => {
                json.begin_array()?;
                while json.next_element()? {
                    check_count(&drafts)?;
                    drafts.push(read_edit(json)?);
                }
            }
            other => return Err(unknown(other, "the patch").into()),
        }
    }
    if json.next_key()?.is_some() {
        return Err(malformed(format!("the body must have no member beside {NAME:?}")).into());
    }
    json.end()?;
    Ok((id, drafts))
}

fn read_edit(json: &mut Reader<'_>) -> Result<Draft, Stop> {
    let mut draft = Draft::default();
    json.begin_object()?;
    while let Some(name) = json.next_key()? {
        let text = match (&*name, json.peek()?) {
            ("value", _) => json.raw()?.to_owned(),
            (_, Kind::String) => json.string()?.into_owned(),
            (name, _) => return Err(malformed(format!("{name:?} of an edit must be a string")).into()),
        };
        draft.put(&name, text)?;
    }
    Ok(draft)
}

fn check_count(drafts: &[Draft]) -> Result<(), Problem> {
    if drafts.len() < EDITS_MAX {
        return Ok(());
    }
    Err(Problem::protocol(Tag::TooBig, format!("a patch may have {EDITS_MAX} edits at the most")))
}

fn unknown(name: &str, of: &str) -> Problem {
    Problem::protocol(Tag::UnknownElement, format!("{of} has no member {name:?}"))
}

fn malformed(message: impl Into<String>) -> Problem {
    Problem::protocol(Tag::MalformedMessage, message)
}

fn missing(message: impl Into<String>) -> Problem {
    Problem::protocol(Tag::MissingElement, message)
}

#[cfg(test)]
mod tests;
