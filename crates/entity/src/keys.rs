//! The key page: every row this crate stores, how its key is built, and how it is read back.
//!
//! ```text
//! partition                     row                                value
//! entities/{tenant}/{bucket}    e id                               entity (encode.rs), stamped
//! entities/{tenant}/{bucket}    T type id                          nothing      finds by type, in id order
//! entities/{tenant}/{bucket}    V type attribute class value id    nothing      finds by value, sorted; of indexed attributes
//! entities/{tenant}/{bucket}    S scope 00 id                      nothing      finds by scope
//! entities/{tenant}/{bucket}    G type attribute cell id           nothing      finds by geometry; of indexed attributes
//! entities/{tenant}/{bucket}    u type attribute                   id           an attribute that entities of the type have (in_use.rs), stamped
//! entities/{tenant}/{bucket}    X time id                          nothing      finds what expires
//! entities/{tenant}/{bucket}    H id 00 time                       instances    head row: what a commit did (history/head.rs)
//! entities/{tenant}/{bucket}    f id                               time         head rows up to it are folded; stamped
//! entities/{tenant}/{bucket}    o id                               header       history without an entity (history/header.rs), stamped
//! entities/{tenant}/{bucket}    P type id                          nothing      finds histories by the types their entity had when it went
//! entities/{tenant}/{bucket}    k id                               nothing      the entity was moved here (rebucket.rs)
//! history/{tenant}/{bucket}     rows of `strands`, named            id 00 attribute dataset 00
//! history/{tenant}/{bucket}     m name                             nothing      the strand holds instances that were changed later
//! terms/{tenant}/0              rows of `store::terms`                          names of types and attributes
//! consumers/{tenant}/0          a                                  register     how many consumers there are (consumers.rs), stamped
//! consumers/{tenant}/0          b                                  layout       over how many buckets entities are spread (layout.rs), stamped
//! consumers/{tenant}/0          c name                             nothing      a consumer
//! consumers/{tenant}/0          x                                  register     which attributes are indexed (indexes.rs), stamped
//! ```
//!
//! Types, attributes and terms are four bytes, cells eight, big-endian; times are eight bytes in
//! the order of time. `class value` is an [`IndexValue`] (`keys/value.rs`). The id is the tail of
//! a key (but of head rows), so it needs no terminator, and rows that agree in all before it come in id order.
//!
//! Over how many buckets the entities of a tenant are spread is stored in the store's directory of tenants (`u32`).
//!
//! The history of an entity is in one partition of its own (its strands), for which the bucket is that of the id among
//! [`HISTORY_BUCKETS`].
//!
//! An indexed attribute has at least one `V` row for each type of its entity.
//!
//! An index key may represent more values than one (texts are cut): what it finds is looked up and checked.

mod value;
mod ranges;

#[cfg(test)]
mod tests;

use bytes::Bytes;
use store::key::{i64_of_ordered, ordered_i64};
use store::{Model, Partition, Space, SpaceKind, Tenant, Timestamp};

pub use ranges::{
    all_in_use_range, attribute_range, cell_range, consumers_range, entities_range, entity_range,
    expired_range, finding_ranges, folded_range, heads_from, heads_range, history_headers_range,
    history_type_range, history_types_range, in_use_range, moved_range, scope_prefix_range, scope_range,
    text_prefix_range, type_range, types_from, value_bounds, value_range,
};
pub use store::key::put_escaped;
pub use value::{Class, IndexValue};

use crate::TermId;

/// Whose change records these are.
pub const MODEL: Model = Model { id: 1, name: "entities" };
/// Entities and their index rows.
pub const ENTITIES: Space = Space { id: 1, kind: SpaceKind::Commit, name: "entities" };
/// What attributes were: strands.
pub const HISTORY: Space = Space { id: 4, kind: SpaceKind::Commit, name: "history" };
/// Buckets that histories are spread over: a power of two, for ever the same.
pub const HISTORY_BUCKETS: u32 = 65_536;
/// Names of types and attributes.
pub const TERMS: Space = Space { id: 2, kind: SpaceKind::Commit, name: "terms" };
/// Who reads changes with states.
pub const CONSUMERS: Space = Space { id: 5, kind: SpaceKind::Commit, name: "consumers" };

/// First bytes of keys: the kind of row. Capital letters: found by scans only ([`store::Write`]).
pub const ENTITY: u8 = b'e';
pub(crate) const TYPE: u8 = b'T';
pub(crate) const VALUE: u8 = b'V';
pub(crate) const SCOPE: u8 = b'S';
pub(crate) const CELL: u8 = b'G';
/// Row `X`: finds what expires.
pub const EXPIRY: u8 = b'X';
/// Row `H`: what a commit did.
pub const HEAD: u8 = b'H';
/// Row `f`: up to when head rows are folded.
pub const FOLDED: u8 = b'f';
/// Row `o`: history without an entity.
pub const HISTORY_HEADER: u8 = b'o';
/// Row `P`: finds history without an entity by type.
pub const HISTORY_TYPE: u8 = b'P';
const MOVED: u8 = b'k';
/// Row `u`: an attribute that entities of a type have.
pub const IN_USE: u8 = b'u';
/// A kind that rows of strands do not have.
const CHANGED: u8 = b'm';
/// Ends an id, and a datasetId, where something follows.
const TERMINATOR: u8 = 0;
const REGISTER: u8 = b'a';
const LAYOUT: u8 = b'b';
const CONSUMER: u8 = b'c';
const INDEX_REGISTER: u8 = b'x';

