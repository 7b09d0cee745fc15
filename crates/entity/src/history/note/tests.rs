//! Instances become points and come back bit for bit, whatever they hold.

use proptest::prelude::*;

use super::*;
use crate::encode::put_instance;
use crate::testing::operations::instance;
use crate::{Instance, Kind};

fn stored(instance: &Instance, created: Timestamp, modified: Timestamp) -> Vec<u8> {
    let mut out = Vec::new();
    put_instance(&mut out, instance, created, modified);
    out
}

fn view(stored: &[u8]) -> InstanceView<'_> {
    InstanceView::body(Fields::new(stored).bytes().unwrap(), stored).unwrap()
}

#[track_caller]
fn check_value(text: &str, class: Class, number: f64) {
    let mut builder = PointsBuilder::default();
    let bytes = stored(&Instance::new(Kind::Property, text), Timestamp(3), Timestamp(5));
    builder.push(5000, &view(&bytes));
    let point = Point::new(&builder.points, 0);
    assert_eq!((point.class, point.value), (class, number), "{text}");
    assert_eq!(point.value(), text);
    let mut written = String::new();
    point.write_value(&mut written);
    assert_eq!(written, text);
}

#[test]
fn values_keep_their_spelling() {
    check_value("0", Class::Number, 0.0);
    check_value("-17", Class::Number, -17.0);
    check_value("9007199254740991", Class::Number, 9_007_199_254_740_991.0);
    check_value("9007199254740993", Class::Spelled, 9_007_199_254_740_992.0);
    check_value("20.0", Class::Fraction, 20.0);
    check_value("20.00", Class::Spelled, 20.0);
    check_value("-2.50", Class::Spelled, -2.5);
    check_value("0.1", Class::Number, 0.1);
    check_value("72.49999999999999", Class::Number, 72.499_999_999_999_99);
    check_value("1E3", Class::Spelled, 1000.0);
    check_value("-0", Class::Spelled, 0.0);
    check_value("1e999", Class::Other, 0.0);
    check_value("true", Class::Bool, 1.0);
    check_value("false", Class::Bool, 0.0);
    check_value("[1,[2,3],\"a,b\"]", Class::Array, 3.0);
    check_value("[]", Class::Array, 0.0);
    check_value("\"blue\"", Class::Text, 0.0);
    check_value("{\"@type\":\"Date\",\"@value\":\"2026-11-21\"}", Class::Text, 0.0);
    check_value("{\"a\":1}", Class::Other, 0.0);
    check_value("null", Class::Other, 0.0);
}

#[test]
fn readings_of_one_sensor_share_a_note() {
    let mut builder = PointsBuilder::default();
    for reading in 0..100_i64 {
        let accuracy = crate::Attribute {
            name: TermId(9),
            instances: smallvec::smallvec![Instance::new(Kind::Property, "0.5")],
        };
        let given = Instance {
            observed_at: Some(Timestamp(reading)),
            unit_code: Some("CEL".into()),
            dataset: Some("urn:d:1".into()),
            members: vec![accuracy],
            ..Instance::new(Kind::Property, (reading * 2).to_string())
        };
        let bytes = stored(&given, Timestamp(7), Timestamp(100 + reading));
        // Members are given anew each time: they have the times of the reading.
        builder.push((100 + reading) * MICROSECOND, &view(&bytes));
    }
    assert_eq!(builder.points.len(), 100);
    assert!(builder.points.notes.dictionary.len() <= 2, "{}", builder.points.notes.dictionary.len());
}

#[test]
fn times_beyond_nanoseconds_are_kept() {
    for time in [i64::MAX, i64::MIN + 1, i64::MAX / 1000 + 1, i64::MAX / 1000, 0] {
        let given = Instance { observed_at: Some(Timestamp(time)), ..Instance::new(Kind::Property, "1") };
        let bytes = stored(&given, Timestamp(1), Timestamp(1));
        let mut builder = PointsBuilder::default();
        builder.push(MICROSECOND, &view(&bytes));
        assert_eq!(Point::new(&builder.points, 0).observed_at(), Some(Timestamp(time)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((512 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn instances_come_back(given in prop::collection::vec((instance(), 0..4_i64), 1..8)) {
        let mut builder = PointsBuilder::default();
        let mut expected = Vec::new();
        for (index, (instance, age)) in (10_i64..).zip(&given) {
            let bytes = stored(instance, Timestamp(index - age), Timestamp(index));
            if instance.remove {
                builder.push_removal(index * MICROSECOND, instance.kind.unwrap_or(Kind::Property));
                expected.push(Vec::new());
            } else {
                builder.push(index * MICROSECOND, &view(&bytes));
                expected.push(bytes);
            }
        }
        for (index, expected) in expected.iter().enumerate() {
            let mut found = Vec::new();
            Point::new(&builder.points, index).put_stored(&mut found, given[index].0.dataset.as_deref());
            prop_assert_eq!(&found, expected);
        }
    }
}
