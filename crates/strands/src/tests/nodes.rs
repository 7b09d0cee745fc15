//! Two nodes that do the same jobs at once on one strand, over the worst store, while it is written and read.

use std::cell::RefCell;

use store::testing::hostile;

use super::*;

/// Before this time nothing is kept.
const BOUND: i64 = 100;
const WRITES: i64 = 24;

/// What the strand held after each write that was begun, as far as it is kept; the last may be under way.
type States = RefCell<Vec<BTreeMap<i64, Held>>>;

fn kept(mut held: BTreeMap<i64, Held>) -> BTreeMap<i64, Held> {
    held.retain(|time, _| *time >= BOUND);
    held
}

async fn jobs(strands: &Strands, strand: &Strand, seed: i64) {
    for turn in 0..10 {
        let done = match (seed + turn) % 4 {
            0 => strands.recompress(strand, 400 + turn * 20).await.map(drop),
            1 => strands.expire(strand, BOUND - turn % 3).await.map(drop),
            _ => strands.fold(strand, Encoding::Hot).await.map(drop),
        };
        assert!(matches!(done, Ok(()) | Err(Error::Contention(_))), "{done:?}");
        tokio::task::yield_now().await;
    }
}

async fn write_all(nodes: &[Strands; 2], strand: &Strand, seed: i64, states: &States) {
    for turn in 0..WRITES {
        let (first, count) = ((seed * 31 + turn * 53) % 500, 1 + (seed + turn * 7) % 40);
        let edit = match turn % 5 {
            4 => Edit::Delete(TimeRange { from: first, to: first + count }),
            _ => Edit::Put(points(first, 1 + turn % 3, usize::try_from(count).unwrap(), turn as f64)),
        };
        let mut state = states.borrow().last().cloned().unwrap_or_default();
        match &edit {
            Edit::Put(points) => state.extend(rows(points)),
            Edit::Delete(range) | Edit::Replace(range, _) => state.retain(|time, _| !range.contains(*time)),
        }
        states.borrow_mut().push(kept(state));
        let node = &nodes[usize::try_from(turn % 2).unwrap()];
        let encoding = if turn % 2 == 0 { Encoding::Raw } else { Encoding::Hot };
        while let Err(error) =
            write_one(node, StrandWrite { encoding, ..write(strand, vec![edit.clone()]) }).await
        {
            assert!(matches!(error, Error::Contention(_)), "{error}");
        }
    }
}

async fn read_while_written(strands: &Strands, strand: &Strand, states: &States) {
    loop {
        // All but the last are acknowledged.
        let begun = states.borrow().len();
        let found = kept(read_all(strands, strand).await);
        let states = states.borrow();
        assert!(states[begun.saturating_sub(2)..].contains(&found), "a write is missed, or one is back");
        if states.len() == usize::try_from(WRITES).unwrap() + 1 {
            return;
        }
    }
}

#[test]
fn two_nodes_that_fold_recompress_and_expire_at_once_lose_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for seed in store::testing::seeds(30) {
        runtime.block_on(async {
            let store = hostile(Clock::manual(Timestamp(0)), seed);
            let nodes = [store.beside(), store].map(|store| small_or_spilling(store, seed % 2 == 0));
            let (strand, seed) = (strand(3, "nodes"), i64::try_from(seed).unwrap());
            let states = States::new(vec![BTreeMap::new()]);
            tokio::join!(
                write_all(&nodes, &strand, seed, &states),
                jobs(&nodes[0], &strand, seed),
                jobs(&nodes[1], &strand, seed),
                read_while_written(&nodes[0], &strand, &states),
                read_while_written(&nodes[1], &strand, &states),
            );
            let last = states.borrow().last().cloned().unwrap();
            for node in &nodes {
                assert_eq!(kept(read_all(node, &strand).await), last, "seed {seed}");
                check_rows(node, &strand).await;
            }
        });
    }
}
