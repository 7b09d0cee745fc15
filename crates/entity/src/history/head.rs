//! Head rows: what one commit did to the instances of an entity's attributes.
//!
//! ```text
//! head    = format:u8=2  entry*
//! entry   = attribute:term  instance            an instance that was written, as it is stored (encode.rs)
//!         | attribute:term  length  removal     an instance that was removed
//! removal = 0:u8  kind:u8  time:i64  [dataset]  what it was; the dataset is the rest, empty for the default instance
//! ```
//!
//! Scopes are recorded as an attribute, [`TermId::SCOPE`]: a Property whose observedAt is its `modifiedAt` (4.5.6).
//!
//! An entry's time is the `modifiedAt` of the instance, or the time of the removal: that of the operation. A commit of
//! many operations tells of all of them, in order; the time in the row's key is that of the last.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;
use store::Timestamp;

use crate::encode::{InstanceHead, put_text, put_time, put_varint, seal};
use crate::view::Fields;
use crate::{AttributeView, EntityView, InstanceView, Kind, Malformed, TermId, scope_value};

const FORMAT: u8 = 2;
/// In place of the kind of an instance: no kind has this number.
const REMOVAL: u8 = 0;
/// From so many on, attributes and datasets are found by hash.
const FEW: usize = 16;

/// What happened to an instance.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Of which attribute.
    pub attribute: TermId,
    /// Of which datasetId; `None` for the default instance.
    pub dataset: Option<&'a str>,
    /// When it happened.
    pub time: Timestamp,
    /// What happened.
    pub what: What<'a>,
}

/// See [`Entry`].
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// This was written.
    Written(InstanceView<'a>),
    /// One of this kind was removed.
    Removed(Kind),
}

/// Appends what an operation at `now` did that made `after` of `before`; nothing if no instance was touched.
///
/// Instances written are those of `touched` attributes with the time `now`, which no other operation on the entity has.
/// Cost: one copy of them.
pub fn put_entries(
    out: &mut Vec<u8>,
    before: Option<&EntityView<'_>>,
    after: Option<&EntityView<'_>>,
    touched: &[TermId],
    now: Timestamp,
) {
    let first = out.len();
    if out.is_empty() {
        out.push(FORMAT);
    }
    let start = out.len();
    put_scope_entry(out, before, after, now);
    // What expired goes with any write, reported or not.
    let all = before.is_some_and(EntityView::is_transient);
    let mut sorted: SmallVec<[TermId; 8]> = touched.into();
    sorted.sort_unstable();
    let is_touched = |attribute: &AttributeView<'_>| all || sorted.binary_search(&attribute.name()).is_ok();
    let left = Attributes::of(after, if all { usize::MAX } else { touched.len() });
    for attribute in before.iter().flat_map(|view| view.attributes()).filter(is_touched) {
        put_removals(out, &attribute, left.get(attribute.name()), now);
    }
    for attribute in after.iter().flat_map(|view| view.attributes()).filter(is_touched) {
        for instance in attribute.instances().filter(|instance| instance.modified_at() == now) {
            put_varint(out, u64::from(attribute.name().0));
            out.extend_from_slice(instance.bytes());
        }
    }
    if out.len() == start {
        out.truncate(first);
    }
}

/// The attributes of an entity, found by name: by a walk where few are asked for, by hash beyond.
struct Attributes<'a> {
    view: Option<&'a EntityView<'a>>,
    by_name: Option<HashMap<TermId, AttributeView<'a>>>,
}

impl<'a> Attributes<'a> {
    fn of(view: Option<&'a EntityView<'a>>, asked: usize) -> Self {
        let attributes = || view.into_iter().flat_map(|view| view.attributes());
        let by_name = (asked > FEW).then(|| attributes().map(|one| (one.name(), one)).collect());
        Self { view, by_name }
    }

    fn get(&self, name: TermId) -> Option<AttributeView<'a>> {
        match &self.by_name {
            None => self.view.and_then(|view| view.attribute(name)),
            Some(by_name) => by_name.get(&name).copied(),
        }
    }
}

