//! How a read wants its answer, and the making of that answer: one entity, or a page of them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use api_http::{MediaType, Request, Response};
use bytes::Bytes;
use model_entities::{EntityView, TermId, TypeQuery};

use crate::params::EntityParams;
use crate::problem::Problem;
use crate::render::{
    Form, Languages, Linked, Members, Projection, Release, RenderPlan, targets, write_entities, write_entity,
    write_feature, write_features,
};
use crate::routes::answer::{GEO_JSON, Page, add_paging, add_preference, answer};
use crate::routes::conditions::tagged_answer;
use crate::routes::entities::{damaged, entity_id};
use crate::routes::load::{deadline, in_slot, reserve, stored_bytes};
use crate::routes::session::Session;
use crate::state::Limits;

/// Linked entities that are read at once.
const LINKED_A_READ: usize = 64;
/// An answer with linked entities in it may be so many times as large as a page.
const LINKED_GROWTH_MAX: usize = 4;

/// Whether linked entities are answered, too, and where (NGSI-LD 4.5.23).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Join {
    /// They are not.
    #[default]
    None,
    /// Inside of the relationships that point to them.
    Inline,
    /// Beside the entities that point to them.
    Flat,
}

/// How a read wants its answer.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) media: MediaType,
    pub(crate) context_in_body: bool,
    pub(crate) form: Form,
    /// The minor release 1.x of the standard that the client prefers.
    pub(crate) release: Option<u8>,
    pub(crate) sys_attrs: bool,
    pub(crate) pick: Option<Members>,
    pub(crate) omit: Option<Members>,
    /// Attributes of which an entity must have one (`attrs`, `pick`); empty: none in particular.
    pub(crate) required: Vec<Option<TermId>>,
    pub(crate) languages: Option<Languages>,
    pub(crate) datasets: Vec<Option<Box<str>>>,
    pub(crate) geometry: Option<TermId>,
    pub(crate) join: Join,
    pub(crate) join_level: usize,
    pub(crate) contained_by: Vec<Box<str>>,
}

impl Reading {
    /// What is shown of an entity that is on the page, not linked to.
    pub(crate) fn projection(&self) -> Projection<'_> {
        Projection { pick: self.pick.as_ref(), omit: self.omit.as_ref() }
    }

    /// How many links deep the answer reaches.
    pub(crate) fn hops(&self) -> usize {
        if self.join == Join::None { 0 } else { self.join_level }
    }

    /// The release to write by; `altered` is set once that makes a difference.
    pub(crate) fn release<'a>(&self, altered: &'a AtomicBool) -> Release<'a> {
        self.release.map_or(Release::NEWEST, |minor| Release::new(minor, altered))
    }

    fn plan<'a>(&'a self, session: &'a Session) -> RenderPlan<'a> {
        RenderPlan {
            form: self.form,
            sys_attrs: self.sys_attrs,
            projection: self.projection(),
            languages: self.languages.as_ref(),
            datasets: &self.datasets,
            context: self.context_in_body.then(|| session.names.context().member()),
            ..RenderPlan::new(&session.names, session.now)
        }
    }

    /// The answer with this body; `altered`: by the release that the client prefers.
    pub(crate) fn answer(&self, session: &Session, altered: &AtomicBool, body: String) -> Response {
        let mut response = answer(self.media, self.context_in_body, session.names.context(), body);
        add_preference(&mut response, self.release, altered.load(Ordering::Relaxed));
        response
    }
}

