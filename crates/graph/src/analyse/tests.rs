use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: &[&str]) {
    let words = Words::of_text(text);
    let mut expected: Vec<_> =
        expected.iter().copied().chain([&*text.to_lowercase()]).map(str::to_owned).collect();
    expected.sort();
    expected.dedup();
    assert_eq!(words.iter().collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn words_are_what_people_search_for() {
    check("Sensor 12, north-side of Hall B", &["sensor", "12", "north", "side", "of", "hall", "b"]);
    check("pm_10 is 1.5; can't be", &["pm_10", "pm", "10", "is", "1.5", "can't", "can", "t", "be"]);
    check("Straße ÉTÉ", &["straße", "été"]);
    check("!?", &[]);
    check("", &[]);
}

#[test]
fn chinese_is_split_by_a_dictionary() {
    let words = Words::of_text("北京天安门广场 Sensor");
    for expected in ["北京", "天安门", "广场", "sensor"] {
        assert!(words.iter().any(|word| word == expected), "{expected} of {words:?}");
    }
}

#[test]
fn a_query_matches_by_any_word_and_by_named_words() {
    let check = |text: &str, query: &str, expected: bool| {
        assert_eq!(Words::of_text(text).has_any_of(&Words::of_query(query)), expected, "{text}, {query}");
    };
    check("Beijing Haidian", "haidian street", true);
    check("Beijing Haidian", "haid", false);
    check("Beijing Haidian", "(Haidian)", true);
    check("Beijing Haidian", "(Beijing Haidian)", true);
    check("Beijing Haidian North", "(Beijing Haidian)", false);
    check("Beijing Haidian", "(paris|beijing)", true);
    check("Beijing Haidian", "(paris|rome)", false);
    check("(|)", "(|)", false);
}

proptest! {
    #[test]
    fn every_text_matches_itself(text in ".{0,40}") {
        let words = Words::of_text(&text);
        prop_assert!(words.has_any_of(&Words::of_text(&text)));
        prop_assert!(words.iter().all(|word| word.len() <= WORD_BYTES_MAX));
    }
}
