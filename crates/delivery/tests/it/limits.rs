//! Full outboxes, dead receivers, cuts of the feed, receivers that go.

use std::time::Duration;

use bytes::Bytes;
use delivery::{BackOff, Options, Registry, Removal, Status, forget, read_status};
use store::testing::plain;
use store::{
    Clock, Commit, Direction, ErrorKind, FeedOptions, MemoryOptions, Partition, Range, Space, SpaceKind,
    Store,
};
use store::{Tenant, Timestamp, Write, WriteIds, bucket_of};

use crate::world::{World, options};

fn world(receivers: usize) -> World {
    let clock = Clock::manual(Timestamp(1_000_000));
    World::new(plain(clock.clone()), clock, receivers)
}

#[tokio::test]
async fn a_full_outbox_says_what_it_lost_and_keeps_the_oldest() {
    let mut world = world(1);
    world.is_lossy = true;
    let options = Options { outbox_messages_max: 10, ..options() };
    let mut delivery = world.open(options).await;
    for _ in 0..30 {
        world.change(1, 0).await;
        world.step(&mut delivery).await;
        while !world.under_way.is_empty() {
            world.settle(&mut delivery, 0, false);
        }
        delivery.flush(world.now()).await.unwrap();
    }
    let status = read_status(&world.store, &Tenant::default(), 1).await.unwrap();
    assert_eq!((status.pending, status.overflowed), (10, 20));
    assert!(status.overflowed_since.is_some() && status.failures > 0);
    assert_eq!(&*status.last_error, "refused");
    world.clock.pass(Duration::from_secs(100));
    world.finish(&mut delivery).await;
    let status = read_status(&world.store, &Tenant::default(), 1).await.unwrap();
    assert_eq!((status.pending, status.delivered, status.failures), (0, 10, 0));
    assert_eq!((status.overflowed, status.overflowed_since), (20, None));
    world.change(1, 0).await;
    world.finish(&mut delivery).await;
    let numbers: Vec<u64> = world.expected[0].acknowledged.values().map(|numbers| numbers[0]).collect();
    assert_eq!(numbers, (0..10).chain([30]).collect::<Vec<_>>(), "what was lost leaves a gap");
}

#[tokio::test]
async fn a_dead_receiver_delays_nobody_and_holds_no_memory() {
    let mut world = world(2);
    let mut delivery = world.open(options()).await;
    for _ in 0..200 {
        world.change(3, 0).await;
        world.step(&mut delivery).await;
        // The first never answers in time, the second at once.
        while !world.under_way.is_empty() {
            let is_taken = world.under_way[0].receiver == 2;
            world.settle(&mut delivery, 0, is_taken);
        }
        delivery.flush(world.now()).await.unwrap();
        assert!(delivery.gauges().memory_bytes < 200, "{:?}", delivery.gauges());
    }
    assert_eq!(world.expected[1].acknowledged.len(), 200);
    let dead = read_status(&world.store, &Tenant::default(), 1).await.unwrap();
    assert_eq!((dead.pending, dead.failed), (200, 1), "it is tried again after a pause");
    assert_eq!(read_status(&world.store, &Tenant::default(), 2).await.unwrap().pending, 0);
}

/// Batches of a receiver that recovers: one message, then two, then as many as may be.
#[tokio::test]
async fn a_receiver_that_recovers_is_sent_little_at_first() {
    let mut world = world(1);
    let mut delivery = world.open(Options { in_flight_max: 1, batch_messages_max: 4, ..options() }).await;
    for _ in 0..20 {
        world.change(1, 0).await;
    }
    world.step(&mut delivery).await;
    world.settle(&mut delivery, 0, false);
    let mut sizes = Vec::new();
    for _ in 0..5 {
        delivery.flush(world.now()).await.unwrap();
        world.clock.pass(Duration::from_secs(2));
        world.step(&mut delivery).await;
        sizes.push(world.under_way[0].messages.len());
        world.settle(&mut delivery, 0, true);
    }
    assert_eq!(sizes, [1, 2, 4, 4, 4]);
}