/// The answer to a retrieval of one entity.
pub(crate) async fn answer_one(
    session: &Session,
    request: &Request,
    params: &EntityParams,
    limits: &Limits,
) -> Result<Response, Problem> {
    let (id, reading) = (entity_id(request)?, &params.reading);
    let entity = session.entity(id).await?;
    let view = EntityView::parse(&entity.bytes).map_err(|_| damaged(id))?;
    if params.types().is_some_and(|types| !has_type(&view, types)) {
        return Err(Problem::not_found(format!("entity {id:?} is of another type")));
    }
    let has = |name: &Option<TermId>| name.is_some_and(|name| view.attribute(name).is_some());
    if !reading.required.is_empty() && !reading.required.iter().any(has) {
        return Err(no_such_attributes(id));
    }
    let linked = linked(session, reading, std::slice::from_ref(&view), limits).await?;
    let altered = AtomicBool::new(false);
    let plan = RenderPlan {
        linked: linked.as_ref().filter(|_| reading.join == Join::Inline),
        release: reading.release(&altered),
        ..reading.plan(session)
    };
    let mut out = String::with_capacity(entity.bytes.len() * 2);
    match (&linked, reading.media == GEO_JSON) {
        (Some(linked), geo) if reading.join == Join::Flat => {
            write_flat(&mut out, &[view], linked, &plan, geo.then_some(reading.geometry));
        }
        (_, true) => write_feature(&mut out, &view, reading.geometry, &plan),
        (_, false) => write_entity(&mut out, &view, &plan),
    }
    fits(linked.as_ref(), &out)?;
    tagged_answer(request, &entity, reading.answer(session, &altered, out))
}

/// Linked entities may stand in many places: writing them ends where an answer is as large as it may be.
fn fits(linked: Option<&Linked<'_>>, out: &str) -> Result<(), Problem> {
    match linked {
        Some(linked) if out.len() >= linked.out_bytes_max => Err(Problem::too_many_results(format!(
            "the answer is {} bytes or more with linked entities in it (page_bytes_max)",
            linked.out_bytes_max
        ))),
        _ => Ok(()),
    }
}

/// The answer to a query.
pub(crate) async fn answer_page(
    session: &Session,
    request: &Request,
    params: &EntityParams,
    limits: &Limits,
) -> Result<Response, Problem> {
    let (reading, query) = (&params.reading, params.query(session.now, deadline(request)));
    let found = session.entities.query(&query).await.map_err(|error| session.problem(&error))?;
    let bytes = stored_bytes(&found);
    let _reserved = reserve(request, bytes).await?;
    let views = found.entities.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let linked = linked(session, reading, &views, limits).await?;
    let _reserved_linked = reserve(request, linked.as_ref().map_or(0, |linked| linked.bytes)).await?;
    let altered = AtomicBool::new(false);
    let plan = RenderPlan {
        linked: linked.as_ref().filter(|_| reading.join == Join::Inline),
        release: reading.release(&altered),
        ..reading.plan(session)
    };
    let mut out = String::with_capacity(bytes * 3 / 2 + 64);
    in_slot(found.slot.as_ref(), || match (&linked, reading.media == GEO_JSON) {
        (Some(linked), geo) if reading.join == Join::Flat => {
            write_flat(&mut out, &views, linked, &plan, geo.then_some(reading.geometry));
        }
        (_, true) => write_features(&mut out, views.into_iter(), reading.geometry, &plan),
        (_, false) => write_entities(&mut out, views.into_iter(), &plan),
    });
    fits(linked.as_ref(), &out)?;
    let mut response = reading.answer(session, &altered, out);
    let page = Page {
        offset: query.offset,
        limit: query.limit,
        rows: found.entities.len(),
        count: found.count,
        more: found.more,
    };
    add_paging(&mut response, request, &page);
    Ok(response)
}

fn has_type(view: &EntityView<'_>, types: &TypeQuery) -> bool {
    match types {
        TypeQuery::Is(name) => name.is_some_and(|name| view.types().any(|held| held == name)),
        TypeQuery::Any(all) => all.iter().any(|types| has_type(view, types)),
        TypeQuery::All(all) => all.iter().all(|types| has_type(view, types)),
    }
}

fn parse(bytes: &Bytes) -> Result<EntityView<'_>, Problem> {
    EntityView::parse(bytes).map_err(|_| damaged("?"))
}

/// An entity to be shown through a relationship, and what of it.
type Met<'a> = (Projection<'a>, Box<str>);

