//! Sweeps meet what matches, once, whatever else happens meanwhile.

use entity::Operation;

use super::*;
use crate::Swept;

/// Changes nothing.
const NOTHING: Operation = Operation::Retain { names: Vec::new(), keep: false };

/// Sweeps in pages of three sizes meet the matches of a query, in the order of their ids.
pub(super) async fn check(tenant: &TenantEntities, asked: &Asked, expected: &[String]) {
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    for limit in [1, 3, 30] {
        let query = Query { limit, order: Vec::new(), ..asked.query() };
        let mut sweep = match tenant.sweep_matching(&query).await {
            Err(Error::Invalid(_)) if query.filter.as_ref().unwrap().link_depth() > 0 => return,
            sweep => sweep.unwrap(),
        };
        let mut met = Vec::new();
        while let Some(page) = sweep.apply_next(&NOTHING).await.unwrap() {
            assert!(page.len() <= limit);
            met.extend(done(page));
        }
        assert_eq!(met, expected, "pages of {limit}: {asked:?}");
    }
}

/// The ids of the entities that were written.
fn done(page: Swept) -> Vec<String> {
    let done = |(id, outcome): (Box<str>, Result<_, Error>)| match outcome {
        Ok(_) => Some(String::from(id)),
        Err(Error::NoSuchEntity(_)) => None,
        Err(error) => panic!("{id}: {error}"),
    };
    page.into_iter().filter_map(done).collect()
}

fn cars(count: usize) -> Vec<Value> {
    (0..count)
        .map(|at| json!({"id": format!("urn:e:{at:02}"), "type": "Car", "speed": {"value": at}}))
        .collect()
}

fn of_type(name: &str) -> Query {
    Query { types: Some(TypeQuery::Is(Some(term(name)))), limit: 2, ..Query::default() }
}

#[tokio::test]
async fn a_sweep_misses_nothing_when_others_remove_what_it_met() {
    let tenant = tenant_with(&cars(9), options(2)).await;
    let query = of_type("Car");
    let mut sweep = tenant.sweep_matching(&query).await.unwrap();
    let mut met = Vec::new();
    while let Some(page) = sweep.apply_next(&NOTHING).await.unwrap() {
        let page = done(page);
        tenant.apply(&page[0], Operation::Delete, NOW).await.unwrap();
        met.extend(page);
    }
    assert_eq!(met, (0..9).map(|at| format!("urn:e:{at:02}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_matches_no_more_in_the_moment_of_the_write_stays() {
    let tenant = tenant_with(&cars(6), options(1)).await;
    // No index leads to what is missing: all entities are read, many at once.
    let query = Query { limit: 1, ..query(Some(filter("!name"))) };
    let mut sweep = tenant.sweep_matching(&query).await.unwrap();
    assert_eq!(done(sweep.apply_next(&Operation::Delete).await.unwrap().unwrap()), ["urn:e:00"]);
    let named = draft(&json!({"id": "urn:e:03", "type": "Car", "name": {"value": "N"}}));
    tenant.apply("urn:e:03", Operation::Append { draft: named, keep_existing: false }, NOW).await.unwrap();
    let mut purged = Vec::new();
    while let Some(page) = sweep.apply_next(&Operation::Delete).await.unwrap() {
        purged.extend(done(page));
    }
    assert_eq!(purged, ["urn:e:01", "urn:e:02", "urn:e:04", "urn:e:05"]);
    assert!(tenant.get("urn:e:03", NOW).await.unwrap().is_some());
}

/// Each page looks at what stands behind the one before: all pages together look at each entity once.
#[tokio::test]
async fn pages_of_a_sweep_look_at_no_entity_twice() {
    let few = Options { scan_entities_max: 10, ..options(1) };
    let tenant = tenant_with(&cars(90), few).await;
    let query = Query { limit: 5, ..of_type("Car") };
    let mut sweep = tenant.sweep_matching(&query).await.unwrap();
    let mut count = 0;
    while let Some(page) = sweep.apply_next(&NOTHING).await.unwrap() {
        count += done(page).len();
    }
    assert_eq!((count, sweep.scanned()), (90, 90));
}

#[tokio::test]
async fn a_sweep_that_times_out_has_done_the_pages_before() {
    let tenant = tenant_with(&cars(9), options(1)).await;
    let query = Query { deadline: store::Deadline::after_looks(2), ..of_type("Car") };
    let mut sweep = tenant.sweep_matching(&query).await.unwrap();
    for _ in 0..2 {
        assert_eq!(sweep.apply_next(&Operation::Delete).await.unwrap().unwrap().len(), 2);
    }
    let error = sweep.apply_next(&Operation::Delete).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut(_)), "{error}");
    let left = tenant.query(&Query { limit: 9, ..of_type("Car") }).await.unwrap();
    assert_eq!(left.entities.len(), 5);
}

#[tokio::test]
async fn pages_of_a_sweep_are_cut_by_their_size() {
    let tenant = tenant_with(&cars(5), options(1)).await;
    let query = Query { limit: 5, page_bytes_max: Some(1), ..of_type("Car") };
    let mut sweep = tenant.sweep_matching(&query).await.unwrap();
    assert_eq!(sweep.apply_next(&NOTHING).await.unwrap().unwrap().len(), 1);
}