#[tokio::test]
async fn a_cut_of_the_feed_is_counted_and_leaves_a_gap() {
    let clock = Clock::manual(Timestamp(1_000_000));
    let feed = FeedOptions { bytes_min: 0, age_min: Duration::ZERO, bytes_max: 200 };
    let mut world = World::new(Store::memory(MemoryOptions { clock: clock.clone(), feed }), clock, 1);
    world.is_lossy = true;
    let mut delivery = world.open(options()).await;
    for _ in 0..20 {
        world.change(1, 0).await;
    }
    world.step(&mut delivery).await;
    assert_eq!(delivery.counters().cuts, 1);
    world.finish(&mut delivery).await;
    assert_eq!(read_status(&world.store, &Tenant::default(), 1).await.unwrap().cuts, 1);
    world.change(1, 0).await;
    world.finish(&mut delivery).await;
    let numbers: Vec<&Vec<u64>> = world.expected[0].acknowledged.values().collect();
    assert_eq!(numbers, [&[1]]);
}

#[tokio::test]
async fn a_receiver_that_goes_takes_its_rows_along() {
    let mut world = world(2);
    let mut delivery = world.open(options()).await;
    for _ in 0..20 {
        world.change(1, 0).await;
    }
    world.step(&mut delivery).await;
    world.settle(&mut delivery, 0, false);
    delivery.flush(world.now()).await.unwrap();
    assert!(read_status(&world.store, &Tenant::default(), 1).await.unwrap().pending > 0);
    let gone = world.receivers.remove(0);
    delivery.remove_receiver(gone.id);
    assert!(!delivery.is_sending());
    delivery.flush(world.now()).await.unwrap();
    forget(&world.store, &gone.tenant, gone.id).await.unwrap();
    assert_eq!(read_status(&world.store, &gone.tenant, gone.id).await.unwrap(), Status::default());
}

/// Wherever the process ends: what is to be removed is known before it is.
#[tokio::test]
async fn removals_are_known_until_they_are_finished() {
    let mut world = world(1);
    let mut delivery = world.open(options()).await;
    world.leave_one_in_the_outbox(&mut delivery).await;
    let tenant = Tenant::default();
    let registry = Registry::new(world.store.clone(), "tests");
    registry.note_removal(&tenant, 1).await.unwrap();
    registry.note_removal(&tenant, 7).await.unwrap();
    assert_eq!(Registry::new(world.store.clone(), "other").removals().await.unwrap(), []);
    drop((delivery, registry));

    let registry = Registry::new(world.store.clone(), "tests");
    let removals = registry.removals().await.unwrap();
    assert_eq!(removals, [1, 7].map(|receiver| Removal { receiver, tenant: 0 }));
    registry.finish_removal(removals[0], Some(&tenant)).await.unwrap();
    assert_eq!(read_status(&world.store, &tenant, 1).await.unwrap(), Status::default());
    registry.finish_removal(removals[1], None).await.unwrap();
    assert_eq!(registry.removals().await.unwrap(), []);
    let mut delivery = world.open(options()).await;
    world.clock.pass(Duration::from_secs(100));
    assert!(delivery.batches(world.now()).await.unwrap().is_empty(), "nothing is left of it");
}

/// It reads the status of a receiver late, when its successor has stored more, behind a position that it does not know.
#[tokio::test]
async fn a_follower_that_was_taken_over_removes_nothing() {
    let mut world = world(1);
    let mut before = world.open(options()).await;
    let mut delivery = world.open(options()).await;
    world.leave_one_in_the_outbox(&mut delivery).await;
    let refused = world.read_all(&mut before).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert_eq!(read_status(&world.store, &Tenant::default(), 1).await.unwrap().pending, 1);
    world.clock.pass(Duration::from_secs(100));
    world.finish(&mut delivery).await;
    assert_eq!(world.expected[0].acknowledged.len(), 1);
}