/// Fetches the entities that shown relationships point to, level by level, in batches.
async fn linked<'a>(
    session: &'a Session,
    reading: &'a Reading,
    views: &[EntityView<'_>],
    limits: &Limits,
) -> Result<Option<Linked<'a>>, Problem> {
    if reading.join == Join::None {
        return Ok(None);
    }
    let mut linked = Linked {
        level_max: reading.join_level,
        out_bytes_max: limits.page_bytes_max.saturating_mul(LINKED_GROWTH_MAX),
        ..Linked::default()
    };
    let plan = RenderPlan { datasets: &[], ..reading.plan(session) };
    let mut wanted: Vec<Met<'a>> = Vec::new();
    for view in views {
        targets(view, &reading.plan(session), &mut wanted);
    }
    // What is shown of an entity decides which of its own links lead on.
    let mut followed = HashSet::new();
    for _ in 0..reading.join_level {
        let met: Vec<Met<'a>> = wanted
            .drain(..)
            .filter(|(_, id)| !reading.contained_by.contains(id))
            .filter(|(projection, id)| followed.insert((projection.identity(), id.clone())))
            .collect();
        fetch(session, &met, &mut linked, limits).await?;
        for (projection, id) in met {
            let Some(entity) = linked.entities.get(&id) else { continue };
            let view = EntityView::parse(&entity.bytes).map_err(|_| damaged(&id))?;
            targets(&view, &RenderPlan { projection, ..plan }, &mut wanted);
        }
    }
    Ok(Some(linked))
}

/// Fetches those of the entities that are not there yet.
async fn fetch<'a>(
    session: &Session,
    met: &[Met<'a>],
    linked: &mut Linked<'a>,
    limits: &Limits,
) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    let unknown = met.iter().filter(|(_, id)| !linked.entities.contains_key(id));
    let fresh: Vec<&Met<'a>> = unknown.filter(|(_, id)| seen.insert(&**id)).collect();
    if linked.entities.len() + fresh.len() > limits.join_entities_max {
        return Err(Problem::too_many_results(format!(
            "parameter join leads to more than {} entities",
            limits.join_entities_max
        )));
    }
    for batch in fresh.chunks(LINKED_A_READ) {
        let ids: Vec<&str> = batch.iter().map(|(_, id)| &**id).collect();
        let held = session.entities.get_many(&ids, session.now).await;
        let held = held.map_err(|error| session.problem(&error))?;
        for ((projection, id), entity) in batch.iter().zip(held) {
            if let Some(entity) = entity {
                linked.bytes += entity.bytes.len();
                linked.order.push((*projection, id.clone()));
                linked.entities.insert(id.clone(), entity);
            }
        }
        if linked.bytes > limits.page_bytes_max {
            return Err(Problem::too_many_results(format!(
                "parameter join leads to entities of more than {} bytes (page_bytes_max)",
                limits.page_bytes_max
            )));
        }
    }
    Ok(())
}

/// The refusal where an entity has none of the attributes that are asked for.
pub(crate) fn no_such_attributes(id: &str) -> Problem {
    Problem::not_found(format!("entity {id:?} has none of the attributes in attrs or pick"))
}

/// Entities, and behind them those they link to, each once. `features`: as GeoJSON, with the
/// geometry of this GeoProperty.
fn write_flat(
    out: &mut String,
    views: &[EntityView<'_>],
    linked: &Linked<'_>,
    plan: &RenderPlan<'_>,
    features: Option<Option<TermId>>,
) {
    // A FeatureCollection has one context, entities have one each.
    let collection = RenderPlan { context: None, ..*plan };
    let context = plan.context.filter(|_| features.is_some());
    let plan = if features.is_some() { &collection } else { plan };
    out.push_str(if features.is_some() { "{\"type\":\"FeatureCollection\",\"features\":[" } else { "[" });
    let mut any = false;
    let mut write = |out: &mut String, view: &EntityView<'_>, plan: &RenderPlan<'_>| {
        if std::mem::replace(&mut any, true) {
            out.push(',');
        }
        match features {
            Some(geometry) => write_feature(out, view, geometry, plan),
            None => write_entity(out, view, plan),
        }
    };
    for view in views {
        write(out, view, plan);
    }
    for (projection, id) in &linked.order {
        let entity = linked.entities.get(id).and_then(|entity| EntityView::parse(&entity.bytes).ok());
        if let Some(view) = entity.filter(|view| views.iter().all(|page| page.id() != view.id())) {
            write(out, &view, &RenderPlan { projection: *projection, datasets: &[], ..*plan });
        }
    }
    out.push(']');
    if let Some(context) = context {
        out.push_str(",\"@context\":");
        out.push_str(context);
    }
    if features.is_some() {
        out.push('}');
    }
}
