//! The key page of what is stored of a graph beside its elements (those are on `graph/src/keys.rs`).
//!
//! ```text
//! partition                row              value
//! graph-schema/{graph}/0   s                numbers, mode, read mode (state.rs), stamped: each change of the schema writes it
//!                          P kind number    a part of the schema (graph/src/schema/encode.rs)
//!                          X kind number    a part that was removed, and whose elements and rows are not yet; the same form
//!                          n                the number of the next task, stamped
//!                          t number         a task (tasks/encode.rs), stamped
//!                          S status number  nothing: finds tasks by status
//!                          v name           a variable: JSON text
//!                          h vertex         over how many buckets pointers at a vertex are spread, as a power of two: one byte (hubs.rs)
//!                          p                where the sweep of pointers goes on (work/pointers.rs), stamped
//! graph-schema/{tenant}/0  g                how many objects there are of each kind (objects.rs), stamped: each change of objects writes it
//!                          o kind id        an object (objects.rs)
//!                          O kind index value id   nothing: finds objects by value
//! ```
//!
//! Kinds of parts and statuses are one byte; numbers are big-endian; texts of objects end themselves. What begins with a capital letter is found by scans only.

use bytes::Bytes;
use graph::schema::{PartId, SchemaKind};
use store::key::{Reader, put_text, put_u32};
use store::{Partition, Range, Space, SpaceKind, Tenant};

pub(crate) use graph::keys::MODEL;

/// Schema, tasks, variables, objects.
pub(crate) const SCHEMA: Space = Space { id: 65, kind: SpaceKind::Commit, name: "graph-schema" };

const STATE: u8 = b's';
const PART: u8 = b'P';
const REMOVED: u8 = b'X';
const NEXT_TASK: u8 = b'n';
const TASK: u8 = b't';
const TASK_STATUS: u8 = b'S';
const VARIABLE: u8 = b'v';
const POINTER_SWEEP: u8 = b'p';
const HUB: u8 = b'h';
const GENERATION: u8 = b'g';
const OBJECT: u8 = b'o';
const OBJECT_VALUE: u8 = b'O';

/// Where all this lies of a graph, or of a tenant.
pub(crate) fn partition(tenant: &Tenant) -> Partition {
    Partition { tenant: tenant.clone(), space: SCHEMA, bucket: 0 }
}

/// What a graph is set to.
pub(crate) fn state() -> Bytes {
    Bytes::from_static(&[STATE])
}

/// A part of the schema.
pub(crate) fn part(id: PartId) -> Bytes {
    of_part(PART, id)
}

/// A part that was removed.
pub(crate) fn removed(id: PartId) -> Bytes {
    of_part(REMOVED, id)
}

fn of_part(row: u8, PartId { kind, number }: PartId) -> Bytes {
    let mut key = vec![row, kind.code()];
    put_u32(&mut key, number);
    key.into()
}

/// All parts.
pub(crate) fn parts() -> Range {
    Range::prefix(vec![PART])
}

/// All parts that were removed.
pub(crate) fn all_removed() -> Range {
    Range::prefix(vec![REMOVED])
}

/// Which part a key is of.
pub(crate) fn part_of_key(key: &[u8]) -> Option<PartId> {
    let mut reader = Reader::new(key.get(1..)?);
    let kind = SchemaKind::from_code(reader.byte()?)?;
    let number = reader.u32()?;
    reader.rest().is_empty().then_some(PartId { kind, number })
}

/// The number of the next task.
pub(crate) fn next_task() -> Bytes {
    Bytes::from_static(&[NEXT_TASK])
}

/// A task.
pub(crate) fn task(number: u64) -> Bytes {
    [&[TASK], &number.to_be_bytes()[..]].concat().into()
}

/// All tasks, by number.
pub(crate) fn tasks() -> Range {
    Range::prefix(vec![TASK])
}

/// Finds a task by its status.
pub(crate) fn task_of_status(status: u8, number: u64) -> Bytes {
    [&[TASK_STATUS, status], &number.to_be_bytes()[..]].concat().into()
}

/// Finds the tasks of a status, by number.
pub(crate) fn tasks_of_status(status: u8) -> Range {
    Range::prefix(vec![TASK_STATUS, status])
}

/// The number at the end of the key of a task, or of what finds one.
pub(crate) fn number_of_task(key: &[u8]) -> Option<u64> {
    let (_, number) = key.split_last_chunk()?;
    Some(u64::from_be_bytes(*number))
}

/// A hub, by its id as a part of a key.
pub(crate) fn hub(vertex_key: &[u8]) -> Bytes {
    [&[HUB], vertex_key].concat().into()
}

/// All hubs.
pub(crate) fn hubs() -> Range {
    Range::prefix(vec![HUB])
}

/// The id in the key of a hub, as a part of a key.
pub(crate) fn vertex_key_of_hub(key: &Bytes) -> Option<Bytes> {
    (key.first() == Some(&HUB)).then(|| key.slice(1..))
}

/// Where the sweep of pointers goes on.
pub(crate) fn pointer_sweep() -> Bytes {
    Bytes::from_static(&[POINTER_SWEEP])
}

/// A variable.
pub(crate) fn variable(name: &str) -> Bytes {
    [&[VARIABLE], name.as_bytes()].concat().into()
}

/// All variables, by name.
pub(crate) fn variables() -> Range {
    Range::prefix(vec![VARIABLE])
}

/// The name of a variable.
pub(crate) fn name_of_variable(key: &[u8]) -> Option<&str> {
    std::str::from_utf8(key.get(1..)?).ok()
}

fn texts(row: u8, texts: &[&str]) -> Bytes {
    let mut key = vec![row];
    texts.iter().for_each(|text| put_text(&mut key, text));
    key.into()
}

/// How many objects there are.
pub(crate) fn generation() -> Bytes {
    Bytes::from_static(&[GENERATION])
}

/// An object.
pub(crate) fn object(kind: &str, id: &str) -> Bytes {
    texts(OBJECT, &[kind, id])
}

/// All objects of a kind, by id.
pub(crate) fn objects(kind: &str) -> Range {
    Range::prefix(texts(OBJECT, &[kind]))
}

/// Finds an object by a value.
pub(crate) fn object_value(kind: &str, (index, value): (&str, &str), id: &str) -> Bytes {
    texts(OBJECT_VALUE, &[kind, index, value, id])
}

/// Finds objects by a value, by id.
pub(crate) fn objects_of_value(kind: &str, (index, value): (&str, &str)) -> Range {
    Range::prefix(texts(OBJECT_VALUE, &[kind, index, value]))
}

/// The id in the key of an object.
pub(crate) fn id_of_object(key: &[u8]) -> Option<String> {
    last_text(key, 1)
}

/// The id in the key of what finds an object.
pub(crate) fn id_of_object_value(key: &[u8]) -> Option<String> {
    last_text(key, 3)
}

/// The text behind so many others.
fn last_text(key: &[u8], others: usize) -> Option<String> {
    let mut reader = Reader::new(key.get(1..)?);
    for _ in 0..others {
        reader.text()?;
    }
    let text = reader.text()?;
    reader.rest().is_empty().then(|| text.into_owned())
}
