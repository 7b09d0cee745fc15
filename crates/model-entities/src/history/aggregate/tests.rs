//! Aggregates against what plain arithmetic makes of the instances read one by one.

use std::collections::{BTreeMap, BTreeSet};

use entity::AggregateValue;
use entity::history::aggregate::Buckets;
use entity::{Attribute, Draft, Instance, Kind, Operation, RecordedInstance};
use entity::{HistoryRequest, TimeProperty, TimeSpan};
use proptest::prelude::*;
use smallvec::smallvec;

use super::*;
use crate::TenantEntities;
use crate::history::tests::tenant;
use crate::write::{tests::run, tests::store};

const ALL: [AggregateMethod; 8] = [
    AggregateMethod::TotalCount,
    AggregateMethod::DistinctCount,
    AggregateMethod::Sum,
    AggregateMethod::Avg,
    AggregateMethod::Min,
    AggregateMethod::Max,
    AggregateMethod::Stddev,
    AggregateMethod::Sumsq,
];
const SECOND: i64 = 1_000_000;
const ID: &str = "urn:x:1";

#[derive(Clone, Debug)]
enum Found {
    Count(u64),
    Number(f64),
    Text(String),
    None,
}

fn upsert(value: &str, observed: Option<i64>, dataset: Option<&str>) -> Operation {
    let instance = Instance {
        observed_at: observed.map(Timestamp),
        dataset: dataset.map(Into::into),
        ..Instance::new(Kind::Property, value)
    };
    let attributes = vec![Attribute { name: TermId(10), instances: smallvec![instance] }];
    Operation::UpsertUpdate(Draft {
        id: ID.into(),
        types: smallvec![TermId(1)],
        attributes,
        ..Draft::default()
    })
}

/// What aggregates must be, from the instances as they are read.
fn expected(values: &BTreeMap<i128, Vec<String>>) -> Vec<(i128, Vec<Found>)> {
    let aggregate = |texts: &Vec<String>| {
        let number = |text: &String| match text.as_str() {
            "true" => Some(1.0),
            "false" => Some(0.0),
            text if text.starts_with('[') => {
                Some(serde_json::from_str::<Vec<serde_json::Value>>(text).unwrap().len() as f64)
            }
            text => text.parse::<f64>().ok(),
        };
        let numbers: Vec<f64> = texts.iter().filter_map(number).collect();
        // The closing quote does not count among the characters.
        let strings: BTreeSet<&str> = texts
            .iter()
            .filter(|text| text.starts_with('"'))
            .filter_map(|text| text.strip_suffix('"'))
            .collect();
        let different: BTreeSet<String> = texts
            .iter()
            .map(|text| {
                text.parse::<f64>().map_or_else(|_| text.clone(), |number| format!("{:?}", number + 0.0))
            })
            .collect();
        let count = numbers.len() as f64;
        let sum: f64 = numbers.iter().sum();
        let mean = sum / count;
        let of = |value: f64| if numbers.is_empty() { Found::None } else { Found::Number(value) };
        let bound = |value: f64, text: Option<&&str>| match text {
            Some(text) if numbers.is_empty() => Found::Text(format!("{text}\"")),
            _ => of(value),
        };
        vec![
            Found::Count(texts.len() as u64),
            Found::Count(different.len() as u64),
            of(sum),
            of(mean),
            bound(numbers.iter().copied().fold(f64::INFINITY, f64::min), strings.first()),
            bound(numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max), strings.last()),
            of((numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count).sqrt()),
            of(numbers.iter().map(|number| number * number).sum()),
        ]
    };
    values.iter().map(|(start, texts)| (*start, aggregate(texts))).collect()
}

fn same(found: AggregateValue<'_>, expected: &Found) -> bool {
    match (found, expected) {
        (AggregateValue::Count(found), Found::Count(expected)) => found == *expected,
        (AggregateValue::Number(found), Found::Number(expected)) => {
            (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)
        }
        (AggregateValue::Text(found), Found::Text(expected)) => found == expected,
        (AggregateValue::None, Found::None) => true,
        _ => false,
    }
}

