//! The answers about what is in use: types and attributes (NGSI-LD 5.2.24 to 5.2.28).

use api_http::{MediaType, Request, Response};
use lang_json::{ArrayWriter, Commas, write_string};
use model_entities::{Kind, TermId};

use super::answer;
use crate::media::JSON_LD;
use crate::problem::Problem;
use crate::render::names_of_kind;
use crate::request::{LIGHT_BYTES, Memory, Session, beside};

/// What an answer takes for each name in it, about.
const NAME_BYTES: usize = 100;

/// An answer being written: types or attributes, with their names and details.
pub(crate) struct Sheet<'s> {
    session: &'s Session,
    media: MediaType,
    out: String,
    /// Those between the members of the object that is being written.
    commas: Commas,
}

impl<'s> Sheet<'s> {
    pub(crate) fn new(session: &'s Session, media: MediaType) -> Self {
        Self { session, media, out: String::with_capacity(512), commas: Commas::default() }
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
        let context = (self.media == JSON_LD).then(|| self.session.names.context().member());
        self.inner(|sheet| {
            if let Some(context) = context {
                sheet.member("@context").push_str(context);
            }
            body(sheet);
        });
    }

    /// An object in an object.
    fn inner(&mut self, body: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.commas);
        self.out.push('{');
        body(self);
        self.out.push('}');
        self.commas = outer;
    }

    pub(crate) fn array<T>(&mut self, items: impl Iterator<Item = T>, body: impl Fn(&mut Self, T)) {
        let mut commas = Commas::default();
        self.out.push('[');
        for item in items {
            commas.next(&mut self.out);
            self.object(|sheet| body(sheet, item));
        }
        self.out.push(']');
    }

    /// Starts the member of this name.
    fn member(&mut self, name: &str) -> &mut String {
        self.commas.next(&mut self.out);
        write_string(&mut self.out, name);
        self.out.push(':');
        &mut self.out
    }

    /// EntityTypeList (5.2.24) or AttributeList (5.2.27).
    pub(crate) fn list(&mut self, kind: &str, member: &str, names: impl Iterator<Item = TermId>) {
        self.object(|sheet| {
            write_string(sheet.member("id"), &format!("urn:ngsi-ld:{kind}:all"));
            write_string(sheet.member("type"), kind);
            sheet.names(member, names);
        });
    }

    /// `id`, `type` and the short name.
    pub(crate) fn head(&mut self, term: TermId, kind: &str, name_member: &str) {
        let names = &self.session.names;
        write_string(self.member("id"), &names.iri_of(term));
        write_string(self.member("type"), kind);
        write_string(self.member(name_member), names.compact(term));
    }

    pub(crate) fn number(&mut self, member: &str, number: usize) {
        self.member(member).push_str(&number.to_string());
    }

    /// What is known of the attributes of a type.
    pub(crate) fn details(&mut self, attributes: &[(TermId, Vec<Kind>)]) {
        let mut commas = Commas::default();
        self.member("attributeDetails").push('[');
        for (attribute, kinds) in self.sorted(attributes) {
            commas.next(&mut self.out);
            self.inner(|sheet| {
                sheet.head(*attribute, "Attribute", "attributeName");
                sheet.kinds(kinds);
            });
        }
        self.out.push(']');
    }

    /// An array of short names, sorted.
    pub(crate) fn names(&mut self, member: &str, names: impl Iterator<Item = TermId>) {
        let mut names: Vec<&str> = names.map(|name| self.session.names.compact(name)).collect();
        names.sort_unstable();
        let mut array = ArrayWriter::begin(self.member(member));
        names.into_iter().for_each(|name| array.string(name));
        array.end();
    }

    pub(crate) fn kinds(&mut self, kinds: &[Kind]) {
        let mut array = ArrayWriter::begin(self.member("attributeTypes"));
        kinds.iter().for_each(|kind| array.raw(names_of_kind(*kind).0));
        array.end();
    }

    fn sorted<'a>(&self, attributes: &'a [(TermId, Vec<Kind>)]) -> Vec<&'a (TermId, Vec<Kind>)> {
        let mut sorted: Vec<_> = attributes.iter().collect();
        sorted.sort_by_key(|(name, _)| self.session.names.compact(*name));
        sorted
    }
}
