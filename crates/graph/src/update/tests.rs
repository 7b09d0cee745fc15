use std::collections::BTreeMap;

use super::*;
use crate::schema::{Creation, PropertyKeyDraft};
use crate::{GraphMode, ScalarRef};

/// The keys `n` (INT), `s` (SET of INT), `l` (LIST of INT), `m` (INT, the greatest stays), by number from 1.
fn schema() -> Schema {
    let new = Creation { graph: "g", mode: GraphMode::None, created: "\"now\"" };
    let mut schema = Schema::default();
    let keys = [
        ("n", Cardinality::Single, AggregateType::None),
        ("s", Cardinality::Set, AggregateType::None),
        ("l", Cardinality::List, AggregateType::None),
        ("m", Cardinality::Single, AggregateType::Max),
    ];
    for (name, cardinality, aggregate_type) in keys {
        let draft = PropertyKeyDraft {
            data_type: DataType::Int,
            cardinality,
            aggregate_type,
            ..PropertyKeyDraft::named(name)
        };
        schema = schema.create_property_key(&draft, &new).unwrap().change.unwrap().schema;
    }
    schema
}

const N: PropertyKeyId = PropertyKeyId(1);
const S: PropertyKeyId = PropertyKeyId(2);
const L: PropertyKeyId = PropertyKeyId(3);
const M: PropertyKeyId = PropertyKeyId(4);

/// `[1]` one value, more several.
fn properties(given: &[(PropertyKeyId, &[i32])]) -> Properties {
    let mut builder = PropertiesBuilder::default();
    for (key, values) in given {
        match key {
            &S | &L => builder.put_many(*key, DataType::Int, values.iter().map(|it| ScalarRef::Int(*it))),
            _ => builder.put_one(*key, ScalarRef::Int(values[0])),
        }
    }
    builder.finish()
}

#[test]
fn strategies_merge_as_they_say() {
    use UpdateStrategy::{Append, Bigger, Eliminate, Intersection, Override, Smaller, Sum, Union};
    let schema = schema();
    let check = |key, strategy, stored: &[i32], given: &[i32], expected: &[i32]| {
        let strategies = BTreeMap::from([(key, strategy)]);
        let (stored, given) = (properties(&[(key, stored)]), properties(&[(key, given)]));
        let merged = Updates { schema: &schema }.merge(stored.as_ref(), given.as_ref(), &strategies);
        assert_eq!(merged, Ok(properties(&[(key, expected)])), "{strategy:?}");
    };
    check(N, Sum, &[3], &[4], &[7]);
    check(N, Bigger, &[3], &[4], &[4]);
    check(N, Bigger, &[5], &[4], &[5]);
    check(N, Smaller, &[3], &[4], &[3]);
    check(N, Override, &[3], &[4], &[4]);
    check(S, Union, &[1, 2], &[2, 3], &[1, 2, 3]);
    check(S, Intersection, &[1, 2], &[2, 3], &[2]);
    check(S, Eliminate, &[1, 2], &[2, 3], &[1]);
    check(L, Append, &[1, 2], &[2, 3], &[1, 2, 2, 3]);
    check(L, Eliminate, &[1, 2, 2], &[2], &[1]);
}

/// A look at all values for each would take minutes.
#[test]
fn large_sets_are_merged_in_linear_time() {
    let schema = schema();
    let [stored, given] =
        [0..100_000, 50_000..150_000].map(|range| properties(&[(S, &range.collect::<Vec<_>>())]));
    for (strategy, count) in [
        (UpdateStrategy::Union, 150_000),
        (UpdateStrategy::Intersection, 50_000),
        (UpdateStrategy::Eliminate, 50_000),
    ] {
        let strategies = BTreeMap::from([(S, strategy)]);
        let merged = Updates { schema: &schema }.merge(stored.as_ref(), given.as_ref(), &strategies).unwrap();
        assert_eq!(merged.as_ref().get(S).unwrap().unwrap().to_value().scalars().len(), count);
    }
}

#[test]
fn what_has_no_strategy_is_replaced_and_what_is_not_given_is_kept_by_its_strategy() {
    let schema = schema();
    let stored = properties(&[(N, &[3]), (S, &[1]), (L, &[1])]);
    let given = properties(&[(L, &[2])]);
    let strategies = BTreeMap::from([(S, UpdateStrategy::Union)]);
    let merged = Updates { schema: &schema }.merge(stored.as_ref(), given.as_ref(), &strategies);
    assert_eq!(merged, Ok(properties(&[(S, &[1]), (L, &[2])])));
}

#[test]
fn strategies_go_with_types() {
    let refused =
        |strategy: UpdateStrategy, data_type, cardinality| strategy.check(data_type, cardinality).is_err();
    assert!(refused(UpdateStrategy::Sum, DataType::Text, Cardinality::Single));
    assert!(refused(UpdateStrategy::Bigger, DataType::Int, Cardinality::Set));
    assert!(refused(UpdateStrategy::Union, DataType::Int, Cardinality::List));
    assert!(refused(UpdateStrategy::Append, DataType::Int, Cardinality::Single));
    assert!(!refused(UpdateStrategy::Smaller, DataType::Date, Cardinality::Single));
    let schema = schema();
    let (stored, given) = (properties(&[(N, &[i32::MAX])]), properties(&[(N, &[1])]));
    let strategies = BTreeMap::from([(N, UpdateStrategy::Sum)]);
    let merged = Updates { schema: &schema }.merge(stored.as_ref(), given.as_ref(), &strategies);
    assert_eq!(merged, Err(UpdateError::Overflow("n".into())));
}

#[test]
fn several_values_are_appended_and_one_is_replaced() {
    let schema = schema();
    let updates = Updates { schema: &schema };
    let stored = properties(&[(N, &[3]), (S, &[1, 2]), (L, &[1])]);
    let given = properties(&[(N, &[4]), (S, &[2, 3]), (L, &[1]), (M, &[1])]);
    let expected = properties(&[(N, &[4]), (S, &[1, 2, 3]), (L, &[1, 1]), (M, &[1])]);
    assert_eq!(updates.append(stored.as_ref(), given.as_ref()), Ok(expected));
    assert_eq!(updates.eliminate(stored.as_ref(), &[S, M]), Ok(properties(&[(N, &[3]), (L, &[1])])));
    let aggregated = updates.aggregate(
        properties(&[(M, &[5]), (N, &[1])]).as_ref(),
        properties(&[(M, &[3]), (N, &[2])]).as_ref(),
    );
    assert_eq!(aggregated, Ok(properties(&[(N, &[2]), (M, &[5])])));
}
