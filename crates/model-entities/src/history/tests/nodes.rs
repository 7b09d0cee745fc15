//! Two nodes that fold, sweep and recompress the same histories at once, over the worst store, while they are written and read.

use std::cell::{Cell, RefCell};

use entity::Error;

use super::*;

/// What was written of one entity, as far as it is acknowledged.
#[derive(Default)]
struct Written {
    plain: Option<PlainEntity>,
    history: PlainHistory,
    last: Option<i64>,
}

const ID: &str = "urn:x:1";

/// Two at once, again and again, until all was written.
async fn job(all: &Entities, is_over: &Cell<bool>, skew: i64) {
    let entities = all.tenant(&TenantName::default()).await.unwrap();
    for turn in skew.. {
        let done = match turn % 5 {
            0 => all.sweep_history(Timestamp(10_000), Duration::ZERO).await.map(drop),
            1 => all.recompress_history(Timestamp(10_000), Duration::ZERO).await.map(drop),
            _ => entities.fold_history(ID).await.map(drop),
        };
        assert!(matches!(done, Ok(()) | Err(Error::Contention(_))), "{done:?}");
        tokio::task::yield_now().await;
        if is_over.get() {
            return;
        }
    }
}

async fn write(nodes: [&Entities; 2], operations: &[Operation], written: &RefCell<Written>) {
    let both = [
        nodes[0].tenant(&TenantName::default()).await.unwrap(),
        nodes[1].tenant(&TenantName::default()).await.unwrap(),
    ];
    let mut clock = 0;
    for (operation, node) in operations.iter().zip(both.iter().cycle()) {
        clock += 10;
        let outcome = node.apply(ID, operation.clone(), Timestamp(clock)).await;
        let mut written = written.borrow_mut();
        let now = written.last.map_or(clock, |last| clock.max(last + 1));
        let Ok((fate, after)) = apply_plainly(written.plain.as_ref(), ID, operation, Timestamp(now)) else {
            assert!(outcome.is_err());
            continue;
        };
        assert_eq!(outcome.unwrap().fate, fate);
        let Written { plain, history, last } = &mut *written;
        if fate != Fate::Unchanged {
            *last = Some(now);
            note(history, plain.as_ref(), after.as_ref(), now);
        }
        *plain = after;
    }
}

async fn read(all: &Entities, is_over: &Cell<bool>, written: &RefCell<Written>) {
    let entities = all.tenant(&TenantName::default()).await.unwrap();
    while !is_over.get() {
        let before = written.borrow().history.clone();
        let found = entities.read_history(ID, &HistoryRequest::all(usize::MAX - 1)).await.unwrap();
        // Nothing is shown twice: the map is asked for that as it is made.
        let found = found.as_ref().map(plain_history).unwrap_or_default();
        assert!(before.iter().all(|one| found.get(one.0) == Some(one.1)), "an acknowledged write is missed");
        tokio::task::yield_now().await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((60 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn two_nodes_that_fold_at_once_lose_nothing_and_show_nothing_twice(
        operations in prop::collection::vec(operation(), 1..20),
        seed: u64,
    ) {
        run(async {
            let store = store::testing::hostile(Clock::manual(Timestamp(0)), seed);
            let nodes = [store.beside(), store].map(|store| Entities::new(store, options(1)));
            let [one, other] = &nodes;
            one.tenant_or_create(&TenantName::default()).await.unwrap();
            let (is_over, written) = (Cell::new(false), RefCell::default());
            let writing = async {
                write([one, other], &operations, &written).await;
                is_over.set(true);
            };
            tokio::join!(
                writing,
                job(one, &is_over, 0),
                job(other, &is_over, 0),
                read(one, &is_over, &written),
                read(other, &is_over, &written),
            );
            let expected = written.into_inner().history;
            for node in &nodes {
                let entities = node.tenant(&TenantName::default()).await.unwrap();
                check_history(&entities, ID, Some(&expected)).await;
            }
        });
    }
}
