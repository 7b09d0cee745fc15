use super::*;
use crate::schema::{AggregateType, SchemaStatus, UserData, WriteType};
use crate::{DataType, PropertiesBuilder, Value};

fn key(data_type: DataType, cardinality: Cardinality) -> PropertyKey {
    PropertyKey {
        id: PropertyKeyId(1),
        name: "p".into(),
        data_type,
        cardinality,
        aggregate_type: AggregateType::None,
        write_type: WriteType::Oltp,
        user_data: UserData::default(),
        status: SchemaStatus::Created,
    }
}

fn texts(texts: &[&str]) -> Vec<Scalar> {
    texts.iter().map(|text| Scalar::Text((*text).into())).collect()
}

fn ints(numbers: &[i32]) -> Vec<Scalar> {
    numbers.iter().copied().map(Scalar::Int).collect()
}

fn matches(condition: &Condition, data_type: DataType, value: &Value) -> bool {
    let mut builder = PropertiesBuilder::default();
    builder.put(PropertyKeyId(1), data_type, value);
    condition.matches(builder.finish().as_ref()).unwrap()
}

#[test]
fn predicates_compare_numbers() {
    let key = key(DataType::Int, Cardinality::Single);
    let check = |predicate, values: &[i32], expected: &[i32]| {
        let condition = Condition::of_predicate(&key, predicate, ints(values)).unwrap();
        let found: Vec<_> = (0..6)
            .filter(|number| matches(&condition, DataType::Int, &Value::One(Scalar::Int(*number))))
            .collect();
        assert_eq!(found, expected, "{predicate:?}");
        assert!(!condition.matches(PropertiesRef::default()).unwrap());
    };
    check(Predicate::Eq, &[3], &[3]);
    check(Predicate::Neq, &[3], &[0, 1, 2, 4, 5]);
    check(Predicate::Lt, &[2], &[0, 1]);
    check(Predicate::Lte, &[2], &[0, 1, 2]);
    check(Predicate::Gt, &[3], &[4, 5]);
    check(Predicate::Gte, &[3], &[3, 4, 5]);
    check(Predicate::Between, &[1, 4], &[1, 2, 3]);
    check(Predicate::Inside, &[1, 4], &[2, 3]);
    check(Predicate::Outside, &[1, 4], &[0, 5]);
    check(Predicate::Within, &[5, 1, 9], &[1, 5]);
    check(Predicate::Within, &[], &[]);
    check(Predicate::Contains, &[4], &[4]);
}

#[test]
fn of_several_values_one_must_match() {
    let key = key(DataType::Text, Cardinality::Set);
    let stored = Value::Many(texts(&["red", "green"]));
    let check = |condition: Result<Condition, ConditionError>, expected: bool| {
        assert_eq!(matches(&condition.unwrap(), DataType::Text, &stored), expected);
    };
    check(Condition::of_values(&key, texts(&["red"]), false), true);
    check(Condition::of_values(&key, texts(&["blue"]), false), false);
    check(Condition::of_values(&key, texts(&["red", "green"]), true), true);
    check(Condition::of_values(&key, texts(&["red", "blue"]), true), false);
    check(Condition::of_predicate(&key, Predicate::Contains, texts(&["green"])), true);
    check(Condition::of_predicate(&key, Predicate::Neq, texts(&["green"])), false);
    check(Condition::of_predicate(&key, Predicate::TextContains, texts(&["ree"])), true);
    let words = Condition::of_predicate(&key, Predicate::TextContains, texts(&["ree"])).unwrap();
    let by_words = Condition { key: words.key, test: words.test.by_words().unwrap() };
    check(Ok(by_words), false);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let number = key(DataType::Int, Cardinality::Single);
    let check = |key: &PropertyKey, predicate, values: Vec<Scalar>, expected: &str| {
        let refusal = Condition::of_predicate(key, predicate, values).unwrap_err();
        assert_eq!(refusal.to_string(), expected);
    };
    check(&number, Predicate::Between, ints(&[1]), "Invalid numbers size 1, expect 2");
    check(&number, Predicate::Eq, ints(&[1, 2]), "Invalid numbers size 2, expect 1");
    check(
        &number,
        Predicate::TextContains,
        ints(&[1]),
        "The property 'p' has no text that could contain another",
    );
    let uuid = key(DataType::Uuid, Cardinality::Single);
    check(
        &uuid,
        Predicate::Gt,
        vec![Scalar::Uuid(1)],
        "Can't compare values of 'p', which are neither numbers nor dates nor texts",
    );
}

#[test]
fn calls_are_read_as_they_are_written() {
    let check = |text: &str, expected: Option<Result<(Predicate, &str), &str>>| {
        let call = PredicateCall::parse(text);
        let call = call.map(|it| it.map(|it| (it.predicate, it.values)).map_err(|error| error.to_string()));
        assert_eq!(call, expected.map(|it| it.map_err(str::to_owned)), "{text}");
    };
    check("P.gt(18)", Some(Ok((Predicate::Gt, "18"))));
    check("P.within(\"a)\",\"b\")", Some(Ok((Predicate::Within, "\"a)\",\"b\""))));
    check("P.textcontains(北京 (a|b))", Some(Ok((Predicate::TextContains, "北京 (a|b)"))));
    check("p.gt(18)", None);
    check("plain", None);
    check("P.gt18", Some(Err("Invalid predicate: P.gt18")));
    check("P.GT(18)", Some(Err("Invalid predicate: P.GT(18)")));
    check("P.gt(1\n8)", Some(Err("Invalid predicate: P.gt(1\n8)")));
    check("P.like(a)", Some(Err("Not support predicate 'like'")));
}
