//! What is told of changes while entities move: in order, with states, and nothing of the moves.

use entity::{EntityChange, change_records};
use store::{Change, Cursor};

use super::*;

/// Nothing is told of a move, and changes before and after it are numbered so.
#[test]
fn changes_are_numbered_by_moves() {
    run(async {
        let store = plain_store();
        let [entities, _] = two(&store, 1).await;
        let id = moving_id();
        let write = async |number: i64| {
            let operation = Operation::Merge(draft_of(&number.to_string()), MergeOptions::default());
            entities.apply(&id, operation, Timestamp(number)).await.unwrap();
        };
        entities.apply(&id, Operation::Create(draft_of("0")), Timestamp(0)).await.unwrap();
        for (round, wanted) in [(1, 2), (2, 1), (3, 4)] {
            let mut walk = Walk::new(0);
            write(10 * round).await;
            job(&entities, &mut walk, wanted, 2).await;
            write(10 * round + 1).await;
            while !job(&entities, &mut walk, wanted, 1).await {}
            write(10 * round + 2).await;
        }
        let page = store.feed(0, store::Cursor::default(), 100).await.unwrap();
        let moves =
            page.changes.iter().flat_map(|change| change_records(&change.record)).map(|one| one.moves);
        assert_eq!(moves.collect::<Vec<_>>(), [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]);
    });
}

/// Takes the changes that were not told before.
fn take_new(changes: &[Change], seen: &mut BTreeMap<Partition, u64>, mut tell: impl FnMut(EntityChange<'_>)) {
    for change in changes {
        let last = seen.entry(change.partition.clone()).or_default();
        if change.number > *last {
            *last = change.number;
            change_records(&change.record).for_each(&mut tell);
        }
    }
}

/// Reads all shards from their cursors up to their ends of now; what was told before is told no more.
async fn read_to_ends(
    store: &Store,
    cursors: &mut [Cursor],
    seen: &mut BTreeMap<Partition, u64>,
    mut tell: impl FnMut(EntityChange<'_>),
) {
    for (shard, cursor) in (0..).zip(cursors) {
        loop {
            let page = store.feed(shard, *cursor, 3).await.unwrap();
            take_new(&page.changes, seen, &mut tell);
            if page.cursor == *cursor {
                break;
            }
            *cursor = page.cursor;
        }
    }
}

/// The moves that a change names, its entity, and the number that it was given.
fn told_of(change: &EntityChange<'_>) -> (u32, String, i64) {
    let after = change.states.and_then(|states| states.after).expect("states are told");
    let entity = PlainEntity::read(&after);
    (change.moves, entity.id, entity.attributes[0].instances[0].value.parse().unwrap())
}

fn numbered(id: &str, number: i64) -> Operation {
    Operation::UpsertReplace(Draft { id: id.into(), ..draft_of(&number.to_string()) })
}

/// A reader of several shards who goes by the number of moves tells the changes of each entity in their order.
#[test]
fn changes_are_told_in_their_order() {
    for seed in store::testing::seeds(60) {
        let store = hostile(seed, false);
        let mut random = StdRng::seed_from_u64(seed);
        run(async {
            let handles = two(&store, 1).await;
            handles[1].add_consumer("c").await.unwrap();
            let mut walks = [Walk::new(0), Walk::new(0)];
            let mut cursors = vec![Cursor::default(); store.feed_shards() as usize];
            let (mut seen, mut told) = (BTreeMap::new(), BTreeMap::<String, i64>::new());
            let (mut moves, mut wanted) = (0, 4);
            for now in 0..150_i64 {
                let at = random.random_range(0..2);
                let id = name(random.random_range(0..IDS));
                handles[at].apply(&id, numbered(&id, now), Timestamp(now)).await.unwrap();
                if random.random_bool(0.9) && job(&handles[at], &mut walks[at], wanted, 1).await {
                    wanted = [1, 2, 4, 8][random.random_range(0..4)];
                }
                if random.random_bool(0.7) {
                    continue;
                }
                let shard = random.random_range(0..cursors.len());
                let mut met = Vec::new();
                let page = store.feed(u32::try_from(shard).unwrap(), cursors[shard], 2).await.unwrap();
                take_new(&page.changes, &mut seen, |change| met.push(told_of(&change)));
                cursors[shard] = page.cursor;
                if met.iter().any(|(of, ..)| *of > moves) {
                    read_to_ends(&store, &mut cursors, &mut seen, |change| met.push(told_of(&change))).await;
                    met.sort_by_key(|(of, ..)| *of);
                }
                for (of, id, number) in met {
                    moves = moves.max(of);
                    let last = told.insert(id, number);
                    assert!(last.is_none_or(|last| last < number), "{number} after {last:?}, seed {seed}");
                }
            }
            assert!(moves > 0, "seed {seed}");
        });
    }
}

/// From a registration on all changes tell states, though the one who registers learns late that entities move.
#[test]
fn a_late_registration_misses_no_writer() {
    for seed in store::testing::seeds(60) {
        let store = hostile(seed, false);
        let mut random = StdRng::seed_from_u64(seed);
        run(async {
            let handles = two(&store, 1).await;
            let mut walk = Walk::new(0);
            let write = async |at: usize, number: i64| {
                let id = name(u8::try_from(number % 8).unwrap());
                handles[at].apply(&id, numbered(&id, number), Timestamp(number)).await.unwrap();
            };
            for number in 0..16 {
                write(0, number).await;
            }
            write(1, 16).await;
            for number in 20..20 + random.random_range(0..30) {
                job(&handles[0], &mut walk, 4, 1).await;
                write(0, number).await;
            }
            handles[1].add_consumer("c").await.unwrap();
            let mut cursors = vec![Cursor::default(); store.feed_shards() as usize];
            let (mut seen, mut count) = (BTreeMap::new(), 0);
            read_to_ends(&store, &mut cursors, &mut seen, |_| ()).await;
            for number in 60..100 {
                job(&handles[0], &mut walk, 4, 1).await;
                write(random.random_range(0..2), number).await;
            }
            read_to_ends(&store, &mut cursors, &mut seen, |change| {
                assert!(change.states.is_some(), "seed {seed}");
                count += 1;
            })
            .await;
            assert_eq!(count, 40);
        });
    }
}
