//! Finds the documents that a context refers to.

use serde_json::Value;
use url::Url;

/// The URLs that `context` (the value of an `@context` member) refers to, in order. References that cannot be resolved
/// are left out: [`parse`](crate::parse) refuses them with a reason.
pub fn references(context: &Value) -> Vec<Url> {
    references_from(context, None)
}

/// The URLs that the context of a document refers to, resolved against the URL of the document.
pub fn document_references(document: &Value, url: &Url) -> Vec<Url> {
    document.get("@context").map_or_else(Vec::new, |context| references_from(context, Some(url)))
}

fn references_from(context: &Value, base: Option<&Url>) -> Vec<Url> {
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
        let found: Vec<String> =
            document_references(&json!({"@context": context}), &base).into_iter().map(String::from).collect();
        let expected =
            ["https://example.org/a/c.jsonld", "https://example.org/d.jsonld", "https://example.org/e"];
        assert_eq!(found, expected);
        assert!(references(&json!("c.jsonld")).is_empty());
        assert!(document_references(&json!(["c.jsonld"]), &base).is_empty());
    }
}
