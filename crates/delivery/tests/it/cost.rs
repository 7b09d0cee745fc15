//! What a change costs where many receivers are there and one is concerned.

use store::testing::plain;
use store::{Clock, Timestamp};

use crate::world::{World, options, receiver};

/// Of 10,000 receivers one is concerned: one message is sent, and two rows are written (its status, the position).
#[tokio::test]
async fn a_change_costs_what_matches_it() {
    let clock = Clock::manual(Timestamp(1_000_000));
    let mut world = World::new(plain(clock.clone()), clock, 1);
    world.receivers.extend((2..=10_000).map(|id| receiver(&world.store, id)));
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
