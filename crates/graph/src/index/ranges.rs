//! Which rows of an index a query walks.

use std::ops::Bound;

use bytes::Bytes;
use store::Range;

use super::values::{first_bytes, is_exact, put_value, put_value_head};
use crate::{IndexLabelId, ScalarRef, keys};

/// The rows of elements whose first fields have these values.
pub fn equal_range(index: IndexLabelId, values: &[ScalarRef<'_>]) -> Range {
    Range::prefix(head_of(index, values))
}

/// The rows of elements whose first fields have these values, and whose next one lies between bounds; `None`: there can be none. Of texts those near the
/// bounds are among them. At least one bound is given: else as [`equal_range`].
pub fn bounded_range(
    index: IndexLabelId,
    values: &[ScalarRef<'_>],
    low: Bound<ScalarRef<'_>>,
    high: Bound<ScalarRef<'_>>,
) -> Option<Range> {
    let head = head_of(index, values);
    let given = match (low, high) {
        (Bound::Included(value) | Bound::Excluded(value), _)
        | (_, Bound::Included(value) | Bound::Excluded(value)) => value,
        (Bound::Unbounded, Bound::Unbounded) => return Some(Range::prefix(head)),
    };
    let [least, greatest] = first_bytes(given);
    let of_value = |value| {
        let mut key = head.clone();
        put_value_head(&mut key, value);
        Bytes::from(key)
    };
    let of_type = |byte| Bytes::from([&head[..], &[byte]].concat());
    let end_of = |prefix: Bytes| Range::prefix(prefix).end;
    let start = match low {
        Bound::Unbounded => of_type(least),
        Bound::Excluded(value) if is_exact(value) => end_of(of_value(value))?,
        Bound::Included(value) | Bound::Excluded(value) => of_value(value),
    };
    let end = match high {
        Bound::Unbounded => end_of(of_type(greatest))?,
        Bound::Excluded(value) if is_exact(value) => of_value(value),
        Bound::Included(value) | Bound::Excluded(value) => end_of(of_value(value))?,
    };
    (start < end).then_some(Range { start, end: Some(end) })
}

/// The rows, in a SEARCH index, of elements with a word.
pub fn word_range(index: IndexLabelId, word: &str) -> Range {
    equal_range(index, &[ScalarRef::Text(word)])
}

fn head_of(index: IndexLabelId, values: &[ScalarRef<'_>]) -> Vec<u8> {
    let mut head = Vec::with_capacity(32);
    keys::put_index_prefix(&mut head, index);
    for value in values {
        put_value(&mut head, *value);
    }
    head
}
