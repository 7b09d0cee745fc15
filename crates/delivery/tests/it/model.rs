//! Random runs on the store in memory and on the worst store.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use store::testing::{hostile, plain};
use store::{Clock, ErrorKind, Store, Timestamp};

use crate::world::{World, options};

#[derive(Clone, Debug)]
enum Step {
    Change(u8, u8),
    Send,
    Settle(usize, bool),
    Flush,
    Pass(u8),
    /// The process ends, and another begins.
    Crash,
    /// Another node takes over while this one goes on for a step.
    TakeOver,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..8_u8, 0..3_u8).prop_map(|(mask, key)| Step::Change(mask, key)),
        6 => Just(Step::Send),
        5 => (any::<usize>(), prop::bool::weighted(0.7)).prop_map(|(at, taken)| Step::Settle(at, taken)),
        3 => Just(Step::Flush),
        2 => (1..5_u8).prop_map(Step::Pass),
        1 => Just(Step::Crash),
        1 => Just(Step::TakeOver),
    ]
}

async fn run(store: Store, clock: Clock, steps: &[Step]) -> World {
    let mut world = World::new(store, clock, 3);
    let mut delivery = world.open(options()).await;
    for step in steps {
        match step {
            Step::Change(mask, key) => world.change(*mask, *key).await,
            Step::Send => world.step(&mut delivery).await,
            Step::Settle(at, taken) => world.settle(&mut delivery, *at, *taken),
            Step::Flush => {
                world.flush(&mut delivery).await;
            }
            Step::Pass(seconds) => world.clock.pass(Duration::from_secs((*seconds).into())),
            Step::Crash => {
                world.under_way.clear();
                delivery = world.open(options()).await;
            }
            Step::TakeOver => {
                let mut before = std::mem::replace(&mut delivery, world.open(options()).await);
                world.under_way.clear();
                let read = world.read_all(&mut before).await;
                let taken = match read {
                    Ok(()) => before.batches(world.now()).await,
                    Err(error) => Err(error),
                };
                let batches = match taken {
                    Ok(batches) => batches,
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
                        continue;
                    }
                };
                for batch in batches {
                    world.check_order(&batch);
                    before.settle(batch.number, Err("late"), world.now());
                }
                match before.flush(world.now()).await {
                    Ok(()) => {}
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
                }
            }
        }
    }
    world.finish(&mut delivery).await;
    world
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn check_all_came(world: &World) {
    for expected in &world.expected {
        for (_, number) in &expected.changes {
            assert!(expected.acknowledged.contains_key(number), "{number} never came");
        }
        assert_eq!(expected.acknowledged.len(), expected.changes.len(), "nothing else came");
    }
}

/// Each message has one number, however often it was sent, and the numbers have no gap.
fn check_numbers(world: &World) {
    for expected in &world.expected {
        let mut numbers: BTreeMap<u64, u32> = BTreeMap::new();
        for (change, sequences) in &expected.acknowledged {
            let same = sequences.iter().all(|sequence| *sequence == sequences[0]);
            assert!(same, "{change}: {sequences:?}");
            assert_eq!(numbers.insert(sequences[0], *change), None, "a number of two");
        }
        let count = numbers.len() as u64;
        assert!(numbers.keys().copied().eq(0..count), "{numbers:?}");
    }
}

proptest! {
    #[test]
    fn all_comes_in_order_with_one_number_each(steps in prop::collection::vec(step(), 1..120)) {
        let clock = Clock::manual(Timestamp(1_000_000));
        let world = block_on(run(plain(clock.clone()), clock, &steps));
        check_all_came(&world);
        // A take-over has the one before write late, which may use up numbers: then they are only ever new.
        if !steps.iter().any(|step| matches!(step, Step::TakeOver)) {
            check_numbers(&world);
            assert_eq!(world.conflicts, 0);
        }
    }

    #[test]
    fn on_the_worst_store_all_comes_in_order(seed: u64, steps in prop::collection::vec(step(), 1..120)) {
        let clock = Clock::manual(Timestamp(1_000_000));
        let world = block_on(run(hostile(clock.clone(), seed), clock, &steps));
        check_all_came(&world);
    }
}

/// Two nodes that both believe they have the lease, each of which begins anew when it finds that it was taken over.
async fn run_two(store: Store, clock: Clock, steps: &[(bool, Step)]) -> World {
    let mut world = World::new(store, clock, 3);
    let mut nodes = [world.open(options()).await, world.open(options()).await];
    let mut under_way = [Vec::new(), Vec::new()];
    for (is_second, step) in steps {
        let at = usize::from(*is_second);
        world.under_way = std::mem::take(&mut under_way[at]);
        let node = &mut nodes[at];
        match step {
            Step::Change(mask, key) => world.change(*mask, *key).await,
            Step::Send => world.step(node).await,
            Step::Settle(batch, taken) => world.settle(node, *batch, *taken),
            Step::Flush => world.flush(node).await,
            Step::Pass(seconds) => world.clock.pass(Duration::from_secs((*seconds).into())),
            Step::Crash | Step::TakeOver => {
                world.under_way.clear();
                *node = world.open(options()).await;
            }
        }
        under_way[at] = std::mem::take(&mut world.under_way);
    }
    let mut node = world.open(options()).await;
    world.finish(&mut node).await;
    world
}

proptest! {
    #[test]
    fn of_two_nodes_at_once_all_comes_in_order(steps in prop::collection::vec((any::<bool>(), step()), 1..120)) {
        let clock = Clock::manual(Timestamp(1_000_000));
        check_all_came(&block_on(run_two(plain(clock.clone()), clock, &steps)));
    }
}