/// Appends the removals of instances of `before` that are not `left`. Datasets differ within an attribute.
fn put_removals(
    out: &mut Vec<u8>,
    before: &AttributeView<'_>,
    left: Option<AttributeView<'_>>,
    now: Timestamp,
) {
    let many = before.instances().nth(FEW).is_some();
    let datasets: Option<HashSet<Option<&str>>> =
        left.filter(|_| many).map(|left| left.instances().map(|instance| instance.dataset()).collect());
    for instance in before.instances() {
        let dataset = instance.dataset();
        let stays = match &datasets {
            Some(datasets) => datasets.contains(&dataset),
            None => left.is_some_and(|left| left.instance(dataset).is_some()),
        };
        if !stays {
            put_removal(out, before.name(), instance.kind(), dataset, now);
        }
    }
}

/// What became of the scopes, if anything.
fn put_scope_entry<'v>(
    out: &mut Vec<u8>,
    before: Option<&'v EntityView<'v>>,
    after: Option<&'v EntityView<'v>>,
    now: Timestamp,
) {
    let with_time = |view: &'v EntityView<'v>| view.scoped_at().map(|scoped| (view, scoped));
    let (before, after) = (before.and_then(with_time), after.and_then(with_time));
    match (before, after) {
        (Some((before, since)), Some((after, scoped)))
            if since == scoped && before.scopes().eq(after.scopes()) => {}
        (_, Some((after, scoped))) => {
            put_varint(out, u64::from(TermId::SCOPE.0));
            let start = out.len();
            let head = InstanceHead {
                kind: Kind::Property,
                created: scoped,
                modified: now,
                observed: Some(now),
                expires: None,
                dataset: None,
                unit: None,
                has_extras: false,
            };
            head.put(out);
            put_text(out, &scope_value(after.scopes()));
            seal(out, start);
        }
        (Some(_), None) => put_removal(out, TermId::SCOPE, Kind::Property, None, now),
        (None, None) => {}
    }
}

fn put_removal(out: &mut Vec<u8>, attribute: TermId, kind: Kind, dataset: Option<&str>, time: Timestamp) {
    put_varint(out, u64::from(attribute.0));
    let start = out.len();
    out.extend_from_slice(&[REMOVAL, kind as u8]);
    put_time(out, time);
    out.extend_from_slice(dataset.unwrap_or("").as_bytes());
    seal(out, start);
}

/// The entries of a head row, in order.
///
/// # Errors
///
/// If the bytes are no head row of a known format. Entries end early where they are damaged behind that.
pub fn entries(value: &[u8]) -> Result<impl Iterator<Item = Result<Entry<'_>, Malformed>>, Malformed> {
    let mut fields = Fields::new(value);
    if fields.byte() != Some(FORMAT) {
        return Err(Malformed);
    }
    Ok(std::iter::from_fn(move || {
        if fields.is_empty() {
            return None;
        }
        let entry = entry(&mut fields);
        if entry.is_none() {
            fields = Fields::new(&[]);
        }
        Some(entry.ok_or(Malformed))
    }))
}

fn entry<'a>(fields: &mut Fields<'a>) -> Option<Entry<'a>> {
    let attribute = fields.term()?;
    let whole = fields.rest();
    let body = fields.bytes()?;
    let whole = whole.get(..whole.len() - fields.rest().len())?;
    if body.first() == Some(&REMOVAL) {
        let mut rest = Fields::new(body.get(1..)?);
        let kind = Kind::from_stored(rest.byte()?)?;
        let time = rest.time()?;
        let dataset = std::str::from_utf8(rest.rest()).ok()?;
        let dataset = Some(dataset).filter(|dataset| !dataset.is_empty());
        return Some(Entry { attribute, dataset, time, what: What::Removed(kind) });
    }
    let instance = InstanceView::body(body, whole)?;
    let (dataset, time) = (instance.dataset(), instance.modified_at());
    Some(Entry { attribute, dataset, time, what: What::Written(instance) })
}