async fn check(entities: &TenantEntities, request: &HistoryRequest, period: Option<&str>) {
    let period = period.map(|period| Period::parse(period).unwrap());
    let history = entities.read_history(ID, request).await.unwrap().unwrap();
    let time_of = |instance: RecordedInstance<'_>| match request.time {
        TimeProperty::ObservedAt => instance.observed_at().unwrap(),
        TimeProperty::CreatedAt => instance.created_at(),
        _ => instance.modified_at(),
    };
    // All of time begins with the first instance of all attributes.
    let first = history.attributes.iter().flat_map(|one| one.instances().map(time_of)).min();
    let begins = request.span == TimeSpan::ALL;
    let aligned =
        period.map(|period| first.filter(|_| begins).map_or(period, |first| period.starting_at(first)));
    // Each alone, too: the fewer methods, the fewer columns are read.
    let alone = ALL.iter().map(std::slice::from_ref);
    for methods in [ALL.as_slice(), &[AggregateMethod::Avg, AggregateMethod::Max]].into_iter().chain(alone) {
        let found = entities.aggregate_history(ID, request, methods, period.as_ref()).await.unwrap().unwrap();
        let mut found = found.iter();
        for attribute in &history.attributes {
            let mut values: BTreeMap<i128, Vec<String>> = BTreeMap::new();
            let mut buckets = Buckets::new(aligned.as_ref(), request.span);
            for instance in attribute.instances().filter(|instance| !instance.is_deleted()) {
                buckets.seek(i128::from(time_of(instance).0) * 1000);
                let mut value = String::new();
                instance.write_value(&mut value);
                values.entry(buckets.start).or_default().push(value);
            }
            if values.is_empty() {
                continue;
            }
            let found = found.next().unwrap();
            assert_eq!((found.attribute(), found.dataset()), (attribute.attribute(), attribute.dataset()));
            let expected = expected(&values);
            assert_eq!(found.buckets().len(), expected.len(), "{period:?}");
            for (place, (start, expected)) in expected.iter().enumerate() {
                if !Buckets::new(period.as_ref(), request.span).is_one() {
                    assert_eq!(i128::from(found.buckets()[place].0.0), start.div_euclid(1000));
                }
                let wanted = ALL.iter().zip(expected).filter(|(method, _)| methods.contains(method));
                for (at, (method, expected)) in wanted.enumerate() {
                    let value = found.value(at, place);
                    assert!(
                        same(value, expected),
                        "{method:?} of bucket {place}: {value:?}, not {expected:?}"
                    );
                }
            }
        }
        assert!(found.next().is_none());
    }
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0..20_i32).prop_map(|number| number.to_string()),
        2 => any::<f64>().prop_filter("finite", |number| number.abs() < 1e100).prop_map(|number| serde_json::to_string(&number).unwrap()),
        1 => prop::sample::select(vec!["true", "false", "\"a\"", "\"b\"", "\"b c\"", "[1,2]", "{\"a\":1}", "2.0", "2.50", "0", "-0.0", "0.00"])
            .prop_map(Into::into),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((24 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn aggregates_are_those_of_the_instances(
        writes in prop::collection::vec((value(), -3..9_i64, prop::bool::weighted(0.98)), 1..700),
        numeric in any::<bool>(),
        sorted in any::<bool>(),
        last_n in prop::option::weighted(0.2, 1..50_usize),
        open in any::<bool>(),
        is_wide in any::<bool>(),
        period in prop::sample::select(vec![None, Some("PT0S"), Some("PT7S"), Some("PT3M"), Some("P1M"), Some("P1Y2M3D"), Some("P1W")]),
        time in prop::sample::select(vec![TimeProperty::ObservedAt, TimeProperty::ObservedAt, TimeProperty::ModifiedAt, TimeProperty::CreatedAt]),
    ) {
        run(async {
            let entities = tenant(&store()).await;
            // Over centuries, most of what is observed is beyond nanoseconds of 64 bits.
            let (mut observed, step_length) =
                if is_wide { (-13_000_000_000 * SECOND, 20_000_000 * SECOND) } else { (40 * SECOND, SECOND) };
            let mut now = 1_700_000_000 * SECOND;
            let count = writes.len();
            for (index, (value, step, is_observed)) in writes.iter().enumerate() {
                observed += if sorted { step.abs() } else { *step } * step_length;
                now += step.abs() * SECOND;
                let value = if numeric && value.parse::<f64>().is_err() { "7" } else { value };
                let dataset = (index % 50 == 7).then_some("urn:d:1");
                let operation = upsert(value, is_observed.then_some(observed), dataset);
                entities.apply(ID, operation, Timestamp(now)).await.unwrap();
                if index == count / 2 || index == count * 9 / 10 {
                    entities.fold_history(ID).await.unwrap();
                }
            }
            let middle = if time == TimeProperty::ObservedAt { observed / 2 } else { now - 100 * SECOND };
            let span = if open { TimeSpan::ALL } else { TimeSpan::after(Timestamp(middle)) };
            let request = HistoryRequest { time, span, last_n, ..HistoryRequest::all(usize::MAX - 1) };
            check(&entities, &request, period).await;
        });
    }
}

#[track_caller]
fn check_period(text: &str, is_one: bool) {
    assert_eq!(Period::parse(text).is_ok(), is_one, "{text}");
}

#[test]
fn periods_are_durations() {
    for text in ["P3Y6M4DT12H30M5S", "PT1S", "P2W", "PT0S", "P0D", "P1M", "PT0.5S", "P1Y"] {
        check_period(text, true);
    }
    for text in ["", "P", "1 hour", "-PT1S", "PT-1S", "PT1X", "P1S", "hourly"] {
        check_period(text, false);
    }
}

#[test]
fn a_small_spread_far_from_zero_is_not_lost() {
    run(async {
        let entities = tenant(&store()).await;
        for value in ["1000000000.1", "1000000000.2", "1000000000.3"] {
            let now = Timestamp(SECOND);
            entities.apply(ID, upsert(value, Some(SECOND), None), now).await.unwrap();
        }
        let request = HistoryRequest::all(10);
        let found = entities.aggregate_history(ID, &request, &[AggregateMethod::Stddev], None).await;
        let AggregateValue::Number(found) = found.unwrap().unwrap()[0].value(0, 0) else {
            panic!("a number")
        };
        assert!((found - 0.081_649_658).abs() < 1e-6, "{found}");
    });
}

#[test]
fn a_fold_beside_a_reader_is_noticed() {
    run(async {
        let entities = tenant(&store()).await;
        let write = async |value: &str, now| {
            entities.apply(ID, upsert(value, Some(now), None), Timestamp(now)).await.unwrap();
        };
        write("1", SECOND).await;
        entities.fold_history(ID).await.unwrap();
        write("2", 2 * SECOND).await;
        let watched = crate::history::read::watched(&entities.sources(ID, |_, _| true).await.unwrap());
        assert_eq!(watched.len(), 1);
        assert!(!entities.has_moved(&watched).await.unwrap());
        entities.fold_history(ID).await.unwrap();
        assert!(entities.has_moved(&watched).await.unwrap());
        // With nothing fresh there is nothing that could be counted twice.
        assert!(crate::history::read::watched(&entities.sources(ID, |_, _| true).await.unwrap()).is_empty());
    });
}

/// `9999-12-31T00:00:00Z` is beyond nanoseconds of 64 bits.
#[test]
fn what_is_observed_in_the_far_future_counts_where_the_span_is_open() {
    const FAR: Timestamp = Timestamp(253_402_214_400 * SECOND);
    run(async {
        let entities = tenant(&store()).await;
        let count = async |span, period: Option<&str>| {
            let request = HistoryRequest {
                time: TimeProperty::ObservedAt,
                span,
                ..HistoryRequest::all(usize::MAX - 1)
            };
            let period = period.map(|period| Period::parse(period).unwrap());
            let methods = [AggregateMethod::TotalCount];
            let found = entities.aggregate_history(ID, &request, &methods, period.as_ref()).await;
            let found = found.unwrap().unwrap();
            let places = found.first().map_or(0, |found| found.buckets().len());
            let counts = (0..places).map(|place| match found[0].value(0, place) {
                AggregateValue::Count(count) => count,
                value => panic!("{value:?} is no count"),
            });
            counts.collect::<Vec<_>>()
        };
        let mut now = 0;
        // Fresh, in a block of its own, in one with others, and in both.
        for (observed, counts) in
            [(FAR.0, vec![1]), (FAR.0, vec![2]), (SECOND, vec![1, 2]), (FAR.0, vec![1, 3])]
        {
            now += SECOND;
            entities.apply(ID, upsert("1", Some(observed), None), Timestamp(now)).await.unwrap();
            for is_folded in [false, true] {
                if is_folded {
                    entities.fold_history(ID).await.unwrap();
                }
                for period in ["P1D", "P1M", "P1Y", "PT1S"] {
                    assert_eq!(count(TimeSpan::ALL, Some(period)).await, counts, "{period}");
                }
                let all = counts.iter().sum::<u64>();
                assert_eq!(count(TimeSpan::ALL, None).await, [all]);
                let far = *counts.last().unwrap();
                assert_eq!(count(TimeSpan::after(Timestamp(2 * SECOND)), None).await, [far]);
                assert_eq!(count(TimeSpan::after(Timestamp(FAR.0 - 1)), Some("P1M")).await, [far]);
                let near = counts[..counts.len() - 1].to_vec();
                assert_eq!(count(TimeSpan::before(Timestamp(9 * SECOND)), None).await, near);
                assert_eq!(count(TimeSpan::before(FAR), Some("P1M")).await, near);
            }
        }
    });
}

/// Years that 64 bits of nanoseconds do not reach have buckets of their own, in order, and are shown as they are.
#[test]
fn what_was_observed_centuries_ago_or_ahead_has_buckets_of_its_own() {
    const DAY: i64 = 86_400 * SECOND;
    // Days since 1970 of the first of January of a year of the Gregorian calendar.
    let days = |year: i64| (year - 1) * 365 + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 - 719_162;
    let year = |year: i64| Timestamp(days(year) * DAY);
    run(async {
        let entities = tenant(&store()).await;
        for (now, observed) in [1600, 3000, 2000, 1517, 1600, 3001].into_iter().enumerate() {
            let at = Timestamp(year(observed).0 + 5 * SECOND);
            let now = Timestamp(i64::try_from(now).unwrap() * SECOND);
            entities.apply(ID, upsert("1", Some(at.0), None), now).await.unwrap();
        }
        for is_folded in [false, true] {
            if is_folded {
                entities.fold_history(ID).await.unwrap();
            }
            let buckets = async |span, period: Option<&str>| {
                let request =
                    HistoryRequest { time: TimeProperty::ObservedAt, span, ..HistoryRequest::all(100) };
                let period = period.map(|period| Period::parse(period).unwrap());
                let methods = [AggregateMethod::TotalCount];
                let found = entities.aggregate_history(ID, &request, &methods, period.as_ref()).await;
                found.unwrap().unwrap()[0].buckets().to_vec()
            };
            let of = |years: &[i64]| years.iter().map(|one| (year(*one), year(one + 1))).collect::<Vec<_>>();
            let since = TimeSpan { from: year(1500), ..TimeSpan::ALL };
            assert_eq!(buckets(since, Some("P1Y")).await, of(&[1517, 1600, 2000, 3000, 3001]));
            let between = TimeSpan { from: year(1518), to: year(3001) };
            assert_eq!(buckets(between, Some("P1Y")).await, of(&[1600, 2000, 3000]));
            let at = |of: i64| Timestamp(year(of).0 + 5 * SECOND);
            assert_eq!(buckets(TimeSpan::ALL, None).await, [(at(1517), at(3001))]);
        }
    });
}
