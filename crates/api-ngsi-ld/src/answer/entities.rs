//! Reads entities, one or a page of them, and those they link to, and answers with them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;

use api_http::{MediaType, Request, Response};
use lang_json::Commas;
use model_entities::{EntityView, Error, Pace, Slot, TermId, TimedOut};

use super::reads::{no_such_attributes, plan, read_answer};
use super::{Page, add_paging, answer, tagged_answer};
use crate::media::{GEO_JSON, JSON_LD};
use crate::params::{EntityParams, Join, Reading};
use crate::problem::Problem;
use crate::render::{
    Ended, Linked, LinkedViews, Projection, RenderPlan, Targets, Work, targets, write_entities, write_entity,
    write_feature, write_features,
};
use crate::request::{LIGHT_BYTES, Memory, Session, beside, deadline, entity_id, stored_bytes};
use crate::state::Limits;

/// Linked entities that are read at once.
const LINKED_A_READ: usize = 64;
/// An answer with linked entities in it may be so many times as large as a page.
const LINKED_GROWTH_MAX: usize = 4;
/// Linked entities that take more steps to write than these are written in a slot of the lane.
const LIGHT_STEPS: usize = 1 << 16;

/// The answer to a retrieval of one entity by a request without parameters: all of it, normalized.
pub(crate) async fn answer_plain(
    session: &Session,
    request: &Request,
    media: MediaType,
) -> Result<Response, Problem> {
    // What is stored has a valid id: it is checked only where nothing is found.
    let id = request.capture(0);
    let entity = match session.entities.get(id, session.now).await {
        Ok(Some(entity)) => entity,
        absent => {
            entity_id(request)?;
            return Err(absent.map_or_else(|error| session.problem(&error), |_| Problem::no_such_entity(id)));
        }
    };
    let view = EntityView::parse(&entity.bytes).map_err(|_| Problem::damaged_entity(id))?;
    let context = session.names.context();
    let mut plan = RenderPlan::new(&session.names, session.now);
    plan.context = (media == JSON_LD).then(|| context.member());
    let mut out = String::with_capacity(entity.bytes.len() * 2 + 1);
    write_entity(&mut out, &view, &plan);
    tagged_answer(request, &entity, answer(media, media == JSON_LD, context, out))
}

/// The answer to a retrieval of one entity.
pub(crate) async fn answer_entity(
    session: &Session,
    request: &Request,
    params: &EntityParams,
    limits: &Limits,
) -> Result<Response, Problem> {
    let (id, reading) = (entity_id(request)?, &params.reading);
    let entity = session.entity(id).await?;
    let view = EntityView::parse(&entity.bytes).map_err(|_| Problem::damaged_entity(id))?;
    if params.types().is_some_and(|types| !types.selects(view.types())) {
        return Err(Problem::not_found(format!("entity {id:?} is of another type")));
    }
    let has = |name: &Option<TermId>| name.is_some_and(|name| view.attribute(name).is_some());
    if !reading.required.is_empty() && !reading.required.iter().any(has) {
        return Err(no_such_attributes(id));
    }
    let altered = AtomicBool::new(false);
    let shown = Shown { views: &[view], is_one: true, bytes: entity.bytes.len(), slot: None };
    let out = write(session, request, reading, limits, &shown, &altered).await?;
    tagged_answer(request, &entity, read_answer(reading, session, &altered, out))
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
    let views: Result<Vec<_>, _> = found.entities.iter().map(|bytes| EntityView::parse(bytes)).collect();
    let views = views.map_err(|error| session.problem(&error.into()))?;
    let altered = AtomicBool::new(false);
    let bytes = stored_bytes(&found);
    let shown = Shown { views: &views, is_one: false, bytes, slot: found.slot.as_ref() };
    let out = write(session, request, reading, limits, &shown, &altered).await?;
    let mut response = read_answer(reading, session, &altered, out);
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

/// The entities that were asked for.
struct Shown<'a> {
    views: &'a [EntityView<'a>],
    /// One entity, not a list of any number.
    is_one: bool,
    /// What they take as they are stored.
    bytes: usize,
    /// The slot that the query took.
    slot: Option<&'a Slot>,
}

