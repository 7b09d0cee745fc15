//! The answers about what is in use: types and attributes (NGSI-LD 5.2.24 to 5.2.28).

use api_http::{MediaType, Request, Response};
use lang_json::write_string;
use model_entities::{Kind, TermId};

use super::answer;
use crate::media::JSON_LD;
use crate::problem::Problem;
use crate::request::{LIGHT_BYTES, Memory, Session, beside};

/// What an answer takes for each name in it, about.
const NAME_BYTES: usize = 100;

/// An answer being written: types or attributes, with their names and details.
pub(crate) struct Sheet<'s> {
    session: &'s Session,
    media: MediaType,
    out: String,
}

impl<'s> Sheet<'s> {
    pub(crate) fn new(session: &'s Session, media: MediaType) -> Self {
        Self { session, media, out: String::with_capacity(512) }
    }

    /// Has it written, about so many names: within the memory that requests share, and in a slot of the lane if it is long.
    pub(crate) async fn write(
        mut self,
        request: &Request,
        names: usize,
        work: impl FnOnce(&mut Self),
    ) -> Result<Response, Problem> {
        let bytes = names.saturating_mul(NAME_BYTES);
        Memory::of(request).grow(bytes).await?;
        let lane = self.session.entities.lane();
        beside(None, lane, bytes > LIGHT_BYTES, || work(&mut self)).await;
        Ok(self.answer())
    }

    fn answer(self) -> Response {
        answer(self.media, self.media == JSON_LD, self.session.names.context(), self.out)
    }

    /// An object; JSON-LD wants its context first.
    pub(crate) fn object(&mut self, body: impl FnOnce(&mut Self)) {
        self.out.push('{');
        if self.media == JSON_LD {
            self.out.push_str("\"@context\":");
            self.out.push_str(self.session.names.context().member());
            self.out.push(',');
        }
        body(self);
        self.out.push('}');
    }

    pub(crate) fn array<T>(&mut self, items: impl Iterator<Item = T>, body: impl Fn(&mut Self, T)) {
        self.out.push('[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.object(|sheet| body(sheet, item));
        }
        self.out.push(']');
    }

    /// EntityTypeList (5.2.24) or AttributeList (5.2.27).
    pub(crate) fn list(&mut self, kind: &str, member: &str, names: impl Iterator<Item = TermId>) {
        self.object(|sheet| {
            let id = format!("\"id\":\"urn:ngsi-ld:{kind}:all\",\"type\":\"{kind}\"");
            sheet.out.push_str(&id);
            sheet.names(member, names);
        });
    }

    /// `id`, `type` and the short name.
    pub(crate) fn head(&mut self, term: TermId, kind: &str, name_member: &str) {
        self.out.push_str("\"id\":");
        write_string(&mut self.out, &self.session.names.iri_of(term));
        self.out.push_str(&format!(",\"type\":\"{kind}\",\"{name_member}\":"));
        write_string(&mut self.out, self.session.names.compact(term));
    }

    pub(crate) fn number(&mut self, member: &str, number: usize) {
        self.out.push_str(&format!(",\"{member}\":{number}"));
    }

    /// What is known of the attributes of a type.
    pub(crate) fn details(&mut self, attributes: &[(TermId, Vec<Kind>)]) {
        self.out.push_str(",\"attributeDetails\":[");
        for (index, (attribute, kinds)) in self.sorted(attributes).into_iter().enumerate() {
            self.out.push_str(if index > 0 { ",{" } else { "{" });
            self.head(*attribute, "Attribute", "attributeName");
            self.kinds(kinds);
            self.out.push('}');
        }
        self.out.push(']');
    }

    /// An array of short names, sorted.
    pub(crate) fn names(&mut self, member: &str, names: impl Iterator<Item = TermId>) {
        let mut names: Vec<&str> = names.map(|name| self.session.names.compact(name)).collect();
        names.sort_unstable();
        self.strings(member, names);
    }

    pub(crate) fn kinds(&mut self, kinds: &[Kind]) {
        self.strings("attributeTypes", kinds.iter().map(|kind| kind_name(*kind)));
    }

    fn strings<'t>(&mut self, member: &str, texts: impl IntoIterator<Item = &'t str>) {
        self.out.push_str(&format!(",\"{member}\":["));
        for (index, text) in texts.into_iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            write_string(&mut self.out, text);
        }
        self.out.push(']');
    }

    fn sorted<'a>(&self, attributes: &'a [(TermId, Vec<Kind>)]) -> Vec<&'a (TermId, Vec<Kind>)> {
        let mut sorted: Vec<_> = attributes.iter().collect();
        sorted.sort_by_key(|(name, _)| self.session.names.compact(*name));
        sorted
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Property => "Property",
        Kind::GeoProperty => "GeoProperty",
        Kind::Relationship => "Relationship",
        Kind::LanguageProperty => "LanguageProperty",
        Kind::VocabProperty => "VocabProperty",
        Kind::JsonProperty => "JsonProperty",
        Kind::ListProperty => "ListProperty",
        Kind::ListRelationship => "ListRelationship",
    }
}
