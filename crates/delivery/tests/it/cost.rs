//! What things cost where many receivers are there and few are concerned.

use std::time::Duration;

use delivery::{Delivery, Receiver};
use store::testing::plain;
use store::{Clock, Timestamp};

use crate::world::{World, options, receiver};

/// Receivers beside the one that is concerned.
const OTHERS: u128 = 10_000;

fn world() -> World {
    let clock = Clock::manual(Timestamp(1_000_000));
    let mut world = World::new(plain(clock.clone()), clock, 1);
    world.receivers.extend((2..=OTHERS).map(|id| receiver(&world.store, id)));
    world
}

/// Of 10,000 receivers one is concerned: one message is sent, and two rows are written (its status, the position).
#[tokio::test]
async fn a_change_costs_what_matches_it() {
    let mut world = world();
    let mut delivery = world.open(options()).await;
    for count in 1..=5 {
        world.change(1, 0).await;
        world.step(&mut delivery).await;
        assert_eq!(world.under_way.len(), 1);
        world.settle(&mut delivery, 0, true);
        let before = world.store.statistics().commits;
        delivery.flush(world.now()).await.unwrap();
        assert_eq!(world.store.statistics().commits - before, 2);
        let counters = delivery.counters();
        assert_eq!((counters.matches, counters.messages, counters.stored), (count, count, 0));
    }
}

/// A follower sends before it has looked for all outboxes; then it finds the one that there is.
#[tokio::test]
async fn a_follower_begins_at_once_whatever_the_number_of_receivers() {
    let mut world = world();
    let mut delivery = world.open(options()).await;
    world.leave_one_in_the_outbox(&mut delivery).await;

    // The one with the outbox is looked for last.
    let mut receivers = world.receivers.clone();
    receivers.rotate_left(1);
    let mut delivery = Delivery::open(world.store.clone(), options(), receivers).await.unwrap();
    assert_eq!(
        (delivery.counters().statuses_read, delivery.gauges().unseen),
        (0, OTHERS.try_into().unwrap())
    );
    world.clock.pass(Duration::from_secs(100));
    for _ in 0..9 {
        world.step(&mut delivery).await;
        assert!(world.under_way.is_empty());
    }
    world.step(&mut delivery).await;
    assert_eq!((world.under_way.len(), delivery.gauges().unseen), (1, 0));
    world.settle(&mut delivery, 0, true);
    assert_eq!(world.expected[0].acknowledged.len(), 1);
    let read = delivery.counters().statuses_read;
    assert_eq!(read, u64::try_from(OTHERS).unwrap(), "each once");
    world.step(&mut delivery).await;
    assert_eq!(delivery.counters().statuses_read, read, "and not again");
}

/// Of 10,000 receivers one comes, is changed and goes.
#[tokio::test]
async fn a_change_of_one_receiver_costs_one() {
    let mut world = world();
    let mut delivery = world.open(options()).await;
    while delivery.gauges().unseen > 0 {
        world.step(&mut delivery).await;
    }
    let (read, commits) = (delivery.counters().statuses_read, world.store.statistics().commits);
    let added = receiver(&world.store, OTHERS + 1);
    delivery.put_receiver(added.clone());
    delivery.put_receiver(Receiver { is_paused: true, ..added });
    assert_eq!(delivery.gauges().unseen, 1, "its outbox alone is looked for");
    world.step(&mut delivery).await;
    delivery.remove_receiver(OTHERS + 1);
    delivery.flush(world.now()).await.unwrap();
    assert_eq!(delivery.counters().statuses_read - read, 1);
    assert_eq!(world.store.statistics().commits, commits, "nothing is written");
}
