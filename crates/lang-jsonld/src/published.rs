//! For tests: compares documents that are made from our tables with those that others published.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

/// Checks that a document that we make is one that was published, by the digest of the latter's terms. With
/// `TWINFOLD_TEST_DATA` it is compared term by term with `contexts/{file}` in that folder, too.
#[expect(clippy::disallowed_methods, reason = "a folder with what others published")]
pub(crate) fn check(made: &str, file: &str, published: u64) {
    let made = terms(made);
    if let Ok(folder) = std::env::var("TWINFOLD_TEST_DATA") {
        let path = format!("{folder}/contexts/{file}");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let theirs = terms(&text);
        assert_eq!(digest(&theirs), published, "the digest of {file}");
        let (made, theirs) = (made.as_object().unwrap(), theirs.as_object().unwrap());
        for (term, definition) in theirs {
            assert_eq!(made.get(term), Some(definition), "{term} of {file}");
        }
        assert_eq!(made.len(), theirs.len(), "terms of {file}");
    }
    assert_eq!(digest(&made), published, "is not {file}: set TWINFOLD_TEST_DATA to see in which terms");
}

/// The value of `@context`; some documents have a comment before their first brace.
fn terms(text: &str) -> Value {
    let document: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    document["@context"].clone()
}

/// Of the value, whatever the order of members.
fn digest(value: &Value) -> u64 {
    let mut value = value.clone();
    value.sort_all_objects();
    xxh3_64(value.to_string().as_bytes())
}