/// One receiver's row is damaged; the batches of others are handed out, and the position moves.
#[tokio::test]
async fn a_damaged_outbox_delays_nobody_else() {
    let mut world = world(3);
    let mut delivery = world.open(options()).await;
    world.change(2, 0).await;
    world.step(&mut delivery).await;
    world.settle(&mut delivery, 0, false);
    delivery.flush(world.now()).await.unwrap();
    let id = 2_u128.to_be_bytes();
    damage(&world.store, 2, [b"M", &id[..], &0_u64.to_be_bytes()].concat()).await;
    world.clock.pass(Duration::from_secs(2));
    for round in 0..4 {
        if round == 2 {
            damage(&world.store, 2, [b"s", &id[..]].concat()).await;
            delivery = world.open(options()).await;
        }
        world.change(7, 0).await;
        world.step(&mut delivery).await;
        let sent: Vec<u128> = world.under_way.iter().map(|batch| batch.receiver).collect();
        assert!(sent.contains(&1) && sent.contains(&3) && !sent.contains(&2), "{sent:?}");
        while !world.under_way.is_empty() {
            world.settle(&mut delivery, 0, true);
        }
        delivery.flush(world.now()).await.unwrap();
    }
}

/// Seven receivers hang; one that has answered before is sent each change at once, and the seven get their quarter.
#[tokio::test]
async fn receivers_that_hang_leave_room_for_those_that_answer() {
    let mut world = world(8);
    let mut delivery = world.open(options()).await;
    world.change(0b1000_0000, 0).await;
    world.step(&mut delivery).await;
    world.settle(&mut delivery, 0, true);
    world.change(0b0111_1111, 0).await;
    world.step(&mut delivery).await;
    assert_eq!(world.under_way.len(), options().sends_max / 4);
    for _ in 0..5 {
        world.change(0b1000_0000, 0).await;
        world.step(&mut delivery).await;
        let at = world.under_way.iter().position(|batch| batch.receiver == 8).expect("it is sent at once");
        world.settle(&mut delivery, at, true);
    }
    // Those that answer after all make room for the next, and have room of their own from then on.
    while !world.under_way.is_empty() {
        world.settle(&mut delivery, 0, true);
        world.step(&mut delivery).await;
    }
    assert!(world.expected.iter().all(|expected| expected.acknowledged.len() == expected.changes.len()));
}

/// One receiver is sent something all the time; each of those that fail is tried nevertheless, and not always the same.
#[tokio::test]
async fn all_that_fail_are_tried() {
    assert_eq!(tried_in(6, 8).await, 8);
    assert_eq!(tried_in(16, 1).await, 8, "one send at a time goes to all in turn");
}

/// How many of eight receivers are sent something within these rounds, if all but the last fail and are due again in the next round.
async fn tried_in(rounds: usize, sends_max: usize) -> usize {
    let mut world = world(8);
    let second = Duration::from_secs(1);
    let options = Options { sends_max, back_off: BackOff { first: second, longest: second }, ..options() };
    let mut delivery = world.open(options).await;
    let mut tried = std::collections::BTreeSet::new();
    world.change(0b1000_0000, 0).await;
    world.step(&mut delivery).await;
    world.settle(&mut delivery, 0, true);
    tried.clear();
    world.change(0b0111_1111, 0).await;
    for _ in 0..rounds {
        world.change(0b1000_0000, 0).await;
        world.step(&mut delivery).await;
        while let Some(batch) = world.under_way.first() {
            let receiver = batch.receiver;
            tried.insert(receiver);
            world.settle(&mut delivery, 0, receiver == 8);
        }
        // Those that failed are read from their outboxes, and may be tried again.
        world.flush(&mut delivery).await;
        world.clock.pass(2 * second);
    }
    tried.len()
}

async fn damage(store: &Store, receiver: u128, key: Vec<u8>) {
    let is_message = key[0] == b'M';
    let space = Space { id: 49, kind: SpaceKind::Commit, name: "outboxes" };
    let bucket = bucket_of(&receiver.to_be_bytes(), 1 << 31);
    let partition = Partition { tenant: Tenant::default(), space, bucket };
    let page = store.scan(&partition, &Range::prefix(key.clone()), Direction::Forward, 1).await.unwrap();
    assert_eq!(page.len(), 1);
    let (key, value) = (Bytes::from(key), Bytes::from_static(b"?"));
    let write = if is_message { Write::Put(key, value) } else { Write::PutStamped(key, value) };
    let commit = Commit {
        partition,
        write_id: WriteIds::new().next(),
        conditions: Vec::new(),
        writes: vec![write],
        change: None,
        reclaims: false,
    };
    store.commit_known(commit).await.unwrap();
}
