use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use store_contract::incarnation::number_of_cursor;

use super::*;
use crate::testing::{self, commit, things};
use crate::{Clock, Cursor, Direction, Range, Store};

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
                    let outcome = store.resolve(&things(0), WriteId(n.into()), None).await.unwrap();
                    matches!(outcome, Outcome::Committed(_))
                }
            },
        );
    }
    assert!(unknown > 100, "{unknown}");
    for (n, is_there) in told {
        assert_eq!(store.get(&things(0), n.to_string().as_bytes()).await.unwrap().is_some(), is_there, "{n}");
        let outcome = store.resolve(&things(0), WriteId(n.into()), None).await.unwrap();
        assert_eq!(matches!(outcome, Outcome::Committed(_)), is_there, "{n}");
    }
}

/// What the engine remembers a commit by outlives the feed.
#[tokio::test]
async fn a_ticket_tells_what_the_feed_no_longer_does() {
    let memory = MemoryOptions { feed: testing::FEED, ..options() };
    let store = Store::hostile(HostileOptions { lost: 300, late: 300, ..HostileOptions::new(memory, 3) });
    let (mut with_ticket, mut without) = (Vec::new(), Vec::new());
    for n in 1..400_u32 {
        let key = Bytes::from(n.to_string());
        match store.commit(commit(n.into(), vec![], vec![Write::Put(key, Bytes::new())])).await {
            Ok(_) => {}
            Err(error) if error.ticket().is_some() => with_ticket.push((n, error.ticket())),
            Err(_) => without.push(n),
        }
    }
    assert!(with_ticket.len() > 50 && without.len() > 50);
    for (n, ticket) in with_ticket {
        let outcome = store.resolve(&things(0), WriteId(n.into()), ticket).await.unwrap();
        let is_there = store.get_linear(&things(0), n.to_string().as_bytes()).await.unwrap().is_some();
        assert_eq!(matches!(outcome, Outcome::Committed(_)), is_there, "{n}");
    }
    let mut known = 0;
    for n in &without {
        known += usize::from(store.resolve(&things(0), WriteId((*n).into()), None).await.is_ok());
    }
    assert!(known < without.len(), "without one some are not known any more");
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

/// Goes on from whichever change it likes, as a reader does that is stopped amid a page.
#[tokio::test]
async fn a_shard_tells_in_another_order_and_again_and_skips_nothing() {
    let store = Store::hostile(HostileOptions {
        feed_shards: 2,
        lost: 0,
        late: 0,
        ..HostileOptions::new(options(), 3)
    });
    for n in 0..300_u32 {
        store.commit(Commit { partition: things(n % 7), ..commit(n.into(), vec![], vec![]) }).await.unwrap();
    }
    let (mut told, mut again, mut reordered) = (BTreeMap::<u32, Vec<u128>>::new(), 0, 0);
    for shard in 0..store.feed_shards() {
        let mut cursor = Cursor::default();
        for turn in 0.. {
            let page = store.feed(shard, cursor, 9).await.unwrap();
            assert!(page.changes.len() <= 9);
            reordered += u32::from(!page.changes.is_sorted_by_key(|change| change.number));
            assert!(page.changes.is_sorted_by_key(|change| number_of_cursor(change.cursor)));
            let stop = if turn % 3 == 0 { page.changes.len().min(4) } else { page.changes.len() };
            for change in page.changes.iter().take(stop) {
                let of_it = told.entry(change.partition.bucket).or_default();
                match of_it.binary_search(&change.write_id.0) {
                    Ok(_) => again += 1,
                    Err(place) => {
                        assert_eq!(place, of_it.len(), "the order of a partition");
                        of_it.push(change.write_id.0);
                    }
                }
            }
            let upto = page.changes.get(stop.wrapping_sub(1)).filter(|_| stop < page.changes.len());
            let next = upto.map_or(page.cursor, |change| change.cursor);
            if next == cursor && upto.is_none() {
                break;
            }
            cursor = next;
        }
    }
    assert_eq!(told.values().map(Vec::len).sum::<usize>(), 300, "nothing is skipped");
    assert!(again > 20 && reordered > 5, "{again} {reordered}");
}

#[tokio::test]
async fn leases_are_lost_and_given_to_two() {
    let store = Store::hostile(HostileOptions { unleased: 200, ..HostileOptions::calm(options()) });
    let other = store.beside();
    let ttl = Duration::from_secs(3_600);
    let (mut first, mut second, mut both, mut lost, mut epoch) = (None, None, 0, 0, 0);
    for _ in 0..1_000 {
        for (handle, held) in [(&store, &mut first), (&other, &mut second)] {
            let renewed = match &*held {
                Some(lease) => handle.renew(lease, ttl).await.unwrap(),
                None => false,
            };
            if !renewed {
                lost += u32::from(held.is_some());
                *held = handle.lease("job", ttl).await.unwrap();
                let given = held.as_ref().map_or(u64::MAX, Lease::epoch);
                assert!(given > epoch, "epochs grow");
                epoch = if held.is_some() { given } else { epoch };
            }
        }
        both += u32::from(first.is_some() && second.is_some());
    }
    assert!(both > 20 && lost > 20, "{both} {lost}");
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

/// Of a load that came no further some pieces are there; one that is repeated until it is finished is there whole, and told once.
#[tokio::test]
async fn a_load_that_is_repeated_is_there_whole() {
    let mut died = 0;
    for seed in crate::testing::seeds(20) {
        let store = Store::hostile(HostileOptions { late: 300, ..HostileOptions::new(options(), seed) });
        loop {
            let load = store.load(&things(0), store.fence(&things(0))).await.unwrap();
            let add = async {
                for first in (0..400_u32).rev().step_by(50) {
                    let mut rows = crate::LoadRows::default();
                    (0..50).for_each(|n| rows.put(&(first - n).to_be_bytes(), b"old"));
                    (0..50).for_each(|n| rows.put_stamped(&(first - n).to_be_bytes(), b"new"));
                    load.add(rows).await?;
                }
                load.finish(Some(testing::record("loaded"))).await
            };
            match add.await {
                Ok(()) => break,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Unknown),
            }
            died += 1;
        }
        let page = store.scan(&things(0), &Range::default(), Direction::Forward, 999).await.unwrap();
        assert_eq!(page.len(), 400);
        assert!(page.rows().all(|(_, value)| value == b"new"));
        let mut told = HashSet::new();
        for shard in 0..store.feed_shards() {
            let changes = store.feed(shard, Cursor::default(), 99).await.unwrap().changes;
            told.extend(changes.iter().map(|change| change.number));
        }
        assert_eq!(told.len(), 1);
    }
    assert!(died > 3, "{died}");
}
