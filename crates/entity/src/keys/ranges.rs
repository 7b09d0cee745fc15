//! Ranges of rows, for scans.

use std::ops::Bound;

use bytes::Bytes;
use store::{Range, Timestamp};

use super::{
    CELL, CONSUMER, Class, ENTITY, EXPIRY, FOLDED, HEAD, HISTORY_HEADER, HISTORY_TYPE, IN_USE, IndexValue,
    MOVED, SCOPE, TYPE, VALUE, entity, put_attribute_prefix, put_escaped, put_expiry, put_head,
    put_history_type, put_scope, put_type_prefix,
};
use crate::TermId;

/// All entities of a bucket, in id order.
pub fn entities_range() -> Range {
    Range::prefix(vec![ENTITY])
}

/// One entity.
pub fn entity_range(id: &str) -> Range {
    let start = entity(id);
    let end = [&start, [0].as_slice()].concat().into();
    Range { start, end: Some(end) }
}

/// Ids of all entities of a type, in order.
pub fn type_range(of_type: TermId) -> Range {
    prefix(|out| put_type_prefix(out, of_type))
}

/// Types from this one on: the first row of the range is of the next type in use.
pub fn types_from(of_type: TermId) -> Range {
    let mut start = Vec::with_capacity(5);
    put_type_prefix(&mut start, of_type);
    Range { start: start.into(), end: Some(Bytes::from_static(&[TYPE + 1])) }
}

/// All values of an attribute in entities of a type, by class and value.
pub fn attribute_range(of_type: TermId, attribute: TermId) -> Range {
    prefix(|out| put_attribute_prefix(out, VALUE, of_type, attribute))
}

/// Entities with this value (or one cut to the same text), in id order.
pub fn value_range(of_type: TermId, attribute: TermId, value: IndexValue<'_>) -> Range {
    prefix(|out| {
        put_attribute_prefix(out, VALUE, of_type, attribute);
        value.put(out);
    })
}

/// Entities with a value of `class` between the bounds, by value. Bounds on texts that are cut
/// count as included: the range holds all that satisfy the bounds, and perhaps more.
pub fn value_bounds(
    of_type: TermId,
    attribute: TermId,
    class: Class,
    lower: Bound<IndexValue<'_>>,
    upper: Bound<IndexValue<'_>>,
) -> Range {
    let of_class = || {
        prefix(|out| {
            put_attribute_prefix(out, VALUE, of_type, attribute);
            out.push(class as u8);
        })
    };
    let start = match lower {
        Bound::Unbounded => of_class().start,
        Bound::Excluded(value) if value.is_exact() => {
            value_range(of_type, attribute, value).end.expect("keys of another kind follow")
        }
        Bound::Included(value) | Bound::Excluded(value) => value_range(of_type, attribute, value).start,
    };
    let end = match upper {
        Bound::Unbounded => of_class().end,
        Bound::Excluded(value) if value.is_exact() => Some(value_range(of_type, attribute, value).start),
        Bound::Included(value) | Bound::Excluded(value) => value_range(of_type, attribute, value).end,
    };
    let end = end.map(|end| end.max(start.clone()));
    Range { start, end }
}

/// Entities with a text value that starts with `head`, by value (a head that is cut finds more).
pub fn text_prefix_range(of_type: TermId, attribute: TermId, head: &str) -> Range {
    prefix(|out| {
        put_attribute_prefix(out, VALUE, of_type, attribute);
        IndexValue::Text(head).put_open(out);
    })
}

/// Entities with exactly this scope, in id order.
pub fn scope_range(scope: &str) -> Range {
    prefix(|out| put_scope(out, scope, ""))
}

/// Entities with a scope that starts with `head`, by scope.
pub fn scope_prefix_range(head: &str) -> Range {
    prefix(|out| {
        out.push(SCOPE);
        put_escaped(out, head.as_bytes());
    })
}

/// Entities with a geometry in cells `first` to `last`, both included.
pub fn cell_range(of_type: TermId, attribute: TermId, first: u64, last: u64) -> Range {
    let bound = |cell: u64| {
        prefix(|out| {
            put_attribute_prefix(out, CELL, of_type, attribute);
            out.extend_from_slice(&cell.to_be_bytes());
        })
    };
    Range { start: bound(first).start, end: bound(last).end }
}

/// What expires before `time`, soonest first.
pub fn expired_range(time: Timestamp) -> Range {
    let mut end = Vec::with_capacity(9);
    put_expiry(&mut end, time, "");
    Range { start: Bytes::from_static(&[EXPIRY]), end: Some(end.into()) }
}

/// The head rows of an entity from `time` on.
pub fn heads_from(id: &str, time: Timestamp) -> Range {
    let mut start = Vec::with_capacity(id.len() + 10);
    put_head(&mut start, id, time);
    let end = start.get(..=id.len() + 1).and_then(|whole| Range::prefix(whole.to_vec()).end);
    Range { start: start.into(), end }
}

/// All head rows of a bucket, by id and time.
pub fn heads_range() -> Range {
    Range::prefix(vec![HEAD])
}

/// Ids of histories whose entity had this type when it went, in order. It may have come back.
pub fn history_type_range(of_type: TermId) -> Range {
    prefix(|out| put_history_type(out, of_type, ""))
}

/// All rows `k` of a bucket.
pub fn moved_range() -> Range {
    Range::prefix(vec![MOVED])
}

/// What says up to when histories are folded, in id order.
pub fn folded_range() -> Range {
    Range::prefix(vec![FOLDED])
}

/// Rows that lead to histories by types.
pub fn history_types_range() -> Range {
    Range::prefix(vec![HISTORY_TYPE])
}

/// Rows by which entities and histories are found, of each kind.
pub fn finding_ranges() -> [Range; 6] {
    [TYPE, VALUE, SCOPE, CELL, EXPIRY, HISTORY_TYPE].map(|row| Range::prefix(vec![row]))
}

/// Headers of histories without an entity, in id order.
pub fn history_headers_range() -> Range {
    Range::prefix(vec![HISTORY_HEADER])
}

/// Rows `u`, of all types.
pub fn all_in_use_range() -> Range {
    Range::prefix(vec![IN_USE])
}

/// Rows `u` of a type.
pub fn in_use_range(of_type: TermId) -> Range {
    let mut start = vec![IN_USE];
    start.extend_from_slice(&of_type.0.to_be_bytes());
    Range::prefix(start)
}

/// All consumers, by name.
pub fn consumers_range() -> Range {
    Range::prefix(vec![CONSUMER])
}

fn prefix(build: impl FnOnce(&mut Vec<u8>)) -> Range {
    let mut start = Vec::with_capacity(96);
    build(&mut start);
    Range::prefix(start)
}
