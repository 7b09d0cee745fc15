//! `/types` and `/attributes`: what is in use (NGSI-LD 5.7.5 to 5.7.10).

use std::sync::Arc;

use api_http::{MediaType, Request, Response};
use lang_json::write_string;
use model_entities::{AttributeSummary, Kind, TermId, TypeSummary};

use crate::params::check_parameters;
use crate::problem::Problem;
use crate::routes::answer::{JSON_LD, answer, json_media};
use crate::routes::load::{LIGHT_BYTES, Memory, beside, deadline};
use crate::routes::options::flag;
use crate::routes::session::Session;
use crate::state::Api;

/// What an answer takes for each name in it, about.
const NAME_BYTES: usize = 100;

/// NGSI-LD 6.25.3.1, GET /types (5.7.5, 5.7.6).
pub(crate) async fn types(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["details", "local"])?;
    let (media, details) = (json_media(&request)?, flag(&request, "details")?);
    let session = api.reading(&request).await?;
    let found = session.entities.types(None, details, &deadline(&request)).await;
    let mut found = found.map_err(|error| session.problem(&error))?;
    let attributes = |found: &TypeSummary| found.attributes.len();
    let names = found.iter().map(|found| 1 + attributes(found)).sum();
    let work = |sheet: &mut Sheet<'_>| {
        found.sort_by(|a, b| session.names.compact(a.name).cmp(session.names.compact(b.name)));
        if details {
            sheet.array(found.iter(), |sheet, found| {
                sheet.head(found.name, "EntityType", "typeName");
                sheet.names("attributeNames", found.attributes.iter().map(|(name, _)| *name));
            });
        } else {
            sheet.list("EntityTypeList", "typeList", found.iter().map(|found| found.name));
        }
    };
    write(&request, Sheet::new(&session, media), names, work).await
}

/// NGSI-LD 6.26.3.1, GET /types/{type} (5.7.7).
pub(crate) async fn entity_type(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["local"])?;
    let media = json_media(&request)?;
    let session = api.reading(&request).await?;
    let name = request.capture(0);
    let none = || Problem::not_found(format!("no entity has type {name:?}"));
    let term = session.names.term(name).ok_or_else(none)?;
    let found = session.entities.types(Some(term), true, &deadline(&request)).await;
    let found = found.map_err(|error| session.problem(&error))?;
    let TypeSummary { name: term, entities, attributes } = found.into_iter().next().ok_or_else(none)?;
    let work = |sheet: &mut Sheet<'_>| {
        sheet.object(|sheet| {
            sheet.head(term, "EntityTypeInfo", "typeName");
            sheet.number("entityCount", entities);
            sheet.out.push_str(",\"attributeDetails\":[");
            for (index, (attribute, kinds)) in sheet.sorted(&attributes).into_iter().enumerate() {
                sheet.out.push_str(if index > 0 { ",{" } else { "{" });
                sheet.head(*attribute, "Attribute", "attributeName");
                sheet.kinds(kinds);
                sheet.out.push('}');
            }
            sheet.out.push(']');
        });
    };
    write(&request, Sheet::new(&session, media), attributes.len(), work).await
}

/// NGSI-LD 6.27.3.1, GET /attributes (5.7.8, 5.7.9).
pub(crate) async fn attributes(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["details", "local"])?;
    let (media, details) = (json_media(&request)?, flag(&request, "details")?);
    let session = api.reading(&request).await?;
    let found = session.entities.attributes(None, details, &deadline(&request)).await;
    let mut found = found.map_err(|error| session.problem(&error))?;
    let names = found.iter().map(|found| 1 + found.types.len()).sum();
    let work = |sheet: &mut Sheet<'_>| {
        found.sort_by(|a, b| session.names.compact(a.name).cmp(session.names.compact(b.name)));
        if details {
            sheet.array(found.iter(), |sheet, found| {
                sheet.head(found.name, "Attribute", "attributeName");
                sheet.names("typeNames", found.types.iter().copied());
            });
        } else {
            sheet.list("AttributeList", "attributeList", found.iter().map(|found| found.name));
        }
    };
    write(&request, Sheet::new(&session, media), names, work).await
}

