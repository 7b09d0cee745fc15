//! The order of keys is the order of values, and ids come back out of keys.

use std::cmp::Ordering;
use std::ops::Bound;

use proptest::prelude::*;
use store::{Range, Timestamp};

use super::*;

const TYPE_ONE: TermId = TermId(7);
const ATTRIBUTE: TermId = TermId(0x0100_00ff);

fn value_key(value: IndexValue<'_>, id: &str) -> Vec<u8> {
    let mut key = Vec::new();
    put_value(&mut key, TYPE_ONE, ATTRIBUTE, value, id);
    key
}

fn holds(range: &Range, key: &[u8]) -> bool {
    key >= &range.start[..] && range.end.as_ref().is_none_or(|end| key < &end[..])
}

/// Texts that share long heads and hold the bytes that need escaping.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![Just("\0".into()), Just("\u{1}".into()), Just("a".repeat(60)), "\\PC{0,9}"];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn check_bounds(low: IndexValue<'_>, high: IndexValue<'_>, order: Ordering) {
    let class = low.class();
    let key = value_key(low, "urn:x:1");
    let bounds = |lower, upper| value_bounds(TYPE_ONE, ATTRIBUTE, class, lower, upper);
    let exact = high.is_exact();
    let below = holds(&bounds(Bound::Unbounded, Bound::Excluded(high)), &key);
    let above = holds(&bounds(Bound::Excluded(high), Bound::Unbounded), &key);
    assert!(below || order != Ordering::Less);
    assert!(above || order != Ordering::Greater);
    assert!(!exact || below == (order == Ordering::Less));
    assert!(!exact || above == (order == Ordering::Greater));
    let least = holds(&bounds(Bound::Included(high), Bound::Unbounded), &key);
    let most = holds(&bounds(Bound::Unbounded, Bound::Included(high)), &key);
    assert!(least || order == Ordering::Less);
    assert!(most || order == Ordering::Greater);
    assert!(!exact || (least == (order != Ordering::Less) && most == (order != Ordering::Greater)));
    assert!(holds(&value_range(TYPE_ONE, ATTRIBUTE, low), &key));
    assert!(holds(&attribute_range(TYPE_ONE, ATTRIBUTE), &key));
}

proptest! {
    #[test]
    fn numbers_keep_their_order(low in any::<f64>(), high in any::<f64>()) {
        prop_assume!(!low.is_nan() && !high.is_nan());
        let order = low.partial_cmp(&high).unwrap();
        prop_assert_eq!(value_key(IndexValue::Number(low), "").cmp(&value_key(IndexValue::Number(high), "")), order);
        check_bounds(IndexValue::Number(low), IndexValue::Number(high), order);
    }

    #[test]
    fn texts_keep_their_order(low in text(), high in text()) {
        let cut = |text: &str| text.as_bytes()[..text.len().min(64)].to_vec();
        let keys = (value_key(IndexValue::Text(&low), ""), value_key(IndexValue::Text(&high), ""));
        prop_assert_eq!(keys.0.cmp(&keys.1), cut(&low).cmp(&cut(&high)));
        check_bounds(IndexValue::Text(&low), IndexValue::Text(&high), low.cmp(&high));
        let longer = format!("{low}{high}");
        prop_assert!(holds(&text_prefix_range(TYPE_ONE, ATTRIBUTE, &low), &value_key(IndexValue::Text(&longer), "i")));
    }

    #[test]
    fn ids_come_back(id in text(), value in text(), number in any::<f64>(), cell in any::<u64>(), time in any::<i64>()) {
        let values = [IndexValue::Text(&value), IndexValue::Number(number), IndexValue::Bool(true), IndexValue::Exists];
        for value in values {
            let key = value_key(value, &id);
            prop_assert_eq!(id_of_key(&key), Some(&*id));
            prop_assert_eq!((type_of_key(&key), attribute_of_key(&key)), (Some(TYPE_ONE), Some(ATTRIBUTE)));
        }
        type Build<'a> = &'a dyn Fn(&mut Vec<u8>);
        let builders: [Build<'_>; 5] = [
            &|out| put_entity(out, &id),
            &|out| put_type(out, TYPE_ONE, &id),
            &|out| put_scope(out, &value, &id),
            &|out| put_cell(out, TYPE_ONE, ATTRIBUTE, cell, &id),
            &|out| put_expiry(out, Timestamp(time), &id),
        ];
        for build in builders {
            let mut key = Vec::new();
            build(&mut key);
            prop_assert_eq!(id_of_key(&key), Some(&*id));
        }
    }

    #[test]
    fn keys_of_other_bytes_are_refused_and_do_not_panic(key in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = (id_of_key(&key), type_of_key(&key), attribute_of_key(&key));
    }

    #[test]
    fn times_keep_their_order(first in any::<i64>(), second in any::<i64>()) {
        let mut key = Vec::new();
        put_expiry(&mut key, Timestamp(first), "urn:x:1");
        prop_assert_eq!(holds(&expired_range(Timestamp(second)), &key), first < second);
    }

    #[test]
    fn cells_and_scopes_are_found(cell in any::<u64>(), first in any::<u64>(), last in any::<u64>(), scope in text(), tail in text()) {
        let mut key = Vec::new();
        put_cell(&mut key, TYPE_ONE, ATTRIBUTE, cell, "i");
        prop_assert_eq!(holds(&cell_range(TYPE_ONE, ATTRIBUTE, first, last), &key), first <= cell && cell <= last);
        let mut key = Vec::new();
        put_scope(&mut key, &format!("{scope}{tail}"), "i");
        prop_assert!(holds(&scope_prefix_range(&scope), &key));
        prop_assert_eq!(holds(&scope_range(&scope), &key), tail.is_empty());
    }
}

#[test]
fn zero_has_one_key() {
    assert_eq!(value_key(IndexValue::Number(-0.0), ""), value_key(IndexValue::Number(0.0), ""));
}

#[test]
fn a_range_goes_on_behind_a_row() {
    let range = type_range(TYPE_ONE);
    let key = |id: &str| {
        let mut key = Vec::new();
        put_type(&mut key, TYPE_ONE, id);
        key
    };
    let behind = range.after_key(&key("urn:b"));
    assert!(!holds(&behind, &key("urn:a")) && !holds(&behind, &key("urn:b")));
    assert!(
        holds(&behind, &key("urn:b\0")) && holds(&behind, &key("urn:ba")) && holds(&behind, &key("urn:c"))
    );
}
