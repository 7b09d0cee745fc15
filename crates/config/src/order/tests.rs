use proptest::prelude::*;

use super::Order;

fn check_between(low: Option<&Order>, high: Option<&Order>) -> Order {
    let order = Order::between(low, high);
    assert!(low.is_none_or(|low| low < &order), "{low:?} {order:?}");
    assert!(high.is_none_or(|high| &order < high), "{order:?} {high:?}");
    assert_eq!(Order::from_bytes(order.as_bytes()).as_ref(), Some(&order));
    // What lies below an entry sorts before its next sibling.
    if let Some(low) = low {
        assert!([low.as_bytes(), &[0xFD, 0xFF]].concat().as_slice() < order.as_bytes());
    }
    order
}

#[test]
fn a_hundred_thousand_appended_have_three_bytes() {
    let mut last = Order::first();
    for _ in 0..100_000 {
        last = check_between(Some(&last), None);
    }
    assert_eq!(last.as_bytes().len(), 3);
}

#[test]
fn a_hundred_thousand_prepended_have_three_bytes() {
    let mut first = Order::first();
    for _ in 0..100_000 {
        first = check_between(None, Some(&first));
    }
    assert_eq!(first.as_bytes().len(), 3);
}

#[test]
fn those_inserted_behind_the_same_entry_stay_short() {
    let entry = Order::first();
    let mut next = check_between(Some(&entry), None);
    for _ in 0..100_000 {
        next = check_between(Some(&entry), Some(&next));
    }
    assert!(next.as_bytes().len() <= 5, "{next:?}");
}

#[test]
fn integers_sort_as_their_bytes() {
    let edges = [0, 63, 64, 8_255, 8_256, 1_056_831, 1_056_832, 135_274_559, 135_274_560, 1 << 40];
    let mut numbers: Vec<i64> =
        edges.iter().flat_map(|edge| [*edge, edge + 1, -edge, -edge - 1, -edge - 2]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let orders: Vec<Order> = numbers.iter().map(|number| Order::of(&[*number])).collect();
    assert!(orders.is_sorted_by(|low, high| low < high), "{orders:?}");
    for (number, order) in numbers.iter().zip(&orders) {
        assert_eq!(order.integers().as_slice(), [*number]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((64 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn there_is_always_room(places in proptest::collection::vec(any::<prop::sample::Index>(), 1..400)) {
        let mut orders: Vec<Order> = Vec::new();
        for place in places {
            let at = place.index(orders.len() + 1);
            let order = check_between(at.checked_sub(1).map(|low| &orders[low]), orders.get(at));
            orders.insert(at, order);
        }
        prop_assert!(orders.iter().all(|order| order.as_bytes().len() < 64));
    }

    #[test]
    fn other_bytes_are_no_order(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
        if let Some(order) = Order::from_bytes(&bytes) {
            // An integer has one spelling, but for long ones of small numbers, which nothing writes.
            prop_assert_eq!(order.as_bytes(), bytes.as_slice());
        }
    }
}