/// NGSI-LD 6.28.3.1, GET /attributes/{attr} (5.7.10).
pub(crate) async fn attribute(api: Api, request: Request) -> Result<Response, Problem> {
    check_parameters(&request, &["local"])?;
    let media = json_media(&request)?;
    let session = api.reading(&request).await?;
    let name = request.capture(0);
    let none = || Problem::not_found(format!("no entity has attribute {name:?}"));
    let term = session.names.term(name).ok_or_else(none)?;
    let found = session.entities.attributes(Some(term), true, &deadline(&request)).await;
    let found = found.map_err(|error| session.problem(&error))?;
    let AttributeSummary { name: term, instances, kinds, types } =
        found.into_iter().next().ok_or_else(none)?;
    let work = |sheet: &mut Sheet<'_>| {
        sheet.object(|sheet| {
            sheet.head(term, "Attribute", "attributeName");
            sheet.number("attributeCount", instances);
            sheet.kinds(&kinds);
            sheet.names("typeNames", types.iter().copied());
        });
    };
    write(&request, Sheet::new(&session, media), types.len(), work).await
}

/// Writes an answer of so many names: within the memory that requests share, and in a slot of the lane if it is long.
async fn write<'s>(
    request: &Request,
    mut sheet: Sheet<'s>,
    names: usize,
    work: impl FnOnce(&mut Sheet<'s>),
) -> Result<Response, Problem> {
    let bytes = names.saturating_mul(NAME_BYTES);
    Memory::of(request).grow(bytes).await?;
    let lane = sheet.session.entities.lane();
    beside(None, lane, bytes > LIGHT_BYTES, || work(&mut sheet)).await;
    Ok(sheet.answer())
}

/// An answer under way.
struct Sheet<'s> {
    session: &'s Session,
    media: MediaType,
    out: String,
}

impl<'s> Sheet<'s> {
    fn new(session: &'s Session, media: MediaType) -> Self {
        Self { session, media, out: String::with_capacity(512) }
    }

    fn answer(self) -> Response {
        answer(self.media, self.media == JSON_LD, self.session.names.context(), self.out)
    }

    /// An object; JSON-LD wants its context first.
    fn object(&mut self, body: impl FnOnce(&mut Self)) {
        self.out.push('{');
        if self.media == JSON_LD {
            self.out.push_str("\"@context\":");
            self.out.push_str(self.session.names.context().member());
            self.out.push(',');
        }
        body(self);
        self.out.push('}');
    }

    fn array<T>(&mut self, items: impl Iterator<Item = T>, body: impl Fn(&mut Self, T)) {
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
    fn list(&mut self, kind: &str, member: &str, names: impl Iterator<Item = TermId>) {
        self.object(|sheet| {
            let id = format!("\"id\":\"urn:ngsi-ld:{kind}:all\",\"type\":\"{kind}\"");
            sheet.out.push_str(&id);
            sheet.names(member, names);
        });
    }

    /// `id`, `type` and the short name.
    fn head(&mut self, term: TermId, kind: &str, name_member: &str) {
        let iri: Arc<str> = self.session.entities.terms().iri(term).unwrap_or_default();
        self.out.push_str("\"id\":");
        write_string(&mut self.out, &iri);
        self.out.push_str(&format!(",\"type\":\"{kind}\",\"{name_member}\":"));
        write_string(&mut self.out, self.session.names.compact(term));
    }

    fn number(&mut self, member: &str, number: usize) {
        self.out.push_str(&format!(",\"{member}\":{number}"));
    }

    /// An array of short names, sorted.
    fn names(&mut self, member: &str, names: impl Iterator<Item = TermId>) {
        let mut names: Vec<&str> = names.map(|name| self.session.names.compact(name)).collect();
        names.sort_unstable();
        self.strings(member, names);
    }

    fn kinds(&mut self, kinds: &[Kind]) {
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