/// Where the entities of one bucket of a tenant live.
pub fn entities_partition(tenant: &Tenant, bucket: u32) -> Partition {
    Partition { tenant: tenant.clone(), space: ENTITIES, bucket }
}

/// Where the strands of an entity live.
pub fn history_partition(tenant: &Tenant, id: &str) -> Partition {
    let bucket = store::bucket_of(id.as_bytes(), HISTORY_BUCKETS);
    Partition { tenant: tenant.clone(), space: HISTORY, bucket }
}

/// Where a tenant's terms live.
pub fn terms_partition(tenant: &Tenant) -> Partition {
    Partition { tenant: tenant.clone(), space: TERMS, bucket: 0 }
}

/// Where a tenant's consumers are registered.
pub fn consumers_partition(tenant: &Tenant) -> Partition {
    Partition { tenant: tenant.clone(), space: CONSUMERS, bucket: 0 }
}

/// Whether a key is that of an index row of an entity that is there.
pub fn is_index_of_entity(key: &[u8]) -> bool {
    matches!(key.first(), Some(&(TYPE | VALUE | SCOPE | CELL | EXPIRY)))
}

// Builders append to a buffer: many keys share one allocation.

/// Row `e`.
pub fn put_entity(out: &mut Vec<u8>, id: &str) {
    out.push(ENTITY);
    out.extend_from_slice(id.as_bytes());
}

/// Row `T`.
pub fn put_type(out: &mut Vec<u8>, of_type: TermId, id: &str) {
    put_type_prefix(out, of_type);
    out.extend_from_slice(id.as_bytes());
}

fn put_type_prefix(out: &mut Vec<u8>, of_type: TermId) {
    out.push(TYPE);
    out.extend_from_slice(&of_type.0.to_be_bytes());
}

/// The part of rows `V` and `G` before class or cell, and of row `u` all.
pub fn put_attribute_prefix(out: &mut Vec<u8>, row: u8, of_type: TermId, attribute: TermId) {
    out.push(row);
    out.extend_from_slice(&of_type.0.to_be_bytes());
    out.extend_from_slice(&attribute.0.to_be_bytes());
}

/// Row `V`.
#[cfg(test)]
pub fn put_value(out: &mut Vec<u8>, of_type: TermId, attribute: TermId, value: IndexValue<'_>, id: &str) {
    put_attribute_prefix(out, VALUE, of_type, attribute);
    value.put(out);
    out.extend_from_slice(id.as_bytes());
}

/// Row `S`.
pub fn put_scope(out: &mut Vec<u8>, scope: &str, id: &str) {
    out.push(SCOPE);
    put_escaped(out, scope.as_bytes());
    out.push(0);
    out.extend_from_slice(id.as_bytes());
}

/// Row `G`.
pub fn put_cell(out: &mut Vec<u8>, of_type: TermId, attribute: TermId, cell: u64, id: &str) {
    put_attribute_prefix(out, CELL, of_type, attribute);
    out.extend_from_slice(&cell.to_be_bytes());
    out.extend_from_slice(id.as_bytes());
}

/// Row `X`.
pub fn put_expiry(out: &mut Vec<u8>, time: Timestamp, id: &str) {
    out.push(EXPIRY);
    out.extend_from_slice(&ordered_i64(time.0));
    out.extend_from_slice(id.as_bytes());
}

/// Row `H`.
pub fn put_head(out: &mut Vec<u8>, id: &str, time: Timestamp) {
    out.push(HEAD);
    out.extend_from_slice(id.as_bytes());
    out.push(TERMINATOR);
    out.extend_from_slice(&ordered_i64(time.0));
}

/// Id and time in the key of a head row.
pub fn head_of_key(key: &[u8]) -> Option<(&str, Timestamp)> {
    let (rest, time) = key.strip_prefix(&[HEAD])?.split_last_chunk::<8>()?;
    let id = rest.strip_suffix(&[TERMINATOR])?;
    Some((std::str::from_utf8(id).ok()?, Timestamp(i64_of_ordered(*time))))
}

/// Row `f`.
pub fn folded(id: &str) -> Bytes {
    of_id(FOLDED, id)
}

/// Row `o`.
pub fn history_header(id: &str) -> Bytes {
    of_id(HISTORY_HEADER, id)
}

