//! The core context: its versions and their documents, made from one table of facts.

use std::fmt::Write as _;

use lang_json::write_string;

use crate::core_terms::{Edition, Form, TERMS};

/// Names that no context defines belong here.
pub const DEFAULT_VOCABULARY: &str = "https://uri.etsi.org/ngsi-ld/default-context/";

/// The core context that applies to every request, and that answers name.
pub const CORE_URL: &str = "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld";

/// The prefixes that the facts are written with.
const PREFIXES: [(&str, &str); 2] =
    [("ngsi-ld:", "https://uri.etsi.org/ngsi-ld/"), ("geojson:", "https://purl.org/geojson/vocab#")];

/// What a term and its IRI take in a document, about.
const TERM_BYTES: usize = 64;

impl Edition {
    /// The edition that a core context URL stands for: `http` or `https`, without a version (the
    /// newest), or v1.0 to v1.9. `None`: no URL of the core context.
    pub fn of_url(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
        let name = rest.strip_prefix("uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context")?;
        match name.strip_suffix(".jsonld")? {
            "" => Some(Self::V1_9),
            "-v1.0" | "-v1.1" => Some(Self::V1_0),
            "-v1.2" | "-v1.3" => Some(Self::V1_3),
            "-v1.4" | "-v1.5" | "-v1.6" => Some(Self::V1_4),
            "-v1.7" | "-v1.8" | "-v1.9" => Some(Self::V1_9),
            _ => None,
        }
    }

    /// The terms of this edition: term, IRI as the table spells it, form.
    fn terms(self) -> impl Iterator<Item = (&'static str, &'static str, Form)> {
        TERMS
            .iter()
            .filter(move |(_, _, _, first, last)| (*first..=*last).contains(&self))
            .map(|(term, iri, form, _, _)| (*term, *iri, *form))
    }

    /// Whether all terms of this edition are in the newest, so that it adds nothing to it.
    pub fn is_in_newest(self) -> bool {
        self != Self::V1_0
    }

    /// The terms of this edition that the newest no longer has, with their IRIs.
    pub(crate) fn older_terms(self) -> impl Iterator<Item = (Box<str>, Box<str>)> {
        let is_current = |term: &str| Self::V1_9.terms().any(|(current, _, _)| current == term);
        self.terms()
            .filter(move |(term, _, _)| !is_current(term))
            .map(|(term, iri, _)| (term.into(), full(iri).into()))
    }

    /// About how much there is to read where a context refers to this edition.
    pub fn bytes(self) -> usize {
        if self.is_in_newest() { 0 } else { TERMS.len() * TERM_BYTES }
    }

    /// The document of this edition. Cost: written anew each time.
    pub fn document(self) -> String {
        let mut out = String::from("{\"@context\":{");
        if self == Self::V1_9 {
            out.push_str("\"@version\":1.1,\"@protected\":true,");
        }
        for (term, iri, form) in self.terms() {
            write_string(&mut out, term);
            out.push(':');
            self.write_definition(&mut out, term, iri, form);
            out.push(',');
        }
        let _ = write!(out, "\"@vocab\":\"{DEFAULT_VOCABULARY}\"}}}}");
        out
    }

    fn write_definition(self, out: &mut String, term: &str, iri: &str, form: Form) {
        // The first version spelled its IRIs in full.
        let iri = if self == Self::V1_0 { full(iri) } else { iri.to_owned() };
        if term == "ngsildproof" {
            let _ = write!(out, "{{\"@id\":\"{iri}\",\"@context\":{PROOF_CONTEXT}}}");
            return;
        }
        let extra = match form {
            Form::Plain => {
                write_string(out, &iri);
                return;
            }
            Form::DateTime => "\"@type\":\"DateTime\"",
            Form::Id => "\"@type\":\"@id\"",
            Form::Vocab => "\"@type\":\"@vocab\"",
            Form::Json => "\"@type\":\"@json\"",
            Form::List => "\"@container\":\"@list\"",
            Form::IdList => "\"@type\":\"@id\",\"@container\":\"@list\"",
            Form::Set => "\"@container\":\"@set\"",
            Form::Index => "\"@container\":\"@index\"",
            Form::Language => "\"@container\":\"@language\"",
        };
        let _ = write!(out, "{{\"@id\":\"{iri}\",{extra}}}");
    }
}

/// What a proof's members mean (the second context is that of the proof's own standard).
const PROOF_CONTEXT: &str = concat!(
    "[{\"entityIdSealed\":\"ngsi-ld:entityIdSealed\",",
    "\"entityTypeSealed\":{\"@id\":\"ngsi-ld:entityTypeSealed\",\"@type\":\"@vocab\"}},",
    "\"https://w3id.org/security/data-integrity/v2\"]"
);

/// An IRI of the table, spelled in full.
fn full(iri: &str) -> String {
    PREFIXES
        .iter()
        .find_map(|(prefix, whole)| iri.strip_prefix(prefix).map(|rest| format!("{whole}{rest}")))
        .unwrap_or_else(|| iri.to_owned())
}

/// The terms of the newest core context with their IRIs in full, prefixes and aliases of keywords
/// included.
pub(crate) fn newest() -> impl Iterator<Item = (&'static str, String)> {
    Edition::V1_9.terms().map(|(term, iri, _)| (term, full(iri)))
}

#[cfg(test)]
mod tests;
