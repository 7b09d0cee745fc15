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
fn documents_are_those_of_the_standard() {
    let published = [
        ("1.0", 11_519_584_766_806_266_291),
        ("1.3", 5_694_350_471_788_053_381),
        ("1.4", 433_542_790_858_140_566),
        ("1.9", 16_612_329_427_106_735_220),
    ];
    for (version, digest) in published {
        let url = format!("https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v{version}.jsonld");
        let made = Edition::of_url(&url).unwrap().document();
        crate::published::check(&made, &format!("ngsi-ld-core-context-v{version}.jsonld"), digest);
    }
}