/// Writes entities, and those linked to them: within the memory that requests share, and in a slot of the lane what takes
/// long.
async fn write(
    session: &Session,
    request: &Request,
    reading: &Reading,
    limits: &Limits,
    shown: &Shown<'_>,
    altered: &AtomicBool,
) -> Result<String, Problem> {
    let (mut memory, lane) = (Memory::of(request), session.entities.lane());
    memory.grow(shown.bytes).await?;
    let plan = RenderPlan { release: reading.release(altered), ..plan(reading, session) };
    if reading.join == Join::None {
        return Ok(beside(shown.slot, lane, false, || text(reading, shown, None, &plan)).await);
    }
    let linked = linked(session, reading, limits, shown, &mut memory).await?;
    let bytes = shown.bytes.saturating_add(linked.bytes);
    let views = linked.views().map_err(Problem::damaged_entity)?;
    if reading.join == Join::Flat {
        let (is_long, flat) = (bytes > LIGHT_BYTES, Flat { order: &linked.order, views });
        return Ok(beside(shown.slot, lane, is_long, || text(reading, shown, Some(&flat), &plan)).await);
    }
    // What takes more steps than a light request may is written again, in a slot of the lane.
    let mut is_long = bytes > LIGHT_BYTES;
    loop {
        let is_light = shown.slot.is_none() && !is_long;
        let work = Work {
            pace: Pace::new(deadline(request)),
            steps: if is_light { LIGHT_STEPS } else { usize::MAX },
            out_bytes_max: limits.page_bytes_max.saturating_mul(LINKED_GROWTH_MAX),
            memory: request.memory.share(),
            ended: None,
        };
        let views = LinkedViews::new(&views, reading.join_level, work);
        let plan = RenderPlan { linked: Some(&views), ..plan };
        let out = beside(shown.slot, lane, is_long, || text(reading, shown, None, &plan)).await;
        let work = views.into_work();
        match work.ended {
            None => return Ok(out),
            Some(Ended::Tired) => is_long = true,
            Some(Ended::Late) => return Err(session.problem(&Error::TimedOut(TimedOut))),
            Some(Ended::MemoryFull) => return Err(Problem::memory_full()),
            Some(Ended::Large) => {
                return Err(Problem::too_many_results(format!(
                    "the answer is {} bytes or more with linked entities in it (page_bytes_max)",
                    work.out_bytes_max
                )));
            }
        }
    }
}

/// Linked entities to be written after those that link to them.
struct Flat<'l> {
    order: &'l [(Projection<'l>, Box<str>)],
    views: HashMap<&'l str, EntityView<'l>>,
}

/// Writes entities, and after them those of `flat`.
fn text(reading: &Reading, shown: &Shown<'_>, flat: Option<&Flat<'_>>, plan: &RenderPlan<'_>) -> String {
    let mut out = String::with_capacity(shown.bytes * 2 + 65);
    let (views, is_geo) = (shown.views, reading.media == GEO_JSON);
    match (flat, views) {
        (Some(flat), _) => write_flat(&mut out, views, flat, plan, is_geo.then_some(reading.geometry)),
        (None, [view]) if shown.is_one && is_geo => write_feature(&mut out, view, reading.geometry, plan),
        (None, [view]) if shown.is_one => write_entity(&mut out, view, plan),
        (None, _) if is_geo => write_features(&mut out, views.iter().copied(), reading.geometry, plan),
        (None, _) => write_entities(&mut out, views.iter().copied(), plan),
    }
    out
}

