//! The FIWARE data models' context, which many clients name: our own table of its facts.

use std::fmt::Write as _;
use std::sync::LazyLock;

/// Groups of terms: a line with IRI prefix, `@type` and `@container` (`-`: none), then, indented,
/// the terms whose IRIs are prefix and term.
const TABLE: &str = include_str!("fiware_terms.txt");

/// Where the context is published.
pub const URL: &str = "https://fiware.github.io/data-models/context.jsonld";

/// What a definition takes beside term and IRI: quotes, colon and comma.
const DEFINITION_BYTES: usize = 6;

/// One term.
struct Fact {
    term: &'static str,
    prefix: &'static str,
    coercion: Option<&'static str>,
    container: Option<&'static str>,
}

static FACTS: LazyLock<Vec<Fact>> = LazyLock::new(|| {
    let mut facts = Vec::new();
    let (mut prefix, mut coercion, mut container) = ("", None, None);
    for line in TABLE.lines() {
        let mut words = line.split_ascii_whitespace();
        if line.starts_with(' ') {
            facts.extend(words.map(|term| Fact { term, prefix, coercion, container }));
        } else {
            prefix = words.next().expect("no line of the table is empty");
            coercion = words.next().filter(|word| *word != "-");
            container = words.next().filter(|word| *word != "-");
        }
    }
    facts
});

/// Whether this is the URL of the FIWARE data models' context.
pub fn is_url(url: &str) -> bool {
    url == URL || url.strip_prefix("http://") == URL.strip_prefix("https://")
}

/// The terms with their IRIs.
pub(crate) fn terms() -> impl Iterator<Item = (Box<str>, Box<str>)> {
    FACTS.iter().map(|fact| (fact.term.into(), [fact.prefix, fact.term].concat().into()))
}

static BYTES: LazyLock<usize> = LazyLock::new(|| {
    FACTS.iter().map(|fact| fact.prefix.len() + 2 * fact.term.len() + DEFINITION_BYTES).sum()
});

/// About how large the document is.
pub fn bytes() -> usize {
    *BYTES
}

/// The document. Cost: written anew each time.
pub fn document() -> String {
    let mut out = String::from("{\"@context\":{");
    for (index, fact) in FACTS.iter().enumerate() {
        let Fact { term, prefix, .. } = fact;
        let separator = if index == 0 { "" } else { "," };
        let _ = match (fact.coercion, fact.container) {
            (None, None) => write!(out, "{separator}\"{term}\":\"{prefix}{term}\""),
            (coercion, container) => {
                let _ = write!(out, "{separator}\"{term}\":{{\"@id\":\"{prefix}{term}\"");
                for (name, value) in [("@type", coercion), ("@container", container)] {
                    if let Some(value) = value {
                        let _ = write!(out, ",\"{name}\":\"{value}\"");
                    }
                }
                write!(out, "}}")
            }
        };
    }
    out.push_str("}}");
    out
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn terms_have_their_iris() {
        let find =
            |wanted: &str| terms().find(|(term, _)| **term == *wanted).map(|(_, iri)| iri.into_string());
        assert_eq!(find("Building").as_deref(), Some("https://uri.fiware.org/ns/data-models#Building"));
        assert_eq!(find("COD").as_deref(), Some("http://purl.org/goodrelations/v1#COD"));
        assert_eq!(find("nothing"), None);
        assert!(is_url("http://fiware.github.io/data-models/context.jsonld"));
        assert!(!is_url("https://fiware.github.io/data-models/other.jsonld"));
    }

    #[test]
    fn bytes_are_about_those_of_the_document() {
        let document = document().len();
        assert!((document / 2..=document).contains(&bytes()), "{} of {document}", bytes());
    }

    #[test]
    fn document_is_the_published_one() {
        crate::published::check(&document(), "fiware-data-models.jsonld", 17_070_079_190_979_361_161);
    }
}