/// Row `P`.
pub fn history_type(of_type: TermId, id: &str) -> Bytes {
    let mut key = Vec::with_capacity(5 + id.len());
    put_history_type(&mut key, of_type, id);
    key.into()
}

fn put_history_type(out: &mut Vec<u8>, of_type: TermId, id: &str) {
    out.push(HISTORY_TYPE);
    out.extend_from_slice(&of_type.0.to_be_bytes());
    out.extend_from_slice(id.as_bytes());
}

/// Row `k`.
pub fn moved(id: &str) -> Bytes {
    of_id(MOVED, id)
}

fn of_id(row: u8, id: &str) -> Bytes {
    let mut key = Vec::with_capacity(1 + id.len());
    key.push(row);
    key.extend_from_slice(id.as_bytes());
    key.into()
}

/// The name of the strand of an attribute's dataset. Neither id nor dataset holds a zero byte.
pub fn strand_name(id: &str, attribute: TermId, dataset: Option<&str>) -> Bytes {
    let dataset = dataset.unwrap_or("");
    let mut name = strands_prefix(id, 5 + dataset.len());
    name.extend_from_slice(&attribute.0.to_be_bytes());
    name.extend_from_slice(dataset.as_bytes());
    name.push(TERMINATOR);
    name.into()
}

/// Row `m`.
pub fn changed(strand_name: &[u8]) -> Bytes {
    [&[CHANGED], strand_name].concat().into()
}

/// What the names of all strands of an entity begin with; room for so many bytes more.
pub fn strands_prefix(id: &str, room: usize) -> Vec<u8> {
    let mut name = Vec::with_capacity(id.len() + 1 + room);
    name.extend_from_slice(id.as_bytes());
    name.push(TERMINATOR);
    name
}

/// Attribute and dataset in the name of a strand of `id`.
pub fn attribute_of_strand<'a>(name: &'a [u8], id: &str) -> Option<(TermId, Option<&'a str>)> {
    let rest = name.strip_prefix(id.as_bytes())?.strip_prefix(&[TERMINATOR])?;
    let (attribute, dataset) = rest.split_first_chunk::<4>()?;
    let dataset = std::str::from_utf8(dataset.strip_suffix(&[TERMINATOR])?).ok()?;
    Some((TermId(u32::from_be_bytes(*attribute)), Some(dataset).filter(|dataset| !dataset.is_empty())))
}

/// The key of an entity.
pub fn entity(id: &str) -> Bytes {
    let mut key = Vec::with_capacity(1 + id.len());
    put_entity(&mut key, id);
    key.into()
}

/// The key of the register of consumers.
pub fn register() -> Bytes {
    Bytes::from_static(&[REGISTER])
}

/// The key of the layout.
pub fn layout() -> Bytes {
    Bytes::from_static(&[LAYOUT])
}

/// The key of the register of indexes.
pub fn index_register() -> Bytes {
    Bytes::from_static(&[INDEX_REGISTER])
}

/// Row `u`.
pub fn in_use((of_type, attribute): (TermId, TermId)) -> Bytes {
    let mut key = Vec::with_capacity(9);
    put_attribute_prefix(&mut key, IN_USE, of_type, attribute);
    key.into()
}

/// The key of a consumer.
pub fn consumer(name: &str) -> Bytes {
    of_id(CONSUMER, name)
}

/// The name in the key of a consumer.
pub fn consumer_of_key(key: &[u8]) -> Option<&str> {
    key.strip_prefix(&[CONSUMER]).and_then(|name| std::str::from_utf8(name).ok())
}

// Reading keys back.

/// The entity id in any key of an entities partition.
pub fn id_of_key(key: &[u8]) -> Option<&str> {
    std::str::from_utf8(id_bytes_of_key(key)?).ok()
}

/// The same, unchecked: for comparing ids and for looking them up.
pub fn id_bytes_of_key(key: &[u8]) -> Option<&[u8]> {
    let (row, rest) = key.split_first()?;
    Some(match *row {
        ENTITY | HISTORY_HEADER | FOLDED | MOVED => rest,
        TYPE | HISTORY_TYPE => rest.get(4..)?,
        VALUE => value::skip(rest.get(8..)?)?,
        SCOPE => rest.get(memchr::memchr(0, rest)? + 1..)?,
        CELL => rest.get(16..)?,
        EXPIRY => rest.get(8..)?,
        _ => return None,
    })
}

/// The type in a key of row `T`, `V` or `G`.
pub fn type_of_key(key: &[u8]) -> Option<TermId> {
    term_at(key, 1)
}

/// The attribute in a key of row `V`, `G` or `u`.
pub fn attribute_of_key(key: &[u8]) -> Option<TermId> {
    term_at(key, 5)
}

fn term_at(key: &[u8], at: usize) -> Option<TermId> {
    let bytes: [u8; 4] = key.get(at..at + 4)?.try_into().ok()?;
    Some(TermId(u32::from_be_bytes(bytes)))
}
