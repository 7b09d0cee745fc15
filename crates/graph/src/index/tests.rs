use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::sync::Arc;

use proptest::prelude::*;
use store::Range;

use super::*;
use crate::schema::{IndexBase, IndexLabel, IndexType, SchemaStatus, UserData};
use crate::{
    DataType, IndexLabelId, LabelId, Properties, PropertiesBuilder, PropertyKeyId, Scalar, ScalarRef, Value,
    keys,
};

const ELEMENT: &[u8] = b"vSmarko\0";

fn index(index_type: IndexType, fields: &[u32]) -> Arc<IndexLabel> {
    Arc::new(IndexLabel {
        id: IndexLabelId(7),
        name: "by".into(),
        base: IndexBase::Vertex(LabelId(1)),
        index_type,
        fields: fields.iter().copied().map(PropertyKeyId).collect(),
        user_data: UserData::default(),
        status: SchemaStatus::Created,
    })
}

fn properties(values: &[(u32, Value)]) -> Properties {
    let mut builder = PropertiesBuilder::default();
    for (key, value) in values {
        let data_type = value.scalars().first().map_or(DataType::Int, |scalar| scalar.as_ref().data_type());
        builder.put(PropertyKeyId(*key), data_type, value);
    }
    builder.finish()
}

fn rows(index: Arc<IndexLabel>, values: &[(u32, Value)]) -> Vec<IndexRow> {
    let mut rows = Vec::new();
    put_index_rows(&[index], ELEMENT, properties(values).as_ref(), &mut rows).unwrap();
    rows
}

fn text(text: &str) -> Scalar {
    Scalar::Text(text.into())
}

fn contains(range: &Range, key: &[u8]) -> bool {
    *key >= range.start[..] && range.end.as_ref().is_none_or(|end| key < &end[..])
}

#[test]
fn an_element_has_a_row_for_what_can_be_asked_of_it() {
    let count = |index_type, fields: &[u32], values: &[(u32, Value)]| {
        let rows = rows(index(index_type, fields), values);
        for row in rows.iter().filter(|row| !row.is_unique) {
            assert_eq!(element_of_row(&row.key, fields.len()), ELEMENT.get(1..));
        }
        rows.len()
    };
    let name = (1, Value::One(text("marko")));
    let age = (2, Value::One(Scalar::Int(29)));
    let tags = (3, Value::Many(vec![text("b"), text("a"), text("b")]));
    assert_eq!(count(IndexType::Secondary, &[1, 2], &[name.clone(), age.clone()]), 1);
    assert_eq!(count(IndexType::Secondary, &[1, 2], std::slice::from_ref(&name)), 1);
    assert_eq!(count(IndexType::Secondary, &[1, 2], std::slice::from_ref(&age)), 0);
    assert_eq!(count(IndexType::Secondary, &[3], std::slice::from_ref(&tags)), 2);
    assert_eq!(count(IndexType::Search, &[3], &[tags]), 2);
    assert_eq!(count(IndexType::RangeInt, &[2], std::slice::from_ref(&age)), 1);
    assert_eq!(count(IndexType::Search, &[1], &[(1, Value::One(text("New York")))]), 3);
    // Of a UNIQUE index no value counts as one.
    assert_eq!(count(IndexType::Unique, &[1, 2], &[age]), 1);
    let unique = rows(index(IndexType::Unique, &[1]), &[name]);
    assert!(unique.iter().all(|row| row.is_unique && row.value == ELEMENT && row.key.starts_with(b"x")));
}

#[test]
fn a_change_leaves_what_is_in_both() {
    let index = index(IndexType::Search, &[1]);
    let of = |value: &str| rows(index.clone(), &[(1, Value::One(text(value)))]);
    let (mut old, mut new) = (of("a b c"), of("b c d"));
    retain_changes(&mut old, &mut new);
    assert_eq!((old.len(), new.len()), (2, 2));
    let (mut old, mut new) = (of("a b"), of("a b"));
    retain_changes(&mut old, &mut new);
    assert_eq!((old, new), (vec![], vec![]));
}

