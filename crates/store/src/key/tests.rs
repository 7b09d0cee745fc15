//! The order of bytes is the order of values, and values come back.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

/// Texts that share beginnings and hold bytes that are escaped.
fn texts() -> impl Strategy<Value = String> {
    let character =
        prop_oneof![Just('\0'), Just('\u{1}'), Just('\u{2}'), Just('a'), Just('ü'), any::<char>()];
    prop::collection::vec(character, 0..5).prop_map(|characters| characters.into_iter().collect())
}

fn key(text: &str, number: i64, float: f64, small: u32) -> Vec<u8> {
    let mut key = Vec::new();
    put_text(&mut key, text);
    put_i64(&mut key, number);
    put_f64(&mut key, float);
    put_u32(&mut key, small);
    key
}

fn floats() -> impl Strategy<Value = f64> {
    let special =
        [f64::NEG_INFINITY, f64::MIN, -1.0, -f64::MIN_POSITIVE, -0.0, 0.0, 5e-324, 1.0, f64::INFINITY];
    let any = any::<f64>().prop_filter("NaNs have no order", |float| !float.is_nan());
    prop_oneof![prop::sample::select(special.to_vec()), any]
}

proptest! {
    #[test]
    fn bytes_sort_as_numbers(one: (i64, u64), other: (i64, u64)) {
        let bytes = |(signed, unsigned): (i64, u64)| {
            let mut key = Vec::new();
            put_i64(&mut key, signed);
            put_u64(&mut key, unsigned);
            key
        };
        prop_assert_eq!(bytes(one).cmp(&bytes(other)), one.cmp(&other));
        let stored = bytes(one);
        let mut reader = Reader::new(&stored);
        prop_assert_eq!((reader.i64(), reader.u64(), reader.rest()), (Some(one.0), Some(one.1), &[][..]));
    }

    #[test]
    fn bytes_sort_as_floats(one in floats(), other in floats()) {
        prop_assert_eq!(Some(ordered_f64(one).cmp(&ordered_f64(other))), one.partial_cmp(&other));
        prop_assert_eq!(f64_of_ordered(ordered_f64(one)).partial_cmp(&one), Some(Ordering::Equal));
    }

    #[test]
    fn bytes_sort_as_texts(one in texts(), other in texts()) {
        let bytes = |text: &str| {
            let mut key = Vec::new();
            put_text(&mut key, text);
            key
        };
        prop_assert_eq!(bytes(&one).cmp(&bytes(&other)), one.as_bytes().cmp(other.as_bytes()));
        let mut head = Vec::new();
        put_escaped(&mut head, other.as_bytes());
        prop_assert_eq!(bytes(&one).starts_with(&head), one.starts_with(&other));
    }

    #[test]
    fn keys_sort_part_by_part(
        one in (texts(), any::<i64>(), floats(), any::<u32>()),
        other in (texts(), any::<i64>(), floats(), any::<u32>()),
    ) {
        let bytes = |(text, number, float, small): &(String, i64, f64, u32)| key(text, *number, *float, *small);
        prop_assert_eq!(Some(bytes(&one).cmp(&bytes(&other))), one.partial_cmp(&other));
        let stored = bytes(&one);
        let mut reader = Reader::new(&stored);
        let text = reader.text();
        prop_assert_eq!(text.as_deref(), Some(&*one.0));
        prop_assert_eq!((reader.i64(), reader.f64(), reader.u32()), (Some(one.1), Some(one.2), Some(one.3)));
        prop_assert!(reader.rest().is_empty());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let reader = || Reader::new(&bytes);
        let _ = (reader().text(), reader().f64(), reader().u32());
    }
}

/// What is stored is spelled so for ever.
#[test]
fn parts_are_spelled_as_they_are_stored() {
    assert_eq!(ordered_i64(0), [0x80, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(ordered_i64(-1), [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(ordered_f64(1.0), [0xbf, 0xf0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(ordered_f64(-1.0), [0x40, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    let mut text = Vec::new();
    put_text(&mut text, "a\0\u{1}\u{2}");
    assert_eq!(text, [b'a', 1, 1, 1, 2, 2, 0]);
    assert_eq!(Reader::new(&[1, 3, 0]).text(), None, "no escape");
    assert_eq!(Reader::new(b"ab").text(), None, "no end");
}
