//! JSON text, formulas, CPS paths, contexts, times and durations.

use lang_jsonld::Documents;
use lang_time::{Fraction, LeapSecond, Offsets, Rules, TimeReader};

use crate::{Target, texts};

/// Canonical text: the same when it is made again, and the same value to another parser.
pub(crate) const JSON: Target = Target { name: "json", run: json, seeds: json_seeds };
/// A string that is written is read.
pub(crate) const JSON_STRING: Target = Target { name: "json_string", run: json_string, seeds: json_seeds };
/// A formula that is printed is parsed to the same tree.
pub(crate) const FORMULA: Target = Target { name: "formula", run: formula, seeds: formula_seeds };
/// A CPS path that is printed is parsed to the same tree, and normalizing it twice changes nothing.
pub(crate) const CPS_PATH: Target = Target { name: "cps_path", run: cps_path, seeds: cps_path_seeds };
/// A context gives every name back that it made of an IRI.
pub(crate) const CONTEXT: Target = Target { name: "context", run: context, seeds: context_seeds };
/// A date-time that is written is read, by whichever rules it was read.
pub(crate) const TIME: Target = Target { name: "time", run: time, seeds: time_seeds };
/// A duration that is printed is parsed to the same parts.
pub(crate) const DURATION: Target = Target { name: "duration", run: duration, seeds: duration_seeds };

/// Containers inside each other.
const DEPTH_MAX: usize = 32;

fn json_seeds() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"a": [1, -0.5e10, true, null, "x\u00e9\n\ud83d\ude00"], "b": {"c": {}, "d": []}}"#,
        r#"[0, -0, 1.0, 12345678901234567890, 1e400, "\"\\\/\b\f\r\t"]"#,
        r#" "text" "#,
        "[[[[[[]]]]]]",
    ])
}

fn json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(canonical) = lang_json::canonical(text, DEPTH_MAX) else { return };
    assert_eq!(lang_json::canonical(&canonical, DEPTH_MAX).as_ref(), Ok(&canonical), "made again");
    let theirs: serde_json::Value = serde_json::from_str(text).expect("another parser takes it, too");
    let ours: serde_json::Value = serde_json::from_str(&canonical).expect("canonical text is JSON");
    assert_eq!(ours, theirs);
    walk(&canonical);
}

/// Every member and element is canonical, and a member is found by its name.
fn walk(canonical: &str) {
    for element in lang_json::elements(canonical) {
        assert!(lang_json::canonical(element, DEPTH_MAX).is_ok_and(|again| again == element));
        walk(element);
    }
    for (name, value) in lang_json::members(canonical) {
        assert!(lang_json::member(canonical, &name).is_some());
        walk(value);
    }
    let _ = (lang_json::kind(canonical), lang_json::string_value(canonical));
}

fn json_string(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let written = lang_json::string_to(&text);
    assert_eq!(lang_json::string_value(&written).as_deref(), Some(&*text));
    assert_eq!(lang_json::canonical(&written, 1).as_ref(), Ok(&written));
}

fn formula_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "[Load North] + 2 * [Load South, -PT1H]",
        "if([a] > 3 and not ([b] <= -1e3), max([a], [b], 0), -[c] ^ 2 ^ 3)",
        "sum([x]) / 4 - (1 - (2 - 3)) % 5",
        "avg([a, P1D]; 4) != 0.25 or 1 = 1",
    ])
}

fn formula(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(formula) = lang_formula::parse(text) else { return };
    let printed = formula.to_string();
    let again = lang_formula::parse(&printed).unwrap_or_else(|error| panic!("{printed:?}: {error}"));
    assert_eq!(again, formula, "{printed:?}");
    assert_eq!(again.to_string(), printed);
    let _ = (formula.references(), formula.names(), formula.reach());
}

fn cps_path_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "/bookstore/categories[@code='1' and @name=\"it's\"]/books",
        "//books[@price>10 and @lang='English' or @code=-1]/authors[text()='Terry \"P\"']",
        "//nw:a[@x=1][contains(@y,'z')]/ancestor::b/c[@d<=2]/@e",
        " / a / ancestor :: b [ @c >= 18446744073709551615 ] ",
        "/",
    ])
}

