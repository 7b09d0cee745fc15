//! The stored form of an entity, written. `view.rs` reads it; the layout:
//!
//! ```text
//! entity    = format:u8=2  created:i64  modified:i64  flags:u8  [expires:i64]
//!             id:text  types:(count, term*)  scopes:(count, [created:i64, text*])  attribute*
//! attribute = name:term  length  instance*            length: bytes of the instances
//! instance  = length  kind:u8  flags:u8  created:i64  modified:i64
//!             [observed:i64] [expires:i64] [dataset:text] [unit:text]
//!             value:text  [extras:(count, (tag:u8, text)*)]  attribute*
//! text      = length bytes;  term, length, count = varint (LEB128);  i64 little-endian
//! ```
//!
//! Attributes can thus be copied or passed over whole without reading them.

use store::Timestamp;
pub use store::wire::{put_text, put_varint};

use crate::{Attribute, Draft, Instance, Kind, TermId};

pub(crate) const FORMAT: u8 = 2;
/// Where the time of the last change is: after the format and one time.
const MODIFIED_AT: usize = 9;
/// Where an entity's flags stand: behind format and two times.
pub const FLAGS_AT: usize = 17;
pub(crate) const FLAG_EXPIRES: u8 = 1;
pub(crate) const FLAG_OBSERVED: u8 = 2;
pub(crate) const FLAG_DATASET: u8 = 4;
pub(crate) const FLAG_UNIT: u8 = 8;
pub(crate) const FLAG_EXTRAS: u8 = 16;
/// Of an entity: it, or an instance of one of its attributes, expires.
pub const FLAG_TRANSIENT: u8 = 32;

/// Appends a time.
pub fn put_time(out: &mut Vec<u8>, time: Timestamp) {
    out.extend_from_slice(&time.0.to_le_bytes());
}

/// Appends what comes before the id. The flags byte is at [`FLAGS_AT`].
pub fn put_times(
    out: &mut Vec<u8>,
    created: Timestamp,
    modified: Timestamp,
    expires: Option<Timestamp>,
    transient: bool,
) {
    out.push(FORMAT);
    put_time(out, created);
    put_time(out, modified);
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(flag(expires.is_some(), FLAG_EXPIRES) | flag(transient, FLAG_TRANSIENT));
    if let Some(expires) = expires {
        put_time(out, expires);
    }
}

/// Says in a stored form when it was changed.
pub fn set_modified(stored: &mut [u8], modified: Timestamp) {
    let slot = stored.get_mut(MODIFIED_AT..FLAGS_AT).expect("an entity has times");
    slot.copy_from_slice(&modified.0.to_le_bytes());
}

/// Appends what comes between the times and the attributes. A type given twice is stored once. `scoped`: since when the entity
/// has scopes, if it has any.
pub fn put_names<'a>(
    out: &mut Vec<u8>,
    id: &str,
    types: &[TermId],
    scopes: impl ExactSizeIterator<Item = &'a str>,
    scoped: Timestamp,
) {
    put_text(out, id);
    let first =
        |(index, of_type): &(usize, &TermId)| !types.iter().take(*index).any(|before| before == *of_type);
    put_varint(out, types.iter().enumerate().filter(first).count() as u64);
    for (_, of_type) in types.iter().enumerate().filter(first) {
        put_varint(out, u64::from(of_type.0));
    }
    put_varint(out, scopes.len() as u64);
    if scopes.len() > 0 {
        put_time(out, scoped);
    }
    for scope in scopes {
        put_text(out, scope);
    }
}

/// Puts the length of what was appended since `start` in front of it.
pub fn seal(out: &mut Vec<u8>, start: usize) {
    let length = out.len() - start;
    put_varint(out, length as u64);
    let size = out.len() - start - length;
    out.get_mut(start..).expect("something was appended since").rotate_right(size);
}

/// Appends an attribute all of whose instances have these times.
pub fn put_attribute(out: &mut Vec<u8>, attribute: &Attribute, created: Timestamp, modified: Timestamp) {
    put_varint(out, u64::from(attribute.name.0));
    let start = out.len();
    for instance in &attribute.instances {
        put_instance(out, instance, created, modified);
    }
    seal(out, start);
}

/// What comes before the value of an instance.
pub struct InstanceHead<'a> {
    /// What kind of value it has.
    pub kind: Kind,
    /// When it was created.
    pub created: Timestamp,
    /// When it was last changed.
    pub modified: Timestamp,
    /// When the value was observed.
    pub observed: Option<Timestamp>,
    /// When it ceases to be.
    pub expires: Option<Timestamp>,
    /// The datasetId; `None` for the default instance.
    pub dataset: Option<&'a str>,
    /// The unit.
    pub unit: Option<&'a str>,
    /// Whether members that ride along follow the value.
    pub has_extras: bool,
}

impl InstanceHead<'_> {
    /// Appends it.
    pub fn put(&self, out: &mut Vec<u8>) {
        out.push(self.kind as u8);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        out.push(
            flag(self.observed.is_some(), FLAG_OBSERVED)
                | flag(self.expires.is_some(), FLAG_EXPIRES)
                | flag(self.dataset.is_some(), FLAG_DATASET)
                | flag(self.unit.is_some(), FLAG_UNIT)
                | flag(self.has_extras, FLAG_EXTRAS),
        );
        put_time(out, self.created);
        put_time(out, self.modified);
        for time in [self.observed, self.expires].into_iter().flatten() {
            put_time(out, time);
        }
        for text in [self.dataset, self.unit].into_iter().flatten() {
            put_text(out, text);
        }
    }
}

/// Appends an instance with these times; one without a value, which `apply` refuses, as `null`.
pub fn put_instance(out: &mut Vec<u8>, instance: &Instance, created: Timestamp, modified: Timestamp) {
    let start = out.len();
    let head = InstanceHead {
        kind: instance.kind.unwrap_or(Kind::Property),
        created,
        modified,
        observed: instance.observed_at,
        expires: instance.expires_at,
        dataset: instance.dataset.as_deref(),
        unit: instance.unit_code.as_deref(),
        has_extras: !instance.extras.is_empty(),
    };
    head.put(out);
    put_text(out, instance.value.as_deref().unwrap_or("null"));
    if !instance.extras.is_empty() {
        put_varint(out, instance.extras.len() as u64);
        for (tag, text) in &instance.extras {
            out.push(*tag as u8);
            put_text(out, text);
        }
    }
    for member in &instance.members {
        put_attribute(out, member, created, modified);
    }
    seal(out, start);
}

/// Whether an instance of one of the attributes expires.
pub fn any_expires(attributes: &[Attribute]) -> bool {
    attributes.iter().flat_map(|attribute| &attribute.instances).any(|instance| instance.expires_at.is_some())
}

/// The stored form of an entity all of whose parts have these times. Cost: one pass, one buffer.
pub fn encode(draft: &Draft, created: Timestamp, modified: Timestamp) -> Vec<u8> {
    encode_as(&draft.id, draft, created, modified)
}

/// The same, under this id.
pub fn encode_as(id: &str, draft: &Draft, created: Timestamp, modified: Timestamp) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    let transient = draft.expires_at.is_some() || any_expires(&draft.attributes);
    put_times(&mut out, created, modified, draft.expires_at, transient);
    put_names(&mut out, id, &draft.types, draft.scopes().iter().map(|scope| &**scope), created);
    for attribute in &draft.attributes {
        put_attribute(&mut out, attribute, created, modified);
    }
    out
}