/// Fetches the entities that shown relationships point to, level by level, in batches.
async fn linked<'a>(
    session: &'a Session,
    reading: &'a Reading,
    limits: &Limits,
    shown: &Shown<'_>,
    memory: &mut Memory,
) -> Result<Linked<'a>, Problem> {
    let (mut linked, mut wanted) = (Linked::default(), Targets::default());
    let (lane, whole) = (session.entities.lane(), plan(reading, session));
    // What is shown of a linked entity does not depend on the datasets of the one that points to it.
    let plan = RenderPlan { datasets: &[], ..whole };
    beside(shown.slot, lane, shown.bytes > LIGHT_BYTES, || {
        shown.views.iter().for_each(|view| targets(view, &whole, &mut wanted));
    })
    .await;
    for _ in 0..reading.join_level {
        let mut met = std::mem::take(&mut wanted.found);
        met.retain(|(_, id)| !reading.contained_by.contains(id));
        fetch(session, &met, (shown.bytes, &mut linked), limits, memory).await?;
        // What is shown of an entity decides which of its own links lead on.
        beside(shown.slot, lane, linked.bytes > LIGHT_BYTES, || {
            for (projection, id) in met {
                let Some(entity) = linked.entities.get(&id) else { continue };
                let view = EntityView::parse(&entity.bytes).map_err(|_| Problem::damaged_entity(&id))?;
                targets(&view, &RenderPlan { projection, ..plan }, &mut wanted);
            }
            Ok::<_, Problem>(())
        })
        .await?;
    }
    Ok(linked)
}

/// Fetches those of the entities that are not there yet, beside so many bytes that are.
async fn fetch<'a>(
    session: &Session,
    met: &[(Projection<'a>, Box<str>)],
    (beside, linked): (usize, &mut Linked<'a>),
    limits: &Limits,
    memory: &mut Memory,
) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    let unknown = met.iter().filter(|(_, id)| !linked.entities.contains_key(id));
    let fresh: Vec<_> = unknown.filter(|(_, id)| seen.insert(&**id)).collect();
    if linked.entities.len() + fresh.len() > limits.join_entities_max {
        return Err(Problem::too_many_results(format!(
            "parameter join leads to more than {} entities (join_entities_max)",
            limits.join_entities_max
        )));
    }
    for batch in fresh.chunks(LINKED_A_READ) {
        let ids: Vec<&str> = batch.iter().map(|(_, id)| &**id).collect();
        let found = session.entities.get_many(&ids, session.now).await;
        let found = found.map_err(|error| session.problem(&error))?;
        for ((projection, id), entity) in batch.iter().zip(found) {
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
        memory.grow(beside.saturating_add(linked.bytes)).await?;
    }
    Ok(())
}

/// Writes entities, and after them those they link to, each once. `features`: as GeoJSON, with the
/// geometry of this GeoProperty.
fn write_flat(
    out: &mut String,
    views: &[EntityView<'_>],
    flat: &Flat<'_>,
    plan: &RenderPlan<'_>,
    features: Option<Option<TermId>>,
) {
    // A FeatureCollection has one context, entities have one each.
    let collection = RenderPlan { context: None, ..*plan };
    let context = plan.context.filter(|_| features.is_some());
    let plan = if features.is_some() { &collection } else { plan };
    out.push_str(if features.is_some() { "{\"type\":\"FeatureCollection\",\"features\":[" } else { "[" });
    let mut commas = Commas::default();
    let mut write = |out: &mut String, view: &EntityView<'_>, plan: &RenderPlan<'_>| {
        commas.next(out);
        match features {
            Some(geometry) => write_feature(out, view, geometry, plan),
            None => write_entity(out, view, plan),
        }
    };
    for view in views {
        write(out, view, plan);
    }
    for (projection, id) in flat.order {
        let view = flat.views.get(&**id).expect("each id in the order is that of a linked entity");
        if views.iter().all(|page| page.id() != view.id()) {
            write(out, view, &RenderPlan { projection: *projection, datasets: &[], ..*plan });
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
