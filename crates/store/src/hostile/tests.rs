use std::collections::{BTreeMap, HashMap, HashSet};

use super::*;
use crate::testing::{self, commit, things};
use crate::{Clock, Direction, Range, Store};

fn options() -> MemoryOptions {
    let feed = crate::FeedOptions { bytes_min: 1 << 30, bytes_max: 1 << 40, ..testing::FEED };
    MemoryOptions { clock: Clock::System, feed }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeps_the_contract() {
    let make = |clock| Store::hostile(HostileOptions::calm(MemoryOptions { clock, feed: testing::FEED }));
    testing::contract_of_a_cluster(make).await;
}

/// A commit is carried out once or never, and whoever asks is told the truth that stays.
#[tokio::test]
async fn an_unknown_outcome_is_resolved_for_good() {
    let store = Store::hostile(HostileOptions { lost: 300, late: 300, ..HostileOptions::new(options(), 7) });
    let (mut told, mut unknown) = (BTreeMap::new(), 0);
    for n in 0..400_u32 {
        let key = Bytes::from(n.to_string());
        let one = commit(n.into(), vec![Condition::Absent(key.clone())], vec![Write::Put(key, Bytes::new())]);
        told.insert(
            n,
            match store.commit(one).await {
                Ok(_) => true,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unknown);
                    unknown += 1;
                    let outcome = store.resolve(&things(0), WriteId(n.into())).await.unwrap();
                    matches!(outcome, Outcome::Committed(_))
                }
            },
        );
    }
    assert!(unknown > 100, "{unknown}");
    for (n, is_there) in told {
        assert_eq!(store.get(&things(0), n.to_string().as_bytes()).await.unwrap().is_some(), is_there, "{n}");
        let outcome = store.resolve(&things(0), WriteId(n.into())).await.unwrap();
        assert_eq!(matches!(outcome, Outcome::Committed(_)), is_there, "{n}");
    }
}

/// A handle never sees less than it wrote or saw, another may; a conflict, a scan and a linear read are fresh.
#[tokio::test]
async fn reads_of_rows_lag_behind_other_handles_only() {
    let one = Store::hostile(HostileOptions { stale: 900, ..HostileOptions::calm(options()) });
    let other = one.beside();
    let put = |n: u128| commit(n, vec![], vec![Write::PutStamped("a".into(), Bytes::from(n.to_string()))]);
    let (mut lagged, mut last) = (0, 0);
    for n in 1..200 {
        let stamp = one.commit(put(n)).await.unwrap();
        let own = one.get(&things(0), b"a").await.unwrap().unwrap();
        assert_eq!(own.write_id, WriteId(n));
        let seen = other.get(&things(0), b"a").await.unwrap().unwrap().write_id.0;
        assert!(seen >= last);
        (lagged, last) = (lagged + u32::from(seen < n), seen);
        let page = other.scan(&things(0), &Range::default(), Direction::Forward, 9).await.unwrap();
        assert_eq!(page.row(0).unwrap().1, n.to_string().as_bytes());
        if n % 3 == 0 {
            assert_eq!(other.get_linear(&things(0), b"a").await.unwrap().unwrap().stamp, stamp);
            last = n;
        } else if n % 3 == 1 {
            let refused = commit(0, vec![Condition::Absent("a".into())], vec![]);
            assert_eq!(other.commit(refused).await.unwrap_err().kind(), ErrorKind::Conflict);
            assert_eq!(other.get(&things(0), b"a").await.unwrap().unwrap().stamp, stamp);
            last = n;
        }
    }
    assert!(lagged > 50, "{lagged}");
}

#[tokio::test]
async fn the_feed_has_shards_each_with_the_order_of_its_partitions() {
    let store = Store::hostile(HostileOptions::calm(options()));
    for n in 0..200_u32 {
        let one = commit(n.into(), vec![], vec![]);
        store.commit(Commit { partition: things(n % 16), ..one }).await.unwrap();
    }
    let (mut numbers, mut shards) = (HashMap::new(), HashSet::new());
    for shard in 0..store.feed_shards() {
        let mut cursor = Cursor::default();
        loop {
            let page = store.feed(shard, cursor, 7).await.unwrap();
            for change in &page.changes {
                assert!(numbers.insert(change.write_id, shard).is_none());
                shards.insert((change.partition.bucket, shard));
            }
            assert!(page.changes.is_sorted_by_key(|change| change.number));
            if page.cursor == cursor {
                break;
            }
            cursor = page.cursor;
        }
    }
    assert_eq!((numbers.len(), shards.len()), (200, 16));
    assert!(numbers.values().collect::<HashSet<_>>().len() > 1);
}

#[tokio::test]
async fn one_seed_gives_the_same_faults() {
    let run = async |seed| {
        let store = Store::hostile(HostileOptions::new(options(), seed));
        let mut kinds = Vec::new();
        for n in 0..200 {
            let one = commit(n, vec![], vec![Write::Put("a".into(), Bytes::new())]);
            kinds.push(store.commit(one).await.map(drop).map_err(|error| error.kind()));
        }
        kinds
    };
    assert_eq!(run(1).await, run(1).await);
    assert_ne!(run(1).await, run(2).await);
}
