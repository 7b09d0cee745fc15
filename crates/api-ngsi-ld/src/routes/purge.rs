//! DELETE `/entities`: many entities, or some attributes of them, by what they are like.

use api_http::{Given, Request, Response, no_content};
use model_entities::{Error, Operation, Query, TermId};

use crate::answer::Tally;
use crate::operation::{DONE, PARTLY, REMOVE_REFUSALS, declare};
use crate::params::{self, EntityParams};
use crate::problem::Problem;
use crate::request::{Memory, Session, deadline};
use crate::state::Api;

/// Entities found and changed in one go: so many, or fewer that are so large together.
const PAGE: usize = 1000;
const PAGE_BYTES_MAX: usize = 1 << 20;

/// DELETE /entities
pub(crate) const PURGE: api_http::Operation =
    declare("entities", "purgeEntities", "Removes matching entities, or some of their attributes.")
        .query(params::PURGE)
        .gives(&[(204, DONE), (207, PARTLY)])
        .refuses(REMOVE_REFUSALS);

/// NGSI-LD 6.4.3.3, DELETE /entities: purge (5.6.21). What is found is changed page by page; an entity that another client
/// changed in the meantime so that it is none of those asked for stays.
pub(crate) async fn purge(api: Api, request: Request) -> Result<Response, Problem> {
    let session = api.reading(&request).await?;
    let query = EntityParams::of_purge(&request, &session.names, &api.shared.limits, session.now)?;
    let deadline = deadline(&request);
    let query = Query { deadline, limit: PAGE, page_bytes_max: Some(PAGE_BYTES_MAX), ..query };
    let operation = operation(&request, &session)?;
    let (mut tally, mut memory) = (Tally::new(0), Memory::of(&request));
    let mut sweep = session.entities.sweep_matching(&query).await.map_err(|error| session.problem(&error))?;
    while let Some(page) = sweep.apply_next(&operation).await.map_err(|error| session.problem(&error))? {
        for (id, outcome) in page {
            match outcome {
                Ok(_) => tally.succeed(id),
                // Somebody else removed or changed it: it is not there to be purged.
                Err(Error::NoSuchEntity(_)) => {}
                Err(error) => tally.fail(id, session.write_problem(&error)),
            }
        }
        memory.grow(tally.bytes()).await?;
    }
    Ok(if tally.is_faultless() { no_content() } else { tally.multi_status() })
}

/// What `keep` and `drop` make of a matching entity; without them it is deleted.
fn operation(request: &Request, session: &Session) -> Result<Operation, Problem> {
    let named = |list: &str| -> Vec<TermId> {
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.filter_map(|name| session.names.term(name)).collect()
    };
    let given = Given::of(request);
    match (given.get(&params::KEEP), given.get(&params::DROP)) {
        (Some(_), Some(_)) => Err(Problem::bad_request("parameters keep and drop exclude each other")),
        (Some(keep), None) => Ok(Operation::Retain { names: named(keep), keep: true }),
        (None, Some(drop)) => Ok(Operation::Retain { names: named(drop), keep: false }),
        (None, None) => Ok(Operation::Delete),
    }
}
