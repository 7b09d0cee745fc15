//! What an operation makes of an entity: pure, synchronous; no clock, no store, no chance.
//!
//! Decisions where the standard leaves room (NGSI-LD, ETSI GS CIM 009):
//! - writing a value equal to the existing one is a change: `modifiedAt` moves, subscribers hear of it.
//!   `Unchanged` is only what touches no attribute, type, scope or expiry;
//! - an instance keeps its position and its createdAt for as long as there is an instance of that attribute with
//!   that datasetId, whatever operation writes it; `modifiedAt` of other instances stays;
//! - what an operation gives is checked before the entity is: a draft that no entity could take is refused as such
//!   even where there is no entity;
//! - Merge (5.6.17) of an instance of another kind replaces it; PatchAttribute (5.6.4) refuses it;
//! - types given are added by Append, Merge and Update, and set by Replace; scopes given are set, but added by an Append
//!   that overwrites nothing, and ignored by an Update of an entity without scopes;
//! - what has expired is not there: it is not merged with, and its rows go with the next write.

mod given;
mod check;
mod header;
mod merge;
mod rules;
mod edit;
mod cut;

#[cfg(test)]
mod tests;

use smallvec::SmallVec;
use store::{Timestamp, Write};

use crate::encode::{any_expires, encode_as, put_names, put_times};
use crate::expiry::{Live, live, set_transient};
use crate::index::{IndexRows, Indexed, diff, index_rows};
use crate::{
    Attribute, AttributeView, Change, Draft, EntityView, Error, Fate, Limit, LimitName, Operation, TermId,
};

use check::{check_new, check_operation};
use edit::Editor;
use header::{Header, Scopes};
use rules::{Cut, OnExisting, OnMissing, Rules};

pub use check::check_history;
pub use check::{
    ATTRIBUTES_MAX, ID_BYTES_MAX, INSTANCES_MAX, SCOPE_BYTES_MAX, SCOPES_MAX, SUB_ATTRIBUTES_MAX, TYPES_MAX,
};

/// What there is to write.
#[derive(Debug)]
pub struct Outcome {
    /// The new stored form; `None` if the entity is to be removed, or nothing is to be written
    /// ([`Fate`] says which).
    pub bytes: Option<Vec<u8>>,
    /// Index rows to put and to delete.
    pub writes: Vec<Write>,
    /// What to report.
    pub change: Change,
    /// The types before and after, each once.
    pub types: SmallVec<[TermId; 2]>,
}

/// What holds for all writes of a tenant.
#[derive(Clone, Copy)]
pub struct WriteRules<'a> {
    /// The largest stored entity.
    pub entity_bytes_max: usize,
    /// Which attributes have index rows.
    pub indexed: &'a Indexed,
}

#[cfg(any(test, feature = "testing"))]
impl WriteRules<'static> {
    /// All attributes indexed, and entities of any size.
    pub const FREE: Self = Self { entity_bytes_max: usize::MAX, indexed: &Indexed::All };
}

/// What `operation` makes of the entity `id`, which is stored as `stored`.
/// Cost: untouched attributes are copied, touched ones written anew; index rows of touched ones are compared.
///
/// # Errors
///
/// What the operation refuses; if the stored entity is damaged.
pub fn apply(
    stored: Option<&EntityView<'_>>,
    id: &str,
    operation: &Operation,
    now: Timestamp,
    rules: WriteRules<'_>,
) -> Result<Outcome, Error> {
    let WriteRules { entity_bytes_max: bytes_max, indexed } = rules;
    check_operation(id, operation)?;
    let part;
    let part_view;
    let existing = match stored.map(|view| live(view, now)) {
        None | Some(Live::Gone) => None,
        Some(Live::Whole) => stored,
        Some(Live::Part(bytes, _)) => {
            part = bytes;
            part_view = EntityView::parse(&part)?;
            Some(&part_view)
        }
    };
    let outcome = match (operation, existing) {
        (Operation::Create(_), Some(_)) => Err(Error::AlreadyExists(id.into())),
        (
            Operation::Create(draft) | Operation::UpsertReplace(draft) | Operation::UpsertUpdate(draft),
            None,
        ) => create(stored, id, draft, now, indexed),
        (_, None) => Err(Error::NoSuchEntity(id.into())),
        (Operation::Delete, Some(view)) => Ok(delete(stored.unwrap_or(view), indexed)),
        (operation, Some(view)) => edit(stored.unwrap_or(view), view, operation, (now, indexed)),
    }?;
    let size = outcome.bytes.as_ref().map_or(0, Vec::len);
    Limit::check(LimitName::EntityBytes, bytes_max, size)?;
    Ok(outcome)
}

