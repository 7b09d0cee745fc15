use lang_yang::testing::{SchemaBuilder, string};

use super::{Label, put_slot, split_slot};
use crate::order::Order;

#[test]
fn slots_sort_and_are_read_back() {
    let slots = [0, 1, 237, 238, 239, 240, 2_286, 2_287, 100_000, u32::MAX];
    let spelt: Vec<_> = slots
        .iter()
        .map(|slot| {
            let mut bytes = smallvec::SmallVec::new();
            put_slot(&mut bytes, *slot);
            assert_eq!(split_slot(&[&bytes[..], &[7]].concat()), Some((*slot, &[7][..])));
            bytes
        })
        .collect();
    assert!(spelt.is_sorted_by(|low, high| low < high && !high.starts_with(low)), "{spelt:?}");
    for bytes in [&[][..], &[0], &[0xF0], &[0xF8, 0, 0, 0], &[0xF9, 0], &[0xFE, 1], &[0xFF]] {
        assert_eq!(split_slot(bytes), None, "{bytes:?}");
    }
}

#[test]
fn steps_follow_the_schema() {
    let schema = SchemaBuilder::new("m", "m")
        .container("a", |a| a.list("l", &["k"], |l| l.leaf("k", string()).container("c", |c| c)))
        .build();
    let (first, second) = (Order::first(), Order::first().after());
    let list = Label::top().container(0).entry(0, first.as_bytes());
    let below = list.container(1);
    let next = Label::top().container(0).entry(0, second.as_bytes());
    let between = Label::top().container(0).entry(0, Order::between(Some(&first), Some(&second)).as_bytes());
    assert!(list < below && below < between && between < next);
    assert!(below.is_within(&list) && list.is_within(&list) && list.is_within(&Label::top()));
    assert!(!between.is_within(&list) && !list.is_within(&below));
    assert!(list < list.above() && below < list.above() && list.above() < between);
    assert_eq!(below.parent(&schema), Some(list));
    assert_eq!((below.depth(&schema), Label::top().depth(&schema)), (3, 0));
    assert_eq!(below.node(&schema), schema.by_name("c").first().copied());
    assert_eq!(Label::from_bytes(&schema, below.as_bytes()), Some(below));
    assert_eq!(Label::from_bytes(&schema, &[1, 1]), None, "a list entry has an order");
    assert_eq!(Label::from_bytes(&schema, &[2]), None, "no such slot");
    assert_eq!(Label::top().parent(&schema), None);
}
