//! `/types` and `/attributes`: what is in use (NGSI-LD 5.7.5 to 5.7.10).

use api_http::{Request, Response};
use model_entities::{AttributeSummary, TypeSummary};

use crate::answer::{Sheet, json_media};
use crate::operation::{READ_REFUSALS, declare, done, json_of};
use crate::params::{self, flag};
use crate::problem::Problem;
use crate::request::deadline;
use crate::state::Api;

/// GET /types
pub(crate) const TYPES: api_http::Operation = declare("names", "listTypes", "The types in use.")
    .query(&[&[params::DETAILS, params::LOCAL]])
    .gives(&[(200, done(json_of("TypeList")))])
    .refuses(READ_REFUSALS);

/// NGSI-LD 6.25.3.1, GET /types (5.7.5, 5.7.6).
pub(crate) async fn types(api: Api, request: Request) -> Result<Response, Problem> {
    let (media, details) = (json_media(&request)?, flag(&request, &params::DETAILS)?);
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
    Sheet::new(&session, media).write(&request, names, work).await
}

/// GET /types/{type}
pub(crate) const ENTITY_TYPE: api_http::Operation =
    declare("names", "retrieveType", "A type: how many entities have it, and which attributes they have.")
        .query(&[&[params::LOCAL]])
        .gives(&[(200, done(json_of("TypeInfo")))])
        .refuses(READ_REFUSALS);

/// NGSI-LD 6.26.3.1, GET /types/{type} (5.7.7).
pub(crate) async fn entity_type(api: Api, request: Request) -> Result<Response, Problem> {
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
            sheet.details(&attributes);
        });
    };
    Sheet::new(&session, media).write(&request, attributes.len(), work).await
}

/// GET /attributes
pub(crate) const ATTRIBUTES: api_http::Operation =
    declare("names", "listAttributes", "The attributes in use.")
        .query(&[&[params::DETAILS, params::LOCAL]])
        .gives(&[(200, done(json_of("AttributeList")))])
        .refuses(READ_REFUSALS);

/// NGSI-LD 6.27.3.1, GET /attributes (5.7.8, 5.7.9).
pub(crate) async fn attributes(api: Api, request: Request) -> Result<Response, Problem> {
    let (media, details) = (json_media(&request)?, flag(&request, &params::DETAILS)?);
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
    Sheet::new(&session, media).write(&request, names, work).await
}

/// GET /attributes/{attr}
pub(crate) const ATTRIBUTE: api_http::Operation = declare(
    "names",
    "retrieveAttribute",
    "An attribute: how many entities have it, and of which types they are.",
)
.query(&[&[params::LOCAL]])
.gives(&[(200, done(json_of("AttributeInfo")))])
.refuses(READ_REFUSALS);

/// NGSI-LD 6.28.3.1, GET /attributes/{attr} (5.7.10).
pub(crate) async fn attribute(api: Api, request: Request) -> Result<Response, Problem> {
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
    Sheet::new(&session, media).write(&request, types.len(), work).await
}
