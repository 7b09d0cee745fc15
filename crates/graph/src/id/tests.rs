use proptest::prelude::*;

use super::spliced::{put_joined, split_joined};
use super::*;
use crate::LabelId;

fn check_text(id: &EdgeId, text: &str) {
    assert_eq!(id.to_string(), text);
    assert_eq!(text.parse::<EdgeId>().as_ref(), Ok(id));
}

fn edge(source: VertexId, sort_values: &str, target: VertexId) -> EdgeId {
    EdgeId { source, label: LabelId(1), sub_label: LabelId(2), sort_values: sort_values.into(), target }
}

#[test]
fn edges_are_written_as_clients_know_them() {
    check_text(&edge("1:marko".into(), "", "1:josh".into()), "S1:marko>1>2>>S1:josh");
    check_text(&edge(VertexId::Number(-1), "a!b", VertexId::Number(2)), "L-1>1>2>a!b>L2");
    let uuid = VertexId::Uuid(0x1234_5678_9abc_4def_8012_3456_789a_bcde);
    check_text(&edge(uuid, "", "x".into()), "U12345678-9abc-4def-8012-3456789abcde>1>2>>Sx");
    check_text(&edge("a>b".into(), ">", "c>".into()), "Sa`>b>1>2>`>>Sc`>");
    for wrong in [
        "",
        "S1:a>1>>S1:b",
        "S1:a>1>1>>S1:b>",
        "1:a>1>1>>S1:b",
        "S1:a>x>1>>S1:b",
        "L1.5>1>1>>L2",
        "é>1>1>>L2",
    ] {
        assert_eq!(wrong.parse::<EdgeId>(), Err(EdgeIdError), "{wrong}");
    }
}

#[test]
fn numbers_in_ids_are_written_as_clients_know_them() {
    // Facts of the original: the count of digits, then digits of base 64.
    let largest = format!("B7{}", "~".repeat(10));
    let known =
        [(0, "10"), (1, "11"), (35, "1Z"), (36, "1_"), (63, "1~"), (64, "210"), (i64::MAX, &*largest)];
    for (number, text) in known {
        assert_eq!(number_as_text(number), text, "{number}");
    }
    assert_eq!(primary_key_id(7, &join_names(["a", "b"])), "7:a!b");
    assert_eq!(primary_key_id(7, &join_names(["a:b", "c!d"])), "7:a`:b!c`!d");
}

fn any_id() -> impl Strategy<Value = VertexId> {
    prop_oneof![
        any::<i64>().prop_map(VertexId::Number),
        any::<u128>().prop_map(VertexId::Uuid),
        "[a`>:!\u{0}\u{1}é]{0,6}".prop_map(|text| VertexId::Text(text.into())),
    ]
}

proptest! {
    #[test]
    fn what_is_joined_is_split_again(parts in proptest::collection::vec("[a`>]{0,5}", 1..5)) {
        let mut text = String::new();
        put_joined(&mut text, '>', parts.iter().map(String::as_str));
        prop_assert_eq!(split_joined(&text, '>').to_vec(), parts);
    }

    #[test]
    fn the_text_of_an_edge_leads_back(source in any_id(), sort in "[a`>!]{0,5}", target in any_id()) {
        let id = edge(source, &sort, target);
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn keys_lead_back_and_end_themselves(id in any_id(), rest in proptest::collection::vec(any::<u8>(), 0..5)) {
        let mut key = id.to_key();
        prop_assert_eq!(VertexId::of_key(&key), Some(id));
        let length = key.len();
        key.extend(&rest);
        prop_assert_eq!(split_key(&key), Some(key.split_at(length)));
    }

    #[test]
    fn keys_sort_as_ids_of_a_kind(one in any_id(), two in any_id()) {
        if std::mem::discriminant(&one) == std::mem::discriminant(&two) {
            prop_assert_eq!(one.to_key().cmp(&two.to_key()), one.cmp(&two));
        }
    }

    #[test]
    fn numbers_as_text_sort_as_numbers(one in any::<i64>(), two in any::<i64>()) {
        prop_assert_eq!(number_as_text(one).cmp(&number_as_text(two)), one.cmp(&two));
    }

    #[test]
    fn floats_as_text_sort_as_numbers(one in any::<f64>(), two in any::<f64>(), three in any::<f32>(), four in any::<f32>()) {
        prop_assert_eq!(sortable_f64(one).cmp(&sortable_f64(two)), one.total_cmp(&two));
        prop_assert_eq!(sortable_f32(three).cmp(&sortable_f32(four)), three.total_cmp(&four));
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in proptest::collection::vec(any::<u8>(), 0..40), text in ".{0,40}") {
        let _ = (VertexId::of_key(&bytes), split_key(&bytes), text.parse::<EdgeId>());
    }
}
