//! Threads that write, read, ask and move entities at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::*;

const STABLE: u32 = 700;

/// Threads that write, read, ask and move, each with a runtime of its own.
fn check_threads(store: &Store, rounds: usize) {
    let (one, other) = run(async {
        let tenant = TenantName::new("city").unwrap();
        let one = Entities::new(store.clone(), Options { buckets: 1, ..options(1) });
        let other = if store.may_lag() { Entities::new(store.beside(), options(1)) } else { one.clone() };
        let entities = one.tenant_or_create(&tenant).await.unwrap();
        let create = |number: u32| {
            let id = format!("urn:x:{number}");
            (id.clone().into_boxed_str(), Operation::Create(Draft { id: id.into(), ..draft_of("0") }))
        };
        let outcomes = entities.apply_all((0..STABLE).map(create).collect(), Timestamp(1)).await;
        assert!(outcomes.iter().all(Result::is_ok));
        (entities, other.tenant_or_create(&tenant).await.unwrap())
    });
    let written: Arc<Vec<AtomicU32>> = Arc::new((0..STABLE).map(|_| AtomicU32::new(0)).collect());
    let is_done = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        for (seed, entities) in [(1, one.clone()), (2, other.clone())] {
            let (written, is_done) = (Arc::clone(&written), Arc::clone(&is_done));
            scope.spawn(move || run(write_some(&entities, seed, &written, &is_done)));
        }
        for entities in [one.clone(), other.clone()] {
            let (written, is_done) = (Arc::clone(&written), Arc::clone(&is_done));
            scope.spawn(move || run(read_some(&entities, &written, &is_done)));
        }
        run(async {
            let mut walk = Walk::new(0);
            for wanted in [4, 2, 8, 1].into_iter().cycle().take(rounds) {
                while !job(&one, &mut walk, wanted, 1).await {
                    std::thread::yield_now();
                }
            }
        });
        is_done.store(true, Ordering::Release);
    });
    run(async {
        let all = stored(&one).await;
        assert_eq!(all.len(), STABLE as usize);
        for (number, value) in written.iter().enumerate() {
            let entity = &all[&format!("urn:x:{number}")];
            assert_eq!(entity.attributes[0].instances[0].value, value.load(Ordering::Acquire).to_string());
        }
    });
}

/// Counts up; each entity has one writer.
async fn write_some(entities: &TenantEntities, seed: u32, written: &[AtomicU32], is_done: &AtomicBool) {
    let mut random = StdRng::seed_from_u64(seed.into());
    while !is_done.load(Ordering::Acquire) {
        let number = random.random_range(0..STABLE / 2) * 2 + seed % 2;
        let Some(last) = written.get(number as usize) else { continue };
        let next = last.load(Ordering::Acquire) + 1;
        let change = entities.apply(&format!("urn:x:{number}"), counted(next), Timestamp(2)).await.unwrap();
        assert_eq!(change.fate, Fate::Updated);
        last.store(next, Ordering::Release);
    }
}

async fn read_some(entities: &TenantEntities, written: &[AtomicU32], is_done: &AtomicBool) {
    let mut random = StdRng::seed_from_u64(9);
    while !is_done.load(Ordering::Acquire) {
        for types in [None, Some(TypeQuery::Is(Some(TermId(1))))] {
            let query = Query { types, count: true, limit: 10, now: FOREVER, ..Query::default() };
            assert_eq!(entities.query(&query).await.unwrap().count, Some(STABLE as usize));
            let whole = entities.query(&Query { limit: 10_000, ..query }).await.unwrap();
            let mut ids: Vec<_> =
                whole.entities.iter().map(|bytes| EntityView::peek(bytes).unwrap().id().to_owned()).collect();
            assert!(ids.is_sorted());
            ids.dedup();
            assert_eq!(ids.len(), STABLE as usize);
        }
        for _ in 0..200 {
            let number = random.random_range(0..STABLE);
            let least = written.get(number as usize).map_or(0, |value| value.load(Ordering::Acquire));
            let found = entities.get(&format!("urn:x:{number}"), FOREVER).await.unwrap();
            let found = PlainEntity::read(&found.expect("it is there all the while").view().unwrap());
            let value: u32 = found.attributes[0].instances[0].value.parse().unwrap();
            assert!(value >= least, "{value}, though {least} was written");
        }
    }
}

#[test]
fn nobody_notices_a_move() {
    check_threads(&plain_store(), 12);
}

#[test]
fn nobody_notices_a_move_on_the_worst_store() {
    check_threads(&hostile(5, false), 6);
}