fn cps_path(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match lang_cps_path::parse(text) {
        Ok(path) => {
            let printed = path.to_string();
            assert_eq!(lang_cps_path::parse(&printed).as_ref(), Ok(&path), "{printed:?}");
            let normalized = path.normalized();
            let again = lang_cps_path::parse(&normalized).expect("a normalized path is a path");
            assert_eq!(again.normalized(), normalized);
        }
        Err(error) => assert!(text.is_char_boundary(error.position) && error.line > 0 && error.column > 0),
    }
}

fn context_seeds() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"@context": {"city": "https://example.org/city#", "Tram": "city:Tram", "stop": {"@id": "city:stop", "@type": "@id"}}}"#,
        r#"{"@context": ["https://example.org/a.jsonld", {"@vocab": "https://example.org/", "a": "b", "b": {"@id": "c:d"}}]}"#,
        r#"{"@context": {"@base": "https://example.org/x/", "p": "../q", "name": "https://schema.org/name", "x": null}}"#,
        r#"{"@context": [[], null, "urn:y", {"x:y": "https://example.org/z"}]}"#,
    ])
}

fn context(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(document) = lang_jsonld::read(text) else { return };
    let url = lang_jsonld::Url::parse("https://example.org/here.jsonld").expect("a URL");
    let _ = lang_jsonld::document_references(&document, &url);
    let Some(member) = document.get("@context") else { return };
    let _ = lang_jsonld::references(member);
    let Ok(context) = lang_jsonld::parse(member, &Documents::new()) else { return };
    let words = text.split(['"', ' ', ',']).filter(|word| !word.is_empty()).take(64);
    for word in
        words.chain(["name", "https://example.org/city#Tram", "https://uri.etsi.org/ngsi-ld/location"])
    {
        let iri = context.expand(word).into_owned();
        let name = context.compact(&iri).into_owned();
        assert_eq!(context.expand(&name), iri, "{word:?} is {name:?}");
    }
}

fn time_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "2026-05-04T10:00:00.123456789Z",
        "1969-12-31t23:59:59,5+0130",
        "2024-02-29 24:00:00-23:59",
        "2016-12-31T23:59:60z",
        "0000-01-01T00:00:00+01",
    ])
}

fn time(bytes: &[u8]) {
    let offsets = [Offsets::Z, Offsets::Rfc3339, Offsets::Iso8601];
    let leap_seconds = [LeapSecond::Refused, LeapSecond::Before, LeapSecond::After];
    for (offsets, leap_second) in offsets.into_iter().zip(leap_seconds) {
        let rules = Rules { separators: b"Tt ", comma: true, fraction_digits_max: 12, offsets, leap_second };
        let Some(time) = lang_time::parse(bytes, &rules) else { continue };
        for fraction in [Fraction::Groups, Fraction::Shortest] {
            let written = lang_time::format(time, fraction);
            // An offset may lead out of the years of four digits.
            let expected = Some(time).filter(|_| !written.starts_with(['+', '-']));
            assert_eq!(lang_time::parse(written.as_bytes(), &rules), expected, "{written}");
        }
    }
    let rules = Rules {
        separators: b"T",
        comma: false,
        fraction_digits_max: 0,
        offsets: Offsets::Rfc3339,
        leap_second: LeapSecond::Refused,
    };
    if let Some((time, length)) = TimeReader::default().read(bytes) {
        let whole = bytes.get(..length).and_then(|text| lang_time::parse(text, &rules));
        assert_eq!(
            whole.and_then(lang_time::UnixTime::nanoseconds),
            Some(time),
            "the cached way reads the same"
        );
    }
}

fn duration_seeds() -> Vec<Vec<u8>> {
    texts(&["P1Y2M3W4DT5H6M7.5S", "-pt15m", "+P0D", "PT0.000000001S", "P10000000W"])
}

fn duration(bytes: &[u8]) {
    let Some(duration) = std::str::from_utf8(bytes).ok().and_then(lang_time::Duration::parse) else { return };
    let printed = duration.to_string();
    assert_eq!(lang_time::Duration::parse(&printed), Some(duration), "{printed}");
    assert_eq!(duration.reversed().reversed(), duration);
}
