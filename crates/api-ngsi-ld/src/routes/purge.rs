//! DELETE `/entities`: many entities, or some attributes of them, by what they are like.

use std::collections::HashSet;

use api_http::{Request, Response};
use model_entities::{EntityView, Operation, Query, TermId};

use crate::params::EntityParams;
use crate::problem::Problem;
use crate::routes::answer::no_content;
use crate::routes::load::deadline;
use crate::routes::session::Session;
use crate::state::Api;

/// Entities found, or changed, in one go.
const PAGE: usize = 1000;

/// NGSI-LD 6.4.3.3, DELETE /entities: purge (5.6.21).
pub(crate) async fn purge(api: Api, request: Request) -> Result<Response, Problem> {
    let session = api.reading(&request).await?;
    let query = EntityParams::of_purge(&request, &session.names, &api.shared.limits, session.now)?;
    let query = Query { deadline: deadline(&request), ..query };
    let operation = operation(&request, &session)?;
    let ids = matching(&session, query).await?;
    let mut failed = Vec::new();
    for page in ids.chunks(PAGE) {
        let operations = page.iter().map(|id| (id.clone(), operation.clone())).collect();
        let outcomes = session.entities.apply_all(operations, session.now).await;
        for (id, outcome) in page.iter().zip(outcomes) {
            match outcome {
                // Somebody else removed it in the meantime: it is gone, as was asked.
                Ok(_) | Err(model_entities::Error::NoSuchEntity(_)) => {}
                Err(error) => failed.push((id.clone(), session.write_problem(&error))),
            }
        }
    }
    if failed.is_empty() {
        return Ok(no_content());
    }
    let mut tally = super::batch::Tally::new(ids.len());
    let unchanged: HashSet<&str> = failed.iter().map(|(id, _)| &**id).collect();
    tally.succeed(ids.iter().filter(|id| !unchanged.contains(&***id)).cloned());
    tally.fail(failed);
    Ok(tally.multi_status())
}

/// What `keep` and `drop` make of a matching entity; without them it is deleted.
fn operation(request: &Request, session: &Session) -> Result<Operation, Problem> {
    let named = |list: &str| -> Vec<TermId> {
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.filter_map(|name| session.names.term(name)).collect()
    };
    match (request.params.get("keep"), request.params.get("drop")) {
        (Some(_), Some(_)) => Err(Problem::bad_request("parameters keep and drop exclude each other")),
        (Some(keep), None) => Ok(Operation::Retain { names: named(keep), keep: true }),
        (None, Some(drop)) => Ok(Operation::Retain { names: named(drop), keep: false }),
        (None, None) => Ok(Operation::Delete),
    }
}

/// The ids of all entities that match, found before any is changed: what is removed would shift pages.
async fn matching(session: &Session, mut query: Query) -> Result<Vec<Box<str>>, Problem> {
    (query.limit, query.offset, query.count) = (PAGE, 0, false);
    let mut ids = Vec::new();
    loop {
        let found = session.entities.query(&query).await.map_err(|error| session.problem(&error))?;
        query.offset += found.entities.len();
        for bytes in &found.entities {
            let view = EntityView::parse(bytes).map_err(|_| super::entities::damaged("?"))?;
            ids.push(view.id().into());
        }
        if !found.more || found.entities.is_empty() {
            return Ok(ids);
        }
    }
}