/// What expiry makes of a stored entity; `None` if nothing of it has expired.
///
/// # Errors
///
/// If the stored entity is damaged.
pub fn apply_expiry(
    stored: &EntityView<'_>,
    now: Timestamp,
    indexed: &Indexed,
) -> Result<Option<Outcome>, Error> {
    let (part, cut) = match live(stored, now) {
        Live::Whole => return Ok(None),
        Live::Gone => return Ok(Some(delete(stored, indexed))),
        Live::Part(part, cut) => (part, cut),
    };
    let view = EntityView::parse(&part)?;
    let mut writes = Vec::new();
    diff(&index_rows(stored, indexed), &index_rows(&view, indexed), &mut writes);
    let change = Change { fate: Fate::Updated, updated: cut.into(), ..Change::default() };
    let types = view.types().collect();
    Ok(Some(Outcome { bytes: Some(part), writes, change, types }))
}

fn create(
    stored: Option<&EntityView<'_>>,
    id: &str,
    draft: &Draft,
    now: Timestamp,
    indexed: &Indexed,
) -> Result<Outcome, Error> {
    if draft.types.is_empty() {
        return Err(Error::Invalid("type is missing".into()));
    }
    check_new(&draft.attributes)?;
    let bytes = encode_as(id, draft, now, now);
    let view = EntityView::parse(&bytes)?;
    let mut writes = Vec::with_capacity(24);
    let before = stored.map_or_else(IndexRows::default, |stored| index_rows(stored, indexed));
    diff(&before, &index_rows(&view, indexed), &mut writes);
    let updated = draft.attributes.iter().map(|attribute| attribute.name).collect();
    let change = Change { fate: Fate::Created, updated, ..Change::default() };
    let types = view.types().collect();
    Ok(Outcome { bytes: Some(bytes), writes, change, types })
}

fn delete(stored: &EntityView<'_>, indexed: &Indexed) -> Outcome {
    let mut writes = Vec::new();
    diff(&index_rows(stored, indexed), &IndexRows::default(), &mut writes);
    let updated = stored.attributes().map(|attribute| attribute.name()).collect();
    let change = Change { fate: Fate::Deleted, updated, ..Change::default() };
    Outcome { bytes: None, writes, change, types: stored.types().collect() }
}

/// What an operation on an existing entity comes to.
struct Plan<'a> {
    header: Header<'a>,
    given: &'a [Attribute],
    rules: Rules<'a>,
    cut: Option<Cut<'a>>,
}

fn plan(operation: &Operation) -> Plan<'_> {
    let edit = |draft, on_existing, on_missing| Plan {
        header: Header::adding(draft, Scopes::given(draft, Scopes::Set)),
        given: &draft.attributes,
        rules: Rules { others_stay: true, siblings_stay: true, on_existing, on_missing },
        cut: None,
    };
    match operation {
        Operation::Create(draft) | Operation::Replace(draft) | Operation::UpsertReplace(draft) => Plan {
            header: Header::setting(draft),
            given: &draft.attributes,
            rules: Rules::replacing(),
            cut: None,
        },
        Operation::Merge(draft, options) => edit(draft, OnExisting::Merge(options), OnMissing::Add),
        Operation::Update(draft) => Plan {
            header: Header::adding(draft, Scopes::given(draft, Scopes::Update)),
            ..edit(draft, OnExisting::Replace, OnMissing::Add)
        },
        Operation::Append { draft, keep_existing } => {
            let on_existing = if *keep_existing { OnExisting::Keep } else { OnExisting::Replace };
            let change = if *keep_existing { Scopes::Add } else { Scopes::Set };
            let header = Header::adding(draft, Scopes::given(draft, change));
            Plan { header, ..edit(draft, on_existing, OnMissing::Add) }
        }
        Operation::UpsertUpdate(draft) => edit(draft, OnExisting::Replace, OnMissing::Add),
        Operation::PatchAttribute(attribute) => Plan::attribute(attribute, OnExisting::Patch),
        Operation::ReplaceAttribute(attribute) => Plan::attribute(attribute, OnExisting::Replace),
        Operation::DeleteAttribute { name, instances } => Plan::cutting(Cut::Instances(*name, instances)),
        Operation::Retain { names, keep } => Plan::cutting(Cut::Attributes { names, keep: *keep }),
        Operation::DeleteScopes => {
            let header = Header { scopes: Scopes::Set(&[]), ..Header::default() };
            Plan { header, ..Plan::cutting(Cut::Attributes { names: &[], keep: false }) }
        }
        Operation::Delete => Plan::cutting(Cut::Attributes { names: &[], keep: true }),
    }
}

