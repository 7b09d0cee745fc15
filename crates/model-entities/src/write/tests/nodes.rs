//! Two nodes that remove what expired at once, over the worst store, while it is written.

use std::cell::Cell;

use super::*;

/// Value and expiry of what stands under an id.
type Plain = BTreeMap<String, (String, Option<i64>)>;

const TURNS: i64 = 40;

fn draft_until(id: &str, value: &str, expires: Option<i64>) -> Draft {
    Draft { id: id.into(), expires_at: expires.map(Timestamp), ..draft_of(value) }
}

/// Entities that expire, are given more time, go, and come again.
async fn write_all(nodes: [&TenantEntities; 2], seed: i64, clock: &Cell<i64>) -> Plain {
    let mut plain = Plain::new();
    for turn in 0..TURNS {
        clock.set(clock.get() + 10);
        let (now, entities) = (clock.get(), nodes[usize::try_from((turn + seed / 2) % 2).unwrap()]);
        let id = format!("urn:x:{}", (turn * 7 + seed) % 3);
        if (turn + seed) % 6 == 5 {
            let outcome = entities.apply(&id, Operation::Delete, Timestamp(now)).await;
            let was_there = plain.remove(&id).is_some_and(|(_, expires)| expires.is_none_or(|it| it > now));
            assert_eq!(outcome.is_ok(), was_there, "{id} at {now}: {outcome:?}");
            continue;
        }
        let expires = [Some(now + 4), Some(now + 1_000), Some(now + 25), None, Some(now + 12)];
        let expires = expires[usize::try_from((turn * 3 + seed) % 5).unwrap()];
        let operation = Operation::UpsertReplace(draft_until(&id, &turn.to_string(), expires));
        entities.apply(&id, operation, Timestamp(now)).await.unwrap();
        plain.insert(id.clone(), (turn.to_string(), expires));
        assert!(entities.get(&id, Timestamp(now)).await.unwrap().is_some(), "{id} was removed at {now}");
    }
    plain
}

/// A node's clock may be late.
async fn purge_all(entities: &TenantEntities, clock: &Cell<i64>, late: i64) {
    while clock.get() < TURNS * 10 {
        entities.purge_expired(Timestamp(clock.get() - late)).await.unwrap();
        tokio::task::yield_now().await;
    }
}

#[test]
fn two_nodes_that_purge_at_once_remove_nothing_that_lives() {
    for seed in store::testing::seeds(200) {
        run(async {
            let store = store::testing::hostile(Clock::manual(Timestamp(0)), seed);
            let (one, other) = (tenant(&store, 4).await, tenant(&store.beside(), 4).await);
            let clock = Cell::new(0);
            let seed = i64::try_from(seed).unwrap();
            let (plain, (), ()) = tokio::join!(
                write_all([&one, &other], seed, &clock),
                purge_all(&one, &clock, 0),
                purge_all(&other, &clock, 7),
            );
            // What was not carried out is left for the next time.
            for turn in 0..20 {
                let entities = if turn % 2 == 0 { &one } else { &other };
                entities.purge_expired(Timestamp(clock.get())).await.unwrap();
            }
            let lives = |expires: Option<i64>| expires.is_none_or(|time| time > clock.get());
            let expected: Plain = plain.into_iter().filter(|(_, (_, expires))| lives(*expires)).collect();
            let found = stored(&one).await.into_iter();
            let value = |entity: &PlainEntity| entity.attributes[0].instances[0].value.clone();
            let found: Plain = found.map(|(id, entity)| (id, (value(&entity), entity.expires))).collect();
            assert_eq!(found, expected, "seed {seed}");
        });
    }
}