fn any_scalar() -> BoxedStrategy<[Scalar; 3]> {
    let texts = "[a\0\u{1}\u{2}]{0,4}|[ab]{120,140}".prop_map(|it| text(&it));
    prop_oneof![
        [any::<i8>(), any::<i8>(), any::<i8>()].prop_map(|it| it.map(Scalar::Byte)),
        [any::<i32>(), any::<i32>(), any::<i32>()].prop_map(|it| it.map(Scalar::Int)),
        [-3..3_i64, -3..3_i64, -3..3_i64].prop_map(|it| it.map(Scalar::Date)),
        [-1e3..1e3_f32, -1e3..1e3_f32, -1e3..1e3_f32].prop_map(|it| it.map(Scalar::Float)),
        [any::<f64>(), any::<f64>(), any::<f64>()].prop_map(|it| it.map(Scalar::Double)),
        [any::<bool>(), any::<bool>(), any::<bool>()].prop_map(|it| it.map(Scalar::Boolean)),
        [any::<u128>(), any::<u128>(), any::<u128>()].prop_map(|it| it.map(Scalar::Uuid)),
        [texts.clone(), texts.clone(), texts].prop_map(|it| it),
    ]
    .boxed()
}

fn any_bound() -> impl Strategy<Value = fn(ScalarRef<'_>) -> Bound<ScalarRef<'_>>> {
    proptest::sample::select(vec![
        (|value| Included(value)) as fn(ScalarRef<'_>) -> Bound<ScalarRef<'_>>,
        |value| Excluded(value),
        |_| Unbounded,
    ])
}

fn is_within(value: ScalarRef<'_>, low: Bound<ScalarRef<'_>>, high: Bound<ScalarRef<'_>>) -> bool {
    let compare = |other| value.compare(other);
    let above = match low {
        Unbounded => true,
        Included(low) => compare(low).is_some_and(std::cmp::Ordering::is_ge),
        Excluded(low) => compare(low).is_some_and(std::cmp::Ordering::is_gt),
    };
    above
        && match high {
            Unbounded => true,
            Included(high) => compare(high).is_some_and(std::cmp::Ordering::is_le),
            Excluded(high) => compare(high).is_some_and(std::cmp::Ordering::is_lt),
        }
}

proptest! {
    #[test]
    fn ranges_hold_what_they_must(
        [value, low, high] in any_scalar(), (low_of, high_of) in (any_bound(), any_bound()), first in "[ab\0]{0,2}",
    ) {
        let element = [(1, Value::One(text(&first))), (2, Value::One(value.clone()))];
        let rows = rows(index(IndexType::Shard, &[1, 2]), &element);
        let [row] = &rows[..] else { panic!("one row") };
        let first = text(&first);
        let (low, high) = (low_of(low.as_ref()), high_of(high.as_ref()));
        let range = bounded_range(IndexLabelId(7), &[first.as_ref()], low, high);
        let found = range.is_some_and(|range| contains(&range, &row.key));
        let expected = is_within(value.as_ref(), low, high);
        prop_assert!(found || !expected);
        let is_text = matches!(value, Scalar::Text(_));
        prop_assert!(is_text || found == expected);
        prop_assert!(contains(&equal_range(IndexLabelId(7), &[first.as_ref()]), &row.key));
        prop_assert!(contains(&equal_range(IndexLabelId(7), &[first.as_ref(), value.as_ref()]), &row.key));
        prop_assert!(!contains(&equal_range(IndexLabelId(7), &[text("c").as_ref()]), &row.key));
        let of_index = keys::index_ranges(IndexLabelId(7));
        prop_assert!(contains(&of_index[0], &row.key));
    }

    #[test]
    fn any_row_is_read_without_harm(bytes in proptest::collection::vec(0..8_u8, 0..40)) {
        element_of_row(&[b"X\0\0\0\x07", &bytes[..]].concat(), 2);
        keys::element_of_expiry(&bytes);
    }
}