impl<'a> Plan<'a> {
    fn attribute(attribute: &'a Attribute, on_existing: OnExisting<'a>) -> Self {
        Self {
            header: Header::default(),
            given: std::slice::from_ref(attribute),
            rules: Rules {
                others_stay: true,
                siblings_stay: true,
                on_existing,
                on_missing: OnMissing::Refuse,
            },
            cut: None,
        }
    }

    fn cutting(cut: Cut<'a>) -> Self {
        Self { header: Header::default(), given: &[], rules: Rules::replacing(), cut: Some(cut) }
    }
}

/// `stored`: what is in the rows; `existing`: what of it has not expired.
fn edit(
    stored: &EntityView<'_>,
    existing: &EntityView<'_>,
    operation: &Operation,
    (now, indexed): (Timestamp, &Indexed),
) -> Result<Outcome, Error> {
    let Plan { header, given, rules, cut } = plan(operation);
    if matches!(operation, Operation::DeleteScopes) && existing.scoped_at().is_none() {
        return Err(Error::NoSuchAttribute(TermId::SCOPE, None));
    }
    let (types, scopes) = (header.types(existing)?, header.scopes(existing)?);
    let expires = if header.set_expiry { header.expires } else { header.expires.or(existing.expires_at()) };
    let mut out = Vec::with_capacity(existing.bytes().len() + 256);
    put_times(&mut out, existing.created_at(), now, expires, false);
    if types.is_none() && scopes.is_none() {
        out.extend_from_slice(existing.names());
    } else {
        let types = types.clone().unwrap_or_else(|| existing.types().collect());
        let scopes = scopes.clone().unwrap_or_else(|| existing.scopes().collect());
        put_names(
            &mut out,
            existing.id(),
            &types,
            scopes.iter().copied(),
            existing.scoped_at().unwrap_or(now),
        );
    }
    let mut editor = Editor::new(out, now);
    match &cut {
        Some(cut) => editor.cut_attributes(existing, cut)?,
        None => editor.edit_attributes(&existing.attributes(), given, rules)?,
    }
    let Editor { mut out, mut change, .. } = editor;
    change.scoped = scopes.is_some();
    let header_changed = types.is_some() || scopes.is_some() || expires != existing.expires_at();
    let existing_types = existing.types().collect();
    if change.updated.is_empty() && !header_changed {
        change.fate = Fate::Unchanged;
        return Ok(Outcome { bytes: None, writes: Vec::new(), change, types: existing_types });
    }
    change.fate = Fate::Updated;
    if expires.is_some() || existing.is_transient() || any_expires(given) {
        let view = EntityView::parse(&out)?;
        let mut instances = view.attributes().flat_map(|attribute| attribute.instances());
        let transient = expires.is_some() || instances.any(|instance| instance.expires_at().is_some());
        drop(instances);
        set_transient(&mut out, transient);
    }
    let view = EntityView::parse(&out)?;
    let mut writes = Vec::with_capacity(8);
    if types.is_some() || !std::ptr::eq(stored.bytes(), existing.bytes()) {
        diff(&index_rows(stored, indexed), &index_rows(&view, indexed), &mut writes);
    } else {
        let scopes_changed = scopes.is_some();
        let rows = |view| touched_rows(view, &existing_types, (&change.updated, indexed), scopes_changed);
        diff(&rows(existing), &rows(&view), &mut writes);
    }
    let types = existing_types
        .into_iter()
        .chain(types.into_iter().flatten().filter(|new| !existing.types().any(|of| of == *new)));
    let types = types.collect();
    Ok(Outcome { bytes: Some(out), writes, change, types })
}

/// The rows an edit can change that leaves the types as they are.
fn touched_rows(
    view: &EntityView<'_>,
    types: &[TermId],
    (touched, indexed): (&[TermId], &Indexed),
    scopes: bool,
) -> IndexRows {
    let mut rows = IndexRows::default();
    if scopes {
        rows.add_scopes(view.id(), view.scopes());
    }
    if view.is_transient() {
        rows.add_expiries(view);
    }
    let mut sorted: SmallVec<[TermId; 8]> =
        touched.iter().copied().filter(|name| indexed.holds(*name)).collect();
    if !sorted.is_empty() {
        sorted.sort_unstable();
        let touched = |attribute: &AttributeView<'_>| sorted.binary_search(&attribute.name()).is_ok();
        for attribute in view.attributes().filter(touched) {
            rows.add_attribute(view.id(), types, &attribute);
        }
    }
    rows.finish();
    rows
}
