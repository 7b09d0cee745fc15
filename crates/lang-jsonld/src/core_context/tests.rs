use serde_json::Value;

use super::*;

#[test]
fn every_version_resolves_in_both_spellings() {
    for scheme in ["http", "https"] {
        for minor in 0..=9 {
            let url = format!("{scheme}://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.{minor}.jsonld");
            assert!(Edition::of_url(&url).is_some(), "{url}");
        }
        let url = format!("{scheme}://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context.jsonld");
        assert_eq!(Edition::of_url(&url), Some(Edition::V1_9));
    }
    assert_eq!(Edition::of_url(CORE_URL), Some(Edition::V1_9));
    for url in ["", "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v2.0.jsonld", "ftp://uri.etsi.org/"]
    {
        assert_eq!(Edition::of_url(url), None, "{url}");
    }
}

#[test]
fn documents_are_json_with_each_term_once() {
    for edition in [Edition::V1_0, Edition::V1_3, Edition::V1_4, Edition::V1_9] {
        let document: Value = serde_json::from_str(&edition.document()).unwrap();
        let context = document["@context"].as_object().unwrap();
        let extra = if edition == Edition::V1_9 { 3 } else { 1 };
        assert_eq!(context.len(), edition.terms().count() + extra, "{edition:?}");
    }
}

#[test]
fn only_the_first_edition_has_terms_of_its_own() {
    for edition in [Edition::V1_0, Edition::V1_3, Edition::V1_4, Edition::V1_9] {
        assert_eq!(edition.older_terms().next().is_none(), edition.is_in_newest(), "{edition:?}");
    }
}

/// Compares what we make from our table with the documents as they are published.
#[test]
#[expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a test's folder, and a loud skip")]
fn documents_are_those_of_the_standard() {
    let Ok(folder) = std::env::var("TWINFOLD_TEST_DATA") else {
        eprintln!("SKIPPED documents_are_those_of_the_standard: TWINFOLD_TEST_DATA is not set");
        return;
    };
    for version in ["1.0", "1.3", "1.4", "1.9"] {
        let file = format!("{folder}/contexts/ngsi-ld-core-context-v{version}.jsonld");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let published: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        let url = format!("https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v{version}.jsonld");
        let made: Value = serde_json::from_str(&Edition::of_url(&url).unwrap().document()).unwrap();
        let (published, made) =
            (published["@context"].as_object().unwrap(), made["@context"].as_object().unwrap());
        for (term, definition) in published {
            assert_eq!(made.get(term), Some(definition), "{term} of v{version}");
        }
        for term in made.keys() {
            assert!(published.contains_key(term), "{term} is not in v{version}");
        }
    }
}
