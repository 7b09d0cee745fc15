//! Which conditions an index serves, and by which ranges of its rows.

use std::ops::Bound;
use std::sync::Arc;

use store::Range;

use super::{AccessPath, Finding, Walked};
use crate::analyse::Words;
use crate::condition::{Condition, Test};
use crate::index::{bounded_range, equal_range, word_range};
use crate::schema::{IndexKind, IndexLabel, Schema};
use crate::{Cardinality, PropertyKeyId, Scalar, ScalarRef};

/// The most ranges that several conditions with several values make; beyond, the later ones are only checked.
const RANGES_MAX: usize = 1_000;

/// What an equality is worth, and a range: the former finds fewer.
const EQUAL_WEIGHT: u32 = 4;
const BOUNDED_WEIGHT: u32 = 2;
const WORDS_WEIGHT: u32 = 3;

pub(super) fn is_search(index: &IndexLabel) -> bool {
    index.index_type.kind() == IndexKind::Search
}

/// How an index finds all matches of conditions; `None`: it serves none of them.
pub(super) fn path_of(
    schema: &Schema,
    index: &Arc<IndexLabel>,
    conditions: &[Condition],
) -> Option<AccessPath> {
    let (ranges, weight) = match index.index_type.kind() {
        IndexKind::Search => (of_words(index, conditions)?, WORDS_WEIGHT),
        IndexKind::Secondary | IndexKind::Range | IndexKind::Shard => of_values(index, conditions)?,
        IndexKind::Unique => return None,
    };
    let is_several = |key: &PropertyKeyId| {
        schema.property_key(*key).is_none_or(|key| key.cardinality != Cardinality::Single)
    };
    let mut ranges = ranges;
    ranges.sort_unstable_by(|one, two| one.start.cmp(&two.start));
    ranges.dedup();
    let is_one_value = ranges.len() == 1 && is_of_one_value(index, weight);
    let finding = match is_search(index) {
        true if ranges.len() > 1 => Finding::First,
        false if index.fields.iter().any(is_several) => Finding::First,
        false if !is_one_value => Finding::OfValues,
        true | false => Finding::Only,
    };
    Some(AccessPath { walked: Walked::Index { index: index.clone(), finding }, ranges, weight })
}

/// Whether each range of a path is of one value of each field: all are asked for by equality.
fn is_of_one_value(index: &IndexLabel, weight: u32) -> bool {
    u32::try_from(index.fields.len()).is_ok_and(|fields| weight == fields * EQUAL_WEIGHT)
}

fn of_words(index: &IndexLabel, conditions: &[Condition]) -> Option<Vec<Range>> {
    let words: &Words = conditions.iter().find_map(|condition| match &condition.test {
        Test::Words(words) if *index.fields == [condition.key] => Some(words),
        _ => None,
    })?;
    Some(words.iter().map(|word| word_range(index.id, word)).collect())
}

/// Equalities of the first fields, then bounds of the next.
fn of_values(index: &IndexLabel, conditions: &[Condition]) -> Option<(Vec<Range>, u32)> {
    let mut heads: Vec<Vec<ScalarRef<'_>>> = vec![Vec::new()];
    let mut weight = 0;
    for (position, field) in index.fields.iter().enumerate() {
        let equal = equalities_of(conditions, *field);
        let equal = equal.filter(|it| position == 0 || heads.len().saturating_mul(it.len()) <= RANGES_MAX);
        let Some(values) = equal else {
            if let Some(ranges) = bounded(index, conditions, *field, &heads) {
                return Some((ranges, weight + BOUNDED_WEIGHT));
            }
            break;
        };
        heads = heads.iter().flat_map(|head| values.iter().map(|value| with(head, *value))).collect();
        weight += EQUAL_WEIGHT;
    }
    if weight == 0 {
        return None;
    }
    Some((heads.iter().map(|head| equal_range(index.id, head)).collect(), weight))
}

fn with<'a>(head: &[ScalarRef<'a>], value: ScalarRef<'a>) -> Vec<ScalarRef<'a>> {
    [head, &[value]].concat()
}

/// The values one of which a property must have.
fn equalities_of(conditions: &[Condition], field: PropertyKeyId) -> Option<Vec<ScalarRef<'_>>> {
    conditions.iter().filter(|condition| condition.key == field).find_map(|condition| match &condition.test {
        Test::Equal(value) => Some(vec![value.as_ref()]),
        Test::Within(values) => Some(values.iter().map(Scalar::as_ref).collect()),
        Test::HasAll(values) => values.first().map(|value| vec![value.as_ref()]),
        Test::NotEqual(_) | Test::Range(..) | Test::Outside(..) | Test::TextContains(_) | Test::Words(_) => {
            None
        }
    })
}

/// The ranges behind each head in which a property lies between bounds.
fn bounded(
    index: &IndexLabel,
    conditions: &[Condition],
    field: PropertyKeyId,
    heads: &[Vec<ScalarRef<'_>>],
) -> Option<Vec<Range>> {
    let of_field = conditions.iter().filter(|condition| condition.key == field);
    let bounds: Vec<(Bound<ScalarRef<'_>>, Bound<ScalarRef<'_>>)> =
        of_field.into_iter().find_map(|condition| match &condition.test {
            Test::Range(low, high) => {
                Some(vec![(low.as_ref().map(Scalar::as_ref), high.as_ref().map(Scalar::as_ref))])
            }
            Test::Outside(low, high) => Some(outside(low.as_ref(), high.as_ref())),
            _ => None,
        })?;
    let of_head = |head: &Vec<ScalarRef<'_>>| {
        let of_bounds = |(low, high): &(_, _)| bounded_range(index.id, head, *low, *high);
        bounds.iter().filter_map(of_bounds).collect::<Vec<_>>()
    };
    Some(heads.iter().flat_map(of_head).collect())
}

/// Below one bound or above another: two ranges apart from each other, or everything, where they overlap.
fn outside<'a>(low: ScalarRef<'a>, high: ScalarRef<'a>) -> Vec<(Bound<ScalarRef<'a>>, Bound<ScalarRef<'a>>)> {
    use std::cmp::Ordering;
    let (below, above) = (Bound::Excluded(low), Bound::Excluded(high));
    let is_exact = low.to_f64().is_some() || matches!(low, ScalarRef::Date(_));
    match low.compare(high) {
        Some(Ordering::Less | Ordering::Equal) if is_exact => {
            vec![(Bound::Unbounded, below), (above, Bound::Unbounded)]
        }
        // Of texts the ranges are coarse, and may meet.
        _ => vec![(Bound::Unbounded, Bound::Unbounded)],
    }
}
