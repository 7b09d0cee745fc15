//! Which documents a context refers to. Pure: nothing is read here.

use reqwest::Url;
use serde_json::Value;

/// The URLs that `context` (the value of an `@context` member) refers to, in order, resolved against the document it
/// stands in. What is no reference, or none that can be resolved, is passed over: parsing the context says so.
pub(super) fn references(context: &Value, base: Option<&Url>) -> Vec<Url> {
    let mut found = Vec::new();
    collect(context, base, &mut found);
    found
}

fn collect(context: &Value, base: Option<&Url>, found: &mut Vec<Url>) {
    match context {
        Value::String(reference) => found.extend(resolve(reference, base)),
        Value::Array(contexts) => contexts.iter().for_each(|context| collect(context, base, found)),
        Value::Object(members) => {
            let import = members.get("@import").and_then(Value::as_str);
            found.extend(import.and_then(|reference| resolve(reference, base)));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn resolve(reference: &str, base: Option<&Url>) -> Option<Url> {
    match base {
        Some(base) => base.join(reference).ok(),
        None => Url::parse(reference).ok(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_found_wherever_contexts_may_stand() {
        let base = Url::parse("https://example.org/a/b.jsonld").unwrap();
        let context = json!([
            "c.jsonld",
            {"term": "urn:no:reference", "@import": "/d.jsonld"},
            ["https://example.org/e", 7, null],
            {"@import": 7},
        ]);
        let found: Vec<String> = references(&context, Some(&base)).into_iter().map(String::from).collect();
        let expected =
            ["https://example.org/a/c.jsonld", "https://example.org/d.jsonld", "https://example.org/e"];
        assert_eq!(found, expected);
        assert!(references(&json!("c.jsonld"), None).is_empty());
    }
}
